"""What checking a claim found, in words."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from asky.evidence.marks import WARNING_SIGN
from asky.report.markup import Html, tag

LABELS: Mapping[str, str] = MappingProxyType(
    {
        "supported": "supported",
        "partial": "partly supported",
        "unsupported": "unsupported",
        "contradicted": "contradicted",
        "uncited": "uncited",
    }
)
"""The verdicts, the best first."""

_MEANINGS: Mapping[str, str] = MappingProxyType(
    {
        "supported": "The passages that it cites hold what it says, as far as words and numbers tell.",
        "partial": "The passages that it cites hold some of what it says.",
        "unsupported": "The passages that it cites do not hold what it says.",
        "contradicted": "A passage that it cites says otherwise.",
        "uncited": "It cites no passage.",
    }
)


def is_doubtful(claim: Mapping[str, Any]) -> bool:
    return bool(claim["verdict"] != "supported")


def chip(verdict: str, *, target: str | None = None) -> Html:
    """The verdict with a sign that needs no colour, leading to `target`, an id, where there is one."""
    sign = "✓" if verdict == "supported" else WARNING_SIGN
    content = (tag("span", sign, aria_hidden="true"), f" {LABELS.get(verdict, verdict)}")
    kind = verdict if verdict in LABELS else "uncited"
    attributes = {"class_": f"chip {kind}", "title": _MEANINGS.get(verdict)}
    return tag("a", *content, href=f"#{target}", **attributes) if target else tag("span", *content, **attributes)


def findings(claim: Mapping[str, Any]) -> str:
    """What was missing or otherwise in the passages of a claim, in a sentence; empty where nothing was."""
    checks = claim["checks"]
    said = []
    if numbers := checks.get("missing_numbers"):
        said.append(f"not in the passages: {', '.join(map(str, numbers))}")
    if quotes := checks.get("missing_quotes"):
        said.append(f"not quoted from them: {', '.join(f'“{quote}”' for quote in quotes)}")
    if against := checks.get("contradicted_by"):
        said.append(f"a passage has another {against}" if against == "number" else f"a passage differs by a {against}")
    return "; ".join(said)
