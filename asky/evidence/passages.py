"""The form in which passages are shown to a model, and how a model inside this process parses them.

    <passage 9f3c2a71d0b4e865 P7f3a source=s0123456789ab title="Tides" section="Causes" sections="812 Effects" page=3
        page_label="iii" file="tides.pdf" authors="Ada Byron" date="1843">
    The text of the passage.
    </passage 9f3c2a71d0b4e865>

`sections` are those that begin within the text, each on a line behind the offset of its first character. `columns` has
the head of a table whose rows go on in the text, `Item | Price`, if it stands before it.

The marker is random for each run, so that no stored text can know it. In addition, anything in a text that resembles a
fence, a control token of a chat template or an invisible instruction is shown in a visible, harmless form: with a
backslash after its first bracket (`<\\|im_start|>`), or as the code point of an invisible character (`<U+202E>`). The
stored text is unchanged, and `parse_passages` restores it exactly. Of a path of this machine only the file's name is
shown, if the title is another.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from asky.evidence.keys import KEY
from asky.text.urls import host_of
from asky.values import Evidence, Location, Source

_MAX_HEADING_CHARS = 200
_MAX_COLUMNS_CHARS = 1_000
_MAX_LISTED_CHARS = 120
_MAX_DATE_CHARS = 25
_MAX_SECTIONS = 20  # told of a passage: more begin in one of a glossary, whose headings are its text
_MARKER = re.compile(r"[0-9a-f]{8,32}")

# The rest of a control token after its first bracket: ChatML and Llama 3 (`<|...|>`), DeepSeek (full-width bar),
# Llama 2 and Mistral (`[INST]`, `<<SYS>>`, `<s>`), Gemma (`<start_of_turn>`), tool-call and reasoning tags; asky's own.
_ANGLED = (
    r"\||｜|/?s>|/?SYS>|/?(?:bos|eos|pad|unk|think|thinking|start_of_turn|end_of_turn|tools?|tool_calls?|tool_response|"
    r"tool_result|function_calls?|function_results?|functions?|invoke|system|user|assistant|passage)\b|U\+[0-9A-F]{4,6}>"
)
_SQUARE = r"/?(?:INST|SYS|TOOL_CALLS|TOOL_RESULTS|AVAILABLE_TOOLS|SYSTEM_PROMPT|IMG|THINK)\]"
_TOKEN = re.compile(rf"(<)(\\*)(?={_ANGLED})|(\[)(\\*)(?={_SQUARE})", re.IGNORECASE)
_ESCAPED_TOKEN = re.compile(rf"(<)\\(\\*)(?={_ANGLED})|(\[)\\(\\*)(?={_SQUARE})", re.IGNORECASE)

# Control characters except tab, line ends and form feed; bidirectional overrides; lone surrogates; Unicode tags.
_INVISIBLE = re.compile(
    "[\x00-\x08\x0b\x0e-\x1f\x7f-\x84\x86-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff\U000e0000-\U000e007f]"
)
_CODE_POINT = re.compile(r"<U\+((?:10|[0-9A-F])?[0-9A-F]{4})>")
_LOCAL_PATH = re.compile(r"(?:file://|local://|/|~/|\\\\|[A-Za-z]:[\\/])", re.IGNORECASE)

_STRING = r'"(?:[^"\\\n]|\\[^\n])*"'
_ATTRIBUTE = rf" ([a-z_]+)=({_STRING}|[0-9a-z]{{1,20}})"
_OPENING = re.compile(
    rf"^<passage ([0-9a-f]{{8,32}}) ({KEY.pattern})((?: [a-z_]+=(?:{_STRING}|[0-9a-z]{{1,20}})){{1,13}})>\n",
    re.MULTILINE,
)
_ATTRIBUTES = re.compile(_ATTRIBUTE)


@dataclass(frozen=True, slots=True)
class ShownPassage:
    """A passage as a model sees it: its key, its origin, and the stored text."""

    key: str
    title: str
    location: Location
    text: str
    source: str = ""
    authors: str = ""
    date: str = ""
    file: str = ""
    linked_from: str = ""
    sections: tuple[tuple[int, str], ...] = ()


def describe_source(source: Source, *, published: str | None = None, target: str | None = None) -> str:
    """Return the line of `source` in a list for a model: its id, its title, its host and its date, each if known.

    `published` is its date if the source has none itself, and `target` what an adapter reads it by.
    """
    host = host_of(source.url) if source.url else target
    facts = ", ".join(fact for fact in (host, (source.published or published or "")[:_MAX_DATE_CHARS]) if fact)
    return f"{source.id}: {shown_title(source)[:_MAX_LISTED_CHARS]}" + (f" ({facts})" if facts else "")


def new_marker() -> str:
    """Return a marker for the fences of one run: 16 random hexadecimal digits."""
    return os.urandom(8).hex()


def render_passages(evidence: Sequence[Evidence], *, marker: str) -> str:
    """Return the passages as fenced blocks in the given order, separated by blank lines; linear time.

    Titles, headings and page labels are cut at 200 characters. Raises `ValueError` if `marker` is not 8 to 32 lowercase
    hexadecimal digits.
    """
    if not _MARKER.fullmatch(marker):
        raise ValueError(f"not a marker: {marker!r}")
    return "\n\n".join(_block(item, marker) for item in evidence)


def fence(text: str, marker: str, label: str) -> str:
    """Fence untrusted text that is not a passage, with a `label`, so that a model can read but not cite it."""
    return f"<data {marker} {label}>\n{_defuse(text)}\n</data {marker}>"


def parse_passages(text: str) -> list[ShownPassage]:
    """Return the passages that `render_passages` put into `text`, in order, ignoring other text; linear time.

    All of them carry the marker of the first; a fence with another marker is not asky's, and a passage without its
    closing fence was cut and is left out.
    """
    shown: list[ShownPassage] = []
    marker: str | None = None
    position = 0
    while (opening := _OPENING.search(text, position)) is not None:
        position = opening.end()
        if marker is not None and opening[1] != marker:
            continue
        marker = opening[1]
        end = text.find(f"\n</passage {marker}>", position)
        if end < 0:
            break
        shown.append(_shown(opening, text[position:end]))
        position = end
    return shown


def _block(item: Evidence, marker: str) -> str:
    location = item.location
    attributes = [f"source={item.source.id}", f"title={_quoted(shown_title(item.source))}"]
    if location.section is not None:
        attributes.append(f"section={_quoted(location.section[:_MAX_HEADING_CHARS])}")
    if item.sections:
        inside = (f"{start} {path[-_MAX_HEADING_CHARS:]}" for start, path in item.sections[:_MAX_SECTIONS])
        attributes.append(f"sections={_quoted(chr(10).join(inside))}")
    if location.page is not None:
        attributes.append(f"page={location.page}")
    if location.page_label is not None:
        attributes.append(f"page_label={_quoted(location.page_label[:_MAX_HEADING_CHARS])}")
    if location.line is not None:
        attributes.append(f"line={location.line}")
    if location.columns is not None:
        attributes.append(f"columns={_quoted(location.columns[:_MAX_COLUMNS_CHARS])}")
    file = re.split(r"[/\\]", item.source.path or "")[-1]
    if file and file != item.source.title:
        attributes.append(f"file={_quoted(file[:_MAX_HEADING_CHARS])}")
    if item.source.authors:
        attributes.append(f"authors={_quoted('; '.join(item.source.authors)[:_MAX_HEADING_CHARS])}")
    if item.source.published is not None:
        attributes.append(f"date={_quoted(item.source.published[:_MAX_HEADING_CHARS])}")
    if item.linked_from is not None:
        attributes.append(f"linked_from={_quoted(_without_folders(item.linked_from))}")
    return f"<passage {marker} {item.key} {' '.join(attributes)}>\n{_defuse(item.text)}\n</passage {marker}>"


def shown_title(source: Source) -> str:
    """Return the title of a source as a model may see it: at most 200 characters, and no path of this machine."""
    return _without_folders(source.title) or "untitled"


def _without_folders(title: str) -> str:
    if _LOCAL_PATH.match(title):
        title = re.split(r"[/\\]", title.rstrip("/\\"))[-1]
    return title[:_MAX_HEADING_CHARS]


def _shown(opening: re.Match[str], body: str) -> ShownPassage:
    _, key, listed = opening.groups()
    found = {name: _unquoted(value) if value[0] == '"' else value for name, value in _ATTRIBUTES.findall(listed)}
    page, line = (int(found[name]) if found.get(name, "").isdigit() else None for name in ("page", "line"))
    location = Location(found.get("section"), page, found.get("page_label"), line, found.get("columns"))
    origin = {name: found.get(name, "") for name in ("title", "source", "authors", "date", "file", "linked_from")}
    return ShownPassage(key, location=location, text=_restore(body), sections=tuple(_sections(found)), **origin)


def _sections(found: Mapping[str, str]) -> Iterator[tuple[int, str]]:
    """Yield the sections that begin within a passage, from lines `offset heading`."""
    for line in found.get("sections", "").split("\n"):
        start, _, path = line.partition(" ")
        if start.isdecimal():
            yield int(start), path


def _defuse(text: str) -> str:
    """Return `text` with control tokens and invisible characters in their visible form; `_restore` is its inverse."""
    escaped = _TOKEN.sub(lambda m: f"{m[1] or m[3]}\\{m[2] or m[4] or ''}", text)
    return _INVISIBLE.sub(lambda m: f"<U+{ord(m[0]):04X}>", escaped)


def _restore(text: str) -> str:
    visible = _CODE_POINT.sub(lambda m: chr(int(m[1], 16)), text)
    return _ESCAPED_TOKEN.sub(lambda m: f"{m[1] or m[3]}{m[2] or m[4] or ''}", visible)


def _quoted(value: str) -> str:
    return json.dumps(_defuse(value), ensure_ascii=False)


def _unquoted(literal: str) -> str:
    try:
        return _restore(str(json.loads(literal)))
    except ValueError:
        return literal[1:-1]
