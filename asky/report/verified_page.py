"""The page of a text that was verified: each sentence beside the passage that decides about it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from asky.evidence.excerpts import claim_excerpt
from asky.evidence.export.citing import place_text, section_text
from asky.evidence.plain_text import plain_text
from asky.report.gathering import ReportedAnswer, ReportedPassage
from asky.report.markup import Html, join, tag
from asky.report.page import page_of
from asky.report.passages import passage_list, source_name
from asky.report.unread import unread_section
from asky.report.verdicts import LABELS, chip
from asky.text.counting import counted
from asky.text.scrub import one_line
from asky.version import __version__

_PREFIX = "v"
_MAX_GAP_CHARS = 600
_HEADING = re.compile(r"[ \t>]*(#{1,6})[ \t]+(\S.*)")
_RULE = re.compile(r"[\s>|*_=+:-]*")
_NOTE = "Words and numbers were compared with those of the passages; meaning was not."


def render_verified(
    verified: Mapping[str, Any], passages: Mapping[int, ReportedPassage], *, tool: str = f"asky {__version__}"
) -> str:
    """Render an `asky.claims/1` object as an HTML document; `passages` are those of its claims, by number."""
    answer = _as_answer(verified)
    title = one_line(verified["name"])
    warnings = [tag("li", one_line(each, None)) for each in verified["warnings"]]
    listed = passage_list(ReportedAnswer(answer, passages), prefix=_PREFIX, level=3)
    content = join(
        [
            tag("h1", title, dir="auto"),
            tag("div", tag("p", _summary(verified)), tag("p", _NOTE), class_="byline"),
            tag("ul", *warnings, class_="notes", role="note") if warnings else Html(),
            tag("section", *_rows(verified), class_="verified"),
            tag("section", tag("h2", "Passages"), listed, class_="sources") if listed else Html(),
            unread_section(verified, level=2),
        ]
    )
    return page_of(title, tag("section", content, class_="run"), tool, sees_run=False)


def _as_answer(verified: Mapping[str, Any]) -> dict[str, Any]:
    """Return what the list of passages needs: the passages as citations, and the claims that they decide about."""
    citations: dict[int, Mapping[str, Any]] = {}
    claims = []
    for claim in verified["claims"]:
        used = [each for each in (claim["passage"], claim["better_passage"]) if each is not None]
        citations |= {each["n"]: each for each in used}
        claims.append({**claim, "citations": [used[0]["n"]] if claim["passage"] is not None else []})
    return {"claims": claims, "citations": [citations[n] for n in sorted(citations)]}


def _summary(verified: Mapping[str, Any]) -> str:
    counts = (f"{count:,} {LABELS[verdict]}" for verdict, count in verified["counts"].items() if count)
    documents = counted(len(verified["sources"]), "document")
    return f"{counted(len(verified['claims']), 'statement')}, {documents}: {', '.join(counts)}"


def _rows(verified: Mapping[str, Any]) -> Iterator[Html]:
    """Yield the statements in order, with the rest of the text between them."""
    text, position, seen = verified["text"], 0, set[int]()
    for claim in verified["claims"]:
        if claim["start"] > position:
            yield from _between(text[position : claim["start"]])
        position = max(position, claim["end"])
        yield tag("div", _statement(claim), _beside(claim, seen), class_="row")
    yield from _between(text[position:])


def _between(gap: str) -> Iterator[Html]:
    """Yield headings as such, and other text that states nothing in grey, shortened."""
    rest: list[str] = []
    for line in gap.split("\n"):
        heading = _HEADING.fullmatch(line)
        if heading is not None:
            yield from _grey(rest)
            rest.clear()
            yield tag(f"h{min(6, len(heading[1]) + 1)}", plain_text(heading[2]), dir="auto")
        elif not _RULE.fullmatch(line):
            rest.append(line.strip())
    yield from _grey(rest)


def _grey(lines: list[str]) -> Iterator[Html]:
    shown = one_line(plain_text(" ".join(lines)), _MAX_GAP_CHARS)
    if any(map(str.isalnum, shown)):
        yield tag("p", shown, class_="unjudged", dir="auto", lang="")


def _statement(claim: Mapping[str, Any]) -> Html:
    sentence = tag("span", claim["statement"], class_=f"claim {claim['verdict']}")
    return tag(
        "div",
        tag("p", sentence, " ", chip(claim["verdict"]), dir="auto", lang=""),
        tag("p", claim["reason"], class_="why"),
        class_="said",
    )


def _beside(claim: Mapping[str, Any], seen: set[int]) -> Html:
    parts = []
    for passage, label in ((claim["passage"], ""), (claim["better_passage"], "This says it: ")):
        if passage is not None:
            parts.append(_excerpt(claim, passage, label, is_first=passage["n"] not in seen))
            seen.add(passage["n"])
    return tag("div", *parts, class_="found")


def _excerpt(claim: Mapping[str, Any], passage: Mapping[str, Any], label: str, *, is_first: bool) -> Html:
    found = claim_excerpt(passage, claim)
    n = passage["n"]
    cite = tag("a", f"[{n}]", class_="cite", href=f"#{_PREFIX}-c{n}", id=f"{_PREFIX}-r{n}" if is_first else None)
    name = one_line(passage["title"]) or source_name(passage["url"], passage["path"]) or "untitled"
    section = section_text(passage)
    place = [part for part in (name, one_line(section) if section else "", place_text(passage)) if part]
    words = (f"{found.before} " if found.before else "", tag("mark", found.quoted), f" {found.after}")
    return join(
        [
            tag("p", label, tag("bdi", " · ".join(place)), " ", cite, class_="place"),
            tag("blockquote", *words, class_="context", dir="auto", lang=""),
        ]
    )
