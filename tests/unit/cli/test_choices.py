"""What a question is asked with: its own flags, and what its session said before."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from asky.errors import UsageError
from asky.storage.sessions import Session
from tests.support.talks import choices


def session(mode: str = "standard", **settings: Any) -> Session:
    return Session("0" * 12, "sea", mode, "2026-01-01", "2026-01-01", settings=settings)


def test_what_the_flags_leave_open_is_as_the_session_had_it() -> None:
    followed = choices().following(session("research", web=True, model="fast", sites=["nasa.gov"], since="1y"))
    assert followed.mode == "research"
    assert followed.model == "fast"
    assert (followed.site, followed.since) == (("nasa.gov",), "1y")
    assert followed.uses_web


def test_flags_go_before_what_the_session_said() -> None:
    followed = choices(lean=True, model="slow", web=False).following(session("research", web=True, model="fast"))
    assert (followed.mode, followed.model, followed.web) == ("lean", "slow", False)


@pytest.mark.parametrize("mode", ["research", "lean", "standard"])
def test_the_default_mode_can_be_had_again_in_any_session(mode: str) -> None:
    assert choices(standard=True).following(session(mode)).mode == "standard"
    assert choices(standard=True).following(session("lean", web=True)).uses_web


def test_a_web_that_was_used_is_used_again_but_not_demanded() -> None:
    assert choices().following(session(web=True)).web is None  # or a search service that is gone would be an error
    assert choices().following(session(web=True)).uses_web
    assert choices().following(session(web=False)).web is False


def test_documents_that_are_named_now_keep_a_question_off_the_web() -> None:
    assert not choices(docs=(Path("x"),)).following(session(web=True)).uses_web
    assert choices(docs=(Path("x"),), web=True).following(session(web=False)).uses_web


def test_without_a_session_nothing_changes() -> None:
    assert choices(research=True).following(None) == choices(research=True)


@pytest.mark.parametrize(
    "given",
    [
        {"session": "x", "resume": True},
        {"research": True, "lean": True},
        {"research": True, "standard": True},
        {"lean": True, "standard": True},
        {"lean": True, "web": True},
    ],
)
def test_flags_that_contradict_each_other_are_refused(given: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match="do not go together"):
        choices(**given).check()


def test_findings_of_all_sessions_are_for_research() -> None:
    with pytest.raises(UsageError, match="only research recalls"):
        choices(all_sessions=True).check()
    resumed = choices(all_sessions=True, resume=True)
    resumed.check()  # its session is not known yet
    with pytest.raises(UsageError, match="only research recalls"):
        resumed.following(session("standard")).check(is_followed=True)
    with pytest.raises(UsageError, match="only research recalls"):
        replace(resumed, standard=True).following(session("research")).check(is_followed=True)
    choices(all_sessions=True, research=True).check()
    resumed.following(session("research")).check(is_followed=True)


@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        ({"since": "2021"}, (("nasa.gov",), "2021")),
        ({"site": ("esa.int",)}, (("esa.int",), "1y")),
        ({"site": ("-x.org",)}, (("nasa.gov", "-x.org"), "1y")),
        ({"site": ("-nasa.gov", "-x.org")}, (("-nasa.gov", "-x.org"), "1y")),
        ({"site": ("-x.org", "esa.int")}, (("-x.org", "esa.int"), "1y")),
    ],
)
def test_sites_and_day_are_taken_over_each_by_itself(given: dict[str, Any], wanted: tuple[object, object]) -> None:
    followed = choices(**given).following(session(web=True, sites=["nasa.gov"], since="1y"))
    assert (followed.site, followed.since) == wanted


def test_what_is_shut_out_now_comes_to_what_was_shut_out_before() -> None:
    followed = choices(site=("-b.org", "-a.org")).following(session(web=True, sites=["-a.org"]))
    assert followed.site == ("-a.org", "-b.org")


def test_nothing_of_the_web_is_taken_over_where_it_is_not_used() -> None:
    followed = choices(docs=(Path("x"),)).following(session(web=True, sites=["nasa.gov"], since="1y"))
    assert (followed.site, followed.since) == ((), None)
