"""A service's response, and the default interpretation of its status, used if an adapter has no better one."""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from asky.errors import AskyError, AuthenticationFailed, ProviderError, RateLimited

_PAGE = re.compile(
    rb"\s*(?:<!--.*?-->\s*)*<(?:!doctype\s+html|html|head|body|title|meta|script)\b", re.IGNORECASE | re.DOTALL
)
_TRANSIENT = frozenset({408, 425, 500, 502, 503, 504})
_SHOWN_BYTES = 2000


@dataclass(frozen=True, slots=True)
class ServiceReply:
    """A response: `headers` have lower-case names, `body` is decompressed and complete.

    Neither is in the `repr`: some services echo the key.
    """

    status: int
    headers: Mapping[str, str] = field(repr=False)
    body: bytes = field(repr=False)

    @property
    def is_page(self) -> bool:
        """Return whether this is a page for people: HTML, whatever the header says."""
        return (
            "html" in self.headers.get("content-type", "").lower() or _PAGE.match(self.body[:_SHOWN_BYTES]) is not None
        )

    def text(self) -> str:
        """Return the body as text: UTF-8, -16 or -32 by its first bytes, or the header's charset. Raises nothing."""
        guessed = json.detect_encoding(self.body)
        try:
            return self.body.decode(guessed)
        except UnicodeDecodeError:
            return self.body.decode(self._declared_charset() or "utf-8", "replace")

    def json(self) -> Any:
        """Return the body as JSON. Raises `ValueError` if it is invalid or unreadable."""
        try:
            return json.loads(self.text())
        except RecursionError:
            raise ValueError("nested too deeply") from None

    def json_or_none(self) -> Any:
        """Return the body as JSON, or `None`: for errors, which come in any form."""
        try:
            return self.json()
        except ValueError:
            return None

    def _declared_charset(self) -> str | None:
        named = re.search(r"charset\s*=\s*\"?([\w.:-]{1,40})", self.headers.get("content-type", ""), re.IGNORECASE)
        try:
            return codecs.lookup(named[1]).name if named else None
        except LookupError:
            return None


Explain = Callable[[ServiceReply], AskyError | None]
"""Interprets a reply that needs knowledge of the service; `None` leaves the decision to the status."""


def nothing_special(reply: ServiceReply) -> AskyError | None:  # noqa: ARG001 - an `Explain`
    """Return `None`: the `Explain` of services whose status suffices."""
    return None


def quota_used_up(name: str, *, hint: str | None = None) -> RateLimited:
    """Return the error for a used-up quota: a retry does not help."""
    return RateLimited(
        f"{name}: the quota is used up",
        hint=hint or "wait until it is renewed, raise it with the service, or search with another one",
        retryable=False,
    )


def key_refused(name: str, *, variable: str | None, is_set: bool) -> AuthenticationFailed:
    """Return the error for a key that is wrong, missing or not allowed to do this; `variable` names its variable."""
    if not is_set:
        return AuthenticationFailed(
            f"{name} refused access without a key", hint=f"set {variable or f'search.{name}.api_key_env'}"
        )
    return AuthenticationFailed(f"{name} refused the key", hint=f"check the value of {variable}")


def bad_request(name: str, reason: str = "") -> ProviderError:
    """Return the error for a request that the service rejects, with its `reason` if given."""
    because = f": {reason}" if reason else ""
    return ProviderError(f"{name} refused the request{because}", reason="bad_request", retryable=False)


def unavailable(name: str, why: str) -> ProviderError:
    """Return the error for a failure of the service itself."""
    return ProviderError(f"{name}: {why}", hint="try again later", reason="unavailable", retryable=True)


def malformed(name: str, why: str) -> ProviderError:
    """Return the error for a response that cannot be read."""
    hint = f"check search.{name}.base_url; what answers there may be another service"
    return ProviderError(f"{name}: {why}", hint=hint, reason="malformed", retryable=False)


def blocked(name: str, why: str) -> ProviderError:
    """Return the error for a page for people in place of a response."""
    hint = "open its address in a browser: a limiter, a captcha or a proxy may stand in front of it"
    return ProviderError(f"{name}: {why}", hint=hint, reason="blocked", retryable=False)


class UnknownIdentifier(ProviderError):
    """A valid answer: the service has no record of an identifier."""


def unknown(reply: ServiceReply, name: str) -> UnknownIdentifier | None:
    """Return the error for status 404 in a service's own words; other pages with this status are a wrong address."""
    is_told = reply.status == 404 and (
        b"resource not found" in reply.body[:50].lower() or isinstance(reply.json_or_none(), dict)
    )
    return UnknownIdentifier(f"{name} does not know this identifier") if is_told else None


def fault_of(reply: ServiceReply, name: str) -> AskyError | None:
    """Return the error for the status of a reply, unless the key was refused (`refuses_key`); `None` for a success."""
    status = reply.status
    if status == 200:
        return blocked(name, "a web page came instead of an answer") if reply.is_page else None
    if 200 <= status < 300:
        return blocked(name, f"no answer came, only status {status}")
    if 300 <= status < 400:
        return _redirected(reply, name)
    if status == 429:
        return RateLimited(f"{name} received too many requests", hint="wait, or search with another service")
    if status == 402:
        return quota_used_up(name)
    if status in _TRANSIENT or status >= 500:
        return unavailable(name, f"it failed with status {status}")
    if status in (403, 407, 451):
        return blocked(name, f"a web page with status {status} came instead of an answer")
    if status in (404, 405, 410):
        return bad_request(name, f"there is nothing at this address (status {status}); check search.{name}.base_url")
    return bad_request(name, f"status {status}")


def refuses_key(reply: ServiceReply) -> bool:
    """Return whether the status says that the key is wrong: 401, or 403 without a page for people, as limiters send."""
    return reply.status == 401 or (reply.status == 403 and not reply.is_page)


def _redirected(reply: ServiceReply, name: str) -> ProviderError:
    from urllib.parse import urlsplit  # only for this rare error

    try:
        host = urlsplit(reply.headers.get("location", "")).hostname
    except ValueError:
        host = None
    return ProviderError(
        f"{name} redirects{f' to {host}' if host else ''} (status {reply.status}); redirects are not followed",
        hint=f"check search.{name}.base_url: http instead of https is a common cause",
        reason="bad_request",
        retryable=False,
    )
