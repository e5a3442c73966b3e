"""Subtitles and captions: what is said, in whole sentences, each paragraph after the time at which it begins."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from asky.reading import plain_text
from asky.reading.charset import decode
from asky.reading.text_builder import TextBuilder
from asky.reading.timed.cues import Caption, cues_of
from asky.text.scrub import scrub_counted
from asky.values import Document

# A paragraph ends with a sentence: after so many characters, or where nothing is said for so long.
_PARAGRAPH_CHARS = 240
_PAUSE_S = 2.0
# Automatic captions have no full stops: their paragraphs end here.
_LONGEST_CHARS = 600
_LONG_PAUSE_S = 5.0
# Captions that roll show each line twice or three times. They are told by most of the cues beginning with the end of
# the one before, in two words or more, or in the whole of it.
_ROLLING_SHARE = 0.4
_ROLLING_CUES = 2
_OVERLAP_WORDS = 60

_SENTENCE_END = re.compile(r"[.!?…。！？][\"'”’»)\]]*$")
_TURN = re.compile(r"(?:>>|[-–—‐])\s*(?=\S)")
_NAMED = re.compile(r"(?:[A-ZÀ-Þ][\w.'’-]*\s){0,3}[A-ZÀ-Þ][\w.'’-]*:\s")
_NO_SPACES = re.compile(r"[\u2e80-\u9fff\uf900-\ufaff\uff00-\uff65]")


@dataclass(slots=True)
class _Paragraph:
    start: float
    speaker: str
    text: str = ""
    ends: float = 0.0
    pieces: list[str] = field(default_factory=list)


def read(data: bytes, name: str) -> Document:
    """Return what is said, a line for each paragraph: `[00:01:02] Ada: The lamp room is forty metres above the sea.`

    Cues are joined to sentences; what rolling captions repeat stands once; styles, positions and notes are left out. A
    file that holds no cues is read as plain text.
    """
    text, invisible = scrub_counted(decode(data))
    cues = cues_of(text.replace("\r\n", "\n"))
    return written(cues, invisible) if cues else plain_text.read(data, name)


def written(cues: Sequence[Caption], invisible: int = 0) -> Document:
    """Return the document of cues in the order of their start."""
    builder = TextBuilder(invisible)
    speaker = ""
    for paragraph in _paragraphs(_once(cues)):
        named = f"{paragraph.speaker}: " if paragraph.speaker and paragraph.speaker != speaker else ""
        speaker = paragraph.speaker
        builder.add(f"[{_clock(paragraph.start)}] {named}{paragraph.text}\n")
    return builder.build("text/x-subtitles")


def _once(cues: Sequence[Caption]) -> list[Caption]:
    """Return the cues without what they repeat of those before, if the file's captions roll."""
    words = [" ".join(cue.lines).split() for cue in cues]
    overlaps = [_overlap(before, after) for before, after in pairwise(words)]
    rolling = sum(shared > 1 or shared == len(after) for shared, after in zip(overlaps, words[1:], strict=True))
    if rolling < max(_ROLLING_CUES, _ROLLING_SHARE * len(overlaps)):
        return list(cues)
    once = [cues[0]]
    for cue, said, shared in zip(cues[1:], words[1:], overlaps, strict=True):
        if shared < len(said):
            once.append(Caption(cue.start, cue.end, [" ".join(said[shared:])], cue.speaker))
        else:
            once[-1].end = max(once[-1].end, cue.end)
    return once


def _overlap(before: Sequence[str], after: Sequence[str]) -> int:
    """Return how many words at the end of one cue begin the next."""
    most = min(len(before), len(after), _OVERLAP_WORDS)
    return next((count for count in range(most, 0, -1) if before[-count:] == after[:count]), 0)


def _paragraphs(cues: Sequence[Caption]) -> Iterator[_Paragraph]:
    current: _Paragraph | None = None
    for cue in cues:
        for number, line in enumerate(cue.lines):
            turn = _TURN.match(line)
            is_turn = bool(turn) or bool(_NAMED.match(line)) or (number == 0 and _is_other(current, cue))
            said = line[turn.end() :] if turn and turn[0].startswith(">>") else line
            if current is not None and (is_turn or _ends(current, cue.start)):
                yield current
                current = None
            if current is None:
                current = _Paragraph(cue.start, cue.speaker)
            current.text = _joined(current.text, said)
            current.ends = cue.end
    if current is not None:
        yield current


def _is_other(current: _Paragraph | None, cue: Caption) -> bool:
    return current is not None and cue.speaker != current.speaker


def _ends(current: _Paragraph, now: float) -> bool:
    pause = now - current.ends
    if _SENTENCE_END.search(current.text[-10:]):
        return len(current.text) >= _PARAGRAPH_CHARS or pause >= _PAUSE_S
    return len(current.text) >= _LONGEST_CHARS or pause >= _LONG_PAUSE_S


def _joined(before: str, after: str) -> str:
    if not before or (_NO_SPACES.match(before[-1]) and _NO_SPACES.match(after[:1])):
        return before + after
    return f"{before} {after}"


def _clock(seconds: float) -> str:
    whole = int(seconds)
    return f"{whole // 3600:02}:{whole // 60 % 60:02}:{whole % 60:02}"
