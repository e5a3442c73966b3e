"""Formatting of counts, and of reasons with theirs."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from contextlib import suppress

_REASONS_SHOWN = 3


def counted(count: int, noun: str, plural: str | None = None) -> str:
    """Return `1 page`, `2 pages`, `1,000 pages`; `plural` is for irregular nouns."""
    return f"{count:,} {noun if count == 1 else plural or noun + 's'}"


def common_reasons(failures: Mapping[str, str]) -> str:
    """Return the commonest reasons of failures, messages by address, each with its count if there are several."""
    counts = Counter(reason_without_address(message, url) for url, message in failures.items())
    common = counts.most_common(_REASONS_SHOWN)
    others = len(failures) - sum(number for _, number in common)
    shown = [f"{reason} ({number:,})" if len(counts) > 1 else reason for reason, number in common]
    return "; ".join([*shown, *([f"other reasons ({others:,})"] if others else [])])


def reason_without_address(message: str, url: str) -> str:
    """Return a message about an address without it, so that the same reason of several pages is one."""
    from asky.text.urls import parse_address  # only where something failed

    reason = message.removeprefix("refused: ")
    with suppress(ValueError):
        address = parse_address(url)
        for part in (url, address.authority, address.host):
            reason = re.sub(rf"(?<!\w){re.escape(part)}(?!\w)", "the site", reason)
        if address.target != "/":
            reason = reason.replace(address.target, "it")
    return reason
