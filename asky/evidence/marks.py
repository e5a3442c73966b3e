"""The marks that asky itself puts into an answer."""

from __future__ import annotations

import re

from asky.values import Verdict

WARNING_SIGN = "⚠"
"""Begins every note and mark that asky itself adds to an answer."""

MARKED: tuple[Verdict, ...] = ("uncited", "unsupported", "contradicted")
"""The verdicts that are shown in the answer itself."""

_MARK = re.compile(rf" {WARNING_SIGN} (?:uncited|unsupported|contradicted)\b")


def mark(verdict: str) -> str:
    """What stands in a marked answer after a claim with this verdict."""
    return f" {WARNING_SIGN} {verdict}"


def without_marks(answer: str) -> str:
    """`answer` as it was before it was marked."""
    return _MARK.sub("", answer)


def struck(text: str) -> str:
    """`text`, which has no tilde in it, struck out as Markdown shows it."""
    return f"~~{text}~~"
