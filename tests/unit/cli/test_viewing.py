"""What a terminal is shown beside and below an answer that is streamed."""

from __future__ import annotations

import io
from typing import TextIO

from asky.cli.terminal.terminal import Terminal
from asky.cli.view import PrintedView, StreamedView
from asky.events import Event, QuerySent, TextStreamed, ignore
from asky.values import Answer, Claim, Span, Usage, Verdict
from tests.support.terminals import on_terminal

ENVIRON = {"TERM": "xterm-256color", "NO_COLOR": "1"}


def claims(*texts: str, verdict: Verdict = "unsupported") -> tuple[Claim, ...]:
    return tuple(Claim(text, Span(0, len(text)), (), verdict, 0.0) for text in texts)


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
    assert found == [
        "⚠ 13 statements: 13 unsupported",
        "⚠ unsupported: “The sea is deep.” (12 times)",
        "⚠ unsupported: “It is salt.”",
    ]


def test_sentences_that_cite_nothing_are_only_counted() -> None:
    checked = (
        *claims("It is deep.", "It is blue.", verdict="supported"),
        *claims("It is cold.", verdict="partial"),
        *claims("It is hot.", verdict="contradicted"),
        *claims("Let me say this.", "And so it is.", verdict="uncited"),
    )
    found = below(" ".join(claim.text for claim in checked), checked)
    assert found == [
        "⚠ 6 statements: 2 supported, 1 partly supported, 1 contradicted, 2 cite nothing",
        "⚠ contradicted: “It is hot.”",
    ]


def test_nothing_is_said_of_an_answer_whose_sentences_are_all_supported() -> None:
    assert below("It is deep.", claims("It is deep.", verdict="supported")) == []
    assert below("", ()) == []


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


def printed(stream: TextIO, answer: str, checked: tuple[Claim, ...], *, verbose: bool = False) -> str:
    """What is printed on stderr beside an answer that is printed at once on `stream`."""
    err = io.StringIO()
    terminal = Terminal(out=stream, err=err, environ={"TERM": "dumb"}, verbose=verbose)
    PrintedView(terminal, ignore).show(
        Answer("r", None, "standard", "?", "m", answer, (), checked, (), (), Usage(), None)
    )
    return err.getvalue()


def test_in_a_pipe_the_verdicts_are_a_note_and_name_no_sentence_that_is_marked() -> None:
    out, checked = io.StringIO(), (*claims("It is hot.", verdict="contradicted"), *claims("So.", verdict="uncited"))
    assert printed(out, "It is hot. ⚠ contradicted So.", checked) == (
        "\n⚠ 2 statements: 1 contradicted, 1 cites nothing\n"
    )
    assert out.getvalue() == "It is hot. ⚠ contradicted So.\n"


def test_more_detail_is_the_verdict_on_each_statement() -> None:
    checked = (*claims("The **sea** is [deep](http://x.test) [1].", verdict="supported"), *claims("a | b [2]"))
    assert printed(io.StringIO(), "", checked, verbose=True).splitlines()[1:] == [
        "⚠ 2 statements: 1 supported, 1 unsupported",
        "  supported          The sea is deep.",
        "  unsupported        a; b",
    ]


def test_a_terminal_that_moves_no_cursor_is_shown_rendered_text_that_breaks_between_words() -> None:
    text = "# Tides\n\nThe **moon** pulls on the water of the sea."
    shown = on_terminal(24, lambda stream: printed(stream, text, claims("It is a hot place.")))
    assert shown == ("Tides\n═════\n\nThe moon pulls on the\nwater of the sea.\n\n⚠ 1 statement: 1\nunsupported\n")
