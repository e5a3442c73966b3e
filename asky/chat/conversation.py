"""What was said in a session before, as a model gets it, and what of a run is kept for later.

Everything is kept: the question, each call with its result, the answer. Earlier passages keep their keys, so that a
later answer of the session can cite them without looking them up again.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from asky.chat.compaction import OMITTED_ANSWER, compact
from asky.chat.notes import NOTE_ROLE, joined, note_message, noted_text
from asky.chat.stubs import build_tool_stub
from asky.evidence.keys import KEY
from asky.llm.port import Message, ToolCall
from asky.storage.sessions import NewMessage
from asky.text.follow_ups import is_follow_up, says_something
from asky.values import Answer, Evidence, Span

if TYPE_CHECKING:
    from asky.evidence.keys import KeyRing
    from asky.llm.tokens import TokenCounter
    from asky.storage.documents import DocumentStore
    from asky.storage.runs import StoredPassage
    from asky.storage.sessions import StoredMessage

_LONGEST_CONTEXT = 300  # characters of the questions before
NO_ANSWER = "[no answer was written]"
_NUMBER = re.compile(r"\[(\d{1,4})\]")


@dataclass(slots=True)
class _Turn:
    question: Message
    work: list[Message]
    answer: Message | None = None


def earlier_messages(stored: Sequence[StoredMessage], tools: Collection[str]) -> list[Message]:
    """The conversation of a transcript: each question with its answer, whose citations are keys again.

    Calls and their results are there where each tool called is still one of `tools`; notes of the user always are. Ids
    of calls are made anew, as those of several runs may be the same: nine letters and digits, which every endpoint
    takes. A question without an answer gets one that says so, so that roles alternate. Withdrawn turns are left out.
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
    """What the user asked and did not take back, the oldest first, as models saw it."""
    return [each.data.get("shown") or each.content for each in stored if each.role == "user" and not each.is_withdrawn]


def told_by_others(stored: Sequence[StoredMessage], apart_from: Collection[str]) -> list[str]:
    """What tools returned in turns that were not withdrawn, apart from those of these names and from empty findings."""
    kept = [each for each in stored if not each.is_withdrawn]
    names = {id_: name for each in kept if each.role == "call" for id_, name, _ in each.data["calls"]}
    results = [each for each in kept if each.role == "tool" and names.get(each.data["id"]) not in apart_from]
    return [each.content for each in results if "<data " in each.content]


def in_context(question: str, earlier: Sequence[str]) -> str:
    """What to search for with `question`: where it is a follow-up, with those before it that say what it is about.

    They are the last that says something, and where that is a follow-up itself, the last before it that stands alone;
    "What are tides?", "And how often?", "And why?" are searched for as "What are tides? And why?".
    """
    if not is_follow_up(question):
        return question
    before: list[str] = []
    for each in filter(says_something, reversed(earlier)):
        before = [each, *before[-1:]]
        if not is_follow_up(each):
            break
    most = _LONGEST_CONTEXT // max(1, len(before))
    return " ".join([*(each[:most].rstrip() for each in before), question])


def kept_messages(question: str, shown: str, work: Sequence[Message], answer: Answer) -> list[NewMessage]:
    """What a session keeps of a run: `shown` is the question as the model saw it, `work` what came before the answer.

    Notes of the user among it are kept; prompts of ours are not, nor calls without all of their results.
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
    messages: Sequence[Message], most_tokens: int, counter: TokenCounter, *, most_for_questions: int
) -> list[Message]:
    """`messages`, which are all of earlier turns, with at most `most_tokens`; see `asky.chat.compaction`.

    Where the questions alone have more, all there is besides them goes, and they may take `most_for_questions`: only
    beyond these a question is cut. Counting is what takes time (20 ms for 20,000 tokens), so what is older than the
    messages that fit is counted in its short form: without results of tools, and beyond as much again without answers.
    """
    kept = list(messages)
    tools = {call.id: call.name for message in kept for call in message.tool_calls}
    sizes: dict[int, int] = {}

    def measure(message: Message) -> int:
        if id(message) not in sizes:
            known.append(message)  # so that no other gets its id
            sizes[id(message)] = counter.count_message(message)
        return sizes[id(message)]

    known: list[Message] = []
    left = most_tokens
    for index in reversed(range(len(kept))):
        message = kept[index]
        if left < 0 and message.role == "tool":
            kept[index] = replace(message, content=build_tool_stub(message.content, tools[message.tool_call_id or ""]))
        elif left < -most_tokens and message.role == "assistant" and len(message.content) > len(OMITTED_ANSWER):
            kept[index] = replace(message, content=OMITTED_ANSWER)
        left -= measure(kept[index])
    if left >= 0:
        return kept
    shorter = compact(kept, len(kept), most_tokens, measure, keep_questions=True)
    if shorter.size > most_for_questions:
        shorter = compact(shorter.messages, shorter.question, most_for_questions, measure)
    return shorter.messages


def named_passages(messages: Sequence[Message], passages: Sequence[StoredPassage]) -> list[StoredPassage]:
    """Those of the `passages` whose keys stand in `messages`."""
    named = {key for message in messages if message.role != "user" for key in KEY.findall(message.content)}
    return [each for each in passages if each.key in named]


def hold_keys(keys: KeyRing, passages: Sequence[StoredPassage], documents: DocumentStore) -> None:
    """Keep the keys of passages that earlier runs of the session showed."""
    hashes: dict[int, str] = {}
    for each in passages:
        if each.document_id not in hashes:
            hashes[each.document_id] = documents.digest(each.document_id)[0]
        keys.hold(each.key, hashes[each.document_id], Span(each.start, each.end))


def reopened(passages: Sequence[StoredPassage], documents: DocumentStore) -> list[Evidence]:
    """The passages as they were shown, from the stored texts, which are kept as long as their runs."""
    from asky.research.locations import location_of

    found = []
    for each in passages:
        span = Span(each.start, each.end)
        sha256, _ = documents.digest(each.document_id)
        location = location_of(*documents.structure(each.document_id), span.start)
        text = documents.text(each.document_id, span)
        found.append(Evidence(each.key, each.source, each.document_id, sha256, span, text, location))
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
    """The text with its numbers as keys: a bare number is nothing that can be cited."""
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
