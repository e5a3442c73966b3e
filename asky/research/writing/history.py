"""The history of a session: its stored messages, and the messages that a model receives of them.

The question, each call with its result, and the answer are stored. Earlier passages keep their keys, so that a later
answer of the session can cite them without retrieving them again.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from asky.evidence.keys import KEY
from asky.llm.port import Message, ToolCall
from asky.research.excerpts.locations import Places
from asky.research.writing.compaction import OMITTED_ANSWER, compact
from asky.research.writing.notes import joined, note_message, noted_text
from asky.research.writing.tool_result_placeholder import tool_result_placeholder
from asky.storage.sessions import NOTE_ROLE, NewMessage
from asky.text.follow_ups import is_follow_up, names_topic
from asky.text.small_talk import is_small_talk
from asky.values import Answer, Evidence, Span

if TYPE_CHECKING:
    from asky.evidence.keys import KeyRing
    from asky.llm.tokens import TokenCounter
    from asky.storage.documents import DocumentStore
    from asky.storage.runs import StoredPassage
    from asky.storage.sessions import StoredMessage

_MAX_CONTEXT_CHARS = 300  # of earlier questions in a query
NO_ANSWER = "[no answer was written]"
_NUMBER = re.compile(r"\[(\d{1,4})\]")


@dataclass(slots=True)
class _Turn:
    question: Message
    work: list[Message]
    answer: Message | None = None


def earlier_messages(stored: Sequence[StoredMessage], tools: Collection[str]) -> list[Message]:
    """Return the conversation of a transcript, in order: each question with its answer, whose citations are keys again.

    The calls of a turn and their results are included if all tools called are in `tools`; notes of the user always are.
    Calls get new ids, because ids of different runs may be equal: nine letters and digits, which every endpoint
    accepts. A question without an answer is followed by `NO_ANSWER`, so that roles alternate. Withdrawn turns are left
    out.
    """
    messages: list[Message] = []
    for number, turn in enumerate(_turns([each for each in stored if not each.is_withdrawn])):
        called = {call.name for message in turn.work for call in message.tool_calls}
        work = (
            _renamed(turn.work, number) if called <= set(tools) else [each for each in turn.work if each.role == "user"]
        )
        messages += [*joined([turn.question, *work]), turn.answer or Message("assistant", NO_ANSWER)]
    return messages


def earlier_questions(stored: Sequence[StoredMessage]) -> list[str]:
    """Return the questions that were not withdrawn, oldest first, as shown to models."""
    return [each.data.get("shown") or each.content for each in stored if each.role == "user" and not each.is_withdrawn]


def cited_last(stored: Sequence[StoredMessage], passages: Sequence[StoredPassage]) -> list[str]:
    """Return the ids of the sources that the last answer of the session cites, in order of citation."""
    answers = [each for each in stored if each.role == "assistant" and not each.is_withdrawn]
    source_of = {each.key: each.source.id for each in passages}
    keys = answers[-1].data.get("keys", ()) if answers else ()
    return list(dict.fromkeys(source_of[key] for key in keys if key in source_of))


def tool_results(stored: Sequence[StoredMessage], exclude: Collection[str]) -> list[str]:
    """Return the results of tools other than those in `exclude`, in order, without empty ones and withdrawn turns.

    What a tool returns is fenced, or one JSON object; anything else says only that there is nothing.
    """
    kept = [each for each in stored if not each.is_withdrawn]
    names = {id_: name for each in kept if each.role == "call" for id_, name, _ in each.data["calls"]}
    results = [each for each in kept if each.role == "tool" and names.get(each.data["id"]) not in exclude]
    return [each.content for each in results if "<data " in each.content or each.content.startswith("{")]


def contextual_query(question: str, earlier: Sequence[str]) -> str:
    """Return the query for `question`: a follow-up is preceded by the `earlier` questions that name its topic.

    These are the last question that names a topic and, if that is a follow-up too, the last one before it that is not:
    after "What are tides?" and "And how often?", the query for "And why?" is "What are tides? And why?". Thanks and
    other small talk between them are passed over.
    """
    if not is_follow_up(question):
        return question
    before: list[str] = []
    for each in (asked for asked in reversed(earlier) if names_topic(asked) and not is_small_talk(asked)):
        before = [each, *before[-1:]]
        if not is_follow_up(each):
            break
    max_chars = _MAX_CONTEXT_CHARS // max(1, len(before))
    return " ".join([*(each[:max_chars].rstrip() for each in before), question])


def session_messages(question: str, shown: str, work: Sequence[Message], answer: Answer) -> list[NewMessage]:
    """Return the messages of a run to store in its session, in order.

    `shown` is the question as the model saw it, and `work` are the messages between it and the answer. Of these, calls
    with all of their results and notes of the user are stored; asky's own prompts are not.
    """
    results = {each.tool_call_id: each for each in work if each.role == "tool"}
    kept = [NewMessage("user", question, {"shown": shown} if shown != question else {})]
    for message in work:
        if message.tool_calls and all(call.id in results for call in message.tool_calls):
            calls = [[call.id, call.name, call.arguments] for call in message.tool_calls]
            kept.append(NewMessage("call", message.content, {"calls": calls}))
            kept += [NewMessage("tool", results[id_].content, {"id": id_}) for id_, _, _ in calls]
        elif (note := noted_text(message)) is not None:
            kept.append(NewMessage(NOTE_ROLE, note))
    return [*kept, NewMessage("assistant", answer.text, {"keys": [each.key for each in answer.citations]})]


def fit_earlier(
    messages: Sequence[Message], max_tokens: int, counter: TokenCounter, *, max_question_tokens: int
) -> list[Message]:
    """Return `messages`, all of earlier turns, shortened to `max_tokens`; see `asky.research.writing.compaction`.

    If the questions alone are longer, everything else is removed and they may take `max_question_tokens`; questions are
    cut only beyond that. Counting takes most of the time (20 ms for 20,000 tokens), so messages older than those that
    fit are counted in a short form: without tool results, and twice as far back also without answers.
    """
    kept = list(messages)
    tools = {call.id: call.name for message in kept for call in message.tool_calls}
    sizes: dict[int, int] = {}

    def measure(message: Message) -> int:
        if id(message) not in sizes:
            known.append(message)  # keeps the object alive, so that its id stays unique
            sizes[id(message)] = counter.count_message(message)
        return sizes[id(message)]

    known: list[Message] = []
    left = max_tokens
    for index in reversed(range(len(kept))):
        message = kept[index]
        if left < 0 and message.role == "tool":
            kept[index] = replace(
                message, content=tool_result_placeholder(message.content, tools[message.tool_call_id or ""])
            )
        elif left < -max_tokens and message.role == "assistant" and len(message.content) > len(OMITTED_ANSWER):
            kept[index] = replace(message, content=OMITTED_ANSWER)
        left -= measure(kept[index])
    if left >= 0:
        return kept
    shorter = compact(kept, len(kept), max_tokens, measure, keep_questions=True)
    if shorter.size > max_question_tokens:
        shorter = compact(shorter.messages, shorter.question, max_question_tokens, measure)
    return shorter.messages


def mentioned_passages(messages: Sequence[Message], passages: Sequence[StoredPassage]) -> list[StoredPassage]:
    """Return those of `passages` whose keys occur in `messages` of the model or its tools."""
    named = {key for message in messages if message.role != "user" for key in KEY.findall(message.content)}
    return [each for each in passages if each.key in named]


def hold_keys(keys: KeyRing, passages: Sequence[StoredPassage], documents: DocumentStore) -> None:
    """Reserve the keys of passages shown in earlier runs of the session."""
    hashes: dict[int, str] = {}
    for each in passages:
        if each.document_id not in hashes:
            hashes[each.document_id] = documents.digest(each.document_id)[0]
        keys.hold(each.key, hashes[each.document_id], Span(each.start, each.end))


def shown_again(passages: Sequence[StoredPassage], documents: DocumentStore) -> list[Evidence]:
    """Return the passages as evidence, from the stored texts, which are kept as long as their runs."""
    found = []
    for each in passages:
        span = Span(each.start, each.end)
        sha256, _ = documents.digest(each.document_id)
        places, text = Places(documents), documents.text(each.document_id, span)
        location, inside = places.at(each.document_id, span.start), places.sections_in(each.document_id, span)
        found.append(Evidence(each.key, each.source, each.document_id, sha256, span, text, location, sections=inside))
    return found


def _turns(stored: Sequence[StoredMessage]) -> Iterator[_Turn]:
    turn: _Turn | None = None
    for each in stored:
        if each.role == "user":
            if turn is not None:
                yield turn
            turn = _Turn(Message("user", each.data.get("shown") or each.content), [])
        elif turn is None:
            continue
        elif each.role == "call":
            calls = tuple(ToolCall(*call) for call in each.data["calls"])
            turn.work.append(Message("assistant", each.content, calls))
        elif each.role == NOTE_ROLE:
            turn.work.append(note_message(each.content))
        elif each.role == "tool":
            turn.work.append(Message("tool", each.content, tool_call_id=each.data["id"]))
        elif each.content.strip():
            turn.answer = Message("assistant", _with_keys(each.content, each.data))
    if turn is not None:
        yield turn


def _with_keys(text: str, data: Mapping[str, Any]) -> str:
    """Return `text` with its citation numbers replaced by keys, which models can cite; other numbers are removed."""
    keys = data.get("keys", ())

    def key(match: re.Match[str]) -> str:
        number = int(match[1])
        return f"[{keys[number - 1]}]" if 0 < number <= len(keys) else ""

    return _NUMBER.sub(key, text)


def _renamed(work: Sequence[Message], number: int) -> list[Message]:
    def renamed(id_: str | None) -> str:
        return hashlib.sha256(f"{number}\n{id_}".encode()).hexdigest()[:9]

    return [
        Message(
            each.role,
            each.content,
            tuple(ToolCall(renamed(call.id), call.name, call.arguments) for call in each.tool_calls),
            renamed(each.tool_call_id) if each.tool_call_id is not None else None,
        )
        for each in work
    ]
