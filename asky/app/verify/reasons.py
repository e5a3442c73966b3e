"""What a verdict rests on, in a phrase."""

from __future__ import annotations

from collections.abc import Sequence

from asky.app.verify.judging import Judgement
from asky.evidence.export.citing import section_text
from asky.evidence.marks import reason
from asky.evidence.references.cited import CitedReference
from asky.text.scrub import one_line
from asky.values import Hit

_WORDS = {
    "supported": "its words and numbers are in a passage",
    "read": "a passage says it",
    "partial": "part of it is in a passage",
    "unsupported": "no passage says it",
    "contradicted": "a passage says otherwise",
}
_OF_CITED = {
    "supported": "its words and numbers are in the cited source",
    "read": "the cited source says it",
    "partial": "part of it is in the cited source",
    "unsupported": "the cited source does not say it",
    "contradicted": "the cited source says otherwise",
}
_QUOTED = "word for word in the source"
_WRONG = "right claim with a wrong citation"
_MAX_NAME = 60


def reason_of(judged: Judgement, references: Sequence[CitedReference], unresolved: Sequence[CitedReference]) -> str:
    """Return why a statement has its verdict; `unresolved` are those of its `references` that name no given source."""
    words = _OF_CITED if judged.cites else _WORDS
    is_quoted = judged.check.verdict == "supported" and judged.check.checks.get("quotation")
    was_read = judged.check.verdict == "supported" and "meaning" in judged.check.checks
    parts = [_QUOTED if is_quoted else words["read" if was_read else judged.check.verdict]]
    shown_below = {name: value for name, value in judged.check.checks.items() if name != "says"}
    if found := reason({"checks": shown_below}):
        parts.append(found)
    if judged.better is not None:
        parts.append(_better(judged, judged.better, references))
    unresolved = [each for each in unresolved if not each.is_mention]
    if unresolved and not judged.cites:
        cited = ", ".join(each.written for each in unresolved[:3])
        parts.append(f"it cites {one_line(cited, _MAX_NAME)}, which is none of the given documents")
    return "; ".join(parts)


def _better(judged: Judgement, better: Hit, references: Sequence[CitedReference]) -> str:
    place = _place(better)
    if better.source.id in judged.cites:
        pages = next((each.pages for each in references if each.pages is not None), None)
        instead = f", not page {pages[0]}" if pages is not None else ""
        return f"{_WRONG}: {place or 'another passage'} of the cited source says it{instead}"
    return f"{_WRONG}: “{one_line(better.source.title, _MAX_NAME)}”{f', {place}' if place else ''} says it"


def _place(hit: Hit) -> str:
    page = hit.location.page_label or hit.location.page
    section = section_text({"title": hit.source.title, "section": hit.location.section})
    return f"page {page}" if page is not None else one_line(section or "", _MAX_NAME)
