"""The text of an answer: its citations, asky's warning marks, and its file formats."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from asky.evidence.export.citing import place_text, reference
from asky.evidence.export.markdown import answer_markdown
from asky.evidence.marks import MARKED, WARNING_SIGN, shown_verdict, without_marks
from asky.evidence.plain_text import plain_text
from asky.evidence.quotes import parts_of
from asky.text.printable import json_document

if TYPE_CHECKING:
    from typing import Literal

    from asky.app.forms import BibliographyForm

__all__ = [
    "MARKED",
    "WARNING_SIGN",
    "ExportedText",
    "answer_text",
    "export_bibliography",
    "parts_of",
    "place_text",
    "plain_text",
    "reference",
    "shown_verdict",
    "without_marks",
]


@dataclass(frozen=True, slots=True)
class ExportedText:
    """A run or a session as text. `cites_nothing` says that a bibliography has no entries."""

    text: str
    cites_nothing: bool = False


def answer_text(answer: Mapping[str, Any], form: Literal["md", "json"] | BibliographyForm) -> str:
    """Return an `asky.answer/1` object as Markdown, indented JSON, or the bibliography of its cited sources."""
    if form == "json":
        return json_document(answer)
    if form == "md":
        return answer_markdown(answer)
    return export_bibliography([answer], form).text


def export_bibliography(answers: Sequence[Mapping[str, Any]], form: BibliographyForm) -> ExportedText:
    """Return a bibliography of the sources that these `asky.answer/1` objects cite, each source once."""
    from asky.evidence.export.bibliography import bibliography  # only for these formats

    return ExportedText(bibliography(answers, form), cites_nothing=not any(each["citations"] for each in answers))
