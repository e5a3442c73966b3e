"""The sources of an answer in a report: each passage in its context, with the claims that cite it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import PurePath
from typing import Any

from asky.evidence.export.citing import place_text, section_text
from asky.evidence.marks import shown_verdict
from asky.evidence.plain_text import plain_text
from asky.evidence.quotes import parts_of, quoted_spans
from asky.report.gathering import ReportedAnswer, ReportedPassage
from asky.report.links import host_of, page_link
from asky.report.markup import Html, join, tag
from asky.report.verdicts import chip
from asky.report.words import day_and_time
from asky.text.scrub import one_line
from asky.values import Span


def passage_list(reported: ReportedAnswer, *, prefix: str, level: int) -> Html:
    """Render every citation of an answer, in order, each in an element with the id `{prefix}-c{n}`."""
    answer = reported.answer
    claims_by_citation: dict[int, list[Mapping[str, Any]]] = {}
    for claim in answer["claims"]:
        for n in claim["citations"]:
            claims_by_citation.setdefault(n, []).append(claim)
    return join(
        _passage(each, reported.passages.get(each["n"]), claims_by_citation.get(each["n"], ()), prefix, level)
        for each in answer["citations"]
    )


def source_name(url: str | None, path: str | None) -> str:
    """Return a short name of a source: the host of a page, or the name of a file."""
    if url:
        return host_of(url)
    return one_line(PurePath(path).name) if path else ""


def _passage(
    citation: Mapping[str, Any],
    passage: ReportedPassage | None,
    claims: Sequence[Mapping[str, Any]],
    prefix: str,
    level: int,
) -> Html:
    n = citation["n"]
    title = one_line(citation["title"]) or source_name(citation["url"], citation["path"]) or "untitled"
    named = page_link(citation["url"], title) if citation["url"] else title
    back = tag("a", f"[{n}] in the answer", class_="back", href=f"#{prefix}-r{n}")
    return tag(
        "article",
        tag("div", tag("span", str(n), class_="number"), tag(f"h{level}", named, dir="auto"), class_="title"),
        tag("p", *_between(_place(citation)), class_="place"),
        _quotation(citation["quote"], passage, quoted_spans(claims, n, len(citation["quote"]))),
        _claims_on_passage(claims),
        _details(citation, passage),
        tag("p", back),
        id=f"{prefix}-c{n}",
        class_="passage",
        aria_label=f"Passage {n}",
        tabindex=-1,
    )


def _place(citation: Mapping[str, Any]) -> Iterator[Html]:
    """Yield the host or file name, the section and the page, as far as known."""
    name = source_name(citation["url"], citation["path"])
    section = section_text(citation)
    for text in (name, one_line(section) if section else "", place_text(citation)):
        if text:
            yield tag("bdi", text)


def _between(parts: Iterator[Html]) -> Iterator[str]:
    for number, part in enumerate(parts):
        yield from (" · ", part) if number else (part,)


def _quotation(quote: str, passage: ReportedPassage | None, quoted: Sequence[Span]) -> Html:
    """Render a passage in its context, with the words that the answer quotes."""
    parts = (tag("strong", part) if is_quoted else part for part, is_quoted in parts_of(quote, quoted))
    marked = tag("mark", *parts)
    if passage is None:
        return tag("blockquote", marked, class_="context", dir="auto", lang="")
    around = passage.around
    before = ("… " if around.cut_before else "") + around.before.lstrip()
    after = around.after.rstrip() + (" …" if around.cut_after else "")
    return tag("blockquote", before, marked, after, class_="context", dir="auto", lang="")


def _claims_on_passage(claims: Sequence[Mapping[str, Any]]) -> Html:
    """Render the claims that cite this passage, with the verdict on each."""
    if not claims:
        return Html()
    rows = (
        tag("li", chip(shown_verdict(each)), " ", tag("q", plain_text(each["text"]), dir="auto", lang=""))
        for each in claims
    )
    return tag("div", tag("p", "Cited for", class_="label"), tag("ul", *rows), class_="cited-for")


def _details(citation: Mapping[str, Any], passage: ReportedPassage | None) -> Html:
    rows: list[tuple[str, str]] = []
    if citation["url"]:
        rows.append(("address", page_link(citation["url"], one_line(citation["url"], None))))
    if citation["path"]:
        rows.append(("file", tag("code", one_line(citation["path"], None))))
    if citation["fetched_at"]:
        rows.append(("read", day_and_time(citation["fetched_at"])))
    rows += [
        ("characters", f"{citation['start']:,} to {citation['end']:,} of the stored text"),
        ("SHA-256 of that text", tag("code", citation["sha256"])),
        ("checked", _check(passage)),
    ]
    listed = (join([tag("dt", name), tag("dd", value)]) for name, value in rows)
    return tag("details", tag("summary", "Exact location"), tag("dl", *listed), class_="exact")


def _check(passage: ReportedPassage | None) -> str:
    if passage is None:
        return "⚠ not found again: the stored text is missing, or does not contain this passage at this position"
    if not passage.hash_matches:
        return "⚠ the stored text has a different hash"
    return "when this page was made, the stored text had this hash and contained the passage at this position"
