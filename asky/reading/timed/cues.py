"""The cues of a subtitle file: what is shown, from when to when, and by whom it is said.

Sources: WebVTT (W3C), 4 and 6; the manual of SubRip; YouTube's SBV; the Sub Station Alpha v4.00+ script format; TTML2
(W3C), 8 and 12.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lxml.etree import _Element

_TIME = r"(?:(\d{1,4}):)?(\d{1,2}):(\d{1,2})(?:[.,](\d{1,3}))?"
_ARROW = re.compile(rf"\s*{_TIME}\s*-->\s*{_TIME}(?:\s.*)?")
_COMMA = re.compile(rf"{_TIME},{_TIME}")
_BRACKETED = re.compile(r"\s*((?:\[\d{1,3}:\d{2}(?:[.:]\d{1,3})?\]\s*)+)(.*)")
_STAMP = re.compile(r"\[(\d{1,3}):(\d{2})(?:[.:](\d{1,3}))?\]")
_CLOCK = re.compile(rf"{_TIME}(?::\d{{1,2}})?")
_OFFSET = re.compile(r"(\d{1,9}(?:\.\d{1,6})?)(h|ms|m|s|f|t)")
_IN_SECONDS = {"h": 3600.0, "m": 60.0, "s": 1.0, "ms": 0.001}
_RATE_DIGITS = 12
_VOICE = re.compile(r"<v(?:\.[^\s>]{0,100})?\s+([^>]{1,100})>")
_TAG = re.compile(r"</?[A-Za-z][^<>]{0,200}>|<[\d:.]{5,12}>")
_OVERRIDE = re.compile(r"\{[^{}]{0,500}\}")
_DRAWING = re.compile(r"\{[^{}]{0,200}\\p[1-9]")
_NOT_SHOWN = ("NOTE", "STYLE", "REGION", "WEBVTT")


@dataclass(slots=True)
class Caption:
    """What is shown from `start` to `end`, in seconds, in lines; `speaker` as far as the file marks one."""

    start: float
    end: float
    lines: list[str]
    speaker: str = ""


def cues_of(text: str) -> list[Caption]:
    """Return the cues of SRT, WebVTT, SBV, ASS or LRC in the order of their start; empty if it is none of them."""
    if "[Events]" in text or "[events]" in text:
        found = list(_script(text))
    else:
        found = list(_blocks(text)) or list(_lyrics(text))
    return sorted(found, key=lambda cue: cue.start)


def cues_of_tree(root: _Element) -> list[Caption]:
    """Return the cues of TTML; times count from the start of the elements that hold them."""
    ticks, frames = (_rate(root, name) for name in ("tickRate", "frameRate"))
    names = {
        next((value for name, value in agent.items() if name.endswith("}id")), ""): " ".join(agent.itertext()).strip()
        for agent in root.iter("{*}agent")
    }
    found = []
    for element in root.iter("{*}p"):
        start = sum(_moment(each.get("begin"), ticks, frames) for each in (element, *element.iterancestors()))
        end = start + _moment(element.get("dur"), ticks, frames) or _moment(element.get("end"), ticks, frames)
        who = next((value for name, value in element.items() if name.endswith("}agent")), "")
        found.append(Caption(start, end, _tree_lines(element), names.get(who, "")))
    return sorted((cue for cue in found if cue.lines), key=lambda cue: cue.start)


def _blocks(text: str) -> Iterator[Caption]:
    """Yield the cues below lines of times; the number or name above such a line is none of their text."""
    lines = text.split("\n")
    timed = [(number, found) for number, line in enumerate(lines) if (found := _times(line))]
    for (number, (start, end)), (following, _) in pairwise([*timed, (len(lines) + 1, (0.0, 0.0))]):
        body = lines[number + 1 : following - (following <= len(lines))]
        if following <= len(lines) and lines[following - 1].strip() and not _is_name(lines, following - 1):
            body.append(lines[following - 1])
        shown, speaker = _shown(body)
        if shown:
            yield Caption(start, end, shown, speaker)


def _is_name(lines: list[str], number: int) -> bool:
    """Return whether the line above a line of times is the number or the name of its cue."""
    return lines[number].strip().isdigit() or number == 0 or not lines[number - 1].strip()


def _times(line: str) -> tuple[float, float] | None:
    found = _ARROW.fullmatch(line) if "-->" in line else _COMMA.fullmatch(line.strip())
    return (_seconds(found.groups()[:4]), _seconds(found.groups()[4:])) if found else None


def _seconds(parts: tuple[str | None, ...]) -> float:
    hours, minutes, seconds, fraction = parts
    return int(hours or 0) * 3600 + int(minutes or 0) * 60 + int(seconds or 0) + float(f"0.{fraction or 0}")


def _shown(lines: list[str]) -> tuple[list[str], str]:
    """Return the lines without markup, and the speaker; notes and styles after a blank line are not shown."""
    kept: list[str] = []
    speakers: list[str] = []
    is_hidden = False
    for number, line in enumerate(lines):
        if not line.strip():
            is_hidden = False
            continue
        is_first = number > 0 and not lines[number - 1].strip()
        is_hidden = is_hidden or (is_first and line.split(maxsplit=1)[0] in _NOT_SHOWN)
        if is_hidden:
            continue
        voices = _VOICE.findall(line)
        speakers += voices
        if len(set(speakers)) > 1 and voices:
            line = _VOICE.sub(lambda match: f"{html.unescape(match[1]).strip()}: ", line)
        plain = html.unescape(_OVERRIDE.sub("", _TAG.sub("", line)))
        if plain.strip():
            kept.append(" ".join(plain.split()))
    return kept, html.unescape(speakers[0]).strip() if speakers else ""


def _script(text: str) -> Iterator[Caption]:
    """Yield the dialogue of a script of Sub Station Alpha; comments and drawings are not shown."""
    names: list[str] = []
    for line in text[text.lower().index("[events]") :].split("\n"):
        kind, _, rest = line.partition(":")
        if kind.strip().lower() == "format":
            names = [name.strip().lower() for name in rest.split(",")]
        elif kind.strip().lower() == "dialogue" and names:
            values = dict(zip(names, rest.split(",", len(names) - 1), strict=False))
            start, end = (_CLOCK.fullmatch(values.get(name, "").strip()) for name in ("start", "end"))
            said = values.get("text", "")
            if start and end and not _DRAWING.search(said):
                plain = _OVERRIDE.sub("", said).replace("\\N", "\n").replace("\\n", "\n").replace("\\h", " ")
                lines = [" ".join(each.split()) for each in plain.split("\n") if each.strip()]
                who = values.get("name", values.get("actor", "")).strip()
                if lines:
                    yield Caption(_seconds(start.groups()), _seconds(end.groups()), lines, who)


def _lyrics(text: str) -> Iterator[Caption]:
    for line in text.split("\n"):
        found = _BRACKETED.fullmatch(line)
        if found and found[2].strip():
            for minutes, seconds, fraction in _STAMP.findall(found[1]):
                start = _seconds((None, minutes, seconds, fraction))
                yield Caption(start, start, [" ".join(_TAG.sub("", found[2]).split())])


def _rate(root: _Element, name: str) -> float:
    """Return how many ticks or frames a second has: as a player does, 30 where the file does not say."""
    stated = next((value for key, value in root.items() if key.endswith(f"}}{name}")), "")
    return float(stated) if stated.isdecimal() and len(stated) <= _RATE_DIGITS and int(stated) else 30.0


def _moment(value: str | None, ticks: float, frames: float) -> float:
    """Return a time of TTML in seconds; 0 for what is none."""
    if value is None:
        return 0.0
    clock = _CLOCK.fullmatch(value.strip())
    if clock:
        return _seconds(clock.groups()[:4])
    offset = _OFFSET.fullmatch(value.strip())
    if offset is None:
        return 0.0
    return float(offset[1]) * {**_IN_SECONDS, "t": 1 / ticks, "f": 1 / frames}[offset[2]]


def _tree_lines(element: _Element) -> list[str]:
    pieces = [element.text or ""]
    for each in element.iterdescendants():
        if isinstance(each.tag, str):
            pieces += ["\n"] if each.tag.endswith("}br") or each.tag == "br" else [each.text or ""]
        pieces.append(each.tail or "")
    if element.get("{http://www.w3.org/XML/1998/namespace}space") != "preserve":
        pieces = [piece if piece == "\n" else piece.replace("\n", " ") for piece in pieces]
    return [line for each in "".join(pieces).split("\n") if (line := " ".join(each.split()))]
