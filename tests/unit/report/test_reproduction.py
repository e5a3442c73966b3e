"""A bundle whose report, README or bibliography is not what its evidence makes is told from one that is whole."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from typing import Any

import pytest

from asky.evidence.export.bundle import make_bundle, manifest_text, pack
from asky.report.gathering import report_export
from asky.report.page import render_report
from asky.report.reproduction import reproduction_faults
from asky.version import __version__
from tests.support.bundles import check, files_of, hash_of, run_object
from tests.support.reports import RUN

TOOL = f"asky {__version__}"


def bundle(run: dict[str, Any] | None = None, tool: str = TOOL) -> bytes:
    run = run or run_object()
    return make_bundle(run, render_report([report_export(run)], tool=tool), tool=tool)


def forged(changed: dict[str, bytes], tool: str = TOOL) -> bytes:
    """A bundle with other files in which everything that its manifest says is right."""
    files = {**files_of(bundle(tool=tool)), **changed}
    del files["manifest.json"]
    facts = [
        {"path": name, "bytes": len(data), "sha256": hash_of(data.decode("utf-8", "surrogatepass"))}
        for name, data in files.items()
    ]
    archive = pack([("manifest.json", manifest_text(RUN, tool, facts).encode()), *files.items()])
    assert check(archive).faults == ()
    return archive


def faults(archive: bytes) -> tuple[str, ...]:
    return reproduction_faults(io.BytesIO(archive))


def test_what_asky_has_made_is_what_it_makes_again() -> None:
    assert faults(bundle()) == ()
    assert faults(bundle(tool="asky 0.0.1")) == ()


@pytest.mark.parametrize("name", ["report.html", "references.bib", "README.txt"])
@pytest.mark.parametrize("data", [b"<script>alert(1)</script>", b"", b"x"])
def test_a_file_that_people_open_and_that_was_altered_is_named(name: str, data: bytes) -> None:
    (fault,) = faults(forged({name: data}))
    assert fault.startswith(f"{name} is not what asky makes of the evidence: it was altered")
    assert ("markdown-it" in fault) == (name == "report.html")  # whose version may be another


def test_of_another_version_it_is_said_that_it_may_make_another_report() -> None:
    (fault,) = faults(forged({"report.html": b"x"}, "asky 0.0.1 \x1b[31m"))
    assert fault.endswith(f"evidence: it was altered, or asky 0.0.1 makes a different one from {TOOL}")


def test_an_answer_without_the_checks_that_it_was_given_has_another_report() -> None:
    run = run_object()
    run["answer"]["claims"] = []
    answer = {name: files_of(bundle(run))[name] for name in ("answer.json", "run.json")}
    assert [each.split()[0] for each in faults(forged(answer))] == ["README.txt", "report.html"]


CHANGES: list[Callable[[dict[str, Any]], object]] = [
    lambda answer: answer.pop("question"),
    lambda answer: answer.update(question=None),
    lambda answer: answer.update(sources=7),
    lambda answer: answer["citations"][0].pop("title"),
    lambda answer: answer["claims"][0].update(verdict=[]),
    lambda answer: answer.update(usage=None),
]


@pytest.mark.parametrize("change", CHANGES)
def test_an_answer_of_which_no_report_can_be_made_is_a_fault_and_raises_nothing(
    change: Callable[[dict[str, Any]], object],
) -> None:
    files = files_of(bundle())
    run, answer = json.loads(files["run.json"]), json.loads(files["answer.json"])
    change(answer)
    change(run["answer"])
    told = faults(forged({"run.json": json.dumps(run).encode(), "answer.json": json.dumps(answer).encode()}))
    assert told
    assert all("\n" not in each for each in told)
