"""Markup languages and notebooks."""

from __future__ import annotations

import json

import pytest

from asky.errors import SourceUnreadable
from asky.reading import markup_text, notebook


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


def cells(*made: dict[str, object]) -> bytes:
    return json.dumps({"cells": made, "metadata": {}, "nbformat": 4}).encode()


def test_a_notebook_is_its_text_its_code_and_what_that_printed() -> None:
    data = cells(
        {"cell_type": "markdown", "source": ["# Tides\n", "Twice a day."]},
        {"cell_type": "code", "source": "1 + 1", "outputs": [{"data": {"text/plain": ["2"], "image/png": "x" * 99}}]},
        {"cell_type": "code", "source": "", "outputs": []},
        {"cell_type": "code", "source": "boom()", "outputs": [{"output_type": "error", "ename": "E", "evalue": "no"}]},
    )
    document = notebook.read(data, "a.ipynb")
    assert document.title == "Tides"
    assert document.text == (
        "# Tides\nTwice a day.\n\n```python\n1 + 1\n```\n\n```\n2\n```\n\n```python\nboom()\n```\n\n```\nE: no\n```\n\n"
    )
    assert [section.heading for section in document.sections] == ["Tides"]


def test_long_outputs_of_a_notebook_are_cut() -> None:
    data = cells({"cell_type": "code", "source": "x", "outputs": [{"text": "row\n" * 1_000_000}]})
    assert len(notebook.read(data, "a.ipynb").text) < 2_200


@pytest.mark.parametrize("data", [b"", b"[]", b"{}", b'{"cells": 3}', b'{"cells": [3]}', b"\xff\xfe"])
def test_what_is_no_notebook_is_said(data: bytes) -> None:
    with pytest.raises(SourceUnreadable, match="not a notebook"):
        notebook.read(data, "a.ipynb")
