"""Tool calls that a model writes as text, for endpoints whose user turned this on.

Source: the formats that the chat templates of open models ask for (Hermes and Qwen, Qwen-coder, LM Studio, Mistral,
Llama, and the invoke form).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from asky.llm.nesting import load_json
from asky.llm.port import ToolCall

Offered = Mapping[str, Mapping[str, Any]]
"""The parameters of each offered tool, a JSON Schema object, by its name."""

_MARKS = ("<tool_call>", "<function_calls>", "[TOOL_REQUEST]", "[TOOL_CALLS]", "<|python_tag|>")
_BLOCKS = (
    (re.compile(r"<tool_call>"), "</tool_call>"),
    (re.compile(r"<function_calls>"), "</function_calls>"),
    (re.compile(r"\[TOOL_REQUEST\]"), "[END_TOOL_REQUEST]"),
)
_TAILS = re.compile(r"(?:\[TOOL_CALLS\]|<\|python_tag\|>)(?P<body>.*)\Z", re.DOTALL)
_FENCED_WHOLE = re.compile(r"```(?:json)?[ \t]*\n(?P<body>.*)\n[ \t]*```\Z", re.DOTALL)
_FENCE = re.compile(r"^[ \t]*(`{3,}|~{3,}).*$", re.MULTILINE)
_CALLS = (
    (re.compile(r"<function=([\w-]+)>"), "</function>"),
    (re.compile(r'<invoke name="([\w-]+)">'), "</invoke>"),
)
_PARAMETER = re.compile(r'<parameter(?:=([\w-]+)| name="([\w-]+)")>')


@dataclass(frozen=True, slots=True)
class TextCalls:
    """The answer without the blocks, and the calls in them in order."""

    text: str
    calls: tuple[ToolCall, ...]


def find_text_calls(text: str, offered: Offered) -> TextCalls:
    """The calls that `text`, thinking taken out, makes of the tools in `offered`.

    Only whole, closed blocks count whose every call is of an offered tool with an object of arguments; a block within
    fenced code or backquotes is a quotation. Without calls the text is returned as it is.
    """
    whole = _whole_message(text, offered)
    if whole:
        return TextCalls("", _numbered(whole))
    calls: list[tuple[str, dict[str, Any]]] = []
    kept: list[str] = []
    position = 0
    quoted, quoted_to = sorted(_quotations(text), reverse=True), 0
    for start, end, body in _blocks(text):
        while quoted and quoted[-1][0] <= start:
            quoted_to = max(quoted_to, quoted.pop()[1])
        found = _parse_block(body, offered)
        if start < max(position, quoted_to) or not found:
            continue
        kept.append(text[position:start])
        calls += found
        position = end
    if not calls:
        return TextCalls(text, ())
    kept.append(text[position:])
    return TextCalls("".join(kept), _numbered(calls))


class TextCallHold:
    """Holds back the part of a streamed text that may turn out to be a call: from the first mark to the end.

    A text that begins like a JSON object or a fence is held back whole.
    """

    def __init__(self) -> None:
        self._held = ""  # undecided, and short
        self._pieces: list[str] = []  # white space that the text begins with, or all from where a call may begin
        self._holds_all = False
        self._has_begun = False

    def feed(self, text: str) -> str:
        """The part that is certainly answer."""
        if self._holds_all:
            self._pieces.append(text)
            return ""
        self._held += text
        if not self._has_begun and not self._begin():
            return ""
        marks = [position for mark in _MARKS if (position := self._held.find(mark)) >= 0]
        length = min(marks) if marks else _certain_length(self._held)
        given = "".join((*self._pieces, self._held[:length]))
        self._pieces, self._held = [], self._held[length:]
        if marks:
            self._hold_all()
        return given

    def end(self) -> str:
        """What was held back."""
        held = "".join((*self._pieces, self._held))
        self._pieces, self._held = [], ""
        return held

    def _begin(self) -> bool:
        """Whether what is held shows how the text begins, and that is not like a call."""
        beginning = self._held.lstrip()
        self._pieces.append(self._held[: len(self._held) - len(beginning)])
        self._held = beginning
        if beginning in ("", "`", "``"):
            return False
        self._has_begun = True
        if beginning.startswith(("{", "```")):
            self._hold_all()
        return not self._holds_all

    def _hold_all(self) -> None:
        self._holds_all = True
        self._pieces.append(self._held)
        self._held = ""


def _certain_length(text: str) -> int:
    for length in range(min(max(map(len, _MARKS)) - 1, len(text)), 0, -1):
        if any(mark.startswith(text[-length:]) for mark in _MARKS):
            return len(text) - length
    return len(text)


def _blocks(text: str) -> Iterator[tuple[int, int, str]]:
    """Start, end and inside of each closed block, in order."""
    found = [
        (opening.start(), end, body)
        for pattern, closing in _BLOCKS
        for opening, body, end in _closed(text, pattern, closing)
    ]
    tail = _TAILS.search(text)
    if tail:
        found.append((tail.start(), tail.end(), tail["body"]))
    yield from sorted(found)


def _closed(text: str, opening: re.Pattern[str], closing: str) -> Iterator[tuple[re.Match[str], str, int]]:
    """Each opening that has a closing, what is between them, and where that ends; what is inside opens nothing."""
    start = opening.search(text)
    while start is not None:
        inner_end = text.find(closing, start.end())
        if inner_end < 0:
            return  # nor has any later one a closing; a pattern would look for it each time
        end = inner_end + len(closing)
        yield start, text[start.end() : inner_end], end
        start = opening.search(text, end)


def _quotations(text: str) -> Iterator[tuple[int, int]]:
    """Spans of fenced code (an open fence reaches to the end) and of text in single backquotes."""
    opened: re.Match[str] | None = None
    for fence in _FENCE.finditer(text):
        if opened is None:
            opened = fence
        elif fence[1].startswith(opened[1]):
            yield opened.start(), fence.end()
            opened = None
    if opened is not None:
        yield opened.start(), len(text)
    for match in re.finditer(r"(?<!`)`(?!`)[^`\n]+`(?!`)", text):
        yield match.span()


def _whole_message(text: str, offered: Offered) -> list[tuple[str, dict[str, Any]]]:
    """The call that a message is which holds nothing but one JSON object, perhaps in a fence."""
    stripped = text.strip()
    fenced = _FENCED_WHOLE.match(stripped)
    body = fenced["body"] if fenced else stripped
    return _parse_json(body, offered) if body.lstrip().startswith("{") else []


def _parse_block(body: str, offered: Offered) -> list[tuple[str, dict[str, Any]]]:
    for pattern, closing in _CALLS:
        found, rest, position = [], [], 0
        for opening, inside, end in _closed(body, pattern, closing):
            found.append((opening[1], inside))
            rest.append(body[position : opening.start()])
            position = end
        if found and not "".join((*rest, body[position:])).strip():
            if not all(name in offered for name, _ in found):
                return []
            return [(name, _parameters(inside, offered[name])) for name, inside in found]
    return _parse_json(body, offered)


def _parameters(inside: str, schema: Mapping[str, Any]) -> dict[str, Any]:
    """Parameters written as text; where the schema wants something else than a string, they are read as JSON."""
    found: dict[str, Any] = {}
    for opening, text, _ in _closed(inside, _PARAMETER, "</parameter>"):
        name = opening[1] or opening[2]
        value = text.strip("\n")
        wanted = schema.get("properties", {}).get(name, {}).get("type")
        try:
            found[name] = value if wanted in ("string", None) else load_json(value)
        except ValueError:
            found[name] = value
    return found


def _parse_json(body: str, offered: Offered) -> list[tuple[str, dict[str, Any]]]:
    try:
        value = load_json(body)
    except ValueError:
        return []
    calls = [_as_call(each) for each in (value if isinstance(value, list) else [value])]
    good = [call for call in calls if call is not None and call[0] in offered]
    return good if len(good) == len(calls) else []


def _as_call(value: Any) -> tuple[str, dict[str, Any]] | None:
    if not isinstance(value, Mapping) or not isinstance(value.get("name"), str):
        return None
    arguments = value.get("arguments", value.get("parameters"))
    return (value["name"], arguments) if isinstance(arguments, dict) else None


def _numbered(calls: list[tuple[str, dict[str, Any]]]) -> tuple[ToolCall, ...]:
    return tuple(
        ToolCall(f"call_{number}", name, json.dumps(arguments, ensure_ascii=False))
        for number, (name, arguments) in enumerate(calls, 1)
    )
