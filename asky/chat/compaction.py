"""Makes a conversation shorter that has grown beyond what the model can read.

Only what tools returned is given up, the oldest first: instructions, questions and the model's own words stay, and so
does every call with its result's place, because endpoints refuse a call without one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from asky.llm.port import Message

OMITTED = "[left out here: the conversation had grown too long for the model; search again if it is needed]"
_CLOSING_FENCE = "\n</passage "


def compact(messages: Sequence[Message], max_characters: int) -> tuple[list[Message], int]:
    """`messages` with at most `max_characters` in their contents, as far as that can be reached, and what it took.

    The second value counts the results of tools that were left out or cut. Results of the latest reply go last, the
    longest first, and are cut after a whole passage.
    """
    kept = list(messages)
    excess = sum(len(message.content) for message in kept) - max_characters
    shortened = 0
    for index in _in_order_of_loss(kept):
        if excess <= 0:
            break
        content = kept[index].content
        shorter = _cut(content, len(content) - excess) if index > _last_reply(kept) else OMITTED
        if len(shorter) < len(content):
            kept[index] = replace(kept[index], content=shorter)
            excess -= len(content) - len(shorter)
            shortened += 1
    return kept, shortened


def _in_order_of_loss(messages: Sequence[Message]) -> list[int]:
    last = _last_reply(messages)
    results = [index for index, message in enumerate(messages) if message.role == "tool"]
    latest = sorted((index for index in results if index > last), key=lambda index: -len(messages[index].content))
    return [index for index in results if index < last] + latest


def _last_reply(messages: Sequence[Message]) -> int:
    return max((index for index, message in enumerate(messages) if message.role == "assistant"), default=-1)


def _cut(content: str, length: int) -> str:
    """The whole passages of `content` that fit into `length` characters, or what says that there were some."""
    room = length - len(OMITTED) - 2
    fence = content.rfind(_CLOSING_FENCE, 0, max(0, room))
    end = content.find(">", fence) + 1 if fence >= 0 else 0
    return f"{content[:end]}\n\n{OMITTED}" if 0 < end <= room else OMITTED
