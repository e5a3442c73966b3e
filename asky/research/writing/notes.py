"""Notes that the user adds to a turn in progress, marked as the user's own words.

A note is a user message after the results of tools. Among a run's messages it is distinguished from asky's prompts by
its opening, which retrieved content cannot imitate: that comes as the result of a tool.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from asky.llm.port import Message

_OPENING = "A note from the user, who follows your work:\n"

Notes = Callable[[], Sequence[str]]
"""Returns the notes received since the last call, in order."""


def no_notes() -> Sequence[str]:
    """Return no notes: for a run that takes none."""
    return ()


def note_message(text: str) -> Message:
    """Return the note as the message that the model receives."""
    return Message("user", _OPENING + text)


def noted_text(message: Message) -> str | None:
    """Return the user's text if `message` is a note, else `None`."""
    is_note = message.role == "user" and message.content.startswith(_OPENING)
    return message.content[len(_OPENING) :] if is_note else None


def joined(messages: Sequence[Message]) -> list[Message]:
    """Return `messages` with consecutive user messages joined into one: some endpoints require alternating roles."""
    found: list[Message] = []
    for message in messages:
        if found and found[-1].role == message.role == "user":
            found[-1] = replace(found[-1], content=f"{found[-1].content}\n\n{message.content}")
        else:
            found.append(message)
    return found
