"""An answer on paper: printed to a terminal or a pipe, or written to a file."""

from __future__ import annotations

import json
import re
from pathlib import Path

from asky.cli.citing import reference
from asky.cli.saving import save_text
from asky.cli.terminal import Terminal
from asky.evidence.answer import answer_json
from asky.values import Answer

_MARKER = re.compile(r"(\[\d+\])")


def print_answer(terminal: Terminal, answer: Answer) -> None:
    """The text, then a line for each citation."""
    for line in answer.text.splitlines():
        parts = _MARKER.split(line)
        terminal.out.write(
            "".join(terminal.paint(part, 36) if _MARKER.fullmatch(part) else terminal.paint(part) for part in parts)
            + "\n"
        )
    print_sources(terminal, answer)


def print_sources(terminal: Terminal, answer: Answer) -> None:
    """A line for each citation of an answer whose text is on the terminal."""
    if answer.citations:
        terminal.line()
    for citation in answer_json(answer)["citations"]:
        terminal.out.write(terminal.paint(f"[{citation['n']}]", 36) + " " + terminal.paint(reference(citation)) + "\n")
    if answer.citations:
        terminal.note(f"\n`asky why N` shows the passage behind [N]; run {answer.run}")


def as_markdown(answer: Answer) -> str:
    """The answer as a Markdown document with its sources."""
    lines = [f"# {answer.question}", "", answer.text, ""]
    if answer.citations:
        lines += ["## Sources", ""]
    for citation in answer_json(answer)["citations"]:
        quote = " ".join(citation["quote"].split())
        lines += [f"{citation['n']}. {reference(citation)}", f"   > {quote}", ""]
    return "\n".join(lines)


def write_answer(path: Path, answer: Answer) -> None:
    """Write the answer to `path`, by its suffix as Markdown or JSON. Raises what `save_text` does."""
    text = as_markdown(answer)
    if path.suffix == ".json":
        text = json.dumps(answer_json(answer), ensure_ascii=False, indent=2) + "\n"
    save_text(path, text)
