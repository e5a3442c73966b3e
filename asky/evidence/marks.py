"""The marks that asky itself adds to an answer."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from asky.values import Verdict

WARNING_SIGN = "⚠"
"""Begins every note and mark that asky itself adds to an answer."""

MARKED: tuple[Verdict, ...] = ("uncited", "unsupported", "contradicted")
"""The verdicts that are marked in the answer itself."""

_MARK = re.compile(rf" {WARNING_SIGN} (?:uncited|unsupported|contradicted)\b")


def shown_verdict(claim: Mapping[str, Any]) -> str:
    """Return the verdict on a claim of a stored answer, or `quoted` if it is supported word for word.

    A quotation is certain to be in its source, which does not say that it answers the question.
    """
    is_quoted = claim["verdict"] == "supported" and claim["checks"].get("quotation")
    return "quoted" if is_quoted else str(claim["verdict"])


def mark(verdict: str) -> str:
    """Return the mark that follows a claim with this verdict."""
    return f" {WARNING_SIGN} {verdict}"


def without_marks(answer: str) -> str:
    """Return `answer` without the marks that were added to it."""
    return _MARK.sub("", answer)


def struck(text: str) -> str:
    """Return `text`, which must not contain a tilde, struck out in Markdown."""
    return f"~~{text}~~"
