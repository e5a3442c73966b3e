"""What to find out, and what to search for next: by a model, or by rules without one."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from asky.agent.findings import Findings, SubQuestion
from asky.evidence.passages import fence
from asky.llm.port import Message
from asky.llm.structured import Structured, ask_for_json
from asky.research.writing.templates import template_text
from asky.text.plain import plain
from asky.text.scrub import one_line
from asky.text.sentences import iter_sentences
from asky.text.terms import terms_of, words

if TYPE_CHECKING:
    from asky.agent.models import Entity
    from asky.llm.port import ChatModel
    from asky.llm.spending import Budget

MAX_SUB_QUESTIONS = 6
MAX_QUERIES = 4
"""The most queries of one cycle."""

_MAX_QUERY_WORDS = 12
_MAX_CHARS = 300
_SUBJECT_WORDS = 4
_ENTITIES = 12  # the most mentioned ones, for further queries
_PRONOUN = re.compile(r"\b(?:it|its|they|them|their|this|that|these|those|he|she|his|her)\b", re.IGNORECASE)
_ALSO = re.compile(
    r"\s*(?:;|,?\s+(?:and|und|et|y)\s+(?=(?:what|who|when|where|why|how|which|was|wer|wann|wo|warum|wie)\b))",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Clarity:
    """Whether a question can be researched: `question` is what to ask the user if not, else empty."""

    question: str
    refined: str


def _object(properties: Mapping[str, Any]) -> Mapping[str, Any]:
    return {
        "type": "object",
        "properties": dict(properties),
        "required": list(properties),
        "additionalProperties": False,
    }


_TEXT: Mapping[str, Any] = {"type": "string"}
_CLARITY = _object({"blocked": {"type": "boolean"}, "question": _TEXT, "refined": _TEXT})
_QUERIES = {"type": "array", "items": _TEXT}
_PLAN = _object(
    {"sub_questions": {"type": "array", "items": _object({"question": _TEXT, "queries": _QUERIES})}},
)


async def judge_clarity(
    model: ChatModel, query: str, asked: Sequence[tuple[str, str | None]], *, marker: str, budget: Budget | None
) -> Structured[Clarity]:
    """Return whether `model` needs to ask the user. Raises as `ask_for_json` does."""
    said = "\n".join([query, *(f"Asked: {question}\nThe user: {answer}" for question, answer in asked if answer)])
    messages = [Message("system", template_text("asky.agent", "clarify_v1.md")), _data(said, marker, "question")]
    return await ask_for_json(model, messages, _CLARITY, validate=_read_clarity, budget=budget)


def _read_clarity(value: Any) -> Clarity:
    if not isinstance(value, dict) or not isinstance(value.get("refined"), str):
        raise ValueError('the value is not an object with a string "refined"')  # noqa: TRY004 - for `ask_for_json`
    question = value.get("question") if value.get("blocked") is True else ""
    return Clarity(_line(question), _line(value["refined"]))


async def plan_by_model(
    model: ChatModel, query: str, *, marker: str, budget: Budget | None
) -> Structured[tuple[SubQuestion, ...]]:
    """Return the parts of `query` as `model` sees them, at most `MAX_SUB_QUESTIONS`. Raises as `ask_for_json` does."""
    messages = [Message("system", template_text("asky.agent", "plan_v1.md")), _data(query, marker, "question")]
    return await ask_for_json(model, messages, _PLAN, validate=_read_plan, budget=budget)


def _read_plan(value: Any) -> tuple[SubQuestion, ...]:
    listed = value.get("sub_questions") if isinstance(value, dict) else None
    if not isinstance(listed, list) or not listed:
        raise ValueError('"sub_questions" is not an array with at least one member')
    found: dict[str, SubQuestion] = {}
    for number, each in enumerate(listed, start=1):
        text = _line(each.get("question")) if isinstance(each, dict) else ""
        if not text:
            raise ValueError(f'member {number} of "sub_questions" has no "question"')
        found.setdefault(text.casefold(), SubQuestion(text, read_queries(each.get("queries"))))
    return tuple(found.values())[:MAX_SUB_QUESTIONS]


def read_queries(value: Any) -> tuple[str, ...]:
    """Return the usable queries in the value of a model: short ones with a content word."""
    listed = value if isinstance(value, list) else []
    texts = [_line(each) for each in listed]
    return tuple(dict.fromkeys(each for each in texts if terms_of(each) and len(each.split()) <= _MAX_QUERY_WORDS))


def plan_by_rules(query: str) -> tuple[SubQuestion, ...]:
    """Return the questions in `query`: its sentences, and what follows "and what", "and when" and the like.

    One that refers to the question before it by a pronoun is searched for with the last words of that, unless these
    refer to something else again.
    """
    parts = [part for each in iter_sentences(query) for part in _ALSO.split(query[each.start : each.end])]
    found: dict[str, SubQuestion] = {}
    for part in (one_line(each).strip() for each in parts):
        if terms_of(part) and part not in found:
            before = next(reversed(found), "")
            subject = _subject(before) if _PRONOUN.search(part) and not _PRONOUN.search(before) else ""
            found[part] = SubQuestion(part, (f"{part.rstrip('?')} {subject}",) if subject else (), subject)
    return tuple(found.values())[:MAX_SUB_QUESTIONS] or (SubQuestion(query),)


def _subject(question: str) -> str:
    """Return the last content words of a question, which a pronoun in the next one may mean."""
    return " ".join([each for each in words(question) if terms_of(each)][-_SUBJECT_WORDS:])


def next_queries(
    findings: Findings, *, with_private: bool = True, limit: int = MAX_QUERIES, reads_on: bool = True
) -> list[tuple[int, str]]:
    """Return what to search for in the next cycle, at most `limit`, each with the number of its sub-question.

    Without `with_private`, they hold no name that was only found in private passages.

    None has the same words as one that was sent. Those for sub-questions without an answer come first; among them what
    a model has proposed, then the plan's own, then the sub-question with what was mentioned most often. When these have
    been sent, those of sub-questions with unread pages are sent again, if it `reads_on`, so that these are read; at
    last none is left.
    """
    sent = {terms_of(each) for each in findings.queries}
    found: list[tuple[int, str]] = []
    for about, query in _candidates(findings, with_private=with_private):
        terms = terms_of(query)
        if terms and terms not in sent and len(found) < limit:
            sent.add(terms)
            found.append((about, query))
    unread = {each.about for each in findings.rankings if not findings.has_tried(each.addresses)}
    if found or not reads_on:
        return found
    return [(about, _base(findings.sub_questions[about])) for about in sorted(unread)[:limit]]


def _candidates(findings: Findings, *, with_private: bool) -> Iterator[tuple[int, str]]:
    numbers = range(len(findings.sub_questions))
    wanted = [number for number in numbers if number not in findings.answered]
    others = [number for number in numbers if number in findings.answered]
    first = wanted or others
    if findings.queries:
        yield from ((nearest(query, findings.sub_questions, first), query) for query in findings.next_queries)
    for group in (wanted, others):
        yield from _interleaved([_planned(findings.sub_questions[number], number) for number in group])
        names = most_mentioned(findings.entities(with_private=with_private))
        yield from _interleaved([_widened(findings.sub_questions[number], number, names) for number in group])


def _planned(sub_question: SubQuestion, number: int) -> list[tuple[int, str]]:
    return [(number, each) for each in (*sub_question.queries, *([] if sub_question.context else [sub_question.text]))]


def _widened(sub_question: SubQuestion, number: int, names: Sequence[str]) -> list[tuple[int, str]]:
    own = terms_of(sub_question.text)
    return [(number, f"{_base(sub_question).rstrip('?')} {name}") for name in names if not terms_of(name) <= own]


def _base(sub_question: SubQuestion) -> str:
    """Return what is searched for a sub-question before anything is known."""
    return sub_question.queries[0] if sub_question.queries else sub_question.text


def most_mentioned(entities: Iterable[Entity]) -> list[str]:
    """Return the names that most passages mention, most first; those seen first come first among equals."""
    ranked = sorted(entities, key=lambda each: -each.mention_count)
    return [re.sub(r"['\u2019]s?$", "", each.name) for each in ranked[:_ENTITIES]]


def nearest(query: str, sub_questions: Sequence[SubQuestion], among: Sequence[int]) -> int:
    """Return the number, among those, of the sub-question that shares most words with `query`; the first of equals."""
    terms = terms_of(query)
    return max(among, key=lambda number: (len(terms & terms_of(sub_questions[number].text)), -number), default=0)


def _interleaved(lists: Sequence[Sequence[tuple[int, str]]]) -> Iterator[tuple[int, str]]:
    for at in range(max(map(len, lists), default=0)):
        yield from (each[at] for each in lists if at < len(each))


def _data(text: str, marker: str, label: str) -> Message:
    return Message("user", fence(text, marker, label))


def _line(value: Any) -> str:
    return one_line(plain(value), _MAX_CHARS).strip() if isinstance(value, str) else ""
