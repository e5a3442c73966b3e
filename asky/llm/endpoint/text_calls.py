"""Tool calls that a model writes as text, for endpoints where the user enabled this.

Source: the two forms written by small local models whose server does not extract the calls: a JSON object in a
`<tool_call>` tag (Qwen, Hermes), and a message that is nothing but one (Llama 3.2, coding models in a fence).
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from asky.llm.endpoint.nesting import load_json
from asky.llm.port import ToolCall

Offered = Mapping[str, Mapping[str, Any]]
"""The parameters of each offered tool, a JSON Schema object, by its name."""

_OPEN, _CLOSE = "<tool_call>", "</tool_call>"
_FENCED_TEXT = re.compile(r"```(?:json)?[ \t]*\n(?P<body>.*)\n[ \t]*```\Z", re.DOTALL)


@dataclass(frozen=True, slots=True)
class TextCalls:
    """The text before the calls, and the calls in order."""

    text: str
    calls: tuple[ToolCall, ...]


def find_text_calls(text: str, offered: Offered) -> TextCalls:
    """Return the calls of tools in `offered` at the end of `text`, which has no thinking.

    A call followed by text is a quotation, and so is one after an open fence: without calls the text is returned
    unchanged.
    """
    stripped = text.strip()
    fenced = _FENCED_TEXT.match(stripped)
    if whole := _as_call(fenced["body"] if fenced else stripped, offered):
        return TextCalls("", (_numbered(1, whole),))
    pieces = text.split(_OPEN)
    calls: list[tuple[str, dict[str, Any]]] = []
    while len(pieces) > 1 and (body := pieces[-1].rstrip()).endswith(_CLOSE):
        call = _as_call(body.removesuffix(_CLOSE), offered)
        if call is None:
            break
        calls.insert(0, call)
        pieces.pop()
    before = _OPEN.join(pieces)
    if before.count("```") % 2:
        return TextCalls(text, ())
    return TextCalls(before if calls else text, tuple(_numbered(*each) for each in enumerate(calls, 1)))


class TextCallHold:
    """Holds back the part of a streamed text that may be a call: from the first tag to the end.

    A text that begins like a JSON object or a fence is held back whole.
    """

    def __init__(self) -> None:
        self._pieces: list[str] = []  # held until the beginning of the text is known, or to the end
        self._held = ""  # possibly the beginning of a tag
        self._has_started = False
        self._holds_all = False

    def feed(self, text: str) -> str:
        """Return the part that is certainly answer text."""
        if self._holds_all or not self._has_started:
            self._pieces.append(text)
            if self._holds_all or not text.strip() or not self._begin():
                return ""
            text = self._take()
        text = self._held + text
        start = text.find(_OPEN)
        self._holds_all = start >= 0
        length = start if self._holds_all else _certain_length(text)
        self._held = text[length:]
        if self._holds_all:
            self._pieces, self._held = [self._held], ""
        return text[:length]

    def end(self) -> str:
        """Return what was held back."""
        return self._take() + self._held

    def _begin(self) -> bool:
        """Return whether the held text shows that the beginning is not like a call."""
        beginning = "".join(self._pieces).lstrip()
        self._has_started = beginning not in ("`", "``")
        self._holds_all = beginning.startswith(("{", "```"))
        return self._has_started and not self._holds_all

    def _take(self) -> str:
        pieces, self._pieces = self._pieces, []
        return "".join(pieces)


def _certain_length(text: str) -> int:
    """Return the length without a possible beginning of a tag."""
    partial = (length for length in range(len(_OPEN) - 1, 0, -1) if text.endswith(_OPEN[:length]))
    return len(text) - next(partial, 0)


def _as_call(text: str, offered: Offered) -> tuple[str, dict[str, Any]] | None:
    """Return the name and arguments of the call that `text` encodes as JSON."""
    try:
        value = load_json(text) if text.lstrip().startswith("{") else None
    except ValueError:
        return None
    if not isinstance(value, dict) or not isinstance(name := value.get("name"), str) or name not in offered:
        return None
    arguments = value.get("arguments", value.get("parameters"))
    return (name, arguments) if isinstance(arguments, dict) else None


def _numbered(number: int, call: tuple[str, dict[str, Any]]) -> ToolCall:
    name, arguments = call
    return ToolCall(f"call_{number}", name, json.dumps(arguments, ensure_ascii=False))
