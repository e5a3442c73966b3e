"""What the user says to a turn that is under way: a note to the model, marked as the user's own words.

A note is a message of the user behind the results of the tools. Where one is found among a run's messages, it is told
from prompts of asky by how it begins, which nothing that was looked up can imitate: that comes as the result of a tool.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from asky.llm.port import Message

NOTE_ROLE = "note"
"""The role under which a session keeps one."""

_OPENING = "A note from the user, who follows your work:\n"

Notes = Callable[[], Sequence[str]]
"""Takes the notes that have come since it was last called, in order."""


def no_notes() -> Sequence[str]:
    """For a run that nobody follows."""
    return ()


def note_message(text: str) -> Message:
    """The note as the model gets it."""
    return Message("user", _OPENING + text)


def noted_text(message: Message) -> str | None:
    """What the user wrote, where `message` is a note."""
    is_note = message.role == "user" and message.content.startswith(_OPENING)
    return message.content[len(_OPENING) :] if is_note else None


def joined(messages: Sequence[Message]) -> list[Message]:
    """`messages` with what the user says twice in a row as one message: roles alternate, or some endpoints refuse."""
    found: list[Message] = []
    for message in messages:
        if found and found[-1].role == message.role == "user":
            found[-1] = replace(found[-1], content=f"{found[-1].content}\n\n{message.content}")
        else:
            found.append(message)
    return found
