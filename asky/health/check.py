"""The result of a health check."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

State = Literal["ok", "note", "problem"]


@dataclass(frozen=True, slots=True)
class Check:
    """One line of the report: a `note` is informational; a `problem` causes failures or wrong results."""

    name: str
    state: State
    message: str
    hint: str | None = None


def ok(name: str, message: str) -> Check:
    """Return a check that found nothing wrong."""
    return Check(name, "ok", message)


def note(name: str, message: str, hint: str | None = None) -> Check:
    """Return a check that found something the user should know."""
    return Check(name, "note", message, hint)


def problem(name: str, message: str, hint: str | None = None) -> Check:
    """Return a check that found something that fails or gives wrong results."""
    return Check(name, "problem", message, hint)
