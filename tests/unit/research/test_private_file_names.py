"""The names of private files, which stay out of queries."""

from __future__ import annotations

import pytest

from asky.research.web.file_names import private_file_names, without_file_names
from asky.values import Source

NAMES = ["salaries-2024.pdf", "Merger plan.docx", "README", "Te\u0301rminos.md", "plan.docx"]


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ('What does "salaries-2024.pdf" say about tax?', "What does say about tax?"),
        ("What does docs/Salaries-2024.PDF's table say?", "What does table say?"),
        ("compare “merger plan.docx” and plan.docx with the law", "compare and with the law"),
        ("the T\u00e9rminos.md of a contract", "the of a contract"),
        ('of "readme" and "plan"', 'of and "plan"'),
        ("mysalaries-2024.pdf README  conventions", "mysalaries-2024.pdf README conventions"),
    ],
)
def test_the_name_of_a_file_leaves_a_text(text: str, kept: str) -> None:
    assert without_file_names(text, NAMES) == kept


def test_only_files_of_the_user_are_private() -> None:
    sources = [
        Source("a", "file", "file:///x/a.md", "A", path="/x/a.md"),
        Source("b", "note", "file:///y/a.md", "A", path="/y/a.md"),
        Source("c", "web", "http://x.test/c.pdf", "C", url="http://x.test/c.pdf"),
        Source("d", "file", "stdin:1", "standard input"),
    ]
    assert private_file_names(sources) == ["a.md"]
