"""`asky papers summary -m MODEL`: a summary that a model writes, checked against the paper and kept."""

from __future__ import annotations

from tests.support.endpoint import Endpoint, Problem, Request
from tests.support.in_process import InProcess
from tests.support.papers import BREAD, shown_keys


def written(request: Request) -> str:
    """A summary with a statement from the first passage, and one that no passage supports."""
    key = shown_keys(request.messages)[0]
    return f"# A summary\n\nThe moon raises two tides a day [{key}].\n\nQuarks are heavy [{key}]."


def test_a_summary_is_written_checked_and_kept(command: InProcess, model: Endpoint) -> None:
    before = command("papers", "summary", "tides", "--json").json
    model.play(written, written)
    done = command("papers", "summary", "tides", "-m", "far")
    assert done.code == 0, done.err
    assert "- Summary: written by far from the passages that it cites\n\nThe moon raises two tides a day [" in done.out
    assert "Quarks are heavy [2101.00001v2, page " in done.out
    assert "⚠ unsupported" in done.out
    assert "2 statements: 1 supported, 1 unsupported" in done.err
    after = command("papers", "summary", "tides", "--json").json
    assert (before["made_by"], after["made_by"]) == ("extractive", "far")
    assert after["summary"] == done.out
    (passage,) = after["passages"]
    assert passage["page"] == "1"
    sent = str(model.requests[0].messages)
    assert ("two tides a day" in sent, BREAD in sent) == (True, False)
    file = command.home / "data" / "papers" / "summaries" / "2101.00001v2.md"
    assert file.read_text() == done.out
    assert command("papers", "summary", "bread", "--json").json["made_by"] == "extractive"
    again = command("papers", "summary", "tides", "-m", "extractive", "--json").json
    assert again == before


def test_what_cannot_be_a_summary_leaves_the_old_one(command: InProcess, model: Endpoint) -> None:
    before = command("papers", "summary", "tides", "--json").json
    model.play(Problem("bad_request"))
    assert command("papers", "summary", "tides", "-m", "far").code == 8
    model.play("Nothing is cited here.", "Nothing is cited here.")
    uncited = command("papers", "summary", "tides", "-m", "far")
    assert (uncited.code, "cites nothing: the old one stays" in uncited.err) == (11, True)
    model.play("I could not find an answer in the sources.")
    assert command("papers", "summary", "tides", "-m", "far").code == 11
    assert command("papers", "summary", "tides", "-m", "gone").code == 3
    assert command("papers", "summary", "tides", "--json").json == before


def test_only_the_named_model_is_sent_anything(command: InProcess, model: Endpoint) -> None:
    for names in (
        ["papers", "summary", "tides"],
        ["papers", "retry"],
        ["papers", "summary", "tides", "-m", "extractive"],
    ):
        assert command(*names).code == 0
    assert model.requests == []
