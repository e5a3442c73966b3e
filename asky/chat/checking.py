"""A reply on its way to the reader: keys numbered, sentences checked, doubtful ones marked, each citation located."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from asky.evidence.answer import build_citations
from asky.evidence.claims import MARKED, Draft, split_claims
from asky.evidence.markers import Numbered, number_citations
from asky.evidence.quotes import Quotable
from asky.values import Citation, Claim, Evidence, Location, Span

Locate = Callable[[int, Span], Location]
"""Where a span of a document lies: its id and the span in, section and page out."""

_MAX_NAMED = 10  # of addresses and numbers in a warning


@dataclass(frozen=True, slots=True)
class CheckedReply:
    """A reply after the gate: `text` is what the reader sees; `claims` have their spans in it."""

    text: str
    numbered: Numbered
    citations: tuple[Citation, ...]
    claims: tuple[Claim, ...]

    @property
    def doubtful(self) -> tuple[Claim, ...]:
        """The claims that carry a mark."""
        return tuple(claim for claim in self.claims if claim.verdict in MARKED)

    @property
    def faults(self) -> int:
        """What a repair could mend: marked claims, keys that were never shown, addresses that no source holds."""
        return len(self.doubtful) + len(self.numbered.unknown) + len(self.numbered.unseen_urls)

    def warnings(self) -> Iterator[str]:
        """What the reader should know of it."""
        numbered = self.numbered
        if numbered.unknown:
            yield f"{len(numbered.unknown)} citations of passages that were never shown were struck out"
        if numbered.bare_numbers:
            yield f"{len(numbered.bare_numbers)} bracketed numbers are the model's own and cite nothing"
        if numbered.unseen_urls:
            yield f"addresses that no source holds: {_named(numbered.unseen_urls)}"
        missing = dict.fromkeys(number for claim in self.claims for number in missing_numbers(claim))
        if missing:
            yield f"numbers that no cited passage holds: {_named(list(missing))}"


def _named(found: Sequence[str]) -> str:
    more = len(found) - _MAX_NAMED
    return ", ".join(found[:_MAX_NAMED]) + (f" and {more} more" if more > 0 else "")


def check_reply(text: str, shown: Mapping[str, Evidence], locate: Locate, *, claims_anything: bool) -> CheckedReply:
    """Put `text` through the gate: only keys of `shown` become citations. An abstention or chat claims nothing."""
    numbered = number_citations(text, shown)
    citations = build_citations(numbered.order, shown)
    if not claims_anything:
        return CheckedReply(numbered.text, numbered, _located(citations, numbered.text, shown, locate), ())
    from asky.evidence.verify import mark_unsupported, verify_answer  # 10 ms: not for an answer without sources

    passages = {each.n: each.quote for each in citations}
    marked = mark_unsupported(numbered.text, verify_answer(numbered.text, passages))
    located = _located(citations, numbered.text, shown, locate)
    return CheckedReply(marked, numbered, located, verify_answer(marked, passages))


def missing_numbers(claim: Claim) -> Sequence[str]:
    """The numbers of a claim, as written, that no passage it cites holds."""
    found = claim.checks.get("missing_numbers", ())
    return [str(number) for number in found] if isinstance(found, (list, tuple)) else ()


def _located(
    citations: Sequence[Citation], text: str, shown: Mapping[str, Evidence], locate: Locate
) -> tuple[Citation, ...]:
    """Citations with the section and page of the sentence that is quoted, where one stands in the passage as it is.

    A passage may begin in one section or on one page and hold the sentence in the next.
    """
    drafts = split_claims(text)
    return tuple(_located_one(each, drafts, shown, locate) for each in citations)


def _located_one(
    citation: Citation, drafts: Sequence[Draft], shown: Mapping[str, Evidence], locate: Locate
) -> Citation:
    passage = Quotable(citation.quote)
    quoted = (passage.find(draft.text) for draft in drafts if citation.n in draft.citations)
    place = next((span for span in quoted if span is not None), None)
    if place is None:
        return citation
    begin = citation.span.start + place.start
    location = locate(shown[citation.key].document_id, Span(begin, begin + len(place)))
    return replace(citation, location=location)
