"""Meaning: claims that words and numbers leave open, read with the sentences of their passages by a model.

The model reads a claim with one to three sentences in a row, or with a row of a record and its columns; a claim is read
with the few of these that have most of its words. A claim is supported if what entails it most, and the share of its
words in the passages, together make that likely; it is contradicted if nothing entails it, its words are there, and a
part that has them says otherwise. What is not certain either way stays partly supported.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from heapq import nlargest
from itertools import islice
from operator import itemgetter

from asky.errors import NotConfigured
from asky.evidence.verification.claim_reader import ClaimReader
from asky.evidence.verification.nearest import DoubtedNumber, doubted_number
from asky.evidence.verification.support import Passage, Statement, coverage
from asky.values import Verdict

SUPPORTED_FROM = 0.55
PARTIAL_FROM = 0.25
"""The minimum scores of supported and of partly supported claims. Source: tests/quality/claims.py."""

# How the reader decides. `python -m tests.quality.verdicts FOLDER` chooses these for the model that is shipped, and has
# the figures of each set left out while choosing.
OF_WORDS = 3.0
"""What the share of a claim's words in its passages adds to the log odds that one of them entails it."""
ENTAILED_FROM = 0.75
"""The least sum of both for a supported claim."""
OF_NUMBERS = 2.0
"""What is taken off for numbers of the claim that its words stand nearer to others than to them, see `nearest`.

Source: of 1, 2, 3 and 4, the best mean over ten sets and the changed claims of `nearest` together.
"""
LONG = 25
"""The sentences of the passages above which what the reader says counts half: a claim then often stands on several
places, which it does not see together. Source: of nine sets, each left out while choosing, .668 against .656."""
CONTRADICTED_FROM = 0.95
ABOUT_FROM = 0.95
"""The least probability of a contradiction, and the least share of a claim's words in the part that makes it."""

_WINDOWS = 2  # of a claim: 3, 4 or 6 are better by .003 on average over ten sets, and take up to three times as long
_WINDOW_SENTENCES = 3
_EACH_SENTENCE = 0.02  # of coverage, that a further sentence has to bring
_MAX_CHARS = 800  # of a window; the reader's own holds about 190 tokens
_SHOWN_CHARS = 240
_ASIDE = re.compile(r" ?\([^()]{1,40}\)(?=[.!?]?$)")  # "(log)": more often a source than a part of the claim
_LEAST = 1e-4  # of a probability, so that its log odds stay within 10


@dataclass(frozen=True, slots=True)
class ClaimCheck:
    """The result of checking a claim. `score` is in [0, 1]; `checks` says what was compared and what was missing."""

    verdict: Verdict
    score: float
    checks: Mapping[str, object]


@dataclass(frozen=True, slots=True)
class Ruled:
    """A claim, its passages, and what the rules found; `support` is its share of words in the passages.

    `statement` is `None` for a quotation and without passages. `is_open` is false where the rules decide: for
    quotations, for numbers and values that are missing or different.
    """

    claim: str
    passages: Sequence[Passage]
    check: ClaimCheck
    statement: Statement | None = None
    support: float = 0.0
    is_open: bool = False

    @property
    def sentences(self) -> int:
        """Return how many sentences the passages have."""
        return sum(passage.said for passage in self.passages)


@dataclass(frozen=True, slots=True)
class EvidenceWindow:
    """A part of a passage, whose number is from 1, and the share of the claim's terms that it has."""

    text: str
    passage: int
    coverage: float


@dataclass(frozen=True, slots=True)
class ReadMeaning:
    """What the reader makes of a claim: the probabilities in the windows that entail and contradict it most.

    `doubted` is a number of the claim that the windows may give to something else.
    """

    entailed: float
    contradicted: float
    entailing: EvidenceWindow
    contradicting: EvidenceWindow
    doubted: DoubtedNumber | None = None


def decide(ruled: Sequence[Ruled], reader: ClaimReader | None) -> list[ClaimCheck]:
    """Return the final check of each claim, in order: what the rules leave open is read, all claims in one call.

    The rules alone decide without a reader, about a claim or passages in another language than its own, and if it can't
    be opened, which `checks` then says as `unread`. What is not quoted gets what its passages say of it as `says`.
    """
    windows = [windows_of(each.statement, each.passages) if each.statement else [] for each in ruled]
    checks = [_saying(each.check, near[0]) if near else each.check for each, near in zip(ruled, windows, strict=True)]
    if reader is None:
        return checks
    read = [at for at, each in enumerate(ruled) if each.is_open and _may_read(reader, each.claim, windows[at])]
    pairs = [(_ASIDE.sub("", _line(ruled[at].claim)), window.text) for at in read for window in windows[at]]
    try:
        rows = iter(reader.read(pairs).tolist() if pairs else ())
    except NotConfigured as error:
        for at in read:
            checks[at] = replace(checks[at], checks={**checks[at].checks, "unread": error.message})
        return checks
    for at in read:
        checks[at] = _decided(ruled[at], found_in(ruled[at].claim, windows[at], list(islice(rows, len(windows[at])))))
    return checks


def _may_read(reader: ClaimReader, claim: str, windows: Sequence[EvidenceWindow]) -> bool:
    return bool(windows) and reader.may_read(claim) and reader.may_read(" ".join(each.text for each in windows))


def _saying(check: ClaimCheck, window: EvidenceWindow) -> ClaimCheck:
    says = window.text
    if len(says) > _SHOWN_CHARS:
        says = f"{says[:_SHOWN_CHARS].rsplit(' ', 1)[0]} …"
    return replace(check, checks={**check.checks, "says": {"n": window.passage, "text": says}})


def found_in(claim: str, windows: Sequence[EvidenceWindow], logits: Sequence[Sequence[float]]) -> ReadMeaning:
    """Return what the reader makes of a claim from its logits for each of the windows, at least one."""
    shares = [_shares(row) for row in logits]
    first = max(range(len(windows)), key=lambda at: shares[at][0])
    against = max(range(len(windows)), key=lambda at: shares[at][1])
    doubted = doubted_number(claim, " ".join(window.text for window in windows))
    return ReadMeaning(shares[first][0], shares[against][1], windows[first], windows[against], doubted)


def entailed_odds(found: ReadMeaning, sentences: int) -> float:
    """Return the log odds that a part of passages of so many sentences entails a claim, halved for long ones.

    Numbers that may be those of something else take from them.
    """
    entailed = min(max(found.entailed, _LEAST), 1 - _LEAST)
    odds = math.log(entailed / (1 - entailed))
    return (odds / 2 if sentences > LONG else odds) - OF_NUMBERS * (found.doubted.odds if found.doubted else 0)


def _decided(ruled: Ruled, found: ReadMeaning) -> ClaimCheck:
    likely = entailed_odds(found, ruled.sentences) + OF_WORDS * ruled.support
    verdict: Verdict = "partial"
    if likely >= ENTAILED_FROM:
        verdict = ruled.check.verdict if ruled.check.checks["missing_numbers"] else "supported"
    elif found.contradicted >= CONTRADICTED_FROM and found.contradicting.coverage >= ABOUT_FROM:
        verdict = "contradicted"
    elif ruled.support < PARTIAL_FROM:
        verdict = "unsupported"
    window = found.contradicting if verdict == "contradicted" else found.entailing
    checks = {
        **ruled.check.checks,
        **({"contradicted_by": "meaning"} if verdict == "contradicted" else {}),
        **({"doubted_number": found.doubted.written} if found.doubted and verdict == "partial" else {}),
        "meaning": {"entailed": round(found.entailed, 3), "contradicted": round(found.contradicted, 3)},
    }
    return _saying(ClaimCheck(verdict, capped(ruled.support, verdict), checks), window)


def capped(score: float, verdict: Verdict) -> float:
    """Return a score as its verdict has it: `SUPPORTED_FROM` and more for supported claims, less for others."""
    if verdict == "supported":
        return round(max(score, SUPPORTED_FROM), 3)
    return round(min(score, (SUPPORTED_FROM if verdict == "partial" else PARTIAL_FROM) - 0.001), 3)


def windows_of(claim: Statement, passages: Sequence[Passage], most: int = _WINDOWS) -> list[EvidenceWindow]:
    """Return the parts of passages with most of a claim's words, the best first, the shorter and earlier of equals.

    Of a record these are its rows and what else its text says.
    """
    ranked = nlargest(most, _rated(claim.terms, passages), key=itemgetter(0))
    return [EvidenceWindow(_line(" ".join(parts))[:_MAX_CHARS], number, held) for _, held, number, parts in ranked]


def _rated(terms: frozenset[str], passages: Sequence[Passage]) -> Iterator[tuple[float, float, int, list[str]]]:
    """Yield the rating, the share of the terms, the passage's number and the texts of each part."""
    for number, passage in enumerate(passages, start=1):
        for text, of_row in passage.rows:
            share = coverage(terms, of_row)
            yield share - _EACH_SENTENCE, share, number, [text]
        said = passage.sentences[: passage.said]
        held = [terms & each.terms for each in said]
        for at in range(len(said)):
            together = frozenset[str]()
            for end in range(at + 1, min(at + _WINDOW_SENTENCES, len(said)) + 1):
                together |= held[end - 1]
                share = coverage(terms, together)
                yield share - _EACH_SENTENCE * (end - at), share, number, [each.text for each in said[at:end]]


def _shares(logits: Sequence[float]) -> list[float]:
    powers = [math.exp(each - max(logits)) for each in logits]
    return [each / sum(powers) for each in powers]


def _line(text: str) -> str:
    return " ".join(text.split())
