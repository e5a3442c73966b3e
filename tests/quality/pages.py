"""Sets of web pages with what a person finds in them, and how much of that a reading holds."""

from __future__ import annotations

import gzip
import hashlib
import json
import re
import tarfile
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from asky.errors import SourceUnreadable
from asky.reading.html.page import read
from asky.reading.html.survey import survey_page

_WORD = re.compile(r"\w+")
# Three pages of the first set have no text but what their scripts write: it was made in a browser.
_MIN_TEXT_CHARS = 200


@dataclass(frozen=True, slots=True)
class LabelledPage:
    """A page with the text that belongs to it, or with snippets that do and others that do not."""

    url: str
    data: bytes
    text: str = ""
    wanted: tuple[str, ...] = ()
    unwanted: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class PageSet:
    """Pages in a fixed order. `sha256` covers every file that was read."""

    pages: tuple[LabelledPage, ...]
    sha256: str


def load_wcxb(folder: Path) -> PageSet:
    """Pages of seven kinds with their main text."""
    pages, digest = [], hashlib.sha256()
    for path in sorted((folder / "dev" / "ground-truth").glob("*.json")):
        packed = folder / "dev" / "html" / f"{path.stem}.html.gz"
        row, data = json.loads(path.read_bytes()), gzip.decompress(packed.read_bytes())
        digest.update(path.name.encode() + b"\0" + path.read_bytes() + b"\0" + data + b"\0")
        pages.append(
            LabelledPage(row["url"] or "https://unknown.example/", data, row["ground_truth"]["main_content"] or "")
        )
    return PageSet(tuple(pages), digest.hexdigest())


def load_snippets(folder: Path) -> PageSet:
    """Pages of many languages, most of them articles, with snippets."""
    rows = json.loads((folder / "evaldata.json").read_bytes())
    archive = folder / "html.tar.xz"
    files = {Path(name).name: data for name, data in _members(archive)}
    pages = [
        LabelledPage(url, files[row["file"]], wanted=tuple(row["with"]), unwanted=tuple(row["without"]))
        for url, row in rows.items()
    ]
    return PageSet(tuple(pages), _hash([folder / "evaldata.json", archive]))


def load_readability(folder: Path) -> PageSet:
    """Articles with what a browser's reader view makes of them."""
    files = dict(_members(folder / "test-pages.tar.xz"))
    pages = [
        LabelledPage(
            f"https://{Path(name).parent.name}.example/page",
            data,
            survey_page(files[name.replace("source.html", "expected.html")].decode("utf-8")).text,
        )
        for name, data in sorted(files.items())
        if name.endswith("/source.html")
    ]
    return PageSet(tuple(pages), _hash([folder / "test-pages.tar.xz"]))


def read_text(page: LabelledPage) -> str:
    """What the reader makes of a page of the web; nothing where it refuses it."""
    try:
        return read(page.data, "page", page.url).text
    except SourceUnreadable:
        return ""


def word_f1(pages: Sequence[LabelledPage], reading: Callable[[LabelledPage], str]) -> float:
    """The mean over pages of the F1 of words, counted; a page without text is read right where nothing is read."""
    return sum(_f1(reading(page), page.text) for page in pages) / len(pages)


def snippet_f1(pages: Sequence[LabelledPage], reading: Callable[[LabelledPage], str]) -> float:
    """The F1 of finding the wanted snippets of all pages and not the unwanted ones, which have `m2` for `m^2`."""
    found = missed = wrong = 0
    for page in pages:
        text = reading(page).replace("m^2", "m2")
        hits = sum(snippet in text for snippet in page.wanted)
        found, missed = found + hits, missed + len(page.wanted) - hits
        wrong += sum(snippet in text for snippet in page.unwanted)
    return 2 * found / (2 * found + missed + wrong)


def page_f1(page: LabelledPage, text: str) -> float:
    """The F1 of one page: of its words, or of its snippets; a page without wanted snippets is right without any."""
    if not page.wanted:
        return _f1(text, page.text)
    hits, wrong = (sum(snippet in text for snippet in group) for group in (page.wanted, page.unwanted))
    return 2 * hits / (len(page.wanted) + hits + wrong)


def alarms(pages: Sequence[LabelledPage]) -> list[str]:
    """The pages with text that are taken for an obstacle, each with the reader's words."""
    found = []
    for page in pages:
        try:
            read(page.data, page.url, page.url)
        except SourceUnreadable as error:
            if len(survey_page(page.data.decode("utf-8", "replace")).text) >= _MIN_TEXT_CHARS:
                found.append(error.message)
    return found


def _f1(text: str, reference: str) -> float:
    got, wanted = (Counter(_WORD.findall(part.lower())) for part in (text, reference))
    if not got or not wanted:
        return float(got == wanted)
    shared = (got & wanted).total()
    return 2 * shared / (got.total() + wanted.total())


def _members(path: Path) -> Iterator[tuple[str, bytes]]:
    with tarfile.open(path) as archive:
        for member in archive:
            file = archive.extractfile(member) if member.isfile() else None
            if file is not None:
                yield member.name, file.read()


def _hash(paths: Sequence[Path]) -> str:
    digest = hashlib.sha256()
    for path in paths:
        digest.update(path.name.encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()
