"""The view of research over the library: its progress, its answer in a panel, and what can be done next."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from asky.app.schemas.run import answer_object
from asky.cli.evidence_view import print_evidence, print_relevance
from asky.cli.terminal.cells import Row, text_cells
from asky.cli.terminal.markdown_stream import MarkdownStream, print_markdown
from asky.cli.terminal.terminal import terminal_columns
from asky.cli.view import PrintedView, print_sources, print_verdicts
from asky.events import Event, StageFinished, StageStarted, TextDiscarded, TextStreamed
from asky.text.printable import one_line

if TYPE_CHECKING:
    from asky.app.asky import PaperService
    from asky.cli.context import CommandContext
    from asky.cli.terminal.terminal import Terminal
    from asky.events import Listener
    from asky.values import Answer

FAILED_SIGN = "❌"
_MAX_PANEL_COLUMNS = 100
_PLAIN = {
    "🔍": "*",
    "📚": "*",
    "✍️ ": "*",
    "📝": "",
    "💡": "",
    "💾": "*",
    "✅": "*",
    "❌": "error:",
    "⚠️ ": "warning:",
    "•": "-",
    "—": "-",
}
_UNFORMATTED = "⚠️  Some citations could not be formatted correctly"
_STRUCK = re.compile(r"~~\[[^\]]*\?\]~~|~~\[P[0-9a-f]+\]~~")
NEXT_STEPS = (
    "💡 Next steps:",
    "• Use `{0}save` to save these results",
    "• Use `{0}improve <feedback>` to refine the answer",
    "• Use `{0}summary <number>` to view paper summaries (e.g., `{0}summary 1`)",
    "• Use `{0}open <number>` to view full papers (e.g., `{0}open 2`)",
)
_STARTED = {
    "paper summaries": "🔍 Stage 1: Searching summaries for relevant papers...",
    "paper content": "📚 Stage 2: Gathering detailed evidence from {papers}...",
    "synthesis": "✍️  Stage 3: Synthesizing answer from evidence...",
}
_FINISHED = {"paper summaries": "   Found {summary}\n", "paper content": "   Retrieved {summary}\n"}
_IMPROVING = "✍️  Improving research answer with your feedback..."


def shown(terminal: Terminal, text: str) -> str:
    """Return `text` with its signs, or with plain ones if the terminal's encoding lacks them."""
    if is_unicode(terminal):
        return text
    for sign, plain in _PLAIN.items():
        text = text.replace(f"{sign} ", f"{plain} " if plain else "")
    return text


def is_unicode(terminal: Terminal) -> bool:
    """Return whether the output of a command can show every character."""
    return (terminal.out.encoding or "").lower().replace("-", "") == "utf8"


class ResearchView(PrintedView):
    """Prints each stage of a run as it begins and ends, and the answer in a panel.

    `prefix` comes before the commands that are named as next steps. What each statement rests on is shown if it
    `shows_evidence`.
    """

    def __init__(
        self, ctx: CommandContext, papers: PaperService, *, prefix: str, is_improvement: bool, shows_evidence: bool
    ) -> None:
        super().__init__(ctx.terminal, ctx.progress)
        self._papers = papers
        self._prefix = prefix
        self._is_improvement = is_improvement
        self._shows_evidence = shows_evidence
        self._clear = ctx.progress.clear
        self._relevant = "papers"

    @property
    def listen(self) -> Listener:
        return self._on_event

    def _on_event(self, event: Event) -> None:
        if isinstance(event, (TextStreamed, TextDiscarded)):
            return
        line = self._line(event)
        if line is not None:
            self._clear()
            self._terminal.note(shown(self._terminal, line))
        self._forward(event)

    def _line(self, event: Event) -> str | None:
        if isinstance(event, StageStarted):
            if self._is_improvement:
                return _IMPROVING if event.stage == "synthesis" else None
            started = _STARTED.get(event.stage)
            return started.format(papers=self._relevant) if started is not None else None
        if isinstance(event, StageFinished) and not self._is_improvement:
            if event.stage == "paper summaries":
                self._relevant = (event.summary or "").replace(" relevant", "")
            finished = _FINISHED.get(event.stage)
            found_any = finished is not None and not (event.summary or "").startswith("0 ")
            return finished.format(summary=event.summary) if finished is not None and found_any else None
        return None

    def show(self, answer: Answer) -> None:
        """Print the panel, the verdicts, the place of each citation, and the next steps."""
        terminal = self._terminal
        terminal.note("")
        result = self._papers.result(answer)
        print_panel(terminal, "📝 Research Results", result.content)
        for each in result.warnings:
            terminal.note(shown(terminal, f"⚠️  {one_line(each)}"))
        print_verdicts(terminal, answer, terminal.line if terminal.out.isatty() else terminal.note, are_marked=True)
        if terminal.verbose:
            print_sources(terminal, answer)
        if self._shows_evidence:
            terminal.line()
            print_evidence(terminal, answer_object(answer))
        elif terminal.verbose:
            print_relevance(terminal, answer_object(answer))
        if _STRUCK.search(answer.text):
            terminal.note(shown(terminal, _UNFORMATTED))
        if answer.stopped_by is None:
            terminal.note("")
            for line in NEXT_STEPS:
                terminal.note(shown(terminal, line.format(self._prefix)))


def print_panel(terminal: Terminal, title: str, markdown: str) -> None:
    """Print Markdown in a box with a title; in a pipe, without the box."""
    columns = terminal_columns(terminal.out)
    if columns is None or not terminal.is_smart:
        print_markdown(terminal, markdown)
        return
    width = min(columns, _MAX_PANEL_COLUMNS)
    rows = MarkdownStream(
        terminal.out,
        environ=terminal.environ,
        size=lambda: (width - 4, 1),
        colored=terminal.colored,
        links=terminal.links,
    ).rows(markdown)
    terminal.out.write("\n".join(_boxed(rows, shown(terminal, title), width, is_unicode=is_unicode(terminal))) + "\n")


def _boxed(rows: Sequence[Row], title: str, width: int, *, is_unicode: bool) -> list[str]:
    across, down, corners = ("─", "│", "╭╮╰╯") if is_unicode else ("-", "|", "++++")
    left = (width - 4 - text_cells(title)) // 2
    right = width - 4 - text_cells(title) - left
    top = f"{corners[0]}{across * left} {title} {across * right}{corners[1]}"
    body = [f"{down} {row.sent}{' ' * (width - 4 - text_cells(row.text))} {down}" for row in rows]
    return [top, *body, f"{corners[2]}{across * (width - 2)}{corners[3]}"]
