"""What keeps a question off the web, and what an unreachable search service costs."""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import anyio
import pytest

from asky.app.requests import AskRequest, Attachment, WebOptions
from asky.errors import Unreachable
from asky.events import Event
from asky.values import Answer
from tests.support.agent_lab import QUESTION, AgentLab
from tests.support.library import notes_of, open_asky

LEFT_OUT = "the web is left out, as the question comes with a text of yours; allow the web to have both"
REPLY = "Paris is the capital of France."
CAPITAL = "What is the capital of France?"


@pytest.fixture
def lab(tmp_path: Path) -> Iterator[AgentLab]:
    (tmp_path / "granted").mkdir()
    (tmp_path / "granted" / "log.md").write_text(
        "# Log\n\nThe barrage of the Rance cost 620 million francs and was painted in May.\n"
    )
    with AgentLab(tmp_path, **{"research.local_document_roots": [str(tmp_path / "granted")]}) as opened:
        yield opened


def asked(lab: AgentLab, question: str = QUESTION, heard: list[Event] | None = None, **options: Any) -> Answer:
    listen = heard.append if heard is not None else lab.heard.append
    return anyio.run(lambda: lab.asky.chat.ask(AskRequest(question=question, **options), listen=listen))


TEXTS: dict[str, Callable[[Path], dict[str, Any]]] = {
    "piped": lambda _: {
        "attachments": (Attachment(text="The barrage of the Rance cost 620 million francs and was painted in May."),)
    },
    "local": lambda _: {"question": "What does local://log.md say about the Rance barrage's cost?"},
    "file": lambda folder: {"question": f"What does file://{folder}/granted/log.md say about the Rance barrage cost?"},
    "path": lambda folder: {"question": f"What does {folder}/granted/log.md say of the Rance barrage cost ?"},
    "name": lambda _: {"question": "What does granted/log.md say about the Rance barrage cost ?"},
}


@pytest.mark.parametrize("kind", TEXTS)
def test_a_text_that_comes_with_a_question_keeps_it_off_the_web(lab: AgentLab, tmp_path: Path, kind: str) -> None:
    options = TEXTS[kind](tmp_path)
    answer = asked(lab, **options)
    assert "painted in May" in answer.text
    assert (lab.queries(), lab.site.reached) == ([], [])
    assert notes_of(lab.heard).count(LEFT_OUT) == 1
    lab.heard.clear()
    asked(lab, **options, web=WebOptions(allowed=True))
    assert lab.queries()
    assert LEFT_OUT not in notes_of(lab.heard)


@pytest.mark.parametrize("web", [WebOptions(allowed=True), WebOptions(sites=("127.0.0.1",))], ids=["allowed", "site"])
def test_who_wants_pages_too_gets_them(lab: AgentLab, web: WebOptions) -> None:
    asked(
        lab,
        attachments=(Attachment(text="The barrage of the Rance cost 620 million francs and was painted in May."),),
        web=web,
    )
    assert lab.queries()


@pytest.mark.parametrize("question", ["What does /etc/fstab cost the Rance barrage?", "Is a/b cost of the Rance?"])
def test_what_is_no_file_that_may_be_read_keeps_nothing_off_the_web(lab: AgentLab, question: str) -> None:
    asked(lab, question)
    assert lab.queries()


def test_nothing_is_said_where_nothing_would_have_been_searched(lab: AgentLab) -> None:
    heard: list[Event] = []
    with open_asky(lab.folder) as asky:
        request = AskRequest(question=QUESTION, attachments=(Attachment(text="The Rance barrage cost a lot."),))
        anyio.run(lambda: asky.chat.ask(request, listen=heard.append))
    asked(lab, heard=heard, attachments=(Attachment(text="It cost a lot."),), web=WebOptions(allowed=False))
    assert LEFT_OUT not in notes_of(heard)


# services that are down


@pytest.fixture
def down(tmp_path: Path) -> Iterator[AgentLab]:
    """The lab with a search service that nobody runs."""
    with closing(socket.socket()) as closed:
        closed.bind(("127.0.0.1", 0))
        address = f"http://127.0.0.1:{closed.getsockname()[1]}"
        with AgentLab(tmp_path, **{"search.searxng.base_url": address}) as lab:
            yield lab


@pytest.mark.parametrize("shortlist", ["on", "auto"])
def test_a_model_answers_where_the_web_cannot_be_searched(down: AgentLab, shortlist: Any) -> None:
    down.replies = {CAPITAL: REPLY}
    answer = asked(down, CAPITAL, model="far", web=WebOptions(shortlist=shortlist))
    assert (answer.text, answer.stopped_by) == (REPLY, None)
    (told,) = [each for each in answer.warnings if "could not be searched" in each]
    assert "the connection was refused" in told
    assert any("nothing in this answer is cited" in each for each in answer.warnings)
    assert answer.claims == ()
    assert anyio.run(lambda: down.asky.chat.replay(answer.run)).text == REPLY


def test_documents_are_answered_from_where_the_web_cannot_be_searched(down: AgentLab, tmp_path: Path) -> None:
    note = tmp_path / "note.md"
    note.write_text("# Rance\n\nThe tidal barrage of the Rance cost 620 million francs.\n")
    answer = asked(down, documents=(note,), mode="research", web=WebOptions(allowed=True))
    assert "620 million" in answer.text
    assert any("could not be searched" in each for each in answer.warnings)


@pytest.mark.parametrize("options", [{}, {"mode": "research", "model": "far"}], ids=["built-in", "research"])
def test_who_needs_sources_is_told_why_there_are_none(down: AgentLab, options: dict[str, Any]) -> None:
    with pytest.raises(Unreachable, match="the connection was refused"):
        asked(down, CAPITAL, **options)


def test_research_that_could_search_nothing_names_the_reason_alone(down: AgentLab) -> None:
    answer = down.research(library=False, max_cycles=1)
    with pytest.raises(Unreachable, match="the connection was refused") as raised:
        down.asky.agent.raise_for_outcome(answer)
    assert "read earlier" not in str(raised.value.hint)
