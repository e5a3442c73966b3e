"""Compaction of a conversation that has outgrown the model's context.

Retrieved content goes first, oldest first, leaving its keys and counts behind; then earlier turns are reduced to the
question and an excerpt of the answer. Instructions stay unchanged, and so do the user's questions unless these alone
are too long. Every call keeps its result, as endpoints reject one without the other. Only the copy that is sent is
shortened; the stored conversation stays complete.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from asky.llm.port import Message
from asky.research.writing.tool_result_placeholder import tool_result_placeholder
from asky.text.counting import counted
from asky.text.sentences import iter_sentences

OMITTED = "[left out here: the conversation had grown too long for the model; search again if it is needed]"
OMITTED_PASSAGES = "[passages left out here: they did not fit into the model's context]"
OMITTED_ANSWER = "[an answer stood here; it was left out to make room]"
OMITTED_MIDDLE = "\n[… the middle of this message is left out here …]\n"
# Without a number: questions can be cut twice, once all of them and once what is left of them.
QUESTIONS_OMITTED = "the session's questions are too long for the model: some were shortened or left out"
_EXCERPT_CHARS = 400  # of an earlier answer: a paragraph
# The parts kept of a long question: the request usually precedes or follows the pasted text.
_BEGINNING_CHARS = 800
_END_CHARS = 400
_OPENING_FENCE = re.compile(r"<passage ([0-9a-f]{8,32}) ")

Measure = Callable[[Message], int]
"""The size of one message, in any unit."""


@dataclass(frozen=True, slots=True)
class Compacted:
    """The compacted `messages`, their `size` as measured, and the number of messages that were `cut`.

    `question` is the index of the current turn's question.
    """

    messages: list[Message]
    question: int
    size: int
    cut: int


def compact(
    messages: Sequence[Message], question: int, max_size: int, measure: Measure, *, keep_questions: bool = False
) -> Compacted:
    """Return `messages` reduced to `max_size` as far as possible; linear in their number.

    `messages[question]` begins the current turn; each user message before it begins an earlier one.

    The steps, each applied oldest first and only as far as needed: results of tools become placeholders, except those
    of the latest reply; earlier turns lose their calls, and their answers are reduced to excerpts; the excerpts are
    dropped. Then the latest results are cut after a complete passage, longest first, and the passages that came with
    the question are cut from the end, except the first. Earlier questions stay, unless they alone are too long and
    `keep_questions` is false: then the longest lose their middles, and finally the oldest turns are replaced by their
    number.
    """
    compaction = _Compaction(list(messages), question, max_size, measure)
    steps = [compaction.replace_results, compaction.summarise_turns, compaction.drop_answers, compaction.cut_latest]
    if not keep_questions:
        steps += [compaction.cut_questions, compaction.drop_turns]
    for step in steps:
        if compaction.excess <= 0:
            break
        step()
    return Compacted(compaction.messages, compaction.question, compaction.size, compaction.cut)


def omits_questions(original: Sequence[Message], sent: Sequence[Message]) -> bool:
    """Return whether a user message of `original` is missing or shortened in `sent`: see `QUESTIONS_OMITTED`."""
    complete = {each.content for each in sent if each.role == "user"}
    return any(each.role == "user" and each.content not in complete for each in original)


class _Compaction:
    def __init__(self, messages: list[Message], question: int, max_size: int, measure: Measure) -> None:
        self.messages = messages
        self.question = question
        self.cut = 0
        self._measure = measure
        self._max_size = max_size
        self.size = sum(map(measure, messages))

    @property
    def excess(self) -> int:
        return self.size - self._max_size

    def replace_results(self) -> None:
        """Replace the results of tools before the latest reply with placeholders."""
        tools = {call.id: call.name for message in self.messages for call in message.tool_calls}
        for index in range(_last_reply(self.messages)):
            message = self.messages[index]
            if self.excess <= 0:
                return
            if message.role == "tool":
                self._put(index, tool_result_placeholder(message.content, tools.get(message.tool_call_id or "", "")))

    def summarise_turns(self) -> None:
        """Reduce earlier turns to the question and an excerpt of the answer."""
        kept: list[Message] = []
        done = 0
        for start, end in self._earlier_turns():
            if self.excess <= 0:
                break
            before = self.messages[start:end]
            after = _summarised(before)
            if sum(map(self._measure, after)) >= sum(map(self._measure, before)):
                after = before
            self._note(before, after)
            kept += [*self.messages[done:start], *after]
            done = end
        self.messages[:done] = kept
        self.question += len(kept) - done

    def drop_answers(self) -> None:
        """Reduce earlier turns to the question, with a note that it was answered."""
        for index in range(self.question):
            if self.excess > 0 and self.messages[index].role == "assistant":
                self._put(index, OMITTED_ANSWER)

    def cut_latest(self) -> None:
        """Cut the results of the latest reply, then the passages that came with the question."""
        last = _last_reply(self.messages)
        results = [index for index, each in enumerate(self.messages) if each.role == "tool" and index > last]
        for index in sorted(results, key=lambda index: -len(self.messages[index].content)):
            if self.excess > 0:
                self._put(index, _cut(self.messages[index].content, self._target_chars(index)))
        for index, message in enumerate(self.messages):
            if self.excess > 0 and message.role == "user":
                self._put(index, _cut_material(message.content, self._target_chars(index)))

    def cut_questions(self) -> None:
        """Cut the middles out of earlier questions, longest first."""
        questions = [index for index in range(self.question) if self.messages[index].role == "user"]
        for index in sorted(questions, key=lambda index: -len(self.messages[index].content)):
            if self.excess <= 0:
                return
            self._put(index, _without_middle(self.messages[index].content))

    def drop_turns(self) -> None:
        """Remove the oldest turns, if that saves more than the notice takes."""
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
        """Return the start and end of each turn before the current one, oldest first."""
        questions = [index for index in range(self.question) if self.messages[index].role == "user"]
        return list(zip(questions, [*questions[1:], self.question], strict=False))

    def _target_chars(self, index: int) -> int:
        """Return about how many characters of this message may stay, by its own ratio of characters to size."""
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
    notice = f"[{counted(turns, 'earlier question')} of this conversation are left out here]"
    return [Message("user", notice), Message("assistant", OMITTED_ANSWER)]


def _summarised(turn: Sequence[Message]) -> list[Message]:
    """Return the question and an excerpt of its answer; calls and their results are dropped together."""
    answer = next((each for each in reversed(turn) if each.role == "assistant" and each.content.strip()), None)
    excerpt = _excerpt(answer.content) if answer is not None else OMITTED_ANSWER
    return [turn[0], Message("assistant", excerpt)]


def _excerpt(text: str) -> str:
    """Return the first complete sentences of `text`, at most 400 characters."""
    if len(text) <= _EXCERPT_CHARS:
        return text
    end = 0
    for sentence in iter_sentences(text[: 2 * _EXCERPT_CHARS]):
        if sentence.end > _EXCERPT_CHARS:
            end = end or _EXCERPT_CHARS
            break
        end = sentence.end
    return text[:end].rstrip() + " […]"


def _without_middle(text: str) -> str:
    """Return `text` if it is short, else its beginning and its end."""
    if len(text) <= _BEGINNING_CHARS + len(OMITTED_MIDDLE) + _END_CHARS:
        return text
    return text[:_BEGINNING_CHARS].rstrip() + OMITTED_MIDDLE + text[-_END_CHARS:].lstrip()


def _last_reply(messages: Sequence[Message]) -> int:
    return max((index for index, message in enumerate(messages) if message.role == "assistant"), default=-1)


def _cut(content: str, length: int) -> str:
    """Return the complete passages of `content` that fit into `length` characters, and a notice of the omission."""
    end = _end_of_passages(content, length - len(OMITTED) - 2)
    return f"{content[:end]}\n\n{OMITTED}" if end else OMITTED


def _cut_material(content: str, length: int) -> str:
    """Return `content` with only the complete passages that fit into `length` characters.

    At least one passage stays, and so does the text after the passages.
    """
    last = _end_of_passages(content, len(content))
    tail = content[last:]
    max_chars = length - len(OMITTED_PASSAGES) - 2 - len(tail)
    end = _end_of_passages(content, max_chars) or _end_of_passages(content, len(content), only_first=True)
    return f"{content[:end]}\n\n{OMITTED_PASSAGES}{tail}" if end < last else content


def _end_of_passages(content: str, max_chars: int, *, only_first: bool = False) -> int:
    """Return the end of the last passage within `max_chars` characters, or of the first passage; 0 if none.

    All passages carry the marker of the first, which no text after them can know.
    """
    opening = _OPENING_FENCE.search(content)
    if opening is None:
        return 0
    closing = f"\n</passage {opening[1]}>"
    at = content.find(closing) if only_first else content.rfind(closing, 0, max(0, max_chars))
    return at + len(closing) if at >= 0 else 0
