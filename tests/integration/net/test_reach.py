"""A run that may reach this machine only connects to no other and asks for no name, counted at the sockets."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from tests.support.confined import own_network, run_confined
from tests.support.reach_world import FAR, NAMED, NEAR, WAYS

TRACING = {
    "LANGSMITH_TRACING": "true",
    "LANGSMITH_API_KEY": "key",
    "LANGSMITH_ENDPOINT": f"http://{FAR}:8080",
    "LANGCHAIN_TRACING_V2": "true",
    "LANGCHAIN_ENDPOINT": f"http://{FAR}:8080",
}
NOTHING = {"reached": [], "questions": 0}


def test_nothing_leaves_this_machine_by_any_way(tmp_path: Path) -> None:
    world = [sys.executable, "-m", "tests.support.reach_world"]
    report = json.loads(run_confined(own_network(), world, home=tmp_path, environ=TRACING).stdout)
    for way in WAYS:
        for host in (FAR, NAMED):
            freely, kept = report[f"{way} {host}"]
            assert FAR in freely["reached"] or freely["questions"], (way, host)
            assert set(kept["reached"]) <= {NEAR}, (way, host)
            assert kept["questions"] == 0, (way, host)
            assert kept["outcome"].startswith(("source_refused", "refused: ")), (way, host)
        freely, kept = report[f"{way} {NEAR}"]
        assert freely["reached"] == [NEAR], way
        assert kept == ({**NOTHING, "outcome": "source_refused"} if way == "search" else freely), way
    assert report["research"] == {**NOTHING, "outcome": "ok"}
    assert report[f"render {FAR}"] == [{**NOTHING, "outcome": "source_refused"}]
