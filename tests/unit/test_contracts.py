"""What the comparison with a golden file takes for a change, and what it does not."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.contracts import WRITING, Contracts

pytestmark = pytest.mark.skipif(WRITING, reason="golden files are being written")

RUN, OTHER = "20261122-210631-f4f73980", "20270101-000000-0b7708fe"
SAME = {
    "a field more": ({"a": 1}, {"b": 2, "a": 1}),
    "a field more within": ([{"a": {"b": []}}], [{"a": {"b": [], "c": OTHER}}]),
    "rounding": ({"a": 0.5}, {"a": 0.5001}),
    "a new id before": ({"seconds": "<seconds>", "run": "<run 1>"}, {"new": OTHER, "seconds": 1.25, "run": RUN}),
    "other ids": (["<run 1>", "<run 2>", "<run 1>"], [OTHER, RUN, OTHER]),
    "a path": ("<tmp>/c, <tmp>", r"/tmp/a_b/c, /tmp/a\_b"),
    "a day": ("<date>, <time>", "2026-11-22, 2026-11-22T21:06:31.489984Z"),
}
CHANGED = {
    "a field less": ({"a": 1, "b": 2}, {"a": 1}, ".stdout.b is missing"),
    "a value": ({"a": {"b": 1}}, {"a": {"b": 2}}, ".stdout.a.b was 1 and is 2"),
    "a kind of value": ({"a": 1}, {"a": True}, ".stdout.a was 1 and is True"),
    "null": ({"a": None}, {"a": ""}, ".stdout.a was None"),
    "a fraction": ({"a": 0.5}, {"a": 0.51}, ".stdout.a was 0.5"),
    "an entry less": ([1, 2], [1], ".stdout lacks 2"),
    "an entry more": ([1], [1, {"type": "new"}], ".stdout has one more"),
    "another run than before": (["<run 1>", "<run 1>"], [RUN, OTHER], ".stdout[1] was '<run 1>' and is '<run 2>'"),
    "an order": ([{"type": "a"}, {"type": "b"}], [{"type": "b"}, {"type": "a"}], ".stdout[0].type"),
}


def check(folder: Path, before: Any, now: Any) -> None:
    golden = {"command": "asky", "exit": 0, "stdout": before, "stderr": []}
    (folder / "case.json").write_text(json.dumps(golden), "utf-8")
    Contracts(folder, {Path("/tmp/a_b"): "<tmp>"}).check("case", "asky", code=0, out=now, err="", files={})


@pytest.mark.parametrize("case", SAME)
def test_what_was_added_or_must_vary_is_no_change(tmp_path: Path, case: str) -> None:
    check(tmp_path, *SAME[case])


@pytest.mark.parametrize("case", CHANGED)
def test_what_is_missing_or_another_is_named(tmp_path: Path, case: str) -> None:
    before, now, said = CHANGED[case]
    with pytest.raises(AssertionError) as failed:
        check(tmp_path, before, now)
    assert said in str(failed.value)
