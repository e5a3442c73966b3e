"""Answers with citations by page, and the list of the papers that they cite."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from asky.evidence.answer import answer_json
from asky.evidence.citations.page_citations import read_page_citations, with_pages
from asky.storage.papers import Paper
from asky.values import Answer

_BRACKET = re.compile(r"(?<!~)\[([^\[\]]{3,400})\]")

_LINE_BREAK = "  \n"  # a break of the line also where Markdown is rendered


def cited_by_page(answer: Answer) -> str:
    """Return the text of an answer with `[2509.10446v1, page 5]` in place of `[1]`."""
    exported = answer_json(answer)
    return with_pages(answer.text, exported["citations"])


def cited_names(text: str) -> list[str]:
    """Return the names of the papers that a text cites by page, in order, each once; linear time."""
    found = (each.name for bracket in _BRACKET.finditer(text) for each in read_page_citations(bracket[1]))
    return list(dict.fromkeys(found))


def reference_list(papers: Sequence[Paper]) -> str:
    """Return the heading and the list of these papers, numbered in the given order; empty without papers."""
    if not papers:
        return ""
    return "\n\n## References\n\n" + "\n".join(_entries(papers)) + "\n"


def _entries(papers: Iterable[Paper]) -> Iterable[str]:
    for number, paper in enumerate(papers, start=1):
        lines = [f"{number}. {paper.name} - {paper.source.title}"]
        if paper.source.authors:
            lines.append(f"Authors: {', '.join(paper.source.authors)}")
        if paper.source.published:
            lines.append(f"Published: {paper.source.published}")
        if paper.notice_texts:
            lines.append(f"Notices: {'; '.join(paper.notice_texts)}")
        yield f"{_LINE_BREAK}{' ' * (len(str(number)) + 2)}".join(lines)
