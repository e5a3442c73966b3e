"""Views of an evaluation on a terminal: its tables, what was not right, and what to know about both."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from asky.app.evaluation.service import MEASURES
from asky.app.unread_files import describe_fields
from asky.cli.terminal.markdown_stream import print_markdown
from asky.text.counting import counted

if TYPE_CHECKING:
    from asky.cli.terminal.terminal import Terminal

_SHOWN = 10  # questions that are not right
_NAMED = 5  # problems of the questions
_MAX_CHARS = 90
_BUILT_IN = "extractive"
_GROUPS = tuple(dict.fromkeys(each.group for each in MEASURES.values()))


def print_evaluation(terminal: Terminal, found: Mapping[str, Any]) -> None:
    """Print an `asky.eval/1` object: tables on stdout, what was not right too, and notes on stderr."""
    terminal.line(heading(found), 1)
    terminal.line()
    for text in tables(found):
        if terminal.out.isatty():
            print_markdown(terminal, text)
        else:
            terminal.out.write(text)
        terminal.line()
    for variant in found["variants"][:1]:
        _print_not_right(terminal, variant)
    _print_notes(terminal, found)


def heading(found: Mapping[str, Any]) -> str:
    """Return what was measured, in one line."""
    questions = found["questions"]
    without = questions["count"] - questions["answerable"]
    parts = [
        f"{questions['name']}: {counted(questions['count'], 'question')}"
        + (f", {without:,} without an answer" if without else ""),
        counted(questions["documents"], "document"),
        f"{found['model']}, {found['mode']} mode" if found["model"] else "retrieval only",
    ]
    return " · ".join(parts)


def tables(found: Mapping[str, Any]) -> Iterator[str]:
    """Yield the figures as Markdown tables: one for a single variant, else one for each group of measures."""
    variants = found["variants"]
    if len(variants) == 1:
        yield _single(variants[0])
        return
    for group in _GROUPS:
        names = [name for name, each in MEASURES.items() if each.group == group]
        names = [name for name in names if any(name in each["measures"] for each in variants)]
        if names:
            yield _table([f"{group}", *(MEASURES[name].title for name in names)], _compared(variants, names))


def _single(variant: Mapping[str, Any]) -> str:
    rows = []
    for name, each in variant["measures"].items():
        info = MEASURES[name]
        if info.group == "verdicts" and not each["high"]:
            continue  # verdicts that no sentence has
        interval = f"{_number(each['low'])} to {_number(each['high'])}" if each["questions"] > 1 else ""
        rows.append([info.group, info.title, _number(each["value"]), interval, f"{each['questions']:,}"])
    if variant["precision_at_70"] is not None:
        rows.append(["abstention", "precision at 70 % answered", _number(variant["precision_at_70"]), "", ""])
    shown, previous = [], ""
    for row in rows:
        shown.append(["" if row[0] == previous else row[0], *row[1:]])
        previous = row[0]
    return _table(["", "measure", "value", "95 % interval", "questions"], shown, right=(2, 4))


def _compared(variants: Sequence[Mapping[str, Any]], names: Sequence[str]) -> Iterator[list[str]]:
    for variant in variants:
        yield [_code(variant["name"]), *(_cell(variant, name) for name in names)]


def _code(text: str) -> str:
    """Return `text` as a cell that reads the same in plain text."""
    return f"`{text.replace('`', '').replace('|', '/')}`"


def _cell(variant: Mapping[str, Any], name: str) -> str:
    """Return a value with its difference to the first variant, starred if its interval excludes 0."""
    measured = variant["measures"].get(name)
    if measured is None:
        return "-"
    difference = variant["differences"].get(name)
    if difference is None:
        return f"{_number(measured['value'])} [{_number(measured['low'])}, {_number(measured['high'])}]"
    star = " ✱" if difference["low"] > 0 or difference["high"] < 0 else ""
    bounds = f"[{_signed(difference['low'])}, {_signed(difference['high'])}]"
    return f"{_number(measured['value'])}, {_signed(difference['value'])} {bounds}{star}"


def _table(head: Sequence[str], rows: Iterator[list[str]] | Sequence[list[str]], *, right: Sequence[int] = ()) -> str:
    rules = ["---:" if at in right else "---" for at in range(len(head))]
    return "".join(f"| {' | '.join(row)} |\n" for row in [list(head), rules, *rows])


def _number(value: float) -> str:
    return f"{value:.3f}"


def _signed(value: float) -> str:
    return f"{value:+.3f}"


# what was not right


def _print_not_right(terminal: Terminal, variant: Mapping[str, Any]) -> None:
    wrong = [each for each in variant["results"] if each["fault"]]
    if not wrong:
        return
    shown = wrong if terminal.verbose else wrong[:_SHOWN]
    name = f" of {variant['name']}" if variant["settings"] else ""
    what = "right" if any("right" in each for each in wrong) else "found among the first 10 documents"
    terminal.line(f"{len(wrong):,} of {len(variant['results']):,} questions{name} were not {what}:", 1)
    for each in shown:
        terminal.line(f"  {each['id']}: {_short(each['question'])}", hang=4)
        terminal.line(f"      {each['fault']}", 2, hang=2)
    if len(shown) < len(wrong):
        terminal.note(f"(-v lists all {len(wrong):,}; -o report.html shows them)")
    terminal.line()


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _MAX_CHARS else line[: _MAX_CHARS - 3] + "..."


# notes


def _print_notes(terminal: Terminal, found: Mapping[str, Any]) -> None:
    _print_problems(terminal, found["questions"]["problems"])
    for line in describe_fields(found):
        terminal.note(f"not read: {line}")
    for variant in found["variants"]:
        if variant["failures"]:
            terminal.note(
                f"{counted(len(variant['failures']), 'question')} failed and count nowhere: {variant['name']}"
            )
    if len(found["variants"]) > 1:
        terminal.note("differences are to the first variant, over the same questions; ✱: their interval excludes 0")
    if found["model"] and not any(each["curve"] for each in found["variants"]):
        terminal.note("no precision over the share answered: the answers carry no confidence")
    for each in found["variants"]:
        if each["usage"]:
            terminal.note(_usage(each["usage"], each["measured"], found["model"]))


def _print_problems(terminal: Terminal, problems: Sequence[Mapping[str, Any]]) -> None:
    if not problems:
        return
    counts = Counter(each["kind"].replace("_", " ") for each in problems)
    listed = ", ".join(f"{count:,} {kind}" for kind, count in counts.items())
    terminal.note(f"warning: {counted(len(problems), 'problem')} of the questions: {listed}")
    shown = problems if terminal.verbose else problems[:_NAMED]
    for each in shown:
        terminal.note(f"  {each['place']}: {each['message']}")
    if len(shown) < len(problems):
        terminal.note(f"  (-v lists all {len(problems):,})")


def _usage(usage: Mapping[str, Any], answers: int, model: str | None) -> str:
    seconds = f"{counted(answers, 'answer')} in {usage['seconds']:.0f} s"
    if not usage["prompt_tokens"]:
        return f"{seconds}, no tokens: {model} runs on this machine" if model == _BUILT_IN else seconds
    cost = f"{usage['cost_usd']:.4f} USD" if usage["cost_usd"] is not None else "its price is not configured"
    tokens = f"{usage['prompt_tokens']:,} + {usage['completion_tokens']:,} tokens"
    return f"{seconds}: {counted(usage['llm_calls'], 'model call')}, {tokens}, {cost}"
