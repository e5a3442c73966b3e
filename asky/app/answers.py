"""The text of an answer: its citations, asky's warning marks, and its file formats."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import quote

from asky.evidence.answer import confidence_of, contradictions_of
from asky.evidence.export.citing import as_written, place_text, reference, section_text
from asky.evidence.marks import MARKED, WARNING_SIGN, reason, shown_verdict, without_marks
from asky.evidence.plain_text import plain_text
from asky.evidence.quotes import parts_of, quoted_spans
from asky.text.printable import json_document

if TYPE_CHECKING:
    from asky.report.gathering import ReportedAnswer
    from asky.report.research_report import ResearchReport

BibliographyForm = Literal["bibtex", "csl", "ris"]
CitingForm = Literal["tex", "bibtex", "csl", "ris"]
Form = Literal["md", "html", "pdf", "json", "tex", "bibtex", "csl", "ris"]
FORMS: tuple[Form, ...] = ("md", "html", "pdf", "json", "tex", "bibtex", "csl", "ris")

__all__ = [
    "FORMS",
    "MARKED",
    "WARNING_SIGN",
    "BibliographyForm",
    "CitingForm",
    "ExportedDocument",
    "Form",
    "answer_text",
    "as_written",
    "confidence_of",
    "contradictions_of",
    "export_cited",
    "exported_text",
    "parts_of",
    "place_text",
    "plain_text",
    "quoted_spans",
    "reason",
    "reference",
    "rendered",
    "research_markdown",
    "section_text",
    "shown_verdict",
    "without_marks",
]


@dataclass(frozen=True, slots=True)
class ExportedDocument:
    """A run or a session in a format: `data` is a PDF, or text in UTF-8.

    `cites_nothing` says that a bibliography has no entries.
    """

    data: bytes
    cites_nothing: bool = False

    @property
    def text(self) -> str:
        """Return the text; a PDF has none."""
        return self.data.decode("utf-8")


def exported_text(text: str, *, cites_nothing: bool = False) -> ExportedDocument:
    """Return a text as an exported document."""
    return ExportedDocument(text.encode("utf-8", "replace"), cites_nothing)


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

        return answer_markdown(answer, body=body, file_link=_file_links(folder))
    return export_cited([answer], form).text


def research_markdown(report: ResearchReport, folder: Path | None = None) -> str:
    """Return a report of research as Markdown, for a file in `folder` if that is known; see `answer_text`."""
    from asky.report.research_markdown import render_research_markdown  # only for this format

    return render_research_markdown(report, file_link=_file_links(folder))


def rendered(
    answers: Sequence[ReportedAnswer], form: Literal["html", "pdf"], title: str | None = None
) -> ExportedDocument:
    """Return answers as the page of a report, or as its PDF; see `render_report`."""
    if form == "pdf":
        from asky.report.pdf import render_pdf  # only for this format, as is the other

        return ExportedDocument(render_pdf(answers, title=title))
    from asky.report.page import render_report

    return exported_text(render_report(answers, title=title))


def _file_links(folder: Path | None) -> Callable[[str], str]:
    vault = _vault_of(folder) if folder is not None else None
    return lambda path: _file_link(path, folder, vault)


def _vault_of(folder: Path) -> Path | None:
    return next((each for each in (folder, *folder.parents) if (each / ".obsidian").is_dir()), None)


def _file_link(path: str, folder: Path | None, vault: Path | None) -> str:
    if folder is not None and vault is not None and Path(path).is_relative_to(vault):
        return quote(os.path.relpath(path, folder))
    return Path(path).as_uri()


def export_cited(answers: Sequence[Mapping[str, Any]], form: CitingForm) -> ExportedDocument:
    """Return these `asky.answer/1` objects as LaTeX, or a bibliography of what they cite, each source once."""
    from asky.evidence.export.cited_text import cited_text  # only for these formats

    return exported_text(cited_text(answers, form), cites_nothing=not any(each["citations"] for each in answers))
