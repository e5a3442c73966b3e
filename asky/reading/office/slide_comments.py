"""Comments on slides, the older ones and those in threads, each as a remark."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

from asky.reading.office.archive import Package
from asky.reading.office.drawing import paragraphs
from asky.text.beside.remarks import remark

if TYPE_CHECKING:
    from lxml.etree import _Element as Element


def authors_of(package: Package) -> dict[str, str]:
    """Return the names of those who comment in a presentation, by id."""
    paths = [*package.related(package.main, "commentAuthors"), *package.related(package.main, "authors")]
    roots = [root for path in paths if (root := package.xml(path)) is not None]
    return {each.get("id", ""): each.get("name", "") for root in roots for each in root}


def comment_lines(roots: Iterable[Element], authors: Mapping[str, str], texts: Mapping[str, str]) -> Iterator[str]:
    """Yield the comments in parts of a slide with their answers; `texts` are those of its shapes, by id."""
    for root in roots:
        for comment in root.iterfind("{*}cm"):
            about = _about(comment, texts)
            for each in (comment, *comment.iterfind("{*}replyLst/{*}reply")):
                yield remark(_said(each), author=authors.get(each.get("authorId", ""), ""), about=about)


def _said(comment: Element) -> str:
    body = comment.find("{*}txBody")
    if body is None:
        return comment.findtext("{*}text") or ""
    return " ".join(each.text for each in paragraphs(body))


def _about(comment: Element, texts: Mapping[str, str]) -> str:
    """Return the words that a comment in a thread is on, or the text of its shape."""
    shape = comment.find(".//{*}spMk")
    text = texts.get(shape.get("id", ""), "") if shape is not None else ""
    words = comment.find(".//{*}txMk")
    if words is None:
        return text
    start, size = words.get("cp", ""), words.get("len", "")
    return text[int(start) : int(start) + int(size)] if start.isdecimal() and size.isdecimal() else text
