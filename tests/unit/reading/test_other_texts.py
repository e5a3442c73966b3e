"""Markup languages."""

from __future__ import annotations

import pytest

from asky.reading.markup import markup_text


@pytest.mark.parametrize(
    ("name", "text", "headings"),
    [
        ("a.rst", "Mills\n=====\n\nOld\n---\n\ntext\n\nNew\n---\n", [(1, "Mills"), (2, "Old"), (2, "New")]),
        ("a.org", "#+TITLE: All mills\n* Mills\n** Old\ntext\n", [(1, "Mills"), (2, "Old")]),
        ("a.tex", "\\section{Mills}\ntext\n\\subsection*{Old}\n", [(3, "Mills"), (4, "Old")]),
        ("a.adoc", "= Mills\n\n== Old\n", [(1, "Mills"), (2, "Old")]),
    ],
)
def test_headings_of_markup_languages_are_sections(name: str, text: str, headings: list[tuple[int, str]]) -> None:
    document = markup_text.read(text.encode(), name)
    assert document.text == text
    assert [(section.level, section.heading) for section in document.sections] == headings


def test_latex_and_org_say_who_wrote_what() -> None:
    document = markup_text.read(b"\\title{On Mills}\n\\author{Ada Byrne}\n\\section{One}\n", "a.tex")
    assert (document.title, document.metadata["author"]) == ("On Mills", "Ada Byrne")
    assert markup_text.read(b"#+TITLE: Mills\n* One\n", "a.org").title == "Mills"
