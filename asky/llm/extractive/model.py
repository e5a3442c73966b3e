"""A chat model without dependencies: it searches with the tools it is offered and answers in quoted sentences.

It works like any other model, from messages and tool specifications alone, and is stateless: its progress with a
question is read from the conversation. It writes no sentence of its own but the abstention, and a reply to small talk,
which it does not search for.
"""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from asky.concurrency import in_thread
from asky.llm.extractive.answer import abstain, quote_units
from asky.llm.extractive.bridges import bridged_units, linked_units
from asky.llm.extractive.document_answers import answer_about_documents, authors_in_metadata
from asky.llm.extractive.mail_answers import answer_about_mails
from asky.llm.extractive.presented import presented
from asky.llm.extractive.questions import ParsedQuestion, follow_up, in_its_language, queries, read_question, shorten
from asky.llm.extractive.reader import ReadUnits, confidence, read_candidates, reads
from asky.llm.extractive.scoring import ScoredUnit, Scorer
from asky.llm.extractive.selection import select_units, tasks_first
from asky.llm.extractive.units import PassageText, read_units
from asky.llm.port import Message, ModelUsage, Reply, TextDelta, ToolCall, ToolChoice, ToolSpec
from asky.text.document_questions import DocumentQuestion
from asky.text.small_talk import SMALL_TALK_REPLY, is_small_talk

RETRIEVAL_TOOL = "get_relevant_content"
MEMORY_TOOL = "query_research_memory"

_CONTEXT_TOKENS = 1_000_000  # it reads only the tool results of the current question
_MAX_CLOSEST = 2
_CLOSE = 0.2  # of what an answer needs
_BEST = 4  # units whose coverage is compared
_OF_PART = 12  # units that are read for each part of a question


@dataclass(frozen=True, slots=True)
class ExtractiveSettings:
    """The conditions of an answer.

    The model abstains if the reader gives no unit a probability of `min_answer`, or if without a reader none has a
    coverage of `min_coverage`; and below a confidence of `min_confidence` where there is one. At most `max_read` units
    are read for a question, which bounds its time.
    """

    min_answer: float = 0.5
    min_coverage: float = 0.3
    min_confidence: float = 0.0
    max_read: int = 24


class ExtractiveModel:
    """Quotes the sentences that answer a question.

    `read_passages` finds the passages, with their keys, in the text of a tool result. `read` is the reader's `answers`:
    it decides where question and passages may be English, and elsewhere words do. Deterministic: the same messages give
    the same reply.
    """

    def __init__(
        self,
        *,
        read_passages: Callable[[str], Sequence[PassageText]],
        read: ReadUnits | None = None,
        settings: ExtractiveSettings | None = None,
    ) -> None:
        self._read_passages = read_passages
        self._reader = read
        self._settings = settings or ExtractiveSettings()

    @property
    def name(self) -> str:
        return "extractive"

    @property
    def host(self) -> None:
        return None

    @property
    def context_tokens(self) -> int:
        return _CONTEXT_TOKENS

    async def stream(
        self,
        messages: Sequence[Message],
        tools: Sequence[ToolSpec],
        *,
        tool_choice: ToolChoice = "auto",
        schema: Mapping[str, Any] | None = None,  # noqa: ARG002 - the port's parameter: it can only quote
    ) -> AsyncGenerator[TextDelta | Reply, None]:
        """Yield one step for the last question of `messages`: a search if one is due and allowed, else the answer."""
        callable_ = frozenset(spec.name for spec in tools) if tool_choice == "auto" else frozenset()
        step = await in_thread(self._next, tuple(messages), callable_)
        for piece in step.pieces:
            yield TextDelta(piece)
        yield Reply(
            Message("assistant", "".join(step.pieces), step.calls),
            "tool_calls" if step.calls else "stop",
            ModelUsage(cost_usd=0.0),
            confidence=step.confidence,
        )

    def _next(self, messages: tuple[Message, ...], tools: frozenset[str]) -> _Step:
        state = _read_state(messages)
        if state.searches == 0 and is_small_talk(state.question):
            return _Step((SMALL_TALK_REPLY,))
        question = read_question(state.question)
        if state.searches == 0 and RETRIEVAL_TOOL in tools and question.text:
            return _Step(calls=_first_calls(question, tools))
        reading = self._read(question, state)
        if state.searches == 1 and RETRIEVAL_TOOL in tools and question.document is None:
            wanted = self._follow_up(reading)
            if wanted:
                return _Step(calls=(_call("follow_up", RETRIEVAL_TOOL, {"queries": wanted}),))
        pieces, confidence = self._write(reading, state)
        return _Step(tuple(pieces), confidence=confidence)

    def _read(self, question: ParsedQuestion, state: _State) -> _Reading:
        passages = {passage.key: passage for result in state.results for passage in self._read_passages(result)}
        ranked = presented(list(passages.values()), question.text)
        if question.document is None:
            names = {name for each in ranked for name in (each.title, each.file) if name}
            question = read_question(state.question, names)
        scorer = Scorer(ranked, read_units(ranked))
        questions = [question, *(read_question(part) for part in question.parts)]
        if self._reader is not None and reads(question.text, ranked):
            return _Reading(ranked, scorer, self._judged_by(self._reader, questions, scorer))
        return _Reading(ranked, scorer, [self._judged_by_words(in_its_language(each), scorer) for each in questions])

    def _judged_by(self, read: ReadUnits, questions: Sequence[ParsedQuestion], scorer: Scorer) -> list[_Judged]:
        limits, judged = self._settings, list[_Judged]()
        for number, question in enumerate(questions):
            near = scorer.candidates(question, _OF_PART if number else limits.max_read)
            scored = tasks_first(question, read_candidates(question, near, scorer, read), scorer)
            found = max((each.score for each in scored), default=0.0)
            judged.append(_Judged(question, scored, found / limits.min_answer, round(confidence(found), 3)))
        return judged

    def _judged_by_words(self, question: ParsedQuestion, scorer: Scorer) -> _Judged:
        scored = tasks_first(question, scorer.score(question), scorer)
        found = max((each.coverage for each in scored[:_BEST]), default=0.0)
        return _Judged(question, scored, found / self._settings.min_coverage, None)

    def _follow_up(self, reading: _Reading) -> list[str]:
        """Return queries for the unanswered parts, using names from the answers to the others."""
        parts = reading.judged[1:]
        missing = [part.question for part in parts if not part.is_answered]
        answers = [part.scored[0].unit.text for part in parts if part.is_answered]
        return follow_up(missing, answers)

    def _write(self, reading: _Reading, state: _State) -> tuple[Iterator[str], float | None]:
        whole = reading.judged[0]
        document = whole.question.document
        chosen = answer_about_mails(whole.question, reading.passages, reading.scorer, whole.scored)
        if document is not None and not chosen:
            chosen = answer_about_documents(document, reading.passages, reading.scorer.units)
        if chosen:
            return quote_units(chosen, reading.passages), None
        if document is not None and (known := _known_authors(document, reading)) is not None:
            return abstain((), reading.passages, None, known), None
        parts = [part.scored for part in reading.judged[1:] if part.is_answered]
        answers = whole.scored if whole.is_answered else ()
        chosen = bridged_units(whole.question, answers, reading.scorer, reading.passages) or select_units(
            reading.scorer, whole.question, answers, parts
        )
        found = _best_relevance(reading)
        doubt = self._doubt(found) if chosen else None
        if chosen and doubt is None:
            chosen = [*chosen, *linked_units(whole.question, chosen, reading.scorer, reading.passages)]
            return quote_units(chosen, reading.passages), found
        closest = (
            [each.unit for each in whole.scored[:_MAX_CLOSEST]] if whole.share >= _CLOSE else chosen[:_MAX_CLOSEST]
        )
        failed = None if reading.passages else state.failure()
        relevance = whole.relevance if whole.scored else None
        return abstain(closest, reading.passages, failed, doubt), found if doubt is not None else relevance

    def _doubt(self, confidence: float | None) -> str | None:
        """Return why an answer of this confidence is not given, `None` if it is."""
        least = self._settings.min_confidence
        if confidence is None or confidence >= least:
            return None
        return f"The confidence of what was found is {confidence:.2f}, below the {least:.2f} of answer.min_confidence."


@dataclass(frozen=True, slots=True)
class _Step:
    """The next step: calls, or an answer in pieces with its confidence: its relevance."""

    pieces: tuple[str, ...] = ()
    calls: tuple[ToolCall, ...] = ()
    confidence: float | None = None


@dataclass(frozen=True, slots=True)
class _State:
    """The progress on the last question: the tool results, and the number of replies with calls."""

    question: str
    searches: int
    results: tuple[str, ...]

    def failure(self) -> str | None:
        """Return why a search did not work, or `None`."""
        if not self.results:
            return "nothing could be searched"
        return next((result for result in self.results if result.startswith("error:")), None)


@dataclass(frozen=True, slots=True)
class _Judged:
    """A question with its units, best first; `share` is their relevance as a share of what an answer needs.

    `relevance` is `None` without a reader, when the share of the question's words is judged instead.
    """

    question: ParsedQuestion
    scored: Sequence[ScoredUnit]
    share: float
    relevance: float | None

    @property
    def is_answered(self) -> bool:
        return self.share >= 1.0


@dataclass(frozen=True, slots=True)
class _Reading:
    """The passages of a conversation and, for the whole question and then its parts, what they say about it."""

    passages: Sequence[PassageText]
    scorer: Scorer
    judged: Sequence[_Judged]


def _known_authors(asked: DocumentQuestion, reading: _Reading) -> str | None:
    """Return what the metadata of the documents says about their authors, which no passage does; `None` if nothing."""
    known = dict(authors_in_metadata(asked, reading.passages, reading.scorer.units))
    told = [f"“{title}” names {authors}" for title, authors in list(known.items())[:_MAX_CLOSEST]]
    return f"No passage says it; the metadata of {', that of '.join(told)}." if told else None


def _best_relevance(reading: _Reading) -> float | None:
    """Return the relevance of the question or of its best answered part."""
    whole, *parts = reading.judged
    answered = [whole] if whole.is_answered else [part for part in parts if part.is_answered]
    return max((each.relevance for each in answered if each.relevance is not None), default=None)


def _read_state(messages: Sequence[Message]) -> _State:
    """Return the state after the last question: the last user message that does not follow a tool result.

    One that does is the driver asking for the answer.
    """
    start = -1
    for index, message in enumerate(messages):
        if message.role == "user" and (index == 0 or messages[index - 1].role != "tool"):
            start = index
    since = messages[start + 1 :]
    return _State(
        messages[start].content if start >= 0 else "",
        sum(bool(message.tool_calls) for message in since),
        tuple(message.content for message in since if message.role == "tool"),
    )


def _first_calls(question: ParsedQuestion, tools: frozenset[str]) -> tuple[ToolCall, ...]:
    calls = [_call("search", RETRIEVAL_TOOL, {"queries": queries(question)})]
    if MEMORY_TOOL in tools:
        calls.append(_call("recall", MEMORY_TOOL, {"query": shorten(question.text)}))
    return tuple(calls)


def _call(call_id: str, tool: str, arguments: Mapping[str, object]) -> ToolCall:
    return ToolCall(call_id, tool, json.dumps(arguments, ensure_ascii=False))
