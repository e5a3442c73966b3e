"""The finished answer: its citations, and the JSON object that represents it outside this program."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from asky.evidence.paper_names import paper_name
from asky.evidence.unread import unread_fields
from asky.values import Answer, Citation, Claim, Contradiction, ContradictionSide, Evidence

SCHEMA = "asky.answer/1"


def build_citations(order: Sequence[str], shown: Mapping[str, Evidence]) -> tuple[Citation, ...]:
    """Return the citations `[1]`, `[2]`, ... for the keys of `order`, as returned by `number_citations`.

    Raises `KeyError` for a key that was not shown, and `ValueError` for a passage whose text does not fill its span: a
    quote that cannot be resolved is a bug and must not reach a reader.
    """
    return tuple(build_citation(n, shown[key]) for n, key in enumerate(order, start=1))


def build_citation(n: int, passage: Evidence) -> Citation:
    """Return the citation `[n]` of a passage; raises `ValueError` as `build_citations` does."""
    if len(passage.text) != len(passage.span):
        raise ValueError(f"passage {passage.key} has {len(passage.text)} characters in a span of {len(passage.span)}")
    key, source, place, span = passage.key, passage.source, passage.location, passage.span
    return Citation(n, key, source, place, span, passage.text, passage.sha256, passage.score)


def answer_json(answer: Answer) -> dict[str, Any]:
    """Return `answer` as an `asky.answer/1` object: every key is present, in the contract's order."""
    return {
        "schema": SCHEMA,
        "run": answer.run,
        "session": answer.session,
        "mode": answer.mode,
        "question": answer.question,
        "model": answer.model,
        "answer": answer.text,
        "citations": [citation_json(citation) for citation in answer.citations],
        "claims": [_claim_json(claim) for claim in answer.claims],
        "sources": [
            {"source_id": source.id, "url": source.url, "title": source.title, "score": score, "used": used}
            for source, score, used in answer.sources
        ],
        "rejected": [{"url": url, "reason": reason} for url, reason in answer.rejected],
        "usage": asdict(answer.usage),
        "stopped_by": answer.stopped_by,
        "warnings": list(answer.warnings),
        "confidence": answer.confidence,
        "contradictions": [_contradiction_json(each) for each in answer.contradictions],
        "noted": [dict(each) for each in answer.noted],
        **unread_fields(answer.unread),
    }


def confidence_of(answer: Mapping[str, Any]) -> float | None:
    """Return the confidence of an `asky.answer/1` object, whose name was relevance at first; `None` if it has none."""
    confidence: float | None = answer.get("confidence", answer.get("relevance"))
    return confidence


def contradictions_of(answer: Mapping[str, Any]) -> tuple[Contradiction, ...]:
    """Return the contradictions of an `asky.answer/1` object; those stored before there were any have none."""
    return tuple(
        Contradiction(
            tuple(
                ContradictionSide(side["statement"], tuple(side.get("citations", ())), side.get("source", ""))
                for side in each["sides"]
            ),
            each.get("explanation", ""),
            each.get("stated_by", "model"),
            each.get("kind", ""),
        )
        for each in answer.get("contradictions", ())
    )


def citation_json(citation: Citation) -> dict[str, Any]:
    """Return a citation as an object of `asky.answer/1`."""
    source, location, paper = citation.source, citation.location, paper_name(citation.source)
    return {
        "n": citation.n,
        "source_id": source.id,
        "kind": source.kind,
        "url": source.url,
        "path": source.path,
        "title": source.title,
        "page": location.page,
        "page_label": location.page_label,
        **({"line": location.line} if location.line is not None else {}),
        "section": location.section,
        **({"columns": location.columns} if location.columns is not None else {}),
        "start": citation.span.start,
        "end": citation.span.end,
        "quote": citation.quote,
        "sha256": citation.sha256,
        "fetched_at": source.fetched_at,
        "authors": list(source.authors),
        "published": source.published,
        "published_in": source.published_in,
        "doi": source.doi,
        **({"paper": paper, "score": citation.score} if paper is not None else {}),
    }


def _contradiction_json(found: Contradiction) -> dict[str, Any]:
    return {
        "kind": found.kind,
        "sides": [
            {"statement": each.statement, "citations": list(each.citations), "source": each.source}
            for each in found.sides
        ],
        "explanation": found.explanation,
        "stated_by": found.stated_by,
    }


def _claim_json(claim: Claim) -> dict[str, Any]:
    return {
        "text": claim.text,
        "start": claim.span.start,
        "end": claim.span.end,
        "citations": list(claim.citations),
        "verdict": claim.verdict,
        "score": claim.score,
        "checks": dict(claim.checks),
    }
