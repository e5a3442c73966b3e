"""What a terminal is shown beside and below an answer that is streamed."""

from __future__ import annotations

import io

from asky.cli.terminal.terminal import Terminal
from asky.cli.view import StreamedView
from asky.events import Event, QuerySent, TextStreamed
from asky.values import Answer, Claim, Span, Usage, Verdict

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
