"""The real agent behind the server: research over a small web, from its start to its report in every format."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.agent_lab import COST, QUESTION, AgentLab
from tests.support.served import serving

pytestmark = pytest.mark.anyio


async def test_the_agent_is_started_followed_and_read(tmp_path: Path) -> None:
    with AgentLab(tmp_path) as lab:
        async with serving(lab.asky, lab.asky.agent) as served:
            run_id = await served.start(QUESTION, privacy_mode="cloud_allowed", model="far", library=False)
            messages = await served.followed(run_id)
            last = messages[-1]
            assert (last["type"], last["status"]) == ("complete", "finished")
            assert COST in last["result"]["answer"]
            numbers = [each["seq"] for each in messages[:-1]]
            assert numbers == list(range(1, len(numbers) + 1))
            phases = {each["phase"] for each in messages[:-1]}
            assert {"plan", "collect", "process", "analyze", "evaluate", "synthesize"} <= phases
            place = f"/api/research/{run_id}"
            status = await served.get(f"{place}/status")
            assert (status["status"], status["current_phase"]) == ("finished", "finished")
            assert status["sources_queried"] > 0
            assert status["entities_found"] > 0
            assert set(status["saturation_metrics"]) >= {"new_entities_ratio", "new_facts_ratio", "source_coverage"}
            assert status["stop_reason"]
            (listed,) = (await served.get("/api/research"))["sessions"]
            assert (listed["session_id"], listed["stop_reason"]) == (run_id, status["stop_reason"])
            assert (await served.get(f"{place}/report"))["schema"] == "asky.research/1"
            assert (await served.get(f"{place}/why/1"))["checks"] == {"quote": True, "sha256": True}
            for form, kind, beginning in (
                ("md", "text/markdown", b""),
                ("html", "text/html", b"<!doctype html>"),
                ("pdf", "application/pdf", b"%PDF"),
            ):
                reply = await served.http.get(f"{place}/report", params={"format": form})
                assert reply.headers["content-type"].startswith(kind)
                assert reply.content.startswith(beginning)
