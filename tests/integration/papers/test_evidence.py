"""`asky papers research --evidence`: the words of the papers behind each statement, and how relevant they are."""

from __future__ import annotations

import re

from tests.support.endpoint import Endpoint
from tests.support.in_process import InProcess

ANSWER = (
    "# Tides\n\nThe sun raises tides less than half as high [2101.00001v2, page 3]. Water was measured at ninety"
    " harbours [2101.00001v2, page 1]. The sea is wet."
)


def test_each_statement_is_shown_with_its_verdict_and_the_words_behind_it(command: InProcess, model: Endpoint) -> None:
    model.play(ANSWER, ANSWER)  # the answer, and what is made of the request to mend it
    done = command("papers", "research", "what raises tides", "-m", "far", "--evidence")
    assert done.code == 0, done.err
    evidence = done.out.partition("\nEvidence\n")[2]
    sun = r"supported \(\d\.\d\d\): The sun raises tides less than half as high\.\n"
    assert re.search(sun, evidence), done.out
    assert re.search(
        r"  \[2101\.00001v2, page 3\] \(relevance \d\.\d\d\) “The sun raises tides that are less than half as high as"
        r" those of the moon\.”\n",
        evidence,
    ), evidence
    assert re.search(r"unsupported \(0\.\d\d\): Water was measured at ninety harbours\.", evidence), evidence
    assert "We measured the water at nine harbours for forty years." in evidence
    assert "uncited: The sea is wet.\n" in evidence
    assert re.search(r"\nRelevance\n  [01]\.\d\d  2101\.00001v2 - On the tides of nine harbours\n", evidence)


def test_a_quotation_is_shown_as_one_and_relevance_under_v_too(command: InProcess) -> None:
    done = command("papers", "research", "What tides does the sun raise?", "--evidence")
    assert "quoted: The sun raises tides that are less than half as high as those of the moon.\n" in done.out
    shown = command("papers", "research", "What tides does the sun raise?", "-v")
    assert "\nEvidence\n" not in shown.out
    assert re.search(r"\nRelevance\n  [01]\.\d\d  2101\.00001v2 - On", shown.out), shown.out


def test_the_json_has_the_relevance_of_each_passage(command: InProcess) -> None:
    answer = command("papers", "research", "What tides does the sun raise?", "--json").json
    assert all(0 < each["score"] <= 1 for each in answer["citations"])
