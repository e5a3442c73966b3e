"""Reasons why pages could not be read, counted."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from contextlib import suppress

from asky.text.urls import parse_address

_REASONS_SHOWN = 3


def common_reasons(failures: Mapping[str, str]) -> str:
    """Return the commonest reasons of failures, messages by address, each with its count if there are several."""
    counts = Counter(reason_without_address(message, url) for url, message in failures.items())
    common = counts.most_common(_REASONS_SHOWN)
    others = len(failures) - sum(number for _, number in common)
    shown = [f"{reason} ({number:,})" if len(counts) > 1 else reason for reason, number in common]
    return "; ".join([*shown, *([f"other reasons ({others:,})"] if others else [])])


def reason_without_address(message: str, url: str) -> str:
    """Return a message about an address without it, so that the same reason of several pages is one."""
    reason = message.removeprefix("refused: ")
    with suppress(ValueError):
        address = parse_address(url)
        for part in (url, address.authority, address.host):
            reason = re.sub(rf"(?<!\w){re.escape(part)}(?!\w)", "the site", reason)
        if address.target != "/":
            reason = reason.replace(address.target, "it")
    return reason
