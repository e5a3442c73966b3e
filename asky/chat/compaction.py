"""Makes a conversation shorter that has grown beyond what the model can read.

Only what was looked up is given up, the oldest first: instructions, questions and the model's own words stay, and so
does every call with its result's place, because endpoints refuse a call without one.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from asky.llm.port import Message

OMITTED = "[left out here: the conversation had grown too long for the model; search again if it is needed]"
OMITTED_PASSAGES = "[passages left out here: they did not fit into the model's context]"
_OPENING_FENCE = re.compile(r"<passage ([0-9a-f]{8,32}) ")


def compact(messages: Sequence[Message], max_characters: int) -> tuple[list[Message], int]:
    """`messages` with at most `max_characters` in their contents, as far as that can be reached, and what it took.

    The second value counts the messages that were cut. Results of the latest reply go after older ones, the longest
    first, and are cut after a whole passage. Passages that came with a question go last, from their end; the question
    stays, and one passage at least.
    """
    kept = list(messages)
    excess = sum(len(message.content) for message in kept) - max_characters
    shortened = 0
    for index in _in_order_of_loss(kept):
        if excess <= 0:
            break
        shorter = _shortened(kept, index, excess)
        saved = len(kept[index].content) - len(shorter)
        if saved > 0:
            kept[index] = replace(kept[index], content=shorter)
            excess -= saved
            shortened += 1
    return kept, shortened


def _in_order_of_loss(messages: Sequence[Message]) -> list[int]:
    last = _last_reply(messages)
    results = [index for index, message in enumerate(messages) if message.role == "tool"]
    latest = sorted((index for index in results if index > last), key=lambda index: -len(messages[index].content))
    asked = [index for index, message in enumerate(messages) if message.role == "user"]
    return [index for index in results if index < last] + latest + asked


def _last_reply(messages: Sequence[Message]) -> int:
    return max((index for index, message in enumerate(messages) if message.role == "assistant"), default=-1)


def _shortened(messages: Sequence[Message], index: int, excess: int) -> str:
    content = messages[index].content
    if messages[index].role == "user":
        return _cut_material(content, len(content) - excess)
    return _cut(content, len(content) - excess) if index > _last_reply(messages) else OMITTED


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
