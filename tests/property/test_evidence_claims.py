from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from asky.evidence.citations.markers import number_citations
from asky.evidence.quotes import find_quote
from asky.evidence.verification.claims import split_claims
from asky.evidence.verification.verify import mark_unsupported, verify_answer, verify_claim
from asky.values import Evidence, Location, Source, Span

PIECES = [
    "The moon pulls the sea",
    " It rose by 12 metres",
    "Yes",
    ". ",
    "! ",
    "? ",
    ": ",
    "\n",
    "\n\n",
    "- ",
    "1. ",
    "> ",
    "# ",
    "## In 1911",
    "**12 metres**\n",
    "three things:\n",
    "[7]",
    "sea¹",
    "\n===\n",
    "\n> # 1911",
    "\n> | a |",
    "\n> ```\n",
    "| ",
    "|---|\n",
    "```\n",
    "`code`",
    "**bold**",
    " [P7f3a]",
    "[P09c2]",
    "[P0000]",
    "[1]",
    "⚠ uncited",
    "[a](https://x.test)",
    " The sources do not say",
    '"the moon pulls the sea"',
]
answers = st.lists(st.sampled_from(PIECES) | st.text(max_size=3), max_size=30).map("".join)
NOWHERE = Span(0, 0)
SOURCE = Source("s1", "web", "https://x.test", "Title")
TEXTS = {"P7f3a": "The moon pulls the sea. It rose by 12 metres.", "P09c2": "It rose by 13 metres."}
SHOWN = {key: Evidence(key, SOURCE, 1, "", Span(0, len(text)), text, Location()) for key, text in TEXTS.items()}


def numbered(answer: str) -> tuple[str, dict[int, str]]:
    result = number_citations(answer, SHOWN)
    return result.text, {n: TEXTS[key] for n, key in enumerate(result.order, start=1)}


@given(answers)
def test_claims_are_in_order_do_not_overlap_and_are_not_blank(answer: str) -> None:
    spans = [draft.span for draft in split_claims(answer)]
    assert all(before.end <= after.start for before, after in pairwise(spans))
    assert all(answer[span.start : span.end].strip() for span in spans)


@given(answers)
def test_marking_only_adds_marks_and_keeps_the_claims(answer: str) -> None:
    text, passages = numbered(answer)
    claims = verify_answer(text, passages)
    marked, moved = mark_unsupported(text, claims)
    assert [replace(claim, span=NOWHERE) for claim in moved] == [replace(claim, span=NOWHERE) for claim in claims]
    assert all(marked[claim.span.start : claim.span.end] == claim.text for claim in moved)
    for claim in reversed(moved):
        mark = f" ⚠ {claim.verdict}"
        if claim.verdict in ("unsupported", "contradicted"):
            assert marked.startswith(mark, claim.span.end)
            marked = marked[: claim.span.end] + marked[claim.span.end + len(mark) :]
    assert marked == text


@given(answers)
def test_every_verdict_fits_its_citations_and_its_score(answer: str) -> None:
    for claim in verify_answer(*numbered(answer)):
        assert (claim.verdict == "uncited") == (claim.citations == ())
        assert 0 <= claim.score <= 1
        assert (claim.verdict == "supported") == (claim.score >= 0.55)


plain = st.text(st.characters(exclude_characters="-‐‑\u00ad"))  # a hyphen at its end joins a quotation to what follows


@given(plain, plain, plain)
def test_a_piece_of_a_text_between_spaces_is_found(before: str, quote: str, after: str) -> None:
    text = f"{before} {quote} {after}"
    span = find_quote(quote, text)
    assert span is not None or not any(character.isalnum() for character in quote)
    assert span is None or span.end <= len(text)


@given(st.text(), st.lists(st.text(), max_size=3))
def test_any_claim_against_any_passages_gets_a_verdict(claim: str, passages: list[str]) -> None:
    check = verify_claim(claim, passages)
    assert (check.verdict == "uncited") == (not passages)
    assert 0 <= check.score <= 1
