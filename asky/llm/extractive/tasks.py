"""Tasks in notes, `- [ ] order cables`, and questions that ask for those that are open or done."""

from __future__ import annotations

import re
from typing import Literal

TaskState = Literal["open", "done"]

_TASK = re.compile(r"\s*(?:(?:[-*+•]|\d{1,3}[.)])\s+)?\[(?P<state>[ xX/-])\]\s+\S")
_OPEN = re.compile(
    r"\bto-?do(?:s| list| items?)?\b|\bto be done\b|\bopen (?:tasks?|items?|points?|jobs?)\b"
    r"|\b(?:still|left|remain\w*|have|has|need|outstanding|pending|unfinished)\b.{0,40}?"
    r"\b(?:to do|to be done|do|open|tasks?)\b"
    r"|\bwhat(?:'s| is| are| else)?(?: is)? (?:still )?(?:left|open|missing|outstanding|pending|unfinished|remaining)\b"
    r"|(?:\bnot|n't) (?:yet )?(?:been )?(?:done|finished)\b|\bnext steps?\b",
    re.IGNORECASE,
)
_DONE = re.compile(
    r"\b(?:is|are|was|were|been|already|have (?:i|we)|did (?:i|we)) (?:\w+ ){0,2}?"
    r"(?:done|finished?|completed?|ticked off)\b"
    r"|\b(?:done|finished|completed) (?:tasks?|items?|already)\b",
    re.IGNORECASE,
)
TASK_WORDS = (
    "to-do todo do done still left open task tasks item items point points job jobs remain remaining outstanding"
)


def task_state(text: str) -> TaskState | None:
    """Return the state of the task that `text` is, a list item with a box; `None` if it is none."""
    found = _TASK.match(text)
    return None if found is None else ("done" if found["state"] in "xX" else "open")


def asked_tasks(question: str) -> TaskState | None:
    """Return which tasks `question` asks for, if it does."""
    if _OPEN.search(question):
        return "open"
    return "done" if _DONE.search(question) else None
