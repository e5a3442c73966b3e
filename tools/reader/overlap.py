"""Whether training records share text with what is measured.

A fragment of 60 characters in common, without case, spaces and punctuation counted alike, is a share: so the sets of
`docs/concepts/reader-training.md` were cleaned, and so every run is checked before it begins.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from asky.errors import AskyError
from asky.reading.process.worker import read as read_file
from tools.reader.records import read_lines

SHARED_CHARS = 60
_STEP = 20
_WINDOW = SHARED_CHARS - _STEP  # each fragment of 60 characters has a window of 40 that begins at a multiple of 20
_FACTOR = np.uint64(0x9E3779B97F4A7C15 | 1)
_BITS = 27  # of the hashes that are looked up first, in a table of 16 MB
_NOT_TEXT = re.compile(r"[\W_]+")
_TEXT = frozenset(
    ".txt .md .csv .tsv .html .htm .xml .rst .py .go .eml .mbox .toml .yaml .yml .ini .log .tex .bib".split()  # noqa: SIM905
)
_OFFICE: Mapping[str, str] = {
    ".pdf": "application/pdf",
    ".epub": "application/epub+zip",
    ".docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    ".xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    ".pptx": "application/vnd.openxmlformats-officedocument.presentationml.presentation",
}
_MAX_CHARS = 5_000_000  # of one file

Hashes = npt.NDArray[np.uint64]


class Measured:
    """The texts of what is measured, to be compared with training records."""

    def __init__(self, texts: Iterable[str]) -> None:
        self._text = " ".join(map(plain, texts))
        hashes = _hashes(self._text)[::_STEP]
        self._known = np.unique(hashes)
        self._bits = np.zeros(1 << _BITS, dtype=bool)
        self._bits[_low(self._known)] = True

    def __len__(self) -> int:
        """Return the number of characters."""
        return len(self._text)

    def shared(self, text: str) -> str:
        """Return the first fragment of `text` that is measured too; "" if there is none."""
        text = plain(text)
        if len(text) < SHARED_CHARS:
            return ""
        hashes = _hashes(text)
        near = np.flatnonzero(self._bits[_low(hashes)])
        places = np.searchsorted(self._known, hashes[near]).clip(max=max(0, len(self._known) - 1))
        for at in near[self._known[places] == hashes[near]].tolist():
            for start in range(max(0, at - _STEP), min(at, len(text) - SHARED_CHARS) + 1):
                fragment = text[start : start + SHARED_CHARS]
                if fragment in self._text:
                    return fragment
        return ""


def plain(text: str) -> str:
    """Return the letters and digits of `text` in lower case, with one space for all else between them."""
    return _NOT_TEXT.sub(" ", text.casefold()).strip()


def _low(hashes: Hashes) -> Hashes:
    low: Hashes = hashes >> np.uint64(64 - _BITS)
    return low


def _hashes(text: str) -> Hashes:
    """Return a hash of each window of `text`; equal windows have equal ones.

    Source: Karp and Rabin, Efficient randomized pattern-matching algorithms, IBM Journal of Research 31 (1987), with
    the arithmetic of 64 bits.
    """
    if len(text) < _WINDOW:
        return np.zeros(0, np.uint64)
    codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype=np.uint32).astype(np.uint64) + np.uint64(1)
    with np.errstate(over="ignore"):
        found = np.zeros(len(codes) - _WINDOW + 1, np.uint64)
        for offset in range(_WINDOW):
            found = found * _FACTOR + codes[offset : offset + len(found)]
        found ^= found >> np.uint64(29)
        found *= np.uint64(0xBF58476D1CE4E5B9)
    return found


def texts_of(folder: Path) -> Iterator[str]:
    """Yield the texts of all files below `folder`: strings of JSON, plain text, and what asky reads of office files."""
    for path in sorted(each for each in folder.rglob("*") if each.is_file()):
        name = path.name.removesuffix(".gz")
        suffix = Path(name).suffix.lower()
        if suffix == ".jsonl":
            for record in read_lines(path):
                yield from _strings(record)
        elif suffix == ".json" and path.suffix != ".gz":
            yield from _json_strings(path.read_text("utf-8", "replace"))
        elif suffix in _OFFICE:
            yield from _read_by_asky(path, _OFFICE[suffix])
        elif suffix in _TEXT and path.suffix != ".gz":
            yield path.read_text("utf-8", "replace")


def _json_strings(text: str) -> Iterator[str]:
    try:
        yield from _strings(json.loads(text))
    except ValueError:  # with comments, or cut short
        yield text


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for each in value.values():
            yield from _strings(each)
    elif isinstance(value, list):
        for each in value:
            yield from _strings(each)


def _read_by_asky(path: Path, media_type: str) -> Iterator[str]:
    try:
        data = path.read_bytes()
        yield read_file(data, name=path.name, media_type=media_type, max_chars=_MAX_CHARS).text
    except AskyError:
        return


def texts_of_record(record: Any) -> list[str]:
    """Return what a training record, or a document written for the reader, has as text."""
    return [each for each in _strings(record) if len(each) >= SHARED_CHARS]


def shares(records: Iterable[Any], measured: Measured, limit: int) -> Sequence[tuple[str, str]]:
    """Return up to `limit` records that share text with what is measured: their names, and the first fragment."""
    found: list[tuple[str, str]] = []
    for record in records:
        fragment = next(filter(None, map(measured.shared, texts_of_record(record))), "")
        if fragment:
            found.append((str(record.get("id") or record.get("doc")), fragment))
            if len(found) == limit:
                break
    return found
