"""Makes a conversation shorter that has grown beyond what the model can read.

What was looked up goes first, the oldest first, and leaves its keys and counts behind; then earlier turns are cut down
to the question and the gist of the answer. Instructions stay word for word, and so do the user's questions as long as
these alone are not too much; every call has its result in its place, as endpoints refuse half of a pair. Only the copy
that is sent gets shorter; what is stored stays whole.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from asky.chat.stubs import build_tool_stub
from asky.llm.port import Message
from asky.text.counting import counted
from asky.text.sentences import iter_sentences

OMITTED = "[left out here: the conversation had grown too long for the model; search again if it is needed]"
OMITTED_PASSAGES = "[passages left out here: they did not fit into the model's context]"
OMITTED_ANSWER = "[an answer stood here; it was left out to make room]"
OMITTED_MIDDLE = "\n[… the middle of this message is left out here …]\n"
# To the user, without a number: they can be cut twice, once all of them and once what is left of them.
QUESTIONS_LOST = "the session's questions are too long for the model: some of them went in part or not at all"
_GIST_CHARS = 400  # of an earlier answer: a paragraph
# Of an earlier question that holds more: what is asked stands before or behind what was pasted.
_BEGINNING_CHARS = 800
_END_CHARS = 400
_OPENING_FENCE = re.compile(r"<passage ([0-9a-f]{8,32}) ")

Measure = Callable[[Message], int]
"""The size of one message, in any unit."""


@dataclass(frozen=True, slots=True)
class Compacted:
    """`messages` as far as they could be shortened, their `size` as measured, and how many messages were cut.

    `question` is where the question of the current turn stands now.
    """

    messages: list[Message]
    question: int
    size: int
    cut: int


def compact(
    messages: Sequence[Message], question: int, most: int, measure: Measure, *, keep_questions: bool = False
) -> Compacted:
    """`messages` with a size of at most `most`, as far as that can be reached; linear in their number.

    `messages[question]` begins the current turn; each message of the user before it begins an earlier one.

    In this order, each the oldest first and only as long as it is needed: results of tools become stubs, apart from
    those of the latest reply; earlier turns lose their calls and all but the gist of their answers; the gists go. Then
    the latest results are cut after a whole passage, the longest first, and the passages that came with the question,
    from their end; one passage at least stays there. Earlier questions stay, unless they alone are too much and may not
    be kept all the same (`keep_questions`): then the longest lose their middles, and at last the oldest turns are left
    out, and it is said how many.
    """
    shrinking = _Shrinking(list(messages), question, most, measure)
    steps = [shrinking.stub_results, shrinking.summarise_turns, shrinking.drop_gists, shrinking.cut_latest]
    if not keep_questions:
        steps += [shrinking.cut_questions, shrinking.drop_turns]
    for step in steps:
        if shrinking.excess <= 0:
            break
        step()
    return Compacted(shrinking.messages, shrinking.question, shrinking.size, shrinking.cut)


def has_lost_questions(said: Sequence[Message], sent: Sequence[Message]) -> bool:
    """Whether not all of the user's messages among `said` are among those that are `sent`: `QUESTIONS_LOST` says so."""
    whole = {each.content for each in sent if each.role == "user"}
    return any(each.role == "user" and each.content not in whole for each in said)


class _Shrinking:
    def __init__(self, messages: list[Message], question: int, most: int, measure: Measure) -> None:
        self.messages = messages
        self.question = question
        self.cut = 0
        self._measure = measure
        self._most = most
        self.size = sum(map(measure, messages))

    @property
    def excess(self) -> int:
        return self.size - self._most

    def stub_results(self) -> None:
        """Replace the results of tools before the latest reply."""
        tools = {call.id: call.name for message in self.messages for call in message.tool_calls}
        for index in range(_last_reply(self.messages)):
            message = self.messages[index]
            if self.excess <= 0:
                return
            if message.role == "tool":
                self._put(index, build_tool_stub(message.content, tools.get(message.tool_call_id or "", "")))

    def summarise_turns(self) -> None:
        """Leave of earlier turns the question and the gist of the answer."""
        kept: list[Message] = []
        done = 0
        for start, end in self._earlier_turns():
            if self.excess <= 0:
                break
            before = self.messages[start:end]
            after = _gist_of(before)
            if sum(map(self._measure, after)) >= sum(map(self._measure, before)):
                after = before
            self._note(before, after)
            kept += [*self.messages[done:start], *after]
            done = end
        self.messages[:done] = kept
        self.question += len(kept) - done

    def drop_gists(self) -> None:
        """Leave of earlier turns the question alone, and that it was answered."""
        for index in range(self.question):
            if self.excess > 0 and self.messages[index].role == "assistant":
                self._put(index, OMITTED_ANSWER)

    def cut_latest(self) -> None:
        """Cut the results of the latest reply, then what came with the question."""
        last = _last_reply(self.messages)
        results = [index for index, each in enumerate(self.messages) if each.role == "tool" and index > last]
        for index in sorted(results, key=lambda index: -len(self.messages[index].content)):
            if self.excess > 0:
                self._put(index, _cut(self.messages[index].content, self._room(index)))
        for index, message in enumerate(self.messages):
            if self.excess > 0 and message.role == "user":
                self._put(index, _cut_material(message.content, self._room(index)))

    def cut_questions(self) -> None:
        """Cut the middles out of earlier questions, the longest first."""
        asked = [index for index in range(self.question) if self.messages[index].role == "user"]
        for index in sorted(asked, key=lambda index: -len(self.messages[index].content)):
            if self.excess <= 0:
                return
            self._put(index, _without_middle(self.messages[index].content))

    def drop_turns(self) -> None:
        """Leave out the oldest turns, where that saves more than saying so takes."""
        turns = self._earlier_turns()
        saved = dropped = notice = 0
        while dropped < len(turns) and self.excess - saved + notice > 0:
            saved += sum(map(self._measure, self.messages[slice(*turns[dropped])]))
            dropped += 1
            notice = sum(map(self._measure, _left_out(dropped)))
        if saved <= notice:
            return
        start, end = turns[0][0], turns[dropped - 1][1]
        self.messages[start:end] = _left_out(dropped)
        self.question += 2 - (end - start)
        self.size -= saved - notice
        self.cut += dropped

    def _earlier_turns(self) -> list[tuple[int, int]]:
        """Where each turn before the current one begins and ends, the oldest first."""
        asked = [index for index in range(self.question) if self.messages[index].role == "user"]
        return list(zip(asked, [*asked[1:], self.question], strict=False))

    def _room(self, index: int) -> int:
        """About as many characters as may stay of this message, by its own number of them for a unit of size."""
        content = self.messages[index].content
        size = self._measure(self.messages[index])
        return len(content) * max(0, size - self.excess) // max(size, 1)

    def _put(self, index: int, content: str) -> None:
        old = self.messages[index]
        if len(content) < len(old.content):
            self._note([old], [replace(old, content=content, raw=None)])
            self.messages[index] = replace(old, content=content, raw=None)

    def _note(self, before: Sequence[Message], after: Sequence[Message]) -> None:
        saved = sum(map(self._measure, before)) - sum(map(self._measure, after))
        self.size -= saved
        self.cut += saved > 0


def _left_out(turns: int) -> list[Message]:
    said = f"[{counted(turns, 'earlier question')} of this conversation are left out here]"
    return [Message("user", said), Message("assistant", OMITTED_ANSWER)]


def _gist_of(turn: Sequence[Message]) -> list[Message]:
    """The question, and the beginning of its answer; calls and their results go together."""
    answer = next((each for each in reversed(turn) if each.role == "assistant" and each.content.strip()), None)
    said = _gist(answer.content) if answer is not None else OMITTED_ANSWER
    return [turn[0], Message("assistant", said)]


def _gist(text: str) -> str:
    """The first sentences of `text`, whole ones, in 400 characters at most."""
    if len(text) <= _GIST_CHARS:
        return text
    end = 0
    for sentence in iter_sentences(text[: 2 * _GIST_CHARS]):
        if sentence.end > _GIST_CHARS:
            end = end or _GIST_CHARS
            break
        end = sentence.end
    return text[:end].rstrip() + " […]"


def _without_middle(text: str) -> str:
    """`text` where it is short, or else its beginning and its end."""
    if len(text) <= _BEGINNING_CHARS + len(OMITTED_MIDDLE) + _END_CHARS:
        return text
    return text[:_BEGINNING_CHARS].rstrip() + OMITTED_MIDDLE + text[-_END_CHARS:].lstrip()


def _last_reply(messages: Sequence[Message]) -> int:
    return max((index for index, message in enumerate(messages) if message.role == "assistant"), default=-1)


def _cut(content: str, length: int) -> str:
    """The whole passages of `content` that fit into `length` characters, or what says that there were some."""
    end = _end_of_passages(content, length - len(OMITTED) - 2)
    return f"{content[:end]}\n\n{OMITTED}" if end else OMITTED


def _cut_material(content: str, length: int) -> str:
    """`content` with the whole passages that fit into `length` characters, one at least, and all that follows them."""
    last = _end_of_passages(content, len(content))
    tail = content[last:]
    room = length - len(OMITTED_PASSAGES) - 2 - len(tail)
    end = _end_of_passages(content, room) or _end_of_passages(content, len(content), only_first=True)
    return f"{content[:end]}\n\n{OMITTED_PASSAGES}{tail}" if end < last else content


def _end_of_passages(content: str, room: int, *, only_first: bool = False) -> int:
    """Where the last passage ends that lies wholly within `room` characters, or the first passage; 0 without one.

    All passages carry the marker of the first, which no text that follows them can know.
    """
    opening = _OPENING_FENCE.search(content)
    if opening is None:
        return 0
    closing = f"\n</passage {opening[1]}>"
    at = content.find(closing) if only_first else content.rfind(closing, 0, max(0, room))
    return at + len(closing) if at >= 0 else 0
