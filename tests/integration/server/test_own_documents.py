"""The documents that are kept, behind the server: which they are, that they answer, and how they are left out."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.support.agent_lab import QUESTION, AgentLab
from tests.support.lab import ASKED, SECRET, Lab
from tests.support.library import open_asky
from tests.support.served import Served, serving

pytestmark = pytest.mark.anyio
OPTION = re.compile(r"(?<![\w-])--?[a-z]")


@pytest.fixture
async def served(lab: Lab) -> AsyncIterator[Served]:
    with lab.open() as asky:
        await asky.corpus.add([lab.private])
        async with serving(asky, asky.agent) as opened:
            yield opened


async def test_they_are_named_with_all_that_a_question_is_answered_from(served: Served, lab: Lab) -> None:
    kept = {"name": "default", "documents": 1, "missing": [], "words": "collection default, 1 document"}
    assert await served.get("/api/sources") == {
        "schema": "asky.own_sources/1",
        "default": "default",
        "collections": [kept],
        "papers": 0,
        "notes": False,
        "services": [],
    }
    await served.post("/api/ask", {"question": ASKED, "session": "codes"})
    (lab.private / "codes.md").unlink()
    lab.private.rmdir()
    (gone,) = (await served.get("/api/sources"))["collections"]
    assert gone["missing"] == [str(lab.private)]
    assert "is gone or empty now" in gone["words"]


async def test_they_answer_questions_and_research(served: Served) -> None:
    assert SECRET in (await served.post("/api/ask", {"question": ASKED}))["answer"]
    messages = await served.followed(await served.start(ASKED))
    assert SECRET in messages[-1]["result"]["answer"]
    assert "answering from your documents: collection default, 1 document" in [each.get("message") for each in messages]


async def test_they_are_left_out_on_request_and_the_error_says_what_is_possible(served: Served) -> None:
    left_out = {"default_documents": False}
    asked = await served.post("/api/ask", {"question": ASKED, **left_out}, status=400)
    begun = await served.post("/api/research/start", {"query": ASKED, **left_out}, status=400)
    for error in (asked, begun):
        assert error["message"].startswith("there is nothing to answer from: the documents that are kept are left out")
        assert "`asky setup` adds documents" in error["hint"]
        assert not OPTION.search(error["message"] + error["hint"])


async def test_no_error_names_an_option_of_a_command(tmp_path: Path) -> None:
    with open_asky(tmp_path) as asky:
        async with serving(asky, asky.agent) as served:
            bodies = [
                ("/api/ask", {"question": ASKED}),
                ("/api/ask", {"question": ASKED, "web": False}),
                ("/api/ask", {"question": ASKED, "web": True}),
                ("/api/ask", {"question": ASKED, "offline": True}),
                ("/api/ask", {"question": ASKED, "mode": "lean"}),
                ("/api/ask", {"question": ASKED, "model": "none"}),
                ("/api/ask", {"question": ASKED, "collections": ["none"]}),
                ("/api/ask", {"question": ASKED, "mode": "lean", "web": True}),
                ("/api/research/start", {"query": ASKED}),
                ("/api/research/start", {"query": ASKED, "web": False}),
                ("/api/research/start", {"query": ASKED, "privacy_mode": "local_only"}),
                ("/api/research/start", {"query": ASKED, "documents": ["/etc/fstab"]}),
                ("/api/search", {"query": ASKED}),
            ]
            for place, body in bodies:
                reply = await served.http.post(place, json=body)
                error = reply.json()
                told = error["message"] + " " + (error["hint"] or "")
                assert reply.status_code >= 400, (body, told)
                assert not OPTION.search(re.sub("`[^`]*`", "", told)), (body, told)


async def test_a_file_outside_the_folders_says_where_files_may_be(lab: Lab) -> None:
    with lab.open() as asky:
        async with serving(asky, asky.agent) as served:
            body = {"query": ASKED, "documents": [str(lab.private)]}
            error = await served.post("/api/research/start", body, status=403)
            assert error["message"].endswith("outside the folders that the server may read: none")
            assert "`asky corpus add PATH` keeps documents" in error["hint"]


async def test_research_is_told_which_services_of_its_field_are_not_set_up(tmp_path: Path) -> None:
    with AgentLab(tmp_path) as lab:
        async with serving(lab.asky, lab.asky.agent) as served:
            run = await served.start(QUESTION, privacy_mode="hybrid", domain="medical", max_cycles=1)
            result = (await served.followed(run))[-1]["result"]
    assert any("pubmed, semantic_scholar first" in each for each in result["warnings"])
