"""An answer on paper: printed to a terminal or a pipe, or written to a file."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING

from asky.cli.saving import save_text
from asky.cli.terminal import Terminal
from asky.evidence.answer import answer_json
from asky.evidence.citing import reference
from asky.evidence.markdown import answer_markdown
from asky.values import Answer

if TYPE_CHECKING:
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
    for citation in answer_json(answer)["citations"]:
        terminal.out.write(terminal.paint(f"[{citation['n']}]", 36) + " " + terminal.paint(reference(citation)) + "\n")
    if answer.citations:
        terminal.note(f"\n`{why}` shows the passage behind [N]; run {answer.run}")


def as_markdown(answer: Answer) -> str:
    """The answer as a Markdown document with its sources."""
    return answer_markdown(answer_json(answer))


def as_html(answer: Answer, services: Services) -> str:
    """The answer as a page, with the passages in their context as the store has them."""
    from asky.report.gathering import report_run  # for this format only, as is the page
    from asky.report.page import render_report

    run = services.runs.find(answer.run)
    return render_report([report_run(run, runs=services.runs, documents=services.documents)])


def write_answer(path: Path, answer: Answer, services: Services) -> None:
    """Write the answer to `path`, by its suffix as Markdown, HTML or JSON. Raises what `save_text` does."""
    if path.suffix == ".html":
        text = as_html(answer, services)
    elif path.suffix == ".json":
        text = json.dumps(answer_json(answer), ensure_ascii=False, indent=2) + "\n"
    else:
        text = as_markdown(answer)
    save_text(path, text)
