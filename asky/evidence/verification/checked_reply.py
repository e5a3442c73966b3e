"""Checks of a model's reply: keys are numbered, sentences verified, doubtful ones marked, and citations located."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice, takewhile

from asky.evidence.answer import build_citations
from asky.evidence.citations.markers import MakeRewriter, Numbered, number_citations
from asky.evidence.marks import DOUBTFUL
from asky.evidence.plain_text import masked_markup, plain_text
from asky.evidence.quotes import Quotable, prepare_quote
from asky.evidence.verification.claim_reader import ClaimReader
from asky.evidence.verification.claims import split_claims
from asky.evidence.verification.verify import mark_unsupported, verify_answer
from asky.text.counting import counted
from asky.text.scrub import scrub, strip_sequences
from asky.values import Citation, Claim, Contradiction, Evidence, Location, Span

Locate = Callable[[int, Span], Location]
"""Maps a document id and a span in it to a section and page."""

_CITED_CODE = re.compile(
    r"^(?P<fence>`{3,}|~{3,})[^\n]*\n(?P<code>.*?)\n(?P=fence)\s*(?P<numbers>(?:\[\d+\]\s*)+)", re.MULTILINE | re.DOTALL
)
_NUMBER = re.compile(r"\d+")
_MAX_NAMED = 10  # of addresses and numbers in a warning
_MAX_PLACES = 8  # of a quotation in its passage
_MAX_HEADINGS = 3  # of a citation whose quotations stand below several
_BETWEEN_HEADINGS = " › "


@dataclass(frozen=True, slots=True)
class CheckedReply:
    """A reply that has passed the gate: `text` is what the reader sees; `claims` have their spans in it.

    `invented` are the look-alikes of citations that occur in no shown passage. `contradictions` are filled in for the
    last reply only.
    """

    text: str
    numbered: Numbered
    invented: tuple[str, ...]
    citations: tuple[Citation, ...]
    claims: tuple[Claim, ...]
    contradictions: tuple[Contradiction, ...] = ()

    @property
    def doubtful(self) -> tuple[Claim, ...]:
        """Return the claims that a revision could correct."""
        return tuple(claim for claim in self.claims if claim.verdict in DOUBTFUL)

    @property
    def faults(self) -> int:
        """Return the number of faults that a revision could correct.

        These are doubtful claims, invented keys and look-alikes, and addresses that no source contains.
        """
        return len(self.doubtful) + len(self.numbered.unknown) + len(self.invented) + len(self.numbered.unseen_urls)

    def warnings(self) -> Iterator[str]:
        """Yield what the reader should know about the reply."""
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
            yield f"addresses that no source contains: {_named(numbered.unseen_urls)}"
        missing = dict.fromkeys(number for claim in self.claims for number in missing_numbers(claim))
        if missing:
            yield f"numbers that no cited passage contains: {_named(list(missing))}"
        unread = dict.fromkeys(str(claim.checks["unread"]) for claim in self.claims if "unread" in claim.checks)
        yield from (f"the verdicts are by words alone: {why}" for why in unread)


def _named(found: Sequence[str]) -> str:
    more = len(found) - _MAX_NAMED
    return ", ".join(found[:_MAX_NAMED]) + (f" and {more} more" if more > 0 else "")


def without_controls(reply: str) -> str:
    """Return a model's text without terminal sequences and invisible characters."""
    return scrub(strip_sequences(reply))


def check_reply(
    text: str,
    shown: Mapping[str, Evidence],
    locate: Locate,
    *,
    claims_anything: bool,
    rewriter: MakeRewriter | None = None,
    question: str = "",
    reader: ClaimReader | None = None,
) -> CheckedReply:
    """Pass `text` through the gate: only keys of `shown` become citations; a `rewriter` may turn others into keys.

    Claims are verified if it `claims_anything`, unlike an abstention or small talk; answers of a few words with their
    `question`, and what rules leave open by the `reader`. A claim that its citations don't support names another shown
    passage that does. Terminal sequences and invisible characters are removed first: the answer is stored, exported and
    printed in this form.
    """
    numbered = number_citations(without_controls(text), shown, rewriter)
    citations = build_citations(numbered.order, shown)
    unquoted = _not_quoted(numbered.lookalikes, shown)
    if not claims_anything:
        located = _located(citations, _cited_sentences(numbered.text), shown, locate) if citations else ()
        return CheckedReply(numbered.text, numbered, unquoted, located, ())

    claims = verify_answer(
        numbered.text,
        {each.n: each.quote for each in citations},
        question=question,
        about={each.n: _known(each) for each in citations},
        columns={each.n: each.location.columns for each in citations},
        others=[(key, passage.text) for key, passage in shown.items()],
        reader=reader,
    )
    marked, claims = mark_unsupported(numbered.text, claims)
    cited_sentences = [*((claim.citations, claim.text) for claim in claims), *_cited_code(numbered.text)]
    return CheckedReply(marked, numbered, unquoted, _located(citations, cited_sentences, shown, locate), claims)


def _known(citation: Citation) -> str:
    """Return what a model was told of a passage beside its text."""
    source, place = citation.source, citation.location
    page = place.page_label or place.page
    on_page = f"page {page}" if page is not None else None
    told = (source.title, place.section, source.published, on_page, place.columns)
    return " ; ".join(each for each in told if each)


def _cited_sentences(text: str) -> list[tuple[Sequence[int], str]]:
    sentences = [(draft.citations, text[draft.span.start : draft.span.end]) for draft in split_claims(text)]
    return [*sentences, *_cited_code(text)]


def _cited_code(text: str) -> Iterator[tuple[Sequence[int], str]]:
    """Yield the blocks of code that a citation follows: they are no claims, but have a place like any quotation."""
    for block in _CITED_CODE.finditer(text):
        yield [int(n) for n in _NUMBER.findall(block["numbers"])], block["code"]


def _not_quoted(lookalikes: Sequence[str], shown: Mapping[str, Evidence]) -> tuple[str, ...]:
    """Return the look-alikes that no passage contains: the others may be a passage's own references, copied with it."""
    if not lookalikes:
        return ()
    texts = "\n".join(passage.text for passage in shown.values())
    quoted = {each for each in set(lookalikes) if each in texts}
    return tuple(each for each in lookalikes if each not in quoted)


def missing_numbers(claim: Claim) -> Sequence[str]:
    """Return the numbers of a claim, as written, that no passage it cites contains."""
    found = claim.checks.get("missing_numbers", ())
    return [str(number) for number in found] if isinstance(found, (list, tuple)) else ()


def _located(
    citations: Sequence[Citation],
    cited_sentences: Sequence[tuple[Sequence[int], str]],
    shown: Mapping[str, Evidence],
    locate: Locate,
) -> tuple[Citation, ...]:
    """Return the citations, located where the answer quotes their passages, if it does so word for word.

    `cited_sentences` are the sentences of the answer, each with its citations. A passage may begin in one section or on
    one page and contain the sentence in the next.
    """
    sentences: dict[int, list[str]] = {}
    for cited, sentence in cited_sentences:
        quote = prepare_quote(plain_text(sentence)) if cited else ""
        for n in cited:
            sentences.setdefault(n, []).append(quote)
    return tuple(_located_one(each, sentences.get(each.n, ()), shown, locate) for each in citations)


def _located_one(citation: Citation, quotes: Sequence[str], shown: Mapping[str, Evidence], locate: Locate) -> Citation:
    columns, evidence = citation.location.columns, shown[citation.key]
    passage = Quotable(masked_markup(citation.quote), columns=columns)
    quoted = [places for quote in quotes if (places := list(islice(passage.places(quote), _MAX_PLACES)))]
    if not quoted:
        return citation
    certain = {_section_at(evidence, places[0]) for places in quoted if len(places) == 1}
    quoted = [[place for place in places if _section_at(evidence, place) in certain] or places for places in quoted]
    first = quoted[0][0]
    location = locate(evidence.document_id, Span(citation.span.start + first.start, citation.span.start + first.end))
    location = replace(location, columns=columns)
    if evidence.sections:
        location = replace(location, section=_sections_of(evidence, quoted))
    return replace(citation, location=location)


def _section_at(evidence: Evidence, place: Span) -> str:
    """Return the headings above a place in a passage, joined."""
    inside = (path for start, path in reversed(evidence.sections) if start <= place.start)
    return next(inside, evidence.location.section or "")


def _sections_of(evidence: Evidence, quoted: Sequence[Sequence[Span]]) -> str | None:
    """Return the headings above all quotations, then those that differ, if they are few: `Soups › Leek; Pea`.

    `quoted` has the places where each may stand; of several, the headings that these have in common are above it.
    """
    paths = [[_section_at(evidence, place).split(_BETWEEN_HEADINGS) for place in places] for places in quoted]
    each = [_common(those) for those in paths]
    above = _common(each)
    rests = dict.fromkeys(_BETWEEN_HEADINGS.join(path[len(above) :]) for path in each)
    below = [rest for rest in rests if rest]
    told = [*above, "; ".join(below)] if 0 < len(below) <= _MAX_HEADINGS else above
    return _BETWEEN_HEADINGS.join(told) or None


def _common(paths: Sequence[Sequence[str]]) -> list[str]:
    """Return the headings that all paths begin with."""
    same = takewhile(lambda level: len(set(level)) == 1, zip(*paths, strict=False))
    return [level[0] for level in same]
