"""The marks that asky itself adds to an answer."""

from __future__ import annotations

import re

from asky.values import Verdict

WARNING_SIGN = "⚠"
"""Begins every note and mark that asky itself adds to an answer."""

MARKED: tuple[Verdict, ...] = ("uncited", "unsupported", "contradicted")
"""The verdicts that are marked in the answer itself."""

_MARK = re.compile(rf" {WARNING_SIGN} (?:uncited|unsupported|contradicted)\b")


def mark(verdict: str) -> str:
    """Return the mark that follows a claim with this verdict."""
    return f" {WARNING_SIGN} {verdict}"


def without_marks(answer: str) -> str:
    """Return `answer` without the marks that were added to it."""
    return _MARK.sub("", answer)


def struck(text: str) -> str:
    """Return `text`, which must not contain a tilde, struck out in Markdown."""
    return f"~~{text}~~"
