"""A reply on its way to the reader: keys numbered, sentences checked, doubtful ones marked, each citation located."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from asky.evidence.answer import build_citations
from asky.evidence.markers import Numbered, number_citations
from asky.evidence.marks import MARKED
from asky.evidence.quotes import Quotable, prepare_quote
from asky.text.counting import counted
from asky.text.scrub import scrub, strip_sequences
from asky.values import Citation, Claim, Evidence, Location, Span

Locate = Callable[[int, Span], Location]
"""Where a span of a document lies: its id and the span in, section and page out."""

_MAX_NAMED = 10  # of addresses and numbers in a warning


@dataclass(frozen=True, slots=True)
class CheckedReply:
    """A reply after the gate: `text` is what the reader sees; `claims` have their spans in it.

    `invented` are the look-alikes of citations that no shown passage holds either.
    """

    text: str
    numbered: Numbered
    invented: tuple[str, ...]
    citations: tuple[Citation, ...]
    claims: tuple[Claim, ...]

    @property
    def doubtful(self) -> tuple[Claim, ...]:
        """The claims that carry a mark."""
        return tuple(claim for claim in self.claims if claim.verdict in MARKED)

    @property
    def faults(self) -> int:
        """What a repair could mend: marked claims, invented keys and look-alikes, addresses that no source holds."""
        return len(self.doubtful) + len(self.numbered.unknown) + len(self.invented) + len(self.numbered.unseen_urls)

    def warnings(self) -> Iterator[str]:
        """What the reader should know of it."""
        numbered = self.numbered
        if numbered.unknown:
            yield counted(
                len(numbered.unknown),
                "citation of a passage that was never shown was struck out",
                "citations of passages that were never shown were struck out",
            )
        if numbered.lookalikes:
            yield counted(
                len(numbered.lookalikes),
                "mark that looks like a citation and cites nothing was struck out",
                "marks that look like citations and cite nothing were struck out",
            )
        if numbered.unseen_urls:
            yield f"addresses that no source holds: {_named(numbered.unseen_urls)}"
        missing = dict.fromkeys(number for claim in self.claims for number in missing_numbers(claim))
        if missing:
            yield f"numbers that no cited passage holds: {_named(list(missing))}"


def _named(found: Sequence[str]) -> str:
    more = len(found) - _MAX_NAMED
    return ", ".join(found[:_MAX_NAMED]) + (f" and {more} more" if more > 0 else "")


def without_controls(reply: str) -> str:
    """What a model wrote, without sequences for terminals and invisible characters."""
    return scrub(strip_sequences(reply))


def check_reply(text: str, shown: Mapping[str, Evidence], locate: Locate, *, claims_anything: bool) -> CheckedReply:
    """Put `text` through the gate: only keys of `shown` become citations. An abstention or chat claims nothing.

    What drives a terminal, and what nobody sees, goes first: the answer is kept, exported and printed as it is here.
    """
    numbered = number_citations(without_controls(text), shown)
    citations = build_citations(numbered.order, shown)
    strangers = _not_quoted(numbered.lookalikes, shown)
    if not claims_anything:
        located = _located(citations, _said(numbered.text), shown, locate) if citations else ()
        return CheckedReply(numbered.text, numbered, strangers, located, ())
    from asky.evidence.verify import mark_unsupported, verify_answer  # 10 ms: not for an answer without sources

    claims = verify_answer(numbered.text, {each.n: each.quote for each in citations})
    marked, claims = mark_unsupported(numbered.text, claims)
    said = [(claim.citations, claim.text) for claim in claims]
    return CheckedReply(marked, numbered, strangers, _located(citations, said, shown, locate), claims)


def _said(text: str) -> list[tuple[Sequence[int], str]]:
    from asky.evidence.claims import split_claims  # 9 ms: not for an answer without citations

    return [(draft.citations, text[draft.span.start : draft.span.end]) for draft in split_claims(text)]


def _not_quoted(lookalikes: Sequence[str], shown: Mapping[str, Evidence]) -> tuple[str, ...]:
    """Those that no passage holds: the rest may be a passage's own references, copied with its words."""
    if not lookalikes:
        return ()
    texts = "\n".join(passage.text for passage in shown.values())
    quoted = {each for each in set(lookalikes) if each in texts}
    return tuple(each for each in lookalikes if each not in quoted)


def missing_numbers(claim: Claim) -> Sequence[str]:
    """The numbers of a claim, as written, that no passage it cites holds."""
    found = claim.checks.get("missing_numbers", ())
    return [str(number) for number in found] if isinstance(found, (list, tuple)) else ()


def _located(
    citations: Sequence[Citation],
    said: Sequence[tuple[Sequence[int], str]],
    shown: Mapping[str, Evidence],
    locate: Locate,
) -> tuple[Citation, ...]:
    """Citations with the section and page of the sentence that is quoted, where one stands in the passage as it is.

    `said` are the sentences of the answer, each with what it cites. A passage may begin in one section or on one page
    and hold the sentence in the next.
    """
    from asky.evidence.plain_text import plain_text

    sentences: dict[int, list[str]] = {}
    for cited, sentence in said:
        quote = prepare_quote(plain_text(sentence)) if cited else ""
        for n in cited:
            sentences.setdefault(n, []).append(quote)
    return tuple(_located_one(each, sentences.get(each.n, ()), shown, locate) for each in citations)


def _located_one(citation: Citation, quotes: Sequence[str], shown: Mapping[str, Evidence], locate: Locate) -> Citation:
    passage = Quotable(citation.quote)
    quoted = (passage.find_prepared(sentence) for sentence in quotes)
    place = next((span for span in quoted if span is not None), None)
    if place is None:
        return citation
    begin = citation.span.start + place.start
    location = locate(shown[citation.key].document_id, Span(begin, begin + len(place)))
    return replace(citation, location=location)
