"""Which of the given sources a reference names: by address, by the name of a file, by an identifier, or by title."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable
from pathlib import PurePath
from urllib.parse import unquote

from asky.evidence.references.cited import CitedReference
from asky.text.letters import fold
from asky.values import Source

_MIN_TITLE_WORDS = 3
_MIN_TITLE_CHARS = 12
_WORD = re.compile(r"\w+")
_URL = re.compile(r"https?://[^\s<>\"'`{}|\\^\[\]()]+", re.IGNORECASE)
_ARXIV = re.compile(
    r"(?<![\d.])(\d{4}\.\d{4,5}|(?:[a-z]{2,8}(?:-[a-z]{2,4})?)(?:\.[A-Z]{2})?[/_]\d{7})(?:v\d{1,2})?(?!\d)"
)
_DOI = re.compile(r"10\.\d{4,9}/[^\s\"<>,;)\]]+")
_ORIGIN = re.compile(r"(?:https?://)?(?:www\.)?", re.IGNORECASE)
_FILE_NAME = re.compile(r"[^\s\"'`()\[\]<>,;|]+\.[A-Za-z][A-Za-z0-9]{0,8}(?![\w])")


class NamedSources:
    """The given sources, by all that may name them. Linear in their number."""

    def __init__(self, sources: Iterable[Source]) -> None:
        self._by: dict[tuple[str, str], list[Source]] = defaultdict(list)
        self._titles: dict[tuple[str, ...], dict[tuple[str, ...], None]] = defaultdict(dict)  # by their first two words
        self._dated: dict[str, list[Source]] = defaultdict(list)
        for source in sources:
            self._add(source)

    def find(self, reference: CitedReference) -> tuple[str, ...]:
        """Return the ids of the sources that a reference names, in the order of the sources; none if no one fits.

        Its names are tried in order, the first that leads to a source decides, and author and year are tried last.
        """
        for name in reference.names:
            found = self._named(name)
            if found:
                return tuple(dict.fromkeys(each.id for each in found))
        if reference.author:
            return tuple(each.id for each in self._by_author(reference.author, int(reference.year)))
        return ()

    def _add(self, source: Source) -> None:
        path = source.path or ""
        name = PurePath(path).name
        if name:
            self._by["file", fold(name)].append(source)
            self._by["stem", fold(PurePath(name).stem)].append(source)
        if source.url:
            self._by["url", _canonical(source.url)].append(source)
        for kind, pattern in (("arxiv", _ARXIV), ("doi", _DOI)):
            for text in {name, source.url or "", source.doi or "", str(source.external_id or "")}:
                for found in pattern.finditer(text):
                    self._by[kind, _identifier(found, kind)].append(source)
        title = tuple(_WORD.findall(fold(source.title)))
        if title:
            self._by["title", " ".join(title)].append(source)
            if len(title) >= _MIN_TITLE_WORDS or len(" ".join(title)) >= _MIN_TITLE_CHARS:
                self._titles[title[:2]][title] = None
        if source.published:
            self._dated[source.published[:4]].append(source)

    def _by_author(self, author: str, year: int) -> list[Source]:
        """Return what an author published in a year; a preprint and its publication are up to a year apart."""
        for each in (year, year - 1, year + 1):
            if found := [source for source in self._dated.get(str(each), ()) if _is_by(source, author)]:
                return found
        return []

    def _named(self, name: str) -> list[Source]:
        return self._by_address(name) or self._by_identifier(name) or self._by_file(name) or self._by_title(name)

    def _by_address(self, name: str) -> list[Source]:
        urls = [each.rstrip(".,;:") for each in _URL.findall(name)]
        return next((found for url in urls if (found := self._by.get(("url", _canonical(url))))), [])

    def _by_identifier(self, name: str) -> list[Source]:
        for kind, pattern in (("doi", _DOI), ("arxiv", _ARXIV)):
            for found in pattern.finditer(name):
                if sources := self._by.get((kind, _identifier(found, kind))):
                    return sources
        return []

    def _by_file(self, name: str) -> list[Source]:
        plain = unquote(name.partition("#")[0].partition("?")[0]).rstrip("/")
        last = re.split(r"[/\\]", plain)[-1].strip()
        found = self._by.get(("file", fold(last))) or self._by.get(("stem", fold(last))) or []
        if not found:
            for each in _FILE_NAME.findall(name):
                found = self._by.get(("file", fold(unquote(re.split(r"[/\\]", each)[-1])))) or []
                if found:
                    plain = each
                    break
        return _nearest(found, plain)

    def _by_title(self, name: str) -> list[Source]:
        written = _WORD.findall(fold(name))
        if exact := self._by.get(("title", " ".join(written))):
            return exact
        best: tuple[str, ...] = ()
        for at in range(len(written)):
            for start in (tuple(written[at : at + 2]), (written[at],)):
                for title in self._titles.get(start, ()):
                    if len(title) > len(best) and tuple(written[at : at + len(title)]) == title:
                        best = title
        return self._by.get(("title", " ".join(best)), []) if best else []


def _nearest(sources: list[Source], path: str) -> list[Source]:
    """Return those of several sources of one name whose folders are those of `path`, as far as it names them."""
    parts = [fold(part) for part in re.split(r"[/\\]", path) if part not in ("", ".", "..")]
    for count in range(len(parts), 1, -1):
        fitting = [
            each for each in sources if [fold(p) for p in PurePath(each.path or "").parts[-count:]] == parts[-count:]
        ]
        if fitting:
            return fitting
    return sources


def _identifier(found: re.Match[str], kind: str) -> str:
    return found[1].replace("_", "/") if kind == "arxiv" else found[0].casefold().rstrip(".")


def _canonical(url: str) -> str:
    return _ORIGIN.sub("", url.partition("#")[0], count=1).rstrip("/").casefold()


def _is_by(source: Source, author: str) -> bool:
    family = fold(author).split()[-1]
    return any(family in _WORD.findall(fold(each)) for each in source.authors[:3])
