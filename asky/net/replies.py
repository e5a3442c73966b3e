"""Interpretation of a response to a page request: a page, a redirect, or an error."""

from __future__ import annotations

import re
from dataclasses import dataclass

from asky.errors import AskyError, RateLimited, SourceUnreadable
from asky.net.bodies import Body
from asky.net.connection import Head
from asky.net.retry import named_wait_s

RETRIED = frozenset({408, 425, 429, 500, 502, 503, 504})
"""Statuses that may differ when the same request is repeated a moment later."""

_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_PAGES = frozenset({200, 203})
_MISSING = frozenset({404, 410})
_BLOCKED = frozenset({401, 402, 403, 407, 451, 511, 999})
_MAX_VALIDATOR_CHARS = 1024


@dataclass(frozen=True, slots=True)
class PageReply:
    """A response whose connection is closed. `body` is that of a page, empty for everything else."""

    head: Head
    body: Body

    @property
    def status(self) -> int:
        return self.head.status


def is_page(head: Head) -> bool:
    return head.status in _PAGES


def leads_to(head: Head, host: str) -> str | None:
    """Return the target of a redirect as given; `None` for any other response. Raises `SourceUnreadable`."""
    if head.status not in _REDIRECTS:
        return None
    places = set(head.headers.get("location", ()))
    if len(places) != 1 or not (place := places.pop()):
        raise SourceUnreadable(f"could not read {host}: it redirects without giving an address")
    try:
        return place.encode("latin-1").decode()  # non-ASCII locations are UTF-8 wherever they are valid
    except UnicodeDecodeError:
        return place


def named_wait(head: Head, now: float) -> float | None:
    """Return the seconds that the host asks to wait, if any."""
    return named_wait_s(head.single(), lambda: now)


def refusal(head: Head, host: str, wait_s: float | None = None, *, is_conditional: bool = False) -> AskyError | None:
    """Return the error for a response; `None` for a page, a redirect, and a 304 to a conditional request."""
    status = head.status
    if status in _PAGES or status in _REDIRECTS or (status == 304 and is_conditional):
        return None
    if status == 429 or (status == 503 and wait_s is not None):
        asks = f"asks clients to wait {_span(wait_s)}" if wait_s is not None else "asks clients to wait"
        limited = RateLimited(f"{host} {asks} (HTTP {status})", hint="try again later")
        limited.wait_s = wait_s
        return limited
    if status in _MISSING:
        return SourceUnreadable(f"{host} has no such page (HTTP {status})", verdict="missing")
    if status in _BLOCKED:
        return SourceUnreadable(f"{host} does not allow access to this page (HTTP {status})", verdict="blocked")
    if status == 206:
        return SourceUnreadable(f"{host} sent only a part of the page (HTTP 206)", verdict="truncated")
    what = "failed" if status >= 500 else "did not send a page"
    return SourceUnreadable(f"{host} {what} (HTTP {status})")


def media_type_of(head: Head) -> tuple[str | None, str | None]:
    """Return the media type and the charset in the head, lower case; `None` for each that is missing."""
    kind, _, rest = (head.first("content-type") or "").partition(";")
    charset = re.search(r"""(?:^|;)\s*charset\s*=\s*["']?([^\s;"']{1,40})""", rest, re.IGNORECASE)
    named = kind.strip().lower()
    is_type = re.fullmatch(r"[\w.+-]{1,60}/[\w.+-]{1,100}", named, re.ASCII) is not None
    return (named if is_type else None, charset[1].lower() if charset else None)


def validator(head: Head, name: str) -> str | None:
    """Return a header that identifies the version of a page, if it can be sent back unchanged."""
    value = head.first(name)
    return value if is_sendable(value) else None


def is_sendable(value: str | None) -> bool:
    """Return whether `value` is a valid header value."""
    return bool(value) and re.fullmatch(rf"[\x20-\x7e\xa0-\xff]{{1,{_MAX_VALIDATOR_CHARS}}}", value or "") is not None


def _span(seconds: float) -> str:
    for size, name in ((86_400, "days"), (3600, "hours"), (120, "minutes")):
        if seconds >= size:
            return f"{seconds / (60 if name == 'minutes' else size):.0f} {name}"
    return f"{seconds:.0f} s"
