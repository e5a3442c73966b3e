"""A report of research as Markdown that also reads well as plain text."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import PurePath
from typing import Any

from asky.evidence.answer import contradictions_of
from asky.evidence.export.citing import as_written, reference
from asky.evidence.export.contradictions import TITLE, contradiction_lines
from asky.evidence.export.markdown import autolink
from asky.evidence.export.works import Reference, cited_works
from asky.evidence.marks import WARNING_SIGN, early_end, reason, shown_verdict
from asky.evidence.plain_text import plain_text
from asky.evidence.unread import describe_fields
from asky.report.research_report import ReportedCycle, ReportedFact, ResearchReport
from asky.report.research_words import (
    ALL_ANSWERED,
    CYCLE_COLUMNS,
    NOTHING_FOUND,
    NOTHING_SEARCHED,
    certainty,
    cycle_row,
    fact_note,
    failure_note,
    method,
    missing,
    searched,
    searched_in,
    spending,
)
from asky.report.verdicts import LABELS, is_doubtful
from asky.text.scrub import one_line

_ENTITIES_SHOWN = 60

FileLink = Callable[[str], str]


def render_research_markdown(
    report: ResearchReport, *, file_link: FileLink = lambda path: PurePath(path).as_uri()
) -> str:
    """Return a report as Markdown: the answer with numbered citations, then its sections and the list of its sources.

    `file_link` returns the target of a link to a local file, given its absolute path. The answer is Markdown that was
    made harmless when it was checked; everything else is escaped.
    """
    answer = report.answer
    sections = (
        ("How sure is this", [*_items(certainty(report, answer)), *_doubts(answer["claims"])]),
        (TITLE, list(contradiction_lines([*report.contradictions, *contradictions_of(answer)], _cited))),
        ("What was not found", list(_missing(report))),
        ("Sources", list(_sources(answer["citations"], file_link))),
        ("Facts", [_fact(each) for each in report.facts]),
        ("Names", _names(report)),
        (
            "What could not be read",
            [
                *_items(describe_fields(answer)),
                *(_failure(each.url, _written(failure_note(each))) for each in report.failures),
            ],
        ),
        ("Rejected sources", [f"- {_code(each['url'])}: {_written(each['reason'])}" for each in answer["rejected"]]),
        ("Novelty per cycle", list(_cycles(report.cycles))),
        ("Method", [f"- {name}: {_written(value)}" for name, value in method(report)]),
        ("Spending", [_written(spending(answer))]),
        ("Bibliography", [f"- {_entry(each)}" for each in cited_works([answer])]),
    )
    parts = [f"# {_written(report.query)}", *_answer(report)]
    parts += ["\n".join([f"## {title}", "", *lines]) for title, lines in sections if lines]
    return "\n\n".join(parts) + "\n"


def _answer(report: ResearchReport) -> Iterator[str]:
    answer = report.answer
    if answer["answer"].strip():
        yield str(answer["answer"]).strip("\n")
    elif not report.cycles:
        yield NOTHING_SEARCHED
    else:
        yield NOTHING_FOUND
        if report.queries:
            yield "\n".join([_written(searched_in(report)), "", *_items(report.queries)])
    notes = [early_end(answer), *answer["warnings"]]
    yield from (f"{WARNING_SIGN} *{_written(each)}*" for each in notes if each)


def _doubts(claims: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    """Yield the statements that are not supported, each with its verdict and what was found."""
    for each in filter(is_doubtful, claims):
        verdict = shown_verdict(each)
        details = reason(each)
        said = _written(f"{LABELS.get(verdict, verdict)}: “{plain_text(each['text'])}”")
        yield f"- {said}{_cited(each['citations'])}" + (f" ({_written(details)})" if details else "")


def _missing(report: ResearchReport) -> Iterator[str]:
    rows = _items(missing(report))
    if rows or not report.sub_questions:
        yield from rows
    else:
        yield ALL_ANSWERED


def _sources(citations: Sequence[Mapping[str, Any]], file_link: FileLink) -> Iterator[str]:
    """Yield a paragraph for each citation, with its quote and an empty line between two of them."""
    for number, each in enumerate(citations):
        place = _written(reference({**each, "url": None, "path": None}))
        path = str(each["path"] or "")
        target = each["url"] or (file_link(path) if path.startswith("/") else path)
        yield from ([""] if number else [])
        yield f"[{each['n']}] {place}" + (f" - {autolink(str(target)) or _written(str(target))}" if target else "")
        yield from ("", f"> {_written(each['quote'])}")


def _fact(fact: ReportedFact) -> str:
    return f"- {_written(fact.statement)}{_cited(fact.citations)} ({fact_note(fact)})"


def _failure(url: str, note: str) -> str:
    return f"- {_code(url)} ({note})" if url else f"- {note}"


def _names(report: ResearchReport) -> list[str]:
    names = [f"{each.name} ({each.entity_type}, {each.mention_count:,})" for each in report.entities]
    more = len(names) - _ENTITIES_SHOWN
    shown = [*names[:_ENTITIES_SHOWN], *([f"and {more:,} more"] if more > 0 else [])]
    return [_written(", ".join(shown))] if shown else []


def _cycles(cycles: Sequence[ReportedCycle]) -> Iterator[str]:
    if not cycles:
        return
    table = [CYCLE_COLUMNS, *map(cycle_row, cycles)]
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    rows = ["| " + " | ".join(map(str.rjust, row, widths)) + " |" for row in table]
    rule = "|" + "|".join("-" * (width + 1) + ":" for width in widths) + "|"
    yield from (rows[0], rule, *rows[1:], "")
    for each in cycles:
        why = f" ({_written(each.reason)})" if each.reason else ""
        yield f"- Cycle {each.cycle}: {_written(searched(each))}{why}"


def _entry(work: Reference) -> str:
    """Return a work as `Authors. *Title*. Journal, 2021-02-03. doi:10.1/x. <address>`, as far as each is known."""
    parts = (
        _written(work.author_names),
        f"*{_written(work.title)}*",
        _written(work.published),
        _written(work.named_id),
    )
    address = f" {autolink(work.url) or _written(work.url)}" if work.url else f" {_written(work.path or '')}".rstrip()
    return ". ".join(part.rstrip(".") for part in parts if part) + f".{address}"


def _items(texts: Iterable[str]) -> list[str]:
    return [f"- {_written(each)}" for each in texts]


def _cited(numbers: Iterable[int]) -> str:
    return "".join(f" [{n}]" for n in numbers)


def _code(address: str) -> str:
    """Return an address as code, which nothing links; one with a backtick as escaped text."""
    address = one_line(address, None)
    return f"`{address}`" if address and "`" not in address else _written(address)


def _written(text: str) -> str:
    return as_written(one_line(text, None))
