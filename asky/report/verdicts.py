"""The verdict on a claim, and what checking it found, in words."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from asky.evidence.marks import WARNING_SIGN
from asky.report.markup import Html, tag

LABELS: Mapping[str, str] = MappingProxyType(
    {
        "quoted": "quoted",
        "supported": "supported",
        "partial": "partly supported",
        "unsupported": "unsupported",
        "contradicted": "contradicted",
        "uncited": "uncited",
    }
)
"""The results of `shown_verdict` with their labels, best first."""

_MEANINGS: Mapping[str, str] = MappingProxyType(
    {
        "quoted": "The cited passage says it in these words; whether that answers the question was not checked.",
        "supported": "The cited passages support it, as far as words and numbers show.",
        "partial": "The cited passages support part of it.",
        "unsupported": "The cited passages do not support it.",
        "contradicted": "A cited passage contradicts it.",
        "uncited": "It cites no passage.",
    }
)


def is_doubtful(claim: Mapping[str, Any]) -> bool:
    return bool(claim["verdict"] != "supported")


def chip(kind: str, *, target: str | None = None) -> Html:
    """Render a verdict, or `quoted`, with an icon that does not depend on colour, linked to the id `target`."""
    sign = "✓" if kind in ("supported", "quoted") else WARNING_SIGN
    content = (tag("span", sign, aria_hidden="true"), f" {LABELS.get(kind, kind)}")
    attributes = {"class_": f"chip {kind if kind in LABELS else 'uncited'}", "title": _MEANINGS.get(kind)}
    return tag("a", *content, href=f"#{target}", **attributes) if target else tag("span", *content, **attributes)
