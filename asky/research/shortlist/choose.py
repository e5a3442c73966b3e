"""Selection among the sources that were read: one per text, not all from one site, the best ones."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date

from asky.research.index.near_duplicates import group_copies
from asky.research.page import WebPage
from asky.research.shortlist_score import FREE_PER_SITE, WEIGHTS, CandidateScore, RankedCandidate
from asky.research.shortlist_types import Shortlisted
from asky.research.source_policy import latest_day
from asky.text.counting import counted
from asky.text.urls import site_of


@dataclass(frozen=True, slots=True)
class Text:
    """A candidate with a text to cite: its page, or its abstract if `page` is `None`."""

    page: WebPage | None
    entry: RankedCandidate
    scored: CandidateScore
    unread_because: str | None = None

    @property
    def url(self) -> str:
        return self.entry.candidate.url

    @property
    def is_named(self) -> bool:
        return self.entry.candidate.origin == "prompt"


@dataclass(frozen=True, slots=True)
class Chosen:
    """The selection: `selected` is best first; `rejected` maps the address of each other text to the reason."""

    selected: tuple[Shortlisted, ...]
    rejected: dict[str, str]
    origins: int


def choose(texts: Sequence[Text], *, top_k: int, keeps_retracted: bool) -> Chosen:
    """Choose up to `top_k` of `texts`: those named in the question first, then the best; give reasons for the others.

    Equal scores keep the order of `texts`. Of duplicates one is kept: a named one, else the oldest by known date, else
    the first; it gets their best score. From the third source of a site on, each scores `Weights.site` less than the
    one before.
    """
    rejected: dict[str, str] = {}
    originals: list[tuple[Text, float, tuple[str, ...]]] = []
    groups = group_copies([text.entry.examined.shingles for text in texts])
    usable: dict[int, list[Text]] = {}
    for text, group in zip(texts, groups, strict=True):
        if reason := _objection(text, keeps_retracted=keeps_retracted):
            rejected[text.url] = reason
        else:
            usable.setdefault(group, []).append(text)
    for members in usable.values():
        kept, *copies = sorted(members, key=_by_claim)
        shown = kept.page.source.url if kept.page is not None else None
        rejected |= {copy.url: f"the same text as {shown or kept.url}" for copy in copies}
        best = max(member.scored.score for member in members)
        originals.append((kept, best, tuple(copy.url for copy in copies)))
    ranked = _spread(originals)
    better = f"{counted(top_k, 'other fits', 'others fit')} better"
    rejected |= {kept.url: f"{better} ({'; '.join(kept.scored.reasons)})" for kept, _, _ in ranked[top_k:]}
    selected = tuple(_shortlisted(*each) for each in ranked[:top_k])
    return Chosen(selected, rejected, len(set(groups)))


def _objection(text: Text, *, keeps_retracted: bool) -> str | None:
    """Return why a text is not a source for the question, regardless of the others."""
    entry = text.entry
    if entry.examined.is_too_short:
        return "hardly any text"
    if text.is_named:
        return None
    if entry.candidate.is_retracted and not keeps_retracted:
        return "retracted"
    if entry.examined.is_foreign:
        return None
    if entry.meaning is None:
        return None if entry.examined.counts else "has no word of the question"
    return None if entry.is_about_it else f"not about the question (meaning {entry.meaning:.2f})"


def _by_claim(text: Text) -> tuple[bool, date]:
    """Return a sort key for copies of one text; the lowest is taken as the original."""
    return not text.is_named, latest_day(text.entry.published) or date.max


def _spread(
    originals: Sequence[tuple[Text, float, tuple[str, ...]]],
) -> list[tuple[Text, float, tuple[str, ...]]]:
    """Order texts: named ones first, then the best, with the penalty for several from one site."""
    seen: Counter[str] = Counter()
    ranked = []
    for kept, score, copies in sorted(originals, key=lambda each: -each[1]):
        cost = 0.0
        if kept.entry.candidate.kind != "paper" and not kept.is_named:
            site = site_of(kept.url)
            cost = WEIGHTS.site * max(0, seen[site] + 1 - FREE_PER_SITE)
            seen[site] += 1
        ranked.append((kept, round(score - cost, 6), copies))
    return sorted(ranked, key=lambda each: (not each[0].is_named, -each[1]))


def _shortlisted(kept: Text, score: float, copies: tuple[str, ...]) -> Shortlisted:
    reasons = kept.scored.reasons
    if copies:
        reasons = (*reasons, f"{len(copies)} with the same text")
    if kept.page is None:
        reasons = (*reasons, "abstract only")
    return Shortlisted(
        kept.entry.candidate, kept.page, score, reasons, copies, kept.unread_because, kept.entry.published
    )
