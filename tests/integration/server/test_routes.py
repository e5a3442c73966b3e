"""Each route once: research from start to report, a question, passages, and what stands behind a citation."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import anyio
import anyio.lowlevel
import pytest

from asky.errors import ProviderError
from asky.events import PhaseStarted, StageStarted, Warned
from asky.server.messages import RunProgress
from asky.values import OutgoingQueries
from tests.support.endpoint import Answer
from tests.support.lab import ASKED, SECRET, Lab
from tests.support.scripted_agent import Play, ScriptedAgent, until_stopped
from tests.support.served import serving

pytestmark = pytest.mark.anyio
UNKNOWN = "20260101-000000-00000000"


async def test_research_is_started_followed_and_read(lab: Lab) -> None:
    with lab.open() as asky:
        agent = ScriptedAgent(asky)
        async with serving(asky, agent) as served:
            run_id = await served.start("Why are there tides?")
            await served.followed(run_id)
            status = await served.get(f"/api/research/{run_id}/status")
            assert status["session_id"] == run_id
            assert status["status"] == "finished"
            assert status["current_phase"] == "synthesize"
            assert (status["sources_queried"], status["entities_found"]) == (4, 6)
            assert status["saturation_metrics"]["new_facts_ratio"] == 0.02
            assert status["stop_reason"] == "saturated"
            assert status["waits_for"] is None
            (listed,) = (await served.get("/api/research"))["sessions"]
            assert (listed["session_id"], listed["status"]) == (run_id, "finished")
            result = await served.get(f"/api/research/{run_id}/result")
            assert result["result"]["schema"] == "asky.answer/1"
            assert (await served.get(f"/api/research/{run_id}/report"))["schema"] == "asky.answer/1"
            for form, kind in (("md", "text/markdown"), ("html", "text/html")):
                reply = await served.http.get(f"/api/research/{run_id}/report", params={"format": form})
                assert reply.headers["content-type"].startswith(kind)
                assert "two high tides" in reply.text
            assert (await served.get(f"/api/research/{run_id}/sources"))["sources"] == []
            assert await served.post(f"/api/research/{run_id}/stop") == {"status": "finished"}
            await served.post(f"/api/research/{run_id}/resume", status=409)
        assert agent.requests[0].privacy_mode == "local_only"


class Waiting(ScriptedAgent):
    """Stores no run before it is `ready`, as an agent that reads its documents first."""

    ready: anyio.Event

    async def _run(self, *arguments: Any, **given: Any) -> None:
        await self.ready.wait()
        await super()._run(*arguments, **given)


async def test_the_first_status_has_the_question_already(lab: Lab) -> None:
    with lab.open() as asky:
        agent = Waiting(asky)
        agent.ready = anyio.Event()
        async with serving(asky, agent) as served:
            run_id = await served.start("Why are there tides?")
            status = await served.get(f"/api/research/{run_id}/status")
            assert (status["status"], status["query"]) == ("running", "Why are there tides?")
            agent.ready.set()
            await served.followed(run_id)


def test_a_stage_within_a_phase_of_an_agent_is_no_phase() -> None:
    entered = RunProgress().after(PhaseStarted("synthesize", 1, 4, 6, 2, "writing the report"))
    within = entered.after(StageStarted("verify"))
    assert (within.phase, within.doing, within.sources_queried) == ("synthesize", "verify", 4)
    assert RunProgress().after(StageStarted("verify")).phase == "verify"  # a question has no others


async def test_stopped_research_writes_its_report(lab: Lab) -> None:
    with lab.open() as asky:
        async with serving(asky, ScriptedAgent(asky, until_stopped)) as served:
            run_id = await served.start()
            await served.get(f"/api/research/{run_id}/result", status=409)
            assert await served.post(f"/api/research/{run_id}/stop") == {"status": "stopping"}
            assert (await served.followed(run_id))[-1]["status"] == "finished"
            assert (await served.get(f"/api/research/{run_id}/status"))["stop_reason"] == "User requested stop"


async def test_research_asks_the_user_and_hears_what_is_told(lab: Lab) -> None:
    heard: list[object] = []

    async def script(play: Play) -> None:
        assert play.run.clarify is not None
        heard.append(await play.run.clarify("Which moon?"))
        heard.append(await play.run.approve(OutgoingQueries(("tides Ketter",), (("twin", "127.0.0.1"),), "a name")))
        heard.extend(play.run.notes.take())

    with lab.open() as asky:
        async with serving(asky, ScriptedAgent(asky, script)) as served:
            run_id = await served.start()
            place = f"/api/research/{run_id}"
            async with served.websocket(run_id) as connection:
                while "clarification_asked" not in str(await connection.recv()):
                    pass
                assert (await served.get(f"{place}/status"))["waits_for"]["question"] == "Which moon?"
                await served.post(f"{place}/approve", {"token": "none", "approve": True}, status=409)
                await served.post(f"{place}/tell", {"note": "Mind the sun."})
                await served.post(f"{place}/answer", {"text": "Ours."})
                while "approval_requested" not in str(await connection.recv()):
                    pass
                approval = (await served.get(f"{place}/status"))["waits_for"]["approval"]
                assert approval["queries"] == ["tides Ketter"]
                assert approval["services"] == ["twin (127.0.0.1)"]
                await served.post(f"{place}/answer", {"text": "Again."}, status=409)
                await served.post(f"{place}/approve", {"token": approval["token"], "approve": True})
                async for _ in connection:
                    pass
            await served.post(f"{place}/tell", {"note": "Too late."}, status=409)
    assert heard == ["Ours.", True, "Mind the sun."]


async def test_a_run_that_waits_for_the_user_can_be_stopped(lab: Lab) -> None:
    async def script(play: Play) -> None:
        assert play.run.clarify is not None
        await play.run.clarify("Which moon?")
        await play.stopping.wait()

    with lab.open() as asky:
        async with serving(asky, ScriptedAgent(asky, script)) as served:
            run_id = await served.start()
            await served.post(f"/api/research/{run_id}/stop")
            assert (await served.followed(run_id))[-1]["status"] == "finished"


async def test_what_is_not_known_is_not_found(lab: Lab) -> None:
    with lab.open() as asky:
        async with serving(asky, ScriptedAgent(asky)) as served:
            run_id = await served.start()
            for unknown in (UNKNOWN, run_id[:8], "x" * 3000, "%00", "%ff"):
                for name in ("status", "result", "report", "sources", "why/1", "events"):
                    found = await served.get(f"/api/research/{unknown}/{name}", status=404)
                    assert found["detail"] == "Session not found"
            for name, body in (("stop", None), ("resume", None), ("tell", {"note": "x"}), ("answer", {"text": "x"})):
                found = await served.post(f"/api/research/{UNKNOWN}/{name}", body, status=404)
                assert found["schema"] == "asky.error/1"
            (message,) = await served.followed(UNKNOWN)
            assert (message["type"], message["message"]) == ("error", "Session not found")


async def test_a_question_is_answered_and_its_citation_opened(lab: Lab) -> None:
    with lab.open() as asky:
        await asky.corpus.add([lab.private])
        async with serving(asky) as served:
            answer = await served.post("/api/ask", {"question": ASKED, "web": False})
            assert answer["schema"] == "asky.answer/1"
            assert SECRET in answer["answer"]
            place = f"/api/research/{answer['run']}"
            why = await served.get(f"{place}/why/1", status=200)
            assert (why["schema"], SECRET in why["passage"]) == ("asky.why/1", True)
            assert (await served.get(f"{place}/sources"))["sources"][0]["title"] == "Codes"
            assert (await served.get(f"{place}/sources"))["unread"] == []
            await served.get(f"{place}/why/99", status=400)
            assert (await served.get(f"{place}/report"))["schema"] == "asky.run/1"
            started = await served.post("/api/ask", {"question": ASKED, "web": False, "wait": False}, status=202)
            assert (await served.followed(started["session_id"]))[-1]["result"]["answer"] == answer["answer"]
            found = await served.get(f"{place}/status")
            assert (found["status"], found["query"], found["current_phase"]) == ("finished", ASKED, "verify")


async def test_passages_are_found_by_get_and_post(lab: Lab) -> None:
    with lab.open() as asky:
        async with serving(asky) as served:
            await served.get("/api/search?q=harbour", status=400)
            await asky.corpus.add([lab.private])
            found = await served.get("/api/search?q=harbour&limit=3")
            assert (found["schema"], SECRET in found["hits"][0]["text"]) == ("asky.hits/1", True)
            assert (await served.post("/api/search", {"query": "harbour"}))["hits"] == found["hits"]


async def test_a_run_that_fails_says_why_even_if_it_was_never_stored(lab: Lab) -> None:
    async def script(play: Play) -> None:
        raise ProviderError("the endpoint failed")

    with lab.open() as asky:
        async with serving(asky, ScriptedAgent(asky, script)) as served:
            run_id = await served.start()
            last = (await served.followed(run_id))[-1]
            assert (last["type"], last["status"], last["message"]) == ("error", "failed", "the endpoint failed")
            assert last["error"]["code"] == "provider"
            sourceless = {"question": "x", "mode": "lean"}
            begun = await served.post("/api/ask", sourceless | {"wait": False}, status=202)
            last = (await served.followed(begun["session_id"]))[-1]
            assert (last["status"], last["error"]["code"]) == ("failed", "usage")
            assert (await served.get(f"/api/research/{begun['session_id']}/status"))["status"] == "failed"
            await served.post("/api/ask", sourceless, status=400)
            await served.post("/api/ask", {"question": "x", "model": "gone", "wait": False}, status=409)


async def test_only_documents_in_granted_folders_are_read(lab: Lab, tmp_path: Path) -> None:
    granted, link = tmp_path / "granted", tmp_path / "granted" / "link"
    granted.mkdir()
    (granted / "a.md").write_text("# Tides\n")
    link.symlink_to(lab.private)
    with lab.open(ASKY_RESEARCH__LOCAL_DOCUMENT_ROOTS=f'["{granted}"]') as asky:
        agent = ScriptedAgent(asky)
        async with serving(asky, agent) as served:
            await served.start(documents=[str(granted / "a.md"), str(granted)])
            assert agent.requests[0].documents == (granted / "a.md", granted)
            outside = [
                str(lab.private),
                str(link),
                f"{granted}/../private",
                "granted",
                "/nowhere",
                "a\0b",
                f"{granted}x",
            ]
            for each in outside:
                body = {"query": "x", "documents": [each]}
                refused = await served.post("/api/research/start", body, status=403)
                assert refused["code"] == "source_refused"
                assert str(tmp_path) not in refused["message"]
            await served.post("/api/research/start", {"query": "x", "documents": [f"{granted}/none"]}, status=400)


async def test_only_so_many_runs_go_on_at_once(lab: Lab) -> None:
    with lab.open() as asky:
        async with serving(asky, ScriptedAgent(asky, until_stopped), max_runs=2) as served:
            for _ in range(2):
                await served.start()
            refused = await served.post("/api/research/start", {"query": "x"}, status=429)
            assert "2 runs are in progress" in refused["message"]


async def test_twenty_runs_at_once_keep_to_themselves(lab: Lab) -> None:
    lab.endpoint.play(*[Answer("The harbour is deep.") for _ in range(20)])

    async def script(play: Play) -> None:
        for number in range(20):
            play.emit(Warned(f"{play.request.query} warns {number}"))
            await anyio.lowlevel.checkpoint()

    with lab.open(ASKY_MODEL="far") as asky:
        async with serving(asky, ScriptedAgent(asky, script)) as served:
            followed: dict[str, list[dict[str, object]]] = {}

            async def research(number: int) -> None:
                query = f"question {number}"
                followed[query] = await served.followed(await served.start(query))

            async def ask(number: int) -> None:
                answer = await served.post("/api/ask", {"question": f"asked {number}", "web": False})
                followed[f"asked {number}"] = await served.followed(answer["run"])

            async with anyio.create_task_group() as group:
                for number in range(10):
                    group.start_soon(research, number)
                    group.start_soon(ask, number)
    warnings: dict[str, set[str]] = {}
    for query, messages in followed.items():
        assert messages[-1]["status"] == "finished"
        assert {each["session_id"] for each in messages} == {messages[0]["session_id"]}
        numbers = [each["seq"] for each in messages[:-1]]
        assert numbers == list(range(1, len(numbers) + 1))
        warned = (str(each["message"]) for each in messages[:-1] if each["event"]["event"] == "warned")  # type: ignore[index]
        warnings[query] = {each for each in warned if "warns" in each}
    asked = {f"asked {number}": set() for number in range(10)}
    researched = {query: {f"{query} warns {n}" for n in range(20)} for query in (f"question {n}" for n in range(10))}
    assert warnings == asked | researched
