"""Whatever the strings of an answer hold, the page has the elements and attributes that it is made of and no others."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from asky.report.page import render_report
from asky.text.scrub import scrub
from tests.support.examples import examples
from tests.support.reports import ATTACKS, Seen, answer_of, citation, page_of, reported
from tests.support.research import hostile_report

ALLOWED: dict[str, set[str]] = {
    "html": {"lang"}, "head": set(), "title": set(), "style": set(), "script": set(), "body": set(), "main": set(),
    "meta": {"charset", "http-equiv", "content", "name"}, "link": {"rel", "href"}, "nav": {"aria-label"},
    "section": {"id", "class"}, "article": {"id", "class", "aria-label", "tabindex"}, "footer": set(),
    "aside": {"id", "role", "aria-label", "tabindex", "hidden"}, "button": {"type", "class", "title"},
    "div": {"class", "lang", "tabindex"}, "span": {"class", "title", "aria-hidden"}, "p": {"class", "dir"},
    "a": {"href", "id", "class", "title", "rel", "referrerpolicy"}, "ul": {"class", "role"}, "ol": {"class", "start"},
    "li": {"id", "dir"}, "blockquote": {"class", "dir", "lang"}, "q": {"dir", "lang"}, "bdi": set(), "mark": set(),
    "details": {"id", "class"}, "summary": set(), "dl": set(), "dt": set(), "dd": set(), "code": set(),
    "pre": {"tabindex"}, "em": set(), "strong": set(), "s": set(), "br": set(), "hr": set(), "table": set(),
    "svg": {"viewbox", "width", "height", "class", "aria-hidden"}, "rect": {"x", "y", "width", "height"},
    "thead": set(), "tbody": set(), "tr": set(), "th": {"class", "dir"}, "td": {"class", "dir"},
    **{f"h{level}": {"class", "dir", "lang"} for level in range(1, 7)},
}  # fmt: skip

ALPHABET = "<>\"'&/=()[]!`*_~#|-:;.$\\ \n\tabs1⚠\x00\x1b\u202e\U000e0041\ud800\U00012470🌊ق"
HOSTILE = st.lists(st.one_of(st.sampled_from(ATTACKS), st.text(ALPHABET, max_size=8), st.text(max_size=8))).map("".join)


def assert_harmless(page: Seen) -> None:
    for name, attributes in page.elements:
        assert set(attributes) <= ALLOWED[name], (name, attributes)
    names = [name for name, _ in page.elements]
    assert [names.count(each) for each in ("html", "head", "body", "style", "script", "title")] == [1] * 6
    assert page.others == []
    ids = [attributes["id"] for _, attributes in page.elements if "id" in attributes]
    assert len(ids) == len(set(ids))
    for name, attributes in page.elements:
        if "href" in attributes:
            href = str(attributes["href"])
            assert re.match("#a1|https?://|mailto:", href) or (name, href) == ("link", "data:,"), href
    assert not re.search(
        "[\x00-\x08\x0b\r\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\U000e0000-\U000e007f]", page.html
    )
    page.html.encode()


@pytest.mark.parametrize("attack", ATTACKS)
def test_no_attack_makes_an_element(attack: str) -> None:
    stored = f"before {attack} after"
    cited = citation(quote=attack, stored=stored, url=attack, path=attack, title=attack, section=attack)
    checks = {"missing_numbers": [attack], "missing_quotes": [attack], "contradicted_by": attack}
    judged = {"text": attack, "start": 0, "end": len(attack), "citations": [1], "verdict": attack, "score": 0.1}
    answer = answer_of(
        attack,
        question=attack,
        model=attack,
        mode=attack,
        session=attack,
        run=attack,
        stopped_by=attack,
        citations=[cited | {"page": 3, "page_label": attack, "fetched_at": attack, "kind": attack}],
        claims=[judged | {"checks": checks}],
        sources=[{"source_id": attack, "url": attack, "title": attack, "score": 0.1, "used": False}],
        rejected=[{"url": attack, "reason": attack}],
        warnings=[attack],
    )
    research = hostile_report(attack, answer)
    page = Seen(render_report([replace(reported(answer, stored), research=research)], title=attack))
    assert_harmless(page)
    assert page.text("mark") == scrub(attack)


@given(text=HOSTILE, title=HOSTILE, spans=st.lists(st.integers(0, 400), max_size=8))
@settings(deadline=None, max_examples=examples(150))
def test_no_string_makes_an_element(text: str, title: str, spans: list[int]) -> None:
    edges = sorted(min(each, len(text)) for each in spans)
    claims: list[dict[str, Any]] = [
        {"text": text[start:end], "start": start, "end": end, "citations": [1], "verdict": "partial", "score": 0.4,
         "checks": {}}
        for start, end in zip(edges[::2], edges[1::2], strict=False)
    ]  # fmt: skip
    page = page_of(text, citations=[citation(title=title)], claims=claims, warnings=[title], question=title)
    assert_harmless(page)


@given(text=HOSTILE, spans=st.lists(st.integers(0, 400), max_size=6, unique=True))
@settings(deadline=None, max_examples=examples(150))
@example(text="a\n```\nb", spans=[0, 1, 2, 5])  # the second claim ends behind what begins fenced code
@example(text="a\n```\nb\n```\nc", spans=[0, 1, 6, 7])
def test_marking_claims_changes_nothing_else(text: str, spans: list[int]) -> None:
    text = text.replace("⚠", "")
    edges = sorted({min(each, len(text)) for each in spans})
    claims: list[dict[str, Any]] = [
        {"text": text[start:end], "start": start, "end": end, "citations": [], "verdict": "partial", "score": 0.4,
         "checks": {}}
        for start, end in zip(edges[::2], edges[1::2], strict=False)
    ]  # fmt: skip
    marked, bare = page_of(text, claims=claims), page_of(text)
    assert marked.answer.replace(" ⚠ partly supported", "") == bare.answer
    assert len(marked.all("a", "chip")) in (0, len(claims))
