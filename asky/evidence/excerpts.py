"""The words of a passage behind each statement of an answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from asky.evidence.citation_lookup import passage_context
from asky.evidence.plain_text import plain_text
from asky.evidence.verification.support import measure_support, read_passage, read_statement
from asky.text.sentences import sentence_spans
from asky.values import Span

_CONTEXT_CHARS = 120


@dataclass(frozen=True, slots=True)
class Excerpt:
    """The words `quoted` of a cited passage, on one line, with what stands `before` and `after` them there.

    `citation` is the object of the answer.
    """

    citation: Mapping[str, Any]
    before: str
    quoted: str
    after: str


def claim_excerpts(answer: Mapping[str, Any], claim: Mapping[str, Any]) -> list[Excerpt]:
    """Return what each citation of a claim of an `asky.answer/1` object rests on, in the order of the citations.

    It is what the claim quotes word for word, or else the sentence of the passage that shares most of its words.
    """
    cited = {each["n"]: each for each in answer["citations"]}
    return [claim_excerpt(cited[n], claim) for n in claim["citations"] if n in cited]


def claim_excerpt(citation: Mapping[str, Any], claim: Mapping[str, Any]) -> Excerpt:
    """Return what a claim quotes of the passage of a citation, or else the sentence nearest to it; see `Excerpt`."""
    passage = citation["quote"]
    span = _quotation(citation, claim) or closest_sentence(passage, plain_text(claim["text"])) or Span(0, len(passage))
    context = passage_context(passage, span, _CONTEXT_CHARS)
    before = ("… " if context.cut_before else "") + _line(context.before)
    after = _line(context.after) + (" …" if context.cut_after else "")
    return Excerpt(citation, before, _line(passage[span.start : span.end]), after)


def _quotation(citation: Mapping[str, Any], claim: Mapping[str, Any]) -> Span | None:
    found = claim["checks"].get("quotation")
    if not found or found["n"] != citation["n"] or not 0 <= found["start"] < found["end"] <= len(citation["quote"]):
        return None
    return Span(found["start"], found["end"])


def closest_sentence(passage: str, statement: str) -> Span | None:
    """Return the sentence of a passage that shares most terms with `statement`, the first of equal ones.

    `None` for a passage without sentences.
    """
    wanted, spans = read_statement(statement), sentence_spans(passage)

    def support(span: Span) -> float:
        return measure_support(wanted, [read_passage(passage[span.start : span.end])]).score

    return max(spans, key=support, default=None)


def relevant_sources(answer: Mapping[str, Any]) -> Sequence[tuple[float, str]]:
    """Return the score and the title of each cited source of an `asky.answer/1` object, best first.

    The name of a paper comes before its title.
    """
    names = {each["source_id"]: f"{each['paper']} - " for each in answer["citations"] if each.get("paper")}
    used = [each for each in answer["sources"] if each["used"]]
    return [(each["score"], names.get(each["source_id"], "") + each["title"]) for each in used]


def _line(text: str) -> str:
    return " ".join(text.split())
