from __future__ import annotations

import json

import pytest

from asky.evidence.answer import answer_json, build_citations
from asky.values import Answer, Claim, Evidence, Location, Source, Span, Usage

SOURCE = Source(
    "s1", "file", "file:///notes/tides.md", "Tides", path="/notes/tides.md", fetched_at="2025-01-02T03:04:05Z",
    authors=("Jane Doe",), published="1871", published_in="Harbour log",
)  # fmt: skip
PAGE = Source("s2", "web", "https://x.test/", "X", url="https://x.test/")
SHOWN = {
    "P7f3a": Evidence("P7f3a", SOURCE, 1, "a" * 64, Span(10, 15), "moon.", Location("Causes", 3, "iii")),
    "P09c2": Evidence("P09c2", PAGE, 2, "b" * 64, Span(0, 4), "sun.", Location()),
}


def test_citations_are_numbered_by_their_order_and_quote_the_whole_passage() -> None:
    first, second = build_citations(("P09c2", "P7f3a"), SHOWN)
    assert (first.n, first.key, first.quote, first.span, first.sha256) == (1, "P09c2", "sun.", Span(0, 4), "b" * 64)
    assert (second.n, second.source, second.location) == (2, SOURCE, Location("Causes", 3, "iii"))
    assert build_citations((), SHOWN) == ()


def test_a_key_that_was_not_shown_and_a_quote_that_cannot_resolve_are_refused() -> None:
    with pytest.raises(KeyError):
        build_citations(("P0000",), SHOWN)
    short = Evidence("P1111", SOURCE, 1, "a" * 64, Span(10, 15), "moo", Location())
    with pytest.raises(ValueError, match="P1111 has 3 characters in a span of 5"):
        build_citations(("P1111",), {"P1111": short})


def test_the_json_object_has_every_key_of_the_contract_in_order() -> None:
    claim = Claim("It is so [1].", Span(0, 13), (1,), "supported", 0.87, {"missing_numbers": []})
    answer = Answer(
        run="r1",
        session=None,
        mode="research",
        question="Is it so?",
        model="extractive",
        text="It is so [1].",
        citations=build_citations(("P7f3a",), SHOWN),
        claims=(claim,),
        sources=((SOURCE, 0.5, True), (PAGE, 0.25, False)),
        rejected=(("https://bad.test/", "blocked"),),
        usage=Usage(llm_calls=2, cost_usd=None, seconds=1.5),
        warnings=("one",),
        confidence=0.75,
    )
    value = answer_json(answer)
    assert json.loads(json.dumps(value)) == {
        "schema": "asky.answer/1",
        "run": "r1",
        "session": None,
        "mode": "research",
        "question": "Is it so?",
        "model": "extractive",
        "answer": "It is so [1].",
        "citations": [
            {
                "n": 1,
                "source_id": "s1",
                "kind": "file",
                "url": None,
                "path": "/notes/tides.md",
                "title": "Tides",
                "page": 3,
                "page_label": "iii",
                "section": "Causes",
                "start": 10,
                "end": 15,
                "quote": "moon.",
                "sha256": "a" * 64,
                "fetched_at": "2025-01-02T03:04:05Z",
                "authors": ["Jane Doe"],
                "published": "1871",
                "published_in": "Harbour log",
                "doi": None,
            }
        ],
        "claims": [
            {
                "text": "It is so [1].",
                "start": 0,
                "end": 13,
                "citations": [1],
                "verdict": "supported",
                "score": 0.87,
                "checks": {"missing_numbers": []},
            }
        ],
        "sources": [
            {"source_id": "s1", "url": None, "title": "Tides", "score": 0.5, "used": True},
            {"source_id": "s2", "url": "https://x.test/", "title": "X", "score": 0.25, "used": False},
        ],
        "rejected": [{"url": "https://bad.test/", "reason": "blocked"}],
        "usage": {
            "llm_calls": 2,
            "prompt_tokens": 0,
            "completion_tokens": 0,
            "cost_usd": None,
            "searches": 0,
            "fetches": 0,
            "cache_hits": 0,
            "seconds": 1.5,
        },
        "stopped_by": None,
        "warnings": ["one"],
        "confidence": 0.75,
        "contradictions": [],
        "noted": [],
        "unread": [],
        "unread_count": 0,
    }
    assert list(value)[:8] == ["schema", "run", "session", "mode", "question", "model", "answer", "citations"]
