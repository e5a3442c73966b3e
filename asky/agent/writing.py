"""The prompt of the report: what was found on each part of the question, as far as a model's context allows."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from asky.evidence.passages import fence, render_passages
from asky.llm.port import Message
from asky.llm.tools import ToolRegistry
from asky.research.writing.prompts import EVIDENCE_PROMPT, Prompt
from asky.research.writing.quoting import quoting_messages
from asky.research.writing.templates import fill, template_text

if TYPE_CHECKING:
    from asky.agent.findings import Findings, SubQuestion
    from asky.agent.models import Fact
    from asky.values import Evidence

_PASSAGES_A_PART = 12


def passages_by_part(
    findings: Findings, shown: Mapping[str, Evidence], *, by_support: bool
) -> list[tuple[str, list[Evidence]]]:
    """Return the passages for each sub-question, at most twelve, in the order in which they were found.

    If `by_support`, those of well supported facts come first.
    """
    ranked = sorted(findings.facts(), key=_support) if by_support else []
    order = dict.fromkeys([key for fact in ranked for key in fact.keys] + list(findings.passages))
    parts: list[tuple[str, list[Evidence]]] = [(_question(each), []) for each in findings.sub_questions]
    for key in order:
        for number in findings.passages[key].about if key in shown else ():
            if number < len(parts) and len(parts[number][1]) < _PASSAGES_A_PART:
                parts[number][1].append(shown[key])
    return parts


def _question(part: SubQuestion) -> str:
    """Return a part of the question, with what its pronouns mean on a line of its own."""
    return f"{part.text}\n{part.context}" if part.context else part.text


def _support(fact: Fact) -> tuple[bool, float]:
    return not (fact.verified or fact.contradictions), -fact.confidence


def quoting_prompt(parts: Sequence[tuple[str, Sequence[Evidence]]], marker: str) -> Prompt:
    """Return the prompt of the built-in model, which quotes from the passages on each part."""
    return Prompt([Message("system", EVIDENCE_PROMPT), *quoting_messages(parts, marker, once=False)], ToolRegistry([]))


def report_prompt(
    findings: Findings,
    parts: Sequence[tuple[str, Sequence[Evidence]]],
    *,
    marker: str,
    room: int,
    count: Callable[[str], int],
) -> Prompt:
    """Return the prompt of a model, with passages of at most `room` tokens, shared evenly between the parts."""
    fitting = _fitting([list(passages) for _, passages in parts], room, count)
    blocks = [
        f"{fence(text, marker, 'part')}\n{render_passages(passages, marker=marker)}"
        for (text, _), passages in zip(parts, fitting, strict=True)
        if passages
    ]
    keys = {each.key for passages in fitting for each in passages}
    shown_facts = [each for each in findings.facts() if all(key in keys for key in each.keys)]
    if told := list(_contradictions(shown_facts, keys)):
        blocks.append("Statements that contradict each other:\n" + fence("\n".join(told), marker, "contradictions"))
    missing = [text for (text, _), passages in zip(parts, fitting, strict=True) if not passages]
    if missing:
        blocks.append("Nothing was found on:\n" + fence("\n".join(missing), marker, "parts"))
    values = {
        "QUESTION": fence(findings.refined_query, marker, "question"),
        "FINDINGS": "\n\n".join(blocks),
    }
    user = fill(template_text("asky.agent", "report_v1.md"), values)
    return Prompt([Message("system", EVIDENCE_PROMPT), Message("user", user)], ToolRegistry([]))


def _fitting(parts: Sequence[Sequence[Evidence]], room: int, count: Callable[[str], int]) -> list[list[Evidence]]:
    """Return the first passages of each part that fit, taken from all parts in turn; each with one part only."""
    kept: list[list[Evidence]] = [[] for _ in parts]
    seen: set[str] = set()
    for at in range(max(map(len, parts), default=0)):
        for number, passages in enumerate(parts):
            if at < len(passages) and passages[at].key not in seen:
                seen.add(passages[at].key)
                room -= count(passages[at].text)
                if room < 0:
                    return kept
                kept[number].append(passages[at])
    return kept


def _contradictions(facts: Iterable[Fact], keys: Collection[str]) -> Iterable[str]:
    """Yield each pair of statements that contradict each other once, with the keys of those passages that are shown."""
    by_text = {each.statement: each for each in facts}
    told: set[frozenset[str]] = set()
    for fact in by_text.values():
        for other in fact.contradictions:
            pair = frozenset((fact.statement, other))
            if pair not in told and other in by_text:
                told.add(pair)
                yield f"{_with_keys(fact, keys)} / {_with_keys(by_text[other], keys)}"


def _with_keys(fact: Fact, keys: Collection[str]) -> str:
    known = [key for key in fact.keys if key in keys]
    return f"{fact.statement} [{', '.join(known)}]" if known else fact.statement
