"""A formula without a stored result is named as one, and nothing else is."""

from __future__ import annotations

import pytest

from asky.research.writing.formulas import note_formulas
from asky.values import Citation, Location, Source, Span


def cited(path: str) -> list[Citation]:
    source = Source("s1", "file", f"file://{path}", "Budget", path=path)
    return [Citation(1, "P0001", source, Location(), Span(0, 1), "x", "a" * 64)]


def test_a_formula_is_no_value() -> None:
    text = "- Section: Total; Planned: =SUM(B4:B7); Actual: =C4*2 [1]"
    assert note_formulas(text, cited("/b.xlsx")) == (
        f"{text}\n\n⚠ `=SUM(B4:B7)`, `=C4*2` are formulas, no value: their results are not stored in the workbook."
    )
    one = "- =SUM(B4:B7) (not computed) [1]"
    assert note_formulas(one, cited("/b.XLSX")).endswith(
        "⚠ `=SUM(B4:B7)` is a formula, no value: its result is not stored in the workbook."
    )


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("- Section: Total; Planned: 88 [1]", "/b.xlsx"),
        ("- The rate is set with rate=5 and a == b. [1]", "/b.xlsx"),
        ("- Planned: =SUM(B4:B7) [1]", "/b.csv"),
        ("- Planned: =SUM(B4:B7)", ""),
    ],
)
def test_other_text_stays(text: str, path: str) -> None:
    assert note_formulas(text, cited(path) if path else []) == text
