"""The marks that asky itself adds to an answer."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any

from asky.values import StoppedBy, Verdict

WARNING_SIGN = "⚠"
"""Begins every note and mark that asky itself adds to an answer."""

SHOWN_SIGN = "(!)"
"""What a model's own warning sign is shown as."""

MARKED: tuple[Verdict, ...] = ("unsupported", "contradicted")
"""The verdicts that are marked in the answer itself; statements without a citation are only counted."""

DOUBTFUL: tuple[Verdict, ...] = ("uncited", *MARKED)
"""The verdicts that count as faults of an answer."""

_EARLY_ENDS: Mapping[StoppedBy, str] = MappingProxyType(
    {
        "budget": "This answer reached a limit of its budget before the research was complete.",
        "max_turns": "This answer reached its limit of model calls before the research was complete.",
        "cancelled": "This answer was cancelled and ends with what had been written by then.",
        "length": "This answer is not complete: it reached the limit of the model's reply.",
        "cut": "This answer is not complete: the model's reply was cut off.",
    }
)
_DIFFERENCES: Mapping[str, str] = MappingProxyType(
    {
        "number": "a passage has a different number",
        "negation": "a passage differs by a negation",
        "opposite": "a passage says the opposite",
        "roles": "a passage says who does what the other way round",
        "meaning": "a passage says otherwise",
    }
)
_UNCITED = re.compile(rf" {WARNING_SIGN} uncited\b")
_MARK = re.compile(rf" {WARNING_SIGN} (?:uncited|unsupported|contradicted)\b")


def shown_verdict(claim: Mapping[str, Any]) -> str:
    """Return the verdict on a claim of a stored answer, or `quoted` if it is supported word for word.

    A quotation is certain to be in its source, which does not say that it answers the question.
    """
    is_quoted = claim["verdict"] == "supported" and claim["checks"].get("quotation")
    return "quoted" if is_quoted else str(claim["verdict"])


def reason(claim: Mapping[str, Any]) -> str:
    """Return what is missing or different in the passages of a claim of a stored answer, as a phrase; "" if nothing.

    It names the key of a passage that supports the claim, if there is one among those shown in the run. For a claim
    that a model judged, it is the reason that the model gave.
    """
    checks = claim["checks"]
    return str(checks.get("reason", "")) if "judged_by" in checks else "; ".join(_findings(checks))


def _findings(checks: Mapping[str, Any]) -> Iterator[str]:
    if numbers := checks.get("missing_numbers"):
        yield f"not in the passages: {', '.join(map(str, numbers))}"
    if doubted := checks.get("doubted_number"):
        yield f"{doubted} may be said of something else there"
    if quotes := checks.get("missing_quotes"):
        yield f"not quoted from them: {', '.join(f'“{quote}”' for quote in quotes)}"
    if names := checks.get("missing_names"):
        yield f"not named in them: {', '.join(names)}"
    unknown = [value["name"] for value in checks.get("values", ()) if value["value"] == "null"]
    if unknown:
        yield f"not known to them: {', '.join(unknown)}"
    other = [f"{value['name']} is {value['value']}" for value in checks.get("values", ()) if value["value"] != "null"]
    against = checks.get("contradicted_by")
    if other:
        yield f"in a passage, {', '.join(other)}"
    elif against:
        yield _DIFFERENCES.get(against, f"a passage has another {against}")
    if says := checks.get("says"):
        yield f"the passage says: “{says['text']}”"
    if better := checks.get("better"):
        yield f"{better} supports it"


def early_end(answer: Mapping[str, Any]) -> str:
    """Return what ended the run of a stored answer early, as a sentence, or `""`."""
    return _EARLY_ENDS.get(answer["stopped_by"], "")


def mark(verdict: str) -> str:
    """Return the mark that follows a claim with this verdict."""
    return f" {WARNING_SIGN} {verdict}"


def without_marks(answer: str) -> str:
    """Return `answer` without the marks that were added to it."""
    return _MARK.sub("", answer)


def without_uncited_marks(answer: Mapping[str, Any]) -> dict[str, Any]:
    """Return an `asky.answer/1` object without the marks that earlier versions added to uncited statements."""
    marks = [found.start() for found in _UNCITED.finditer(answer["answer"])]

    def moved(position: int) -> int:
        return position - bisect_left(marks, position) * len(mark("uncited"))

    claims = [{**claim, "start": moved(claim["start"]), "end": moved(claim["end"])} for claim in answer["claims"]]
    return {**answer, "answer": _UNCITED.sub("", answer["answer"]), "claims": claims}


def struck(text: str) -> str:
    """Return `text`, which must not contain a tilde, struck out in Markdown."""
    return f"~~{text}~~"
