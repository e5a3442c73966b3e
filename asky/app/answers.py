"""The text of an answer: its citations, asky's warning marks, and its file formats."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal
from urllib.parse import quote

from asky.evidence.export.citing import as_written, place_text, reference
from asky.evidence.marks import MARKED, WARNING_SIGN, shown_verdict, without_marks
from asky.evidence.plain_text import plain_text
from asky.evidence.quotes import parts_of
from asky.text.printable import json_document

BibliographyForm = Literal["bibtex", "csl", "ris"]
CitingForm = Literal["tex", "bibtex", "csl", "ris"]
Form = Literal["md", "html", "json", "tex", "bibtex", "csl", "ris"]
FORMS: tuple[Form, ...] = ("md", "html", "json", "tex", "bibtex", "csl", "ris")

__all__ = [
    "FORMS",
    "MARKED",
    "WARNING_SIGN",
    "BibliographyForm",
    "CitingForm",
    "ExportedText",
    "Form",
    "answer_text",
    "as_written",
    "export_cited",
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


def answer_text(
    answer: Mapping[str, Any],
    form: Literal["md", "json"] | CitingForm,
    folder: Path | None = None,
    body: str | None = None,
) -> str:
    """Return an `asky.answer/1` object as Markdown, indented JSON, LaTeX, or the bibliography of its cited sources.

    Markdown for a `folder` in a vault of Obsidian links to notes of that vault relatively, so that Obsidian opens them.
    For `body` see `answer_markdown`.
    """
    if form == "json":
        return json_document(answer)
    if form == "md":
        from asky.evidence.export.markdown import answer_markdown  # reads citations, 6 ms: not for a list of sessions

        vault = _vault_of(folder) if folder is not None else None
        return answer_markdown(answer, body=body, file_link=lambda path: _file_link(path, folder, vault))
    return export_cited([answer], form).text


def _vault_of(folder: Path) -> Path | None:
    return next((each for each in (folder, *folder.parents) if (each / ".obsidian").is_dir()), None)


def _file_link(path: str, folder: Path | None, vault: Path | None) -> str:
    if folder is not None and vault is not None and Path(path).is_relative_to(vault):
        return quote(os.path.relpath(path, folder))
    return Path(path).as_uri()


def export_cited(answers: Sequence[Mapping[str, Any]], form: CitingForm) -> ExportedText:
    """Return these `asky.answer/1` objects as LaTeX, or a bibliography of what they cite, each source once."""
    from asky.evidence.export.cited_text import cited_text  # only for these formats

    return ExportedText(cited_text(answers, form), cites_nothing=not any(each["citations"] for each in answers))
