"""Verification of claims against the passages that they cite: by rules, and by a reader for what these leave open.

What decides: quotations by their characters, numbers, dates, units and the values of records by `rules`, all else by
what the reader makes of it (`meaning`). Without a reader the share of the claim's words that the passages contain
stands in: a free paraphrase may then be rated partial, and a false claim in its source's own words supported.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

from asky.evidence.marks import MARKED, mark
from asky.evidence.verification.claim_reader import ClaimReader
from asky.evidence.verification.claims import ClaimDraft, split_claims
from asky.evidence.verification.meaning import SUPPORTED_FROM, ClaimCheck, Ruled, decide
from asky.evidence.verification.rules import check_by_rules
from asky.evidence.verification.support import Passage, read_passage, read_statement
from asky.text.beside.remarks import is_about_remarks, is_within_remark, without_remarks
from asky.values import Claim, Span

_MAX_TRIED = 3  # passages that may support a claim better
_NOTHING_KNOWN: Mapping[int, str] = MappingProxyType({})


def verify_answer(
    answer: str,
    citations_by_number: Mapping[int, str],
    *,
    question: str = "",
    about: Mapping[int, str] = _NOTHING_KNOWN,
    columns: Mapping[int, str | None] = _NOTHING_KNOWN,
    others: Sequence[tuple[str, str]] = (),
    reader: ClaimReader | None = None,
) -> tuple[Claim, ...]:
    """Return the claims of a numbered answer, each checked against the passages it cites; linear in the texts.

    `citations_by_number` has the text of the passage behind each `[n]`, `about` what is known of it, such as its title
    and page: a number that stands there is not missing. `columns` are those of `Location`. Claims of a few words
    are judged with the `question`. Spans refer to `answer`: `answer[claim.span.start : claim.span.end] == claim.text`.
    `reader` reads once for all claims, and once more for `others`, if at all.

    Beside what `verify_claim` lists, `checks` has `rules`, the verdict of these rules, which stays there if a model
    judges the claim too, and of a claim with citations `quotation`: if the whole claim stands in a cited passage word
    for word, `{"n", "start", "end"}` with the number of the first such citation and the characters in its passage, else
    `None`. A claim that is not supported has `better` if one of `others`, keys with the texts of passages, supports it:
    the key of the best one, the first of equals.
    """
    passages: dict[tuple[int, bool], Passage] = {}
    drafts: list[tuple[ClaimDraft, tuple[int, ...]]] = []
    ruled: list[Ruled] = []
    for draft in split_claims(answer):
        cited = tuple(n for n in draft.citations if n in citations_by_number)
        remarks = is_about_remarks(draft.text) or is_within_remark(answer, draft.span.start)
        for n in cited:
            if (n, remarks) not in passages:
                passages[n, remarks] = read_passage(said_in(citations_by_number[n], remarks=remarks), columns.get(n))
        drafts.append((draft, cited))
        ruled.append(
            check_by_rules(
                draft.text,
                [passages[n, remarks] for n in cited],
                question=question,
                about=" ".join(about[n] for n in cited if n in about),
                written=answer[draft.span.start : draft.span.end],
                answer=answer,
                may_be_read=draft.states is None,
            )
        )
    checks = decide(ruled, reader)
    doubted = [
        draft.text
        for (draft, _), check in zip(drafts, checks, strict=True)
        if check.verdict != "supported" and draft.states is None
    ]
    better = _better(doubted, others, question, reader) if others and doubted else {}
    claims = []
    for (draft, cited), by_rules, check in zip(drafts, ruled, checks, strict=True):
        if not _says_something(draft, check):
            continue
        found = {"rules": by_rules.check.verdict, **check.checks}
        for name in ("quotation", "says"):
            if isinstance(place := found.get(name), dict):
                found[name] = {**place, "n": cited[place["n"] - 1]}
        if check.verdict != "supported" and draft.text in better:
            found["better"] = better[draft.text]
        text = answer[draft.span.start : draft.span.end]
        claims.append(Claim(text, draft.span, cited, check.verdict, check.score, found))
    return tuple(claims)


def said_in(passage: str, *, remarks: bool) -> str:
    """Return what a passage says, with the `remarks` of others in it only for a claim about such; offsets stay."""
    return passage if remarks else without_remarks(passage)


def _better(
    claims: Sequence[str], others: Sequence[tuple[str, str]], question: str, reader: ClaimReader | None
) -> dict[str, str]:
    """Return for each claim the key of the passage that supports it best alone, if one does.

    Only the few that contain most of its terms are compared in full.
    """
    passages = {key: read_passage(without_remarks(text)) for key, text in others}
    tried: list[tuple[str, str]] = []
    for claim in dict.fromkeys(claims):
        terms = read_statement(claim).terms
        near = {key: len(terms & passage.terms) for key, passage in passages.items()}
        likely = sorted((key for key in near if near[key] > len(terms) * SUPPORTED_FROM), key=lambda key: -near[key])
        tried += [(claim, key) for key in likely[:_MAX_TRIED]]
    ruled = [check_by_rules(claim, [passages[key]], question=question) for claim, key in tried]
    best: dict[str, tuple[float, str]] = {}
    for (claim, key), check in zip(tried, decide(ruled, reader), strict=True):
        if check.verdict == "supported" and check.score > best.get(claim, (0.0, ""))[0]:
            best[claim] = check.score, key
    return {claim: key for claim, (_, key) in best.items()}


def _says_something(draft: ClaimDraft, check: ClaimCheck) -> bool:
    """Return whether a checked draft is a claim: the words of a heading need not be those of its sources."""
    if draft.states == "count":
        return check.verdict == "contradicted"
    return draft.states is None or check.verdict != "unsupported" or bool(check.checks["missing_numbers"])


def mark_unsupported(answer: str, claims: Sequence[Claim]) -> tuple[str, tuple[Claim, ...]]:
    """Add `⚠` and the verdict after each claim that is unsupported or contradicted.

    Returns the marked answer, and the claims with their spans in it. Nothing else is changed or deleted. `claims` are
    those of `verify_answer` for this very text, in order.
    """
    parts: list[str] = []
    moved: list[Claim] = []
    position = added = 0
    for claim in claims:
        moved.append(replace(claim, span=Span(claim.span.start + added, claim.span.end + added)))
        if claim.verdict in MARKED:
            note = mark(claim.verdict)
            parts += [answer[position : claim.span.end], note]
            position = claim.span.end
            added += len(note)
    return "".join([*parts, answer[position:]]), tuple(moved)


def verify_claim(
    claim: str, passages: Sequence[str], *, question: str = "", about: str = "", reader: ClaimReader | None = None
) -> ClaimCheck:
    """Check the plain text of a claim, without markers and markup, against the texts of the passages it cites.

    Without passages the verdict is `uncited`. `score` is the mean of the shares of `Support`, but at least
    `SUPPORTED_FROM` for supported claims, below it for partial ones, and below `PARTIAL_FROM` for unsupported and
    contradicted ones. Linear in the texts.

    `checks` has `window`, `together` and `pairs` (shares), `missing_quotes`, `missing_numbers` (as written) and
    `contradicted_by` (`"number"`, `"negation"`, `"opposite"`, `"roles"`, `"value"`, `"meaning"` or `None`); where a
    claim differs from values of a record, `values` (`{"name", "value"}`, `null` for an unknown one); if it was read,
    `meaning`: the greatest probabilities that a part of the passages has `entailed` and `contradicted` it; if it is no
    quotation, `says`: the `text` of the part that decided, or is nearest, and the number `n` of its passage, from 1.

    An answer of a few words is judged with its `question`; a number that stands in `about`, what is known of the
    passages beside their text, is not missing. `reader` reads what the rules leave open; without it they alone decide.
    """
    ruled = check_by_rules(claim, _read_passages(claim, passages), question=question, about=about)
    return decide([ruled], reader)[0]


def verify_claims(
    claims: Sequence[tuple[str, Sequence[str]]], *, reader: ClaimReader | None = None
) -> list[ClaimCheck]:
    """Check claims with their passages as `verify_claim` does, in order; what has to be read is read at once."""
    return decide([check_by_rules(claim, _read_passages(claim, passages)) for claim, passages in claims], reader)


def _read_passages(claim: str, passages: Sequence[str]) -> list[Passage]:
    remarks = is_about_remarks(claim)
    return [read_passage(said_in(text, remarks=remarks)) for text in passages]


def check_claim(
    claim: str, passages: Sequence[Passage], *, written: str = "", reader: ClaimReader | None = None
) -> ClaimCheck:
    """Check like `verify_claim`, against analysed passages; `written` is the claim with its links and addresses."""
    return decide([check_by_rules(claim, passages, written=written)], reader)[0]
