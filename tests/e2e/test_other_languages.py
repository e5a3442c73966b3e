"""Questions in another language than the pages that search finds, as a user asks them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.e2e.test_ask_models import SEARCH, cites, environ_of
from tests.e2e.test_ask_web import Web, web
from tests.support.endpoint import Endpoint
from tests.support.here import run_here

__all__ = ["web"]

pytestmark = pytest.mark.model

GERMAN = "Was ist die Ursache der Gezeiten im Meer?"
RUSSIAN = "В чём причина приливов в море?"


@pytest.mark.few(1)
@pytest.mark.parametrize("question", [GERMAN, RUSSIAN])
def test_a_model_is_given_the_pages_and_the_ledger_says_how_they_were_chosen(
    home: Path, web: Web, question: str
) -> None:
    with Endpoint(SEARCH, cites("Der Mond hebt das Meer zweimal am Tag [{key}].")) as endpoint:
        environ = web.environ | environ_of(endpoint)
        done = run_here("-r", "-m", "priced", question, "--json", home=home, environ=environ)
    answer = json.loads(done.stdout)
    assert done.returncode == 0, done.stderr
    assert answer["warnings"] == []
    (cited,) = answer["citations"]
    assert cited["url"] in (web.site.url("/tides"), web.site.url("/copy"))
    reasons = [each["reason"] for each in answer["rejected"]]
    assert not [each for each in reasons if "not about the question" in each]
    shown = run_here("runs", "show", "-v", home=home).stdout
    assert "at best as number 1; in another language than the question: taken in search order" in shown


@pytest.mark.extended
def test_the_built_in_model_says_that_it_cannot_answer_from_them(home: Path, web: Web) -> None:
    done = run_here("-r", GERMAN, "--json", home=home, environ=web.environ)
    answer = json.loads(done.stdout)
    assert (done.returncode, answer["stopped_by"], answer["warnings"]) == (11, "no_evidence", [])
    assert answer["answer"].startswith("I could not find an answer in the sources.")
    assert len(answer["sources"]) == 3
