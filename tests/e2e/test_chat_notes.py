"""Notes in `asky chat` at a pseudo-terminal: what the user is asked, and what an answer, Ctrl-C or a pipe comes to."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from tests.support.asky_command import run_asky
from tests.support.chatting import CTRL_D, ENTER, Chatting, answer_to
from tests.support.endpoint import Answer, Call, Request
from tests.support.here import run_here
from tests.support.note_lab import TIDAL, NoteLab, key_of, topics

RESEARCH = Answer(calls=(Call("research_note", {"path": "Tidal power.md"}),))
FIND = Answer(calls=(Call("find_notes", {"query": "harbour wall spring tide"}),))
CHOSEN = topics("tidal range")
WRITE = "Write this into Tidal power.md? [y/N]"
WAITING = "y or n, then Enter"
OFF = ("--no-web", "-m", "far")


def cites_harbour(request: Request) -> str:
    return f"The harbour wall of granite keeps the spring tide out [{key_of(request, 'granite')}]."


def synthesis(request: Request) -> str:
    return f"### Tidal range\n\nA neap tide has a small tidal range [{key_of(request, 'neap tide')}]."


@pytest.fixture
def lab(tmp_path: Path) -> Iterator[NoteLab]:
    with NoteLab(tmp_path) as opened:
        yield opened


@pytest.fixture
def home(tmp_path: Path) -> Path:
    (tmp_path / "home" / "asky" / "cache").mkdir(parents=True, mode=0o700)
    return tmp_path / "home"


def environ_of(lab: NoteLab, **more: str) -> Mapping[str, str]:
    return {
        "ASKY_NOTES__VAULT": str(lab.vault),
        "ASKY_PROVIDERS__LAB__BASE_URL": lab.endpoint.base_url,
        "ASKY_MODELS__FAR__PROVIDER": "lab",
        "ASKY_MODELS__FAR__ID": "test-model",
        "ASKY_RESEARCH__EMBEDDING__MODEL": str(lab.folder / "no model"),
        "ASKY_RESEARCH__SHORTLIST__STANDARD": "false",
        "ASKY_SEARCH__SEARXNG__BASE_URL": lab.search.base_url,
        "ASKY_SEARCH__SEARXNG__GAP_S": "0",
        **more,
    }


def test_a_note_is_cited_and_another_written_once_the_user_agrees_and_taken_back(lab: NoteLab, home: Path) -> None:
    lab.endpoint.play(FIND, cites_harbour, RESEARCH, CHOSEN, synthesis, FIND, cites_harbour)
    environ = environ_of(lab)
    with Chatting(*OFF, home=home, environ=environ) as chatting:
        chatting.prompt()
        answer_to(chatting, "What keeps the tide out?", "keeps the spring tide out [1].")
        assert "[1] Harbour" in chatting.text()
        chatting.ask("Research my note on tidal power.")
        chatting.see(WRITE)
        chatting.see(WAITING)
        assert "+A neap tide has a small tidal range ([[Neap]])." in chatting.text()
        assert lab.note() == TIDAL
        chatting.type("yes")
        chatting.see("> yes")
        chatting.type(ENTER)
        chatting.see("wrote research on 1 topic into Tidal power.md; `asky notes undo 'Tidal power.md'` takes it back")
        chatting.prompt()
        assert "## Research" in lab.note()
        chatting.type(CTRL_D)
        assert chatting.end() == 0
    assert lab.endpoint.faults == []
    runs = json.loads(run_here("runs", "list", "--json", home=home, environ=environ).stdout)["runs"]
    asking = next(each["id"] for each in runs if each["question"] == "Research my note on tidal power.")
    shown = run_here("runs", "show", asking, home=home, environ=environ).stdout
    assert "note      Tidal power.md (written), run " in shown
    assert run_here("notes", "undo", "Tidal power.md", home=home, environ=environ).returncode == 0
    assert lab.note() == TIDAL


@pytest.mark.extended
def test_a_refused_note_stays_and_what_was_begun_before_the_question_is_a_note(lab: NoteLab, home: Path) -> None:
    lab.endpoint.play(RESEARCH, CHOSEN, synthesis, FIND, cites_harbour)
    with Chatting(*OFF, home=home, environ=environ_of(lab)) as chatting:
        chatting.prompt()
        chatting.ask("Research my note on tidal power.")
        chatting.see(WAITING)
        chatting.type("and be brief" + ENTER)
        chatting.see("[1 note for the model]")
        chatting.type("n" + ENTER)
        chatting.see("not written")
        chatting.see("note to the model: and be brief")
        chatting.see("keeps the spring tide out [1].")
        chatting.prompt()
    assert lab.note() == TIDAL
    assert '"success": false' in str(lab.endpoint.requests[3].messages[-2]["content"])


@pytest.mark.extended
def test_ctrl_c_at_the_question_stops_the_turn_and_the_next_prompt_gets_the_keys(lab: NoteLab, home: Path) -> None:
    lab.endpoint.play(RESEARCH, CHOSEN, synthesis, FIND, cites_harbour)
    with Chatting(*OFF, home=home, environ=environ_of(lab)) as chatting:
        chatting.prompt()
        chatting.ask("Research my note on tidal power.")
        chatting.see(WAITING)
        chatting.interrupt()
        chatting.see("stopped")
        chatting.prompt()
        assert lab.note() == TIDAL
        answer_to(chatting, "What keeps the tide out?", "keeps the spring tide out [1].")
        chatting.type(CTRL_D)
        assert chatting.end() == 0
    assert lab.note() == TIDAL


@pytest.mark.extended
def test_the_queries_of_a_note_are_shown_before_they_are_sent(lab: NoteLab, home: Path) -> None:
    lab.endpoint.play(RESEARCH, CHOSEN, synthesis, FIND, cites_harbour)
    with Chatting("-m", "far", home=home, environ=environ_of(lab)) as chatting:
        chatting.prompt()
        chatting.ask("Research my note on tidal power.")
        chatting.see("Send this query to searxng")
        assert "  - tidal range" in chatting.text()
        assert lab.queries() == []
        chatting.type("y" + ENTER)
        chatting.see(WRITE)
        chatting.type("n" + ENTER)
        chatting.see("keeps the spring tide out [1].")
        chatting.prompt()
    assert lab.queries() == ["tidal range"]
    assert lab.note() == TIDAL


@pytest.mark.extended
def test_a_query_with_words_of_a_note_is_sent_if_the_user_agrees(lab: NoteLab, home: Path) -> None:
    lab.put("Plan.md", "The harbour wall of granite is guarded by Kestrel Vexnor.\n")
    search = Answer(calls=(Call("web_search", {"queries": ["Vexnor granite"]}),))
    lab.endpoint.play(FIND, search, search, cites_harbour)
    with Chatting("-m", "far", home=home, environ=environ_of(lab)) as chatting:
        chatting.prompt()
        chatting.ask("What keeps the tide out?")
        chatting.see("Send this query to searxng")
        chatting.type("n" + ENTER)
        chatting.see("not sent")
        chatting.see_that(lambda: chatting.text().count("Send this query to searxng") == 2, "the second question")
        assert lab.queries() == []
        chatting.see_that(lambda: WAITING in "\n".join(chatting.screen.display), "the second question's line")
        chatting.type("y" + ENTER)
        chatting.see("keeps the spring tide out [1].")
        chatting.prompt()
    assert lab.queries() == ["Vexnor granite"]


@pytest.mark.extended
def test_a_plain_terminal_asks_too_and_keeps_lines_that_are_no_answer(lab: NoteLab, home: Path) -> None:
    lab.endpoint.play(RESEARCH, CHOSEN, synthesis, FIND, cites_harbour)
    with Chatting(*OFF, home=home, environ=environ_of(lab, TERM="dumb")) as chatting:
        chatting.see("\n>")
        chatting.type("Research my note on tidal power.\n")
        chatting.see(WRITE)
        chatting.type("What else?\n")
        chatting.type("y\n")
        chatting.see("wrote research on 1 topic")
        chatting.see("> What else?")
        chatting.see_that(lambda: chatting.text().count("keeps the spring tide out") == 2, "the second answer")
    assert "## Research" in lab.note()


def test_in_a_pipe_nothing_is_written_and_nobody_is_asked(lab: NoteLab, home: Path) -> None:
    lab.endpoint.play(RESEARCH, CHOSEN, synthesis, FIND, cites_harbour)
    question = "Research my note on tidal power.\n"
    done = run_asky("chat", "-m", "far", home=home, environ=environ_of(lab), stdin=question)
    assert done.returncode == 0, done.stderr
    assert "keeps the spring tide out [1]." in done.stdout
    assert "[y/N]" not in done.stderr
    assert lab.note() == TIDAL
    assert lab.queries() == []
