"""An evaluation as one HTML page with its tables, plots and questions; it loads nothing and runs no script."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from asky.evaluation.scoring import MEASURES
from asky.report.markup import Html, join, tag
from asky.report.page import html_document
from asky.report.plot import COLOURS, PlottedValue, curve_plot, interval_plot
from asky.report.unread import unread_section
from asky.text.counting import counted
from asky.version import __version__

_MAX_QUESTIONS = 500
_ALWAYS = frozenset(name for name, each in MEASURES.items() if each.group != "verdicts")
"""Measures that a plot shows where they are 0 too; verdicts that no sentence has are left out."""
_GROUPS = tuple(dict.fromkeys(each.group for each in MEASURES.values()))


def render_evaluation(found: Mapping[str, Any], *, tool: str = f"asky {__version__}") -> str:
    """Return the page of an `asky.eval/1` object."""
    variants: Sequence[Mapping[str, Any]] = found["variants"]
    title = f"Evaluation: {found['questions']['name']}"
    content = join(
        [
            tag("h1", title, dir="auto"),
            tag("div", *(tag("p", line) for line in _byline(found)), class_="byline"),
            *_gate(found["gate"]),
            *_plots(variants),
            *_tables(variants),
            *_problems(found["questions"]["problems"]),
            unread_section(found, level=2),
            *(_questions(each, is_only=len(variants) == 1) for each in variants[:1]),
            tag("footer", f"Made by {tool}. This page holds all that it shows and loads nothing."),
        ]
    )
    styles = ("report.css", "evaluation.css")
    return html_document(title, tag("body", tag("main", content)), tool=tool, styles=styles)


def _byline(found: Mapping[str, Any]) -> Iterator[str]:
    questions, interval = found["questions"], found["interval"]
    without = questions["count"] - questions["answerable"]
    yield (
        f"{counted(questions['count'], 'question')}"
        + (f", {without:,} without an answer" if without else "")
        + f", over {counted(questions['documents'], 'document')}; "
        + (f"answers of {found['model']} in {found['mode']} mode" if found["model"] else "retrieval only")
    )
    yield (
        f"Intervals hold {interval['confidence']:.0%} of {interval['samples']:,} resamples of the questions. They say "
        "how far other questions of the same kind would move a figure, not how it is on questions of another kind."
    )
    if not found["complete"]:
        yield "Not complete: questions are left to measure."
    if used := _usage(found["variants"]):
        yield used


def _usage(variants: Sequence[Mapping[str, Any]]) -> str:
    used = [each["usage"] for each in variants if each["usage"]]
    tokens = sum(each["prompt_tokens"] + each["completion_tokens"] for each in used)
    if not tokens:
        return ""  # the built-in model
    costs = [each["cost_usd"] for each in used]
    cost = "" if None in costs else f", {sum(costs):.4f} USD"
    return f"{counted(sum(each['llm_calls'] for each in used), 'model call')}, {tokens:,} tokens{cost}"


def _gate(gate: Mapping[str, Any] | None) -> Iterator[Html]:
    if gate is None:
        return
    yield tag("h2", "Gate")
    rows = (
        tag(
            "li",
            f"{'passed' if each['passed'] else 'failed'}: {each['variant']}: {each['text']}",
            class_=_outcome(each),
        )
        for each in gate["checks"]
    )
    yield tag("ul", *rows)


def _outcome(check: Mapping[str, Any]) -> str:
    return "passed" if check["passed"] else "failed"


# plots


def _plots(variants: Sequence[Mapping[str, Any]]) -> Iterator[Html]:
    if len(variants) > 1:
        items = (tag("li", tag("span", each["name"]), class_=f"v{at % COLOURS}") for at, each in enumerate(variants))
        yield tag("ul", *items, class_="legend")
    named = [(name, _values(variants, name)) for name in MEASURES]
    rows = [
        (_label(name), values)
        for name, values in named
        if values and (name in _ALWAYS or any(each.high for each in values))
    ]
    if rows:
        caption = tag("figcaption", "The value of each measure, and its 95 % interval.")
        yield tag("figure", interval_plot(rows), caption)
    curves = [
        (at, [(point["share"], point["precision"]) for point in each["curve"]])
        for at, each in enumerate(variants)
        if each["curve"]
    ]
    if curves:
        yield tag("h2", "Precision over the share answered")
        text = (
            "From left to right, answers of less and less confidence are given: across, the share of the answerable "
            "questions that are answered; up, the share of right answers among those given."
        )
        yield tag("figure", curve_plot(curves), tag("figcaption", text))


def _label(name: str) -> str:
    info = MEASURES[name]
    return f"{info.group}: {info.title}"


def _values(variants: Sequence[Mapping[str, Any]], name: str) -> list[PlottedValue]:
    return [
        PlottedValue(each["value"], each["low"], each["high"], at)
        for at, variant in enumerate(variants)
        if (each := variant["measures"].get(name)) is not None
    ]


# tables


def _tables(variants: Sequence[Mapping[str, Any]]) -> Iterator[Html]:
    for group in _GROUPS:
        names = [name for name, each in MEASURES.items() if each.group == group]
        names = [name for name in names if any(name in each["measures"] for each in variants)]
        if names:
            yield tag("h2", group.capitalize())
            yield tag("div", _table(variants, names), class_="wide")
    if len(variants) > 1:
        text = "Below each value: its difference to the first variant over the same questions; bold if 0 is outside."
        yield tag("p", text, class_="byline")


def _table(variants: Sequence[Mapping[str, Any]], names: Sequence[str]) -> Html:
    head = tag("tr", tag("th", "measure"), *(tag("th", each["name"], class_="figure") for each in variants))
    rows = (tag("tr", _named(name), *(_cell(each, name) for each in variants)) for name in names)
    return tag("table", tag("thead", head), tag("tbody", *rows))


def _named(name: str) -> Html:
    info = MEASURES[name]
    return tag("td", info.title, " ", tag("code", name), tag("br"), tag("span", info.meaning, class_="why"))


def _cell(variant: Mapping[str, Any], name: str) -> Html:
    measured = variant["measures"].get(name)
    if measured is None:
        return tag("td", "-", class_="figure")
    value = f"{measured['value']:.3f}"
    difference = variant["differences"].get(name)
    if difference is None:
        below = f"[{measured['low']:.3f}, {measured['high']:.3f}], {measured['questions']:,} questions"
        return tag("td", value, tag("br"), tag("span", below, class_="why"), class_="figure")
    below = f"{difference['value']:+.3f} [{difference['low']:+.3f}, {difference['high']:+.3f}]"
    is_apart = difference["low"] > 0 or difference["high"] < 0
    class_ = "figure apart" if is_apart else "figure"
    return tag("td", value, tag("br"), tag("span", below, class_="why"), class_=class_)


# questions


def _problems(problems: Sequence[Mapping[str, Any]]) -> Iterator[Html]:
    if problems:
        yield tag("h2", f"{counted(len(problems), 'problem')} of the questions")
        rows = (tag("li", f"{each['place']}: {each['message']}") for each in problems[:_MAX_QUESTIONS])
        yield tag("ul", *rows)


def _questions(variant: Mapping[str, Any], *, is_only: bool) -> Html:
    """Return the questions of a variant, those that were not right first."""
    results = sorted(variant["results"], key=lambda each: each["fault"] is None)
    wrong = sum(each["fault"] is not None for each in results)
    of = "" if is_only else f" of {variant['name']}"
    shown = results[:_MAX_QUESTIONS]
    left = f"; the first {len(shown):,} are shown" if len(shown) < len(results) else ""
    head = tag("h2", f"Questions{of}")
    what = "right" if any("right" in each for each in results) else "found among the first 10 documents"
    note = tag("p", f"{wrong:,} of {len(results):,} were not {what}{left}.", class_="byline")
    return join([head, note, *map(_question, shown)])


def _question(outcome: Mapping[str, Any]) -> Html:
    mark = tag("span", "✗ ", class_="failed") if outcome["fault"] else tag("span", "✓ ", class_="passed")
    if _is_unjudged(outcome):
        mark = tag("span", "· ", title="nothing says what a right answer is")
    why = tag("span", outcome["fault"], class_="why") if outcome["fault"] else Html()
    summary = tag("summary", mark, tag("strong", outcome["id"]), f": {outcome['question']}", why, dir="auto")
    fields = (join([tag("dt", name), tag("dd", text, dir="auto")]) for name, text in _fields(outcome) if text)
    return tag("details", summary, tag("dl", *fields), class_="question")


def _is_unjudged(outcome: Mapping[str, Any]) -> bool:
    """Return whether nothing says what is right: of an answer, or where nothing was asked, of a ranking."""
    return outcome["right"] is None if "right" in outcome else outcome["first_rank"] is None and not outcome["fault"]


def _fields(outcome: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    yield "answer", outcome.get("answer") or ""
    yield "expected facts", "\n".join(" / ".join(each) for each in outcome["facts"])
    yield "expected sources", "\n".join(outcome["sources"])
    yield "cited", "\n".join(each["path"] or each["url"] or each["title"] for each in outcome.get("cited", ()))
    yield "found, best first", "\n".join(outcome["ranking"])
    confidence = outcome.get("confidence")
    yield "confidence", "" if confidence is None else f"{confidence:.2f}"
    if outcome.get("stopped_by"):
        yield "stopped by", outcome["stopped_by"]
