"""The files of a folder that were not read, summed up in one line by what they are."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from asky.evidence.unread import describe_fields as describe_fields
from asky.evidence.unread import describe_files as describe_files
from asky.evidence.unread import describe_parts as describe_parts
from asky.evidence.unread import of_sources as of_sources
from asky.reading.unread_kinds import KINDS, unread_suffix
from asky.research.corpus.report import OTHER_CONTENT
from asky.text.counting import counted

if TYPE_CHECKING:
    from asky.events import FileRead

_MAX_NAMES = 3  # of files
_MAX_SUFFIXES = 4
_MAX_KINDS = 8
_WORDS = {
    "unsupported": "of an unknown type",
    "no_text_layer": "without text",
    "too_large": "too large",
    "timed_out": "timed out",
    "failed": "unreadable",
}


def sum_up_unread(problems: Sequence[FileRead]) -> str:
    """Return `3 files were not read: 2 images (.png), 1 without text (scan.pdf)`: the most frequent kinds first."""
    kinds: dict[tuple[str, bool], list[FileRead]] = defaultdict(list)
    for each in problems:
        kinds[_kind(each)].append(each)
    ordered = sorted(kinds.items(), key=lambda item: -len(item[1]))
    parts = [_part(words, files, has_plural=noun) for (words, noun), files in ordered[:_MAX_KINDS]]
    if rest := sum(len(files) for _, files in ordered[_MAX_KINDS:]):
        parts.append(f"{rest:,} others")
    verb = "was" if len(problems) == 1 else "were"
    return f"{counted(len(problems), 'file')} {verb} not read: {', '.join(parts)}"


def _kind(file: FileRead) -> tuple[str, bool]:
    """Return what a file is, and whether that is a noun."""
    if file.verdict == "unsupported" and (suffix := unread_suffix(Path(file.path).name)):
        return KINDS[suffix], True
    if file.verdict == "unsupported" and file.why == OTHER_CONTENT:
        return "whose content does not match the name", False
    return _WORDS.get(file.verdict, file.verdict.replace("_", " ")), False


def _part(words: str, files: Sequence[FileRead], *, has_plural: bool) -> str:
    names = [Path(each.path).name for each in files]
    if has_plural:
        return (
            f"{counted(len(files), words)} ({_listed([unread_suffix(name) or name for name in names], _MAX_SUFFIXES)})"
        )
    if files[0].verdict == "unsupported" and len(files) > _MAX_NAMES:
        names = [Path(name).suffix or name for name in names]
        return f"{len(files):,} {words} ({_listed(names, _MAX_SUFFIXES)})"
    return f"{len(files):,} {words} ({_listed(names, _MAX_NAMES)})"


def _listed(names: Sequence[str], most: int) -> str:
    """Return the most frequent of `names`, each once."""
    counts: dict[str, int] = {}
    for name in names:
        counts[name] = counts.get(name, 0) + 1
    shown = sorted(counts, key=lambda name: -counts[name])
    return ", ".join(shown[:most]) + (", ..." if len(shown) > most else "")
