"""What a terminal is shown beside and below an answer that is streamed."""

from __future__ import annotations

import io

from asky.cli.terminal.terminal import Terminal
from asky.cli.view import StreamedView
from asky.events import Event, QuerySent, TextStreamed
from asky.values import Answer, Claim, Span, Usage

ENVIRON = {"TERM": "xterm-256color", "NO_COLOR": "1"}


def claims(*texts: str) -> tuple[Claim, ...]:
    return tuple(Claim(text, Span(0, len(text)), (), "uncited", 0.0) for text in texts)


def below(answer: str, doubtful: tuple[Claim, ...]) -> list[str]:
    """The lines that name what is in doubt of an answer that was streamed."""
    out = io.StringIO()
    terminal = Terminal(out=out, err=io.StringIO(), environ=ENVIRON)
    heard: list[Event] = []
    view = StreamedView(terminal, heard.append, ENVIRON, waits=False)
    view.listen(TextStreamed(answer))
    view.show(Answer("r", None, "standard", "?", "m", answer, (), doubtful, (), (), Usage(), None))
    view.close()
    return [line for line in out.getvalue().splitlines() if line.startswith("⚠")]


def test_a_sentence_in_doubt_that_is_repeated_is_named_once_with_its_count() -> None:
    found = below("The sea is deep. " * 12 + "It is salt.", claims(*["The sea is deep."] * 12, "It is salt."))
    assert found == ["⚠ uncited: “The sea is deep.” (12 times)", "⚠ uncited: “It is salt.”"]


def test_a_query_that_is_sent_while_the_answer_is_written_stands_on_a_line_of_its_own() -> None:
    out = io.StringIO()
    terminal = Terminal(out=out, err=io.StringIO(), environ=ENVIRON)

    def hear(event: Event) -> None:
        if isinstance(event, QuerySent):
            out.write("QUERY\n")

    view = StreamedView(terminal, hear, ENVIRON, waits=False)
    view.listen(TextStreamed("Let me look it up"))
    view.listen(QuerySent("neap tides", ("lab (s.test)",), True))
    assert out.getvalue().splitlines() == ["Let me look it up", "QUERY"]
    view.close()
