"""Findings over several questions, as a user asks them: the installed command, a scripted endpoint, the real model."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.e2e.test_ask_models import environ_of
from tests.support.endpoint import Answer, Call, Endpoint, Request
from tests.support.here import run_here

pytestmark = pytest.mark.model

TIDES = "How many high tides does the moon raise in a day?"
LATER = "What raises the tides of the sea?"
FINDING = "The moon raises two high tides a day."
SEARCH = Answer(calls=(Call("get_relevant_content", {"queries": ["high tides moon"]}),))


def saves(request: Request) -> Answer:
    """Saves a finding that rests on the first passage which was shown."""
    shown = "\n".join(str(message.get("content")) for message in request.messages)
    key = re.search(r"<passage [0-9a-f]+ (P[0-9a-f]{4,8}) ", shown)
    assert key is not None
    return Answer(calls=(Call("save_finding", {"finding": FINDING, "passages": [key[1]], "tags": ["moon"]}),))


def ask(home: Path, docs: Path, endpoint: Endpoint, session: str, question: str, *flags: str) -> str:
    """Ask, and return the question as the endpoint got it, with what was recalled for it."""
    before = len(endpoint.requests)
    arguments = ("-r", "-d", str(docs), "-s", session, "-m", "priced", *flags, question, "--json")
    done = run_here(*arguments, home=home, environ=environ_of(endpoint))
    assert done.returncode == 0, done.stderr
    return str(endpoint.requests[before].messages[-1]["content"])


@pytest.fixture
def remembered(home: Path, docs: Path) -> Path:
    """A home in whose session `sea` a finding was saved."""
    with Endpoint(SEARCH, saves, Answer("Two.")) as endpoint:
        ask(home, docs, endpoint, "sea", TIDES)
    return home


@pytest.mark.extended
def test_a_later_question_of_the_session_is_led_by_a_finding_and_another_session_is_not(
    remembered: Path, docs: Path
) -> None:
    (kept,) = json.loads(run_here("memory", "list", "--json", home=remembered).stdout)["findings"]
    assert (kept["text"], kept["trust"], kept["session"], kept["tags"]) == (FINDING, "local", "sea", ["moon"])
    assert len(kept["passages"][0]["quote_sha256"]) == 64
    with Endpoint(Answer("The moon.")) as endpoint:
        question = ask(remembered, docs, endpoint, "sea", LATER)
        assert f'from documents of the user, saved {kept["created_at"][:10]}, #"moon": "{FINDING}"' in question
        assert kept["passages"][0]["source_id"] in question
        assert str(docs) not in question
        assert FINDING not in ask(remembered, docs, endpoint, "mill", LATER)


def test_what_the_user_writes_down_is_recalled_everywhere_and_what_is_forgotten_nowhere(
    remembered: Path, docs: Path
) -> None:
    own = "The tides of the sea are measured at the old mill."
    assert run_here("memory", "add", own, home=remembered).returncode == 0
    with Endpoint(Answer("The moon.")) as endpoint:
        question = ask(remembered, docs, endpoint, "mill", LATER)
    assert re.search(rf'^- written by the user, saved \d{{4}}-\d\d-\d\d: "{re.escape(own)}"$', question, re.MULTILINE)
    found = run_here("memory", "search", "what raises the tides?", home=remembered).stdout
    assert own in found
    assert FINDING in found
    gone = run_here("memory", "rm", "--source", str(docs), home=remembered)
    assert gone.stderr == "deleted finding 1\n"
    with Endpoint(Answer("The moon.")) as endpoint:
        question = ask(remembered, docs, endpoint, "sea", LATER)
    assert own in question
    assert FINDING not in question


@pytest.mark.extended
def test_findings_of_all_sessions_are_recalled_where_the_user_wants_that(remembered: Path, docs: Path) -> None:
    with Endpoint(Answer("The moon.")) as endpoint:
        assert FINDING in ask(remembered, docs, endpoint, "mill", LATER, "--all-sessions")
        assert FINDING not in ask(remembered, docs, endpoint, "harbour", LATER)


def test_all_sessions_without_research_is_refused(home: Path, docs: Path) -> None:
    done = run_here("-d", str(docs), "--all-sessions", TIDES, home=home)
    assert done.returncode == 2
    assert "only research recalls" in done.stderr
    assert "add -r" in done.stderr
