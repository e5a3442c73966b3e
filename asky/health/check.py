"""What a check found."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

State = Literal["ok", "note", "problem"]


@dataclass(frozen=True, slots=True)
class Check:
    """One line of a check-up. A note is worth knowing; a problem makes something fail or give wrong results."""

    name: str
    state: State
    message: str
    hint: str | None = None


def ok(name: str, message: str) -> Check:
    """A check that found nothing."""
    return Check(name, "ok", message)


def note(name: str, message: str, hint: str | None = None) -> Check:
    """A check that found something worth knowing."""
    return Check(name, "note", message, hint)


def problem(name: str, message: str, hint: str | None = None) -> Check:
    """A check that found something that fails or misleads."""
    return Check(name, "problem", message, hint)
