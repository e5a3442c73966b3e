"""Answers in the formats in which their sources are cited by key: a document for LaTeX, and bibliographies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from asky.evidence.export.bibliography import BibliographyFormat, bibliography
from asky.evidence.export.latex import answers_latex


def cited_text(answers: Sequence[Mapping[str, Any]], form: BibliographyFormat | Literal["tex"]) -> str:
    """Return `asky.answer/1` objects as `answers_latex` does, or the `bibliography` of what they cite."""
    return answers_latex(answers) if form == "tex" else bibliography(answers, form)
