"""One answer in a report: the question, the text, its sources, how it was checked, and its usage."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from asky.evidence.answer import confidence_of, contradictions_of
from asky.evidence.export.markdown import ADDED
from asky.evidence.marks import early_end, reason, shown_verdict
from asky.evidence.plain_text import plain_text
from asky.report.contradictions import contradictions_section
from asky.report.gathering import ReportedAnswer
from asky.report.links import allowed_links, page_link
from asky.report.markup import Html, join, tag
from asky.report.passages import passage_list, source_name
from asky.report.prose import render_prose
from asky.report.research_sections import ResearchSections
from asky.report.research_words import spending
from asky.report.unread import unread_section
from asky.report.verdicts import LABELS, chip
from asky.report.words import day_and_time
from asky.text.counting import counted
from asky.text.scrub import one_line

_NO_EVIDENCE = "The sources hold too little to answer this."
_UNCITED = "This answer cites no source."
_COMPARED = "Words and numbers were compared with those of the passages; meaning was not."
_READ = "Words and numbers were compared with those of the passages; a small model read what that leaves open."


def answer_section(reported: ReportedAnswer, *, prefix: str, level: int) -> Html:
    """Render an answer below a heading of `level` with its question; element ids begin with `prefix`."""
    answer, allowed = reported.answer, allowed_links(reported.answer)
    prose = render_prose(answer, allowed, prefix=prefix, level=level + 1)
    research = (
        ResearchSections(reported.research, answer, allowed, prefix=prefix, level=level + 1)
        if reported.research is not None
        else None
    )
    added = (tag("p", ADDED, " ", tag("q", one_line(each, None), dir="auto", lang="")) for each in reported.added)
    return tag(
        "section",
        tag(f"h{level}", one_line(answer["question"], None), dir="auto", lang="", class_="question"),
        tag("div", tag("p", _byline(reported)), _summary(answer, prefix), *added, class_="byline"),
        _notes(answer),
        tag("div", prose, class_="answer", lang=""),
        *([research.nothing_found(), research.judged()] if research is not None else []),
        Html() if research is not None else _contradictions(answer, prefix, level + 1),
        _titled("Sources", passage_list(reported, prefix=prefix, level=level + 2), level=level + 1, class_="sources"),
        unread_section(answer, level=level + 1),
        _checks(answer["claims"], prefix),
        *([research.found()] if research is not None else []),
        _unused(answer["sources"]),
        _rejected(answer["rejected"]),
        tag("p", _usage(answer), class_="usage"),
        id=prefix,
        class_="run",
    )


def _byline(reported: ReportedAnswer) -> str:
    answer = reported.answer
    parts = [
        day_and_time(reported.asked_at) if reported.asked_at else "",
        f"answered by {one_line(answer['model'])}",
        {"research": "research", "lean": "one search"}.get(answer["mode"], ""),
        f"session {one_line(answer['session'])}" if answer["session"] else "",
        f"confidence {confidence:.2f}" if (confidence := confidence_of(answer)) is not None else "",
    ]
    return " · ".join(part for part in parts if part)


def _notes(answer: Mapping[str, Any]) -> Html:
    """Render what a reader has to know before the answer."""
    is_answered = answer["stopped_by"] != "no_evidence"
    texts = [early_end(answer) if is_answered else _NO_EVIDENCE, *answer["warnings"]]
    if not answer["citations"] and is_answered:
        texts.append(_UNCITED)
    notes = [tag("li", one_line(each, None)) for each in texts if each]
    return tag("ul", *notes, class_="notes", role="note") if notes else Html()


def _summary(answer: Mapping[str, Any], prefix: str) -> Html:
    """Render the number of statements with each verdict."""
    claims = answer["claims"]
    if not claims:
        return Html()
    counts = Counter(map(shown_verdict, claims))
    texts = (f"{counts[kind]:,} {label}" for kind, label in LABELS.items() if counts[kind])
    link = tag("a", f"{counted(len(claims), 'statement')} checked", href=f"#{prefix}-checks")
    return tag("p", link, ": ", ", ".join(texts))


def _contradictions(answer: Mapping[str, Any], prefix: str, level: int) -> Html:
    numbers = {each["n"] for each in answer["citations"]}
    return contradictions_section(contradictions_of(answer), numbers, prefix=prefix, level=level)


def _titled(title: str, content: Html, *, level: int, class_: str) -> Html:
    return tag("section", tag(f"h{level}", title), content, class_=class_) if content else Html()


def _checks(claims: Sequence[Mapping[str, Any]], prefix: str) -> Html:
    if not claims:
        return Html()
    rows = [_check(number, claim, prefix) for number, claim in enumerate(claims, start=1)]
    was_read = any("meaning" in claim["checks"] for claim in claims)
    note = tag("p", _READ if was_read else _COMPARED)
    return _folded(
        f"How {counted(len(claims), 'statement was', 'statements were')} checked",
        join([note, tag("ol", *rows, class_="checks")]),
        id_=f"{prefix}-checks",
    )


def _check(number: int, claim: Mapping[str, Any], prefix: str) -> Html:
    cited = (tag("a", f"[{n}]", class_="cite", href=f"#{prefix}-c{n}") for n in claim["citations"])
    details = reason(claim)
    return tag(
        "li",
        chip(shown_verdict(claim)),
        " ",
        tag("q", plain_text(claim["text"]), dir="auto", lang=""),
        " ",
        *cited,
        *([tag("span", f" ({details})", class_="why")] if details else []),
        id=f"{prefix}-k{number}",
    )


def _unused(sources: Sequence[Mapping[str, Any]]) -> Html:
    rows = [tag("li", *_source(each)) for each in sources if not each["used"]]
    return _folded(f"{counted(len(rows), 'source')} found, not cited", tag("ul", *rows)) if rows else Html()


def _source(source: Mapping[str, Any]) -> Iterator[str]:
    name = source_name(source["url"], None)
    title = tag("bdi", one_line(source["title"]) or name or source["source_id"])
    yield page_link(source["url"], title) if source["url"] else title
    if name:
        yield tag("span", f" {name}", class_="host")


def _rejected(rejected: Sequence[Mapping[str, Any]]) -> Html:
    rows = [tag("li", tag("bdi", one_line(each["url"])), f": {one_line(each['reason'])}") for each in rejected]
    return _folded(f"{counted(len(rows), 'source')} rejected", tag("ul", *rows)) if rows else Html()


def _folded(title: str, content: Html, *, id_: str | None = None) -> Html:
    return tag("details", tag("summary", title), content, id=id_, class_="more")


def _usage(answer: Mapping[str, Any]) -> str:
    return f"{spending(answer)} · run {answer['run']}"
