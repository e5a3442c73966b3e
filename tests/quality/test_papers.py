"""Floors of what reading a paper finds out about it, and of its words that are broken at line ends."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import pymupdf
import pytest

from tests.quality.papers import Paper, arxiv_papers, plain, registered_papers
from tools.pdf_hyphens import broken_words

_BROKEN_SHARE = 0.02  # 7 of 1,096


@pytest.fixture(scope="module")
def preprints(data_folder: Path) -> list[Paper]:
    return list(arxiv_papers(data_folder / "arxiv_pdfs"))


@pytest.fixture(scope="module")
def articles(data_folder: Path) -> list[Paper]:
    return list(registered_papers(data_folder / "jose_papers"))


def share(name: str, papers: Sequence[Paper], is_right: Callable[[Paper], bool]) -> float:
    wrong = [paper for paper in papers if not is_right(paper)]
    for paper in wrong:
        print(f"\n{name}: {paper.title or paper.arxiv}: {paper.document.title}, {dict(paper.document.metadata)}")
    print(f"\n{name}: {len(papers) - len(wrong)} of {len(papers)}")
    return 1 - len(wrong) / len(papers)


def has_title(paper: Paper) -> bool:
    return plain(paper.document.title or "") == plain(paper.title)


def has_first_author(paper: Paper) -> bool:
    first = paper.said("author").split("; ")[0]
    return plain(first).endswith(plain(paper.author.split()[-1])) and plain(first)[:1] == plain(paper.author)[:1]


def test_titles_and_ids_of_preprints(preprints: list[Paper]) -> None:
    assert share("titles", [paper for paper in preprints if paper.title], has_title) >= 0.95
    assert share("arXiv ids", preprints, lambda paper: paper.said("arxiv") == paper.arxiv) == 1
    assert share("dates", preprints, lambda paper: paper.said("published") != "") == 1


def test_titles_authors_and_dois_of_articles(articles: list[Paper]) -> None:
    assert share("titles", articles, has_title) >= 0.95
    assert share("first authors", articles, has_first_author) >= 0.95
    assert share("DOIs", articles, lambda paper: paper.said("doi") == paper.doi) >= 0.95
    assert share("dates", articles, lambda paper: paper.said("published") != "") >= 0.95


def test_words_broken_at_line_ends_are_whole(data_folder: Path, preprints: list[Paper]) -> None:
    files = sorted((data_folder / "arxiv_pdfs").rglob("*.pdf"))
    total = split = 0
    for path, paper in zip(files, preprints, strict=True):
        with pymupdf.open(path) as opened:
            layer = "\n".join(page.get_text() for page in opened)
        found, left = broken_words(layer, paper.document.text)
        total, split = total + found, split + len(left)
    print(f"\nbroken words: {split} of {total}")
    assert split <= _BROKEN_SHARE * total
