"""The report of a run of research: as a value, as Markdown for a plain reader, and as a page."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from markdown_it import MarkdownIt

import asky
from asky.report.gathering import report_export
from asky.report.page import render_report, render_research_html
from asky.report.research_markdown import render_research_markdown
from asky.report.research_report import REPORTED, ResearchReport, decode_research
from asky.values import Contradiction, ContradictionSide
from tests.support.reports import ATTACKS, RUN, STORED, Seen, citation, exported, reported
from tests.support.research import (
    cycle_of,
    empty_report,
    hostile_report,
    research_answer,
    research_report,
)


@pytest.mark.parametrize("report", [research_report(), empty_report(), empty_report(cycles=(), finished_at=None)])
def test_a_report_survives_json(report: ResearchReport) -> None:
    data = json.loads(json.dumps(report.encode(), allow_nan=False))
    assert data["schema"] == "asky.research/1"
    assert data["answer"]["schema"] == "asky.answer/1"
    assert decode_research(data) == report


def test_fields_of_later_versions_are_passed_over_and_those_of_earlier_ones_may_be_missing() -> None:
    data = research_report().encode()
    data |= {"new": 1, "facts": [each | {"new": 1} for each in data["facts"]]}
    assert decode_research(data) == research_report()
    for name in ("confidence", "cycles", "contradictions", "failures"):
        del data[name]
    assert decode_research(data).cycles == ()


def test_the_guide_shows_every_field() -> None:
    guide = (Path(asky.__file__).parents[1] / "docs/guides/reports.md").read_text("utf-8")
    shown = json.loads(guide.partition("```json\n")[2].partition("```")[0])
    assert shown["answer"].pop("schema") == "asky.answer/1"
    report = decode_research(shown | {"answer": research_answer()})
    assert report.encode() == shown | {"answer": research_answer()}


@pytest.mark.parametrize(
    "changed", [{"answer": None}, {"facts": [{"statement": "x"}]}, {"cycles": {}}, {"run": 1}, {"method": {"rule": 1}}]
)
def test_what_is_no_report_is_refused(changed: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"not an asky\.research/1 object"):
        decode_research(research_report().encode() | changed)


def test_markdown_reads_well_without_a_viewer() -> None:
    text = render_research_markdown(research_report())
    assert text.startswith(
        "# Why are there tides?\n\nThe moon raises two high tides a day [1], and the sun helps [2].\n\n"
    )
    for part in (
        "## How sure is this\n\n- confidence: 0.72 of 1\n- statements supported by the passages they cite: 1 of 2\n",
        "- the search ended after 2 cycles: new facts below 5 % for two cycles\n"
        "- unsupported: “At new moon the range is three times as large” [1]\n",
        "1. These cannot both hold (they count for different coasts):\n   - “Tides come twice a day.” [1] Tides\n"
        "   - “Tides come once a day.” Gulf almanac\n",
        "- partly answered: What does the sun do?\n- not answered: What did Laplace add?\n- not searched: news\\_api",
        "[1] Tides, Daily - <https://tides.example/daily>\n\n> The moon raises two high tides a day.\n\n[2] The sun",
        "- The sun raises a tide of its own. (not verified, 1 independent source, confidence 0.40)\n",
        "- `https://paywall.example/tides` (brave, paywall: HTTP 402 without open copy)\n",
        "|     2 |       2 |       4 |    3 |       1 (4%) |    2 (4%) |    0.04 |     0.50 |        0.25 |\n",
        "- Cycle 2: tides sun; tides moon 1 (new facts below 5 %)\n",
        "- privacy: hybrid: services and models elsewhere were allowed, but got no private passages\n",
        "2 model calls · 120 tokens · 0.0213 USD · 7 searches · 11 pages fetched · 3 from the cache · 42.1 s\n",
        "## Bibliography\n\n- Ann Marsh. *Tides*. Sea Letters, 2021-02-03. <https://tides.example/daily>\n- *The sun*.",
    ):
        assert part in text, part
    assert "max_cost_usd" not in text


def test_documents_that_could_not_be_read_are_named() -> None:
    unread = [
        {"path": "tug.pdf", "verdict": "encrypted", "message": "needs a <b>password</b>"},
        {"path": "lease.docx", "verdict": "partial", "part": "plan.dwg", "message": "no reader for it"},
    ]
    answer = {**research_report().answer, "unread": unread, "unread_count": 12}
    report = replace(research_report(), answer=answer)
    text = render_research_markdown(report)
    assert (
        "## What could not be read\n\n- tug.pdf (encrypted: needs a \\<b\\>password\\</b\\>)\n"
        "- lease.docx: plan.dwg (no reader for it)\n- 10 more\n- `https://paywall.example/tides`"
    ) in text, text[text.index("## What could") :][:300]
    page = render_report([replace(reported(report.answer, STORED), research=report)])
    listed = page.partition(">Not read</h2>")[2].partition("</ul>")[0]
    assert listed.count("<li") == 3
    assert "tug.pdf (encrypted: needs a &lt;b&gt;password&lt;/b&gt;)" in listed
    without = {name: each for name, each in answer.items() if not name.startswith("unread")}  # of an earlier version
    assert "Not read" not in render_report([reported(without, STORED)])


def test_nothing_found_is_a_report_that_says_what_was_searched() -> None:
    text = render_research_markdown(empty_report())
    assert "Nothing was found that answers this question.\n\nSearched in brave, documents:\n\n- tides moon 1\n" in text
    assert "- confidence: not estimated\n- parts of the question answered: 0 of 1\n" in text
    assert "## Sources" not in text
    page = Seen(render_research_html(empty_report()))
    assert "Nothing was found that answers this question.Searched in brave, documents:tides moon 1" in page.text("main")
    assert "https://paywall.example/tides (brave, paywall" in page.text("main")
    never = empty_report(cycles=(), failures=(), stop_reason="User requested stop")
    assert "Nothing was searched" in render_research_markdown(never)
    assert "Nothing was searched" in Seen(render_research_html(never)).text("main")


def test_markdown_of_hostile_texts_has_no_tags_links_or_headings_of_theirs() -> None:
    for attack in ATTACKS:
        cited = citation(quote=attack, stored=attack, url=attack, path=None, title=attack, section=attack)
        answer = research_answer(
            "Text [1].", question=attack, model=attack, citations=[cited], warnings=[attack],
            rejected=[{"url": attack, "reason": attack}],
        )  # fmt: skip
        text = render_research_markdown(hostile_report(attack, answer))
        tokens = MarkdownIt("commonmark").enable("table").parse(text)
        inner = [child for each in tokens for child in each.children or ()]
        assert not {"html_block", "html_inline", "image", "link_open", "fence"} & {each.type for each in tokens + inner}
        assert sum(each.type == "heading_open" for each in tokens) == 13
        assert not any(ord(each) < 32 and each != "\n" for each in text)


def test_a_page_shows_both_sides_what_is_missing_and_how_it_was_found() -> None:
    report = research_report()
    page = Seen(render_report([replace(reported(report.answer, STORED), research=report)]))
    headings = [text for _, text in page.all("h2")]
    assert headings == ["How sure is this", "Where sources contradict each other", "What was not found", "Sources"]
    sides = [text for attributes, text in page.all("p", dir="auto") if text.startswith("“") or "Tides come" in text]
    assert sides == ["Tides come twice a day. [1] Tides", "Tides come once a day. Gulf almanac"]
    folded = [text for _, text in page.all("summary")]
    assert [each for each in folded if each != "Exact location"] == [
        "How 2 statements were checked",
        "2 facts found",
        "2 names found",
        "1 source could not be read",
        "Novelty in 2 cycles",
        "Method",
    ]
    assert [text for _, text in page.all("td")][:9] == [
        "1",
        "1",
        "5",
        "4",
        "5 (100%)",
        "5 (100%)",
        "1.00",
        "0.50",
        "0.25",
    ]
    assert [each["height"] for each, _ in page.all("rect")] == ["48", "2"]
    assert page.text("section", "run").count("42.1 s") == 1
    assert page.html == render_report([replace(reported(report.answer, STORED), research=report)])


def test_a_fact_links_only_to_sources_of_the_answer_and_passages_that_it_cites() -> None:
    page = Seen(render_research_html(research_report()))
    inside = page.html[page.html.index("2 facts found") : page.html.index("2 names found")]
    assert 'href="https://tides.example/daily"' in inside
    assert "sun.example" in inside
    assert 'href="https://sun.example' not in inside
    assert 'href="#a1-c1"' in inside


def test_a_citation_that_the_answer_has_not_is_not_linked() -> None:
    side = ContradictionSide("Tides come once a day.", (7,), "Almanac")
    page = Seen(render_research_html(research_report(contradictions=(Contradiction((side, side)),))))
    assert "#a1-c7" not in page.html


def test_an_exported_run_is_rendered_with_the_last_report_of_its_ledger_and_its_own_answer() -> None:
    stale = research_report(answer=research_answer("Old [1]."), stop_reason="interrupted").encode()
    entry = research_report(answer=research_answer("Old [1].")).encode()
    export = exported(research_answer(), STORED)
    export["ledger"] = [{"at": "", "kind": REPORTED, "data": stale}, {"at": "", "kind": REPORTED, "data": entry}]
    gathered = report_export(export)
    assert gathered.research == research_report()
    page = Seen(render_report([gathered]))
    assert "new facts below 5 % for two cycles" in page.text("main")
    assert "Old" not in page.answer
    assert report_export(exported(research_answer(), STORED)).research is None


def test_long_runs_fit() -> None:
    report = research_report(cycles=tuple(cycle_of(number, 0.5) for number in range(1, 41)))
    assert render_research_markdown(report).count("\n- Cycle ") == 40
    assert Seen(render_research_html(report)).all("svg", "bars")[0][0]["viewbox"] == "0 0 560 48"
    assert RUN in render_research_markdown(report)
