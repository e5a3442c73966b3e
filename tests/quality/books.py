"""Books with the text that their chapters show, and how much of it a reading holds, in its order."""

from __future__ import annotations

import difflib
import html
import io
import posixpath
import re
import zipfile
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote

from lxml import etree

from asky.evaluation.questions import hash_files

_WORD = re.compile(r"[^\W_]+")
_ENTITY = re.compile(rb"&([A-Za-z]\w{1,30};)")
_OWN = {b"amp;", b"lt;", b"gt;", b"quot;", b"apos;"}
_OPS = "{http://www.idpf.org/2007/ops}type"
_SHOWN_TYPES = ("application/xhtml+xml", "image/svg+xml", "text/html", "application/x-dtbook+xml")
# What no reading system shows: what stands for media that it plays, lists of contents that it has in its own menu.
_UNSEEN = frozenset(
    [
        *("head", "script", "style", "template", "audio", "video", "canvas", "object", "iframe", "rp", "metadata"),
        *("defs", "annotation", "annotation-xml", "case"),
    ]
)
_MARK_CHARS = 5  # the mark of a note is left out, as in every format
_MENUS = {"toc", "landmarks", "page-list"}
_INLINE = frozenset(
    "a abbr b bdi bdo big cite code del dfn em font i ins kbd mark q rb rt ruby s samp small span strike strong sub sup"  # noqa: SIM905
    " time tt u var wbr tspan mi mn mo mrow".split()
)


@dataclass(frozen=True, slots=True)
class Kept:
    """Characters of words: in the chapters, found in the reading, in the same order there, and beyond the chapters."""

    shown: int = 0
    found: int = 0
    in_order: int = 0
    beyond: int = 0

    def __add__(self, other: Kept) -> Kept:
        return Kept(
            self.shown + other.shown,
            self.found + other.found,
            self.in_order + other.in_order,
            self.beyond + other.beyond,
        )

    def __str__(self) -> str:
        return (
            f"{self.shown:,} characters: {self.found / self.shown:.4f} kept, "
            f"{self.in_order / self.shown:.4f} in order, {self.beyond / self.shown:.4f} beyond"
        )


def books(folder: Path) -> tuple[list[Path], str]:
    """The books of a folder, and the hash of all of them."""
    paths = sorted(folder.rglob("*.epub"))
    return paths, hash_files(paths)


def kept(paths: Sequence[Path], reading: Callable[[Path], str]) -> Kept:
    """How much of the text of the books a reading holds, all together."""
    total = Kept()
    for path in paths:
        total += compare(shown_text(path.read_bytes()), reading(path))
    return total


def compare(shown: str, text: str) -> Kept:
    """How much of a text another one holds."""
    wanted, got = _WORD.findall(shown), _WORD.findall(text)
    shared = Counter(wanted) & Counter(got)
    matcher = difflib.SequenceMatcher(None, wanted, got, autojunk=False)
    ordered = sum(len(word) for a, _, size in matcher.get_matching_blocks() for word in wanted[a : a + size])
    found = sum(len(word) * times for word, times in shared.items())
    return Kept(sum(map(len, wanted)), found, ordered, sum(map(len, got)) - found)


def shown_text(data: bytes) -> str:
    """The visible text of a book's chapters in the order of its spine, with spaces between blocks."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return "\n".join(" ".join(_texts(_tree(content))) for content in _chapters(archive)).replace("\xad", "")


def _chapters(archive: zipfile.ZipFile) -> Iterator[bytes]:
    container = _tree(archive.read("META-INF/container.xml"))
    path = next(each.get("full-path") for each in container.iter("{*}rootfile"))
    package = _tree(archive.read(path))
    items = {each.get("id"): each for each in package.iter("{*}item")}
    names = set(archive.namelist())
    for place in package.iter("{*}itemref"):
        item = items.get(place.get("idref"))
        while item is not None and item.get("media-type") not in _SHOWN_TYPES:
            item = items.get(item.get("fallback"))
        if item is None:
            continue
        name = posixpath.normpath(posixpath.join(posixpath.dirname(path), unquote(item.get("href").partition("#")[0])))
        if name in names:
            yield archive.read(name)


def _tree(source: bytes) -> etree._Element:
    def spelled(entity: re.Match[bytes]) -> bytes:
        if entity[1] in _OWN:
            return entity[0]
        return html.unescape(entity[0].decode("ascii")).encode("ascii", "xmlcharrefreplace").replace(b"&n", b"n")

    parser = etree.XMLParser(recover=True, resolve_entities=False, remove_comments=True, remove_pis=True)
    root = etree.fromstring(_ENTITY.sub(spelled, source.strip()), parser)
    return root if root is not None else etree.Element("empty")


def _texts(root: etree._Element) -> Iterator[str]:
    piece = ""
    walk = etree.iterwalk(root, events=("start", "end"))
    for event, element in walk:
        name = element.tag.rpartition("}")[2] if isinstance(element.tag, str) else ""
        if event == "start" and _is_unseen(name, element):
            walk.skip_subtree()
            continue
        if name not in _INLINE:
            yield piece
            piece = ""
        if event == "start":
            piece += element.text or ""
        elif element is not root:
            piece += element.tail or ""
    yield piece


def _is_unseen(name: str, element: etree._Element) -> bool:
    kinds = (element.get(_OPS) or "").split()
    return (
        name in _UNSEEN
        or (name == "nav" and not _MENUS.isdisjoint(kinds))
        or ("noteref" in kinds and len("".join(element.itertext())) < _MARK_CHARS)
        or "hidden" in element.attrib
        or re.search(r"display\s*:\s*none", element.get("style") or "") is not None
    )
