"""An answer on paper: printed to a terminal or a pipe, or written to a file."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from asky.cli.export_forms import form_of
from asky.cli.saving import save_text
from asky.cli.terminal import Terminal, json_document
from asky.evidence.answer import answer_json
from asky.evidence.citing import reference
from asky.evidence.markdown import answer_markdown
from asky.values import Answer

if TYPE_CHECKING:
    from asky.cli.export_forms import Form
    from asky.storage.runs import Run
    from asky.wiring import Services

WHY = "asky why N"
_MARKER = re.compile(r"(\[\d+\])")


def print_answer(terminal: Terminal, answer: Answer, *, why: str = WHY) -> None:
    """The text, then a line for each citation, and that the command `why` shows more."""
    for line in answer.text.splitlines():
        parts = _MARKER.split(line)
        terminal.out.write(
            "".join(terminal.paint(part, 36) if _MARKER.fullmatch(part) else terminal.paint(part) for part in parts)
            + "\n"
        )
    print_sources(terminal, answer, why=why)


def print_sources(terminal: Terminal, answer: Answer, *, why: str = WHY) -> None:
    """A line for each citation of an answer whose text is on the terminal."""
    if answer.citations:
        terminal.line()
        print_citations(terminal, answer_json(answer)["citations"])
        terminal.note(f"\n`{why}` shows the passage behind [N]; run {answer.run}")


def print_citations(terminal: Terminal, citations: Sequence[Mapping[str, Any]]) -> None:
    """A line for each citation of an `asky.answer/1` object."""
    for citation in citations:
        terminal.out.write(terminal.paint(f"[{citation['n']}]", 36) + " " + terminal.paint(reference(citation)) + "\n")


def as_html(run: Run, services: Services) -> str:
    """The answer of `run` as a page, with the passages in their context as the store has them.

    Raises `UsageError` where the run has no answer.
    """
    from asky.report.gathering import report_run  # for this format only, as is the page
    from asky.report.page import render_report

    return render_report([report_run(run, runs=services.runs, documents=services.documents)])


def write_answer(path: Path, answer: Mapping[str, Any], services: Services) -> None:
    """Write an answer, as its JSON object, to `path` in the form that its suffix says.

    Raises what `form_of` and `save_text` do.
    """
    save_text(path, _written(answer, form_of(path), services))


def _written(answer: Mapping[str, Any], form: Form, services: Services) -> str:
    if form == "html":
        return as_html(services.runs.find(answer["run"]), services)
    if form == "json":
        return json_document(answer)
    if form == "md":
        return answer_markdown(answer)
    from asky.evidence.bibliography import bibliography  # for these formats only

    return bibliography([answer], form)
