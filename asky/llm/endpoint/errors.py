"""Mapping of an endpoint's refusal to an error: from status, headers and message, for every dialect."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from asky.errors import AskyError, AuthenticationFailed, ContextOverflow, NotConfigured, ProviderError, RateLimited
from asky.llm.endpoint.endpoint import Endpoint
from asky.llm.endpoint.refusal import Refusal, error_objects
from asky.net.retry import demands_retry, named_wait_s

_MAX_MESSAGE_CHARS = 300
_MAX_READ_CHARS = 4000
_RETRIED = frozenset({408, 409, 425, 429})
_NEVER_RETRIED = frozenset({501, 505})


@dataclass(frozen=True, slots=True)
class EndpointFailure:
    """An error, with the facts that a retry needs.

    `may_retry` says whether the same request may be sent again now, `named_wait_s` is the wait that the endpoint asks
    for; `is_loading` says that it is loading the model and will answer; `refusal` is its message, for a request that
    can be made in another way.
    """

    error: AskyError
    may_retry: bool = False
    named_wait_s: float | None = None
    is_loading: bool = False
    refusal: Refusal | None = None


def failure_of(
    endpoint: Endpoint,
    refusal: Refusal,
    *,
    status: int,
    headers: Mapping[str, str],
    wall_clock: Callable[[], float],
) -> EndpointFailure:
    """Return the error for a refusal. `headers` has lower-case names; `status` is that of the response.

    An error inside HTTP 200 gets the status that it names itself, in words or digits, or 500.
    """
    answered = "reported an error" if status < 400 else f"answered {status}"
    if status < 400:
        status = refusal.status or _status_in_words(refusal)
    error = _error(endpoint, refusal, status, answered)
    named = named_wait_s(headers, wall_clock)
    named = _wait_in_body(refusal.body) if named is None else named
    _decide_retry(error, status, headers)
    if isinstance(error, RateLimited) and error.retryable and named is not None:
        error.hint = f"try again in {named:.0f} s, or choose another model with -m"
    return EndpointFailure(error, error.retryable, named, _is_loading(status, refusal), refusal)


def redirect_error(endpoint: Endpoint, status: int, location: str) -> ProviderError:
    """Return the error for a redirect, which is not followed because the key must not be sent there."""
    try:
        target = urlsplit(location).hostname
    except ValueError:
        target = None
    where = f"to {clean(target, endpoint)}" if target else "elsewhere"
    return ProviderError(
        f"{name_of(endpoint)} answered {status} and points {where}; asky does not follow redirects",
        hint=f"check base_url of the provider {endpoint.provider}",
    )


def name_of(endpoint: Endpoint) -> str:
    """Return the name of an endpoint for messages."""
    return f"{endpoint.alias} at {endpoint.host}"


def clean(text: str, endpoint: Endpoint) -> str:
    """Return a line for a message: no key, no passwords or queries of URLs, no control characters."""
    text = endpoint.redactor.mask(text)[:_MAX_READ_CHARS]  # the patterns below take quadratic time on one long word
    text = re.sub(r"(\b\w{1,20}://)[^\s/@]*@", r"\1", text)
    text = re.sub(r"(\b\w{1,20}://[^\s?#\"'<>]*)[?#][^\s\"'<>]*", r"\1", text)
    text = " ".join("".join(c if c.isprintable() else " " for c in text).split())
    return text if len(text) <= _MAX_MESSAGE_CHARS else text[: _MAX_MESSAGE_CHARS - 1] + "…"


_STATUSES = {
    "invalid_api_key": 401,
    "authentication_error": 401,
    "unauthenticated": 401,
    "permission_error": 403,
    "permission_denied": 403,
    "model_not_found": 404,
    "insufficient_quota": 429,
    "rate_limit_exceeded": 429,
    "rate_limit_error": 429,
    "resource_exhausted": 429,
    "overloaded_error": 529,
    "unavailable": 503,
    "unavailable_error": 503,
    "invalid_request_error": 400,
    "invalid_argument": 400,
}
"""The status for a code or type; the first one found counts."""


def _status_in_words(refusal: Refusal) -> int:
    return next((status for code, status in _STATUSES.items() if code in refusal.codes), 500)


def _error(endpoint: Endpoint, refusal: Refusal, status: int, answered: str) -> AskyError:
    detail = clean(refusal.message, endpoint)
    who = name_of(endpoint)
    text = f"{who} {answered}" + (f": {detail}" if detail else "")
    if status not in (401, 402, 403, 429) and (limit := _overflow(refusal)) is not None:
        return ContextOverflow(
            f"the conversation is too long: {text}",
            hint="choose a model with a larger context with -m, or start another session with -s",
            limit_tokens=limit or None,
        )
    if status == 413:
        if _is_too_large(refusal):
            return _too_large(text)
        return ContextOverflow(f"the request is too large: {text}", hint="shorten the request, or choose another model")
    if status == 401 or (status == 403 and not _is_moderation(refusal)) or _is_bad_key(refusal):
        return _authentication(endpoint, text)
    if status == 404 or _is_missing_model(refusal):
        return NotConfigured(
            f"{who} does not offer the model {endpoint.model_id}" + (f": {detail}" if detail else ""),
            hint=f"check the model's id and base_url of the provider {endpoint.provider}, or see `asky models list`",
        )
    if status == 402 or (status == 429 and _is_quota(refusal)):
        hint = "the account has no credit or quota left; top it up, or choose another model with -m"
        return RateLimited(text, hint=hint, retryable=False)
    if status == 429:
        return (
            _too_large(text)
            if _is_too_large(refusal)
            else RateLimited(text, hint="try again later, or choose another model with -m")
        )
    if re.search(
        r"support (the use of )?tools?\b|tool[ _-]?(choice|use|call)\S* .*(requires|support)|--jinja", detail, re.I
    ):
        return ProviderError(
            text, hint="choose a model that can call tools with -m, or start the server with tools enabled"
        )
    return ProviderError(text, hint=_hint(status, endpoint))


def _too_large(text: str) -> RateLimited:
    hint = "it exceeds the account's limit per minute; shorten the request, or choose another model with -m"
    return RateLimited(text, hint=hint, retryable=False)


def _authentication(endpoint: Endpoint, text: str) -> AuthenticationFailed:
    if endpoint.api_key is None and endpoint.api_key_env is None:
        hint = f"name the variable that holds the key as api_key_env of the provider {endpoint.provider}"
    elif endpoint.api_key is None:
        hint = f"set the environment variable {endpoint.api_key_env}"
    else:
        hint = f"check the key in {endpoint.api_key_env or 'the configuration'}"
    message = f"the provider {endpoint.provider} refused the key for the model {endpoint.model_id}: {text}"
    return AuthenticationFailed(message, hint=hint)


def _hint(status: int, endpoint: Endpoint) -> str | None:
    if status >= 500:
        return "try again later, or choose another model with -m"
    if status == 405:
        return f"check base_url of the provider {endpoint.provider}"
    return None


def _decide_retry(error: AskyError, status: int, headers: Mapping[str, str]) -> None:
    """Set `retryable` if the kind of error leaves it open, or the endpoint forbids it."""
    demanded = demands_retry(headers)
    if isinstance(error, RateLimited) and demanded is False:
        error.retryable = False
    if type(error) is not ProviderError:
        return
    by_status = status in _RETRIED or (status >= 500 and status not in _NEVER_RETRIED)
    error.retryable = by_status if demanded is None else demanded


def _is_loading(status: int, refusal: Refusal) -> bool:
    return status == 503 and re.search(r"\bloading\b", refusal.message, re.IGNORECASE) is not None


_OVERFLOW_CODES = frozenset({"context_length_exceeded", "exceed_context_size_error", "context_window_exceeded"})
_OVERFLOW = re.compile(
    r"maximum context length|maximum prompt length|context (length|window|size|limit)\b.{0,40}\bexceed|"
    r"exceed\w*.{0,60}\bcontext (length|window|size|limit)|prompt is too long|too large for model|too many tokens|"
    r"input token count.{0,40}exceeds|reduce the length of the (messages|prompt|input)|context the overflows|"
    r"greater than the context length|longer than the (model's )?context",
    re.IGNORECASE | re.DOTALL,
)
_MAX_TOKENS = 10**12
_LIMITS = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        r"context (?:length|window|size) (?:is|of)(?: only)? ([\d,]{1,20})",
        r"prompt length is ([\d,]{1,20})",
        r"> ([\d,]{1,20})",
        r"context (?:length|window|size|limit):? \(?([\d,]{1,20})",
        r"([\d,]{1,20}) (?:tokens )?maximum",
        r"tokens allowed \(([\d,]{1,20})\)",
        r"maximum (?:of |is )?([\d,]{1,20})",
    )
)


def _overflow(refusal: Refusal) -> int | None:
    """Return the context size that the endpoint names, 0 if it names none; `None` if this is not an overflow."""
    if not (refusal.codes & _OVERFLOW_CODES or _OVERFLOW.search(refusal.message)):
        return None
    for part in error_objects(refusal.body):
        size = part.get("n_ctx")
        if isinstance(size, int) and 0 < size < _MAX_TOKENS:
            return size
    found = (pattern.search(refusal.message) for pattern in _LIMITS)
    return next((int(match[1].replace(",", "") or 0) for match in found if match), 0)


def _is_quota(refusal: Refusal) -> bool:
    if _wait_in_body(refusal.body) is not None:
        return False
    quota_message = re.search(
        r"exceeded your current quota|billing|credit balance|insufficient (quota|balance|credit)",
        refusal.message,
        re.IGNORECASE,
    )
    return "insufficient_quota" in refusal.codes or quota_message is not None


def _is_too_large(refusal: Refusal) -> bool:
    """Return whether the request alone exceeds the limit per minute, so that waiting cannot help."""
    amounts = re.search(r"limit:? ([\d,]{1,20}).{0,20}requested:? ([\d,]{1,20})", refusal.message, re.IGNORECASE)
    if amounts:
        limit, requested = (int(text.replace(",", "") or 0) for text in amounts.groups())
        return requested > limit
    return re.search(r"request too large", refusal.message, re.IGNORECASE) is not None


def _is_moderation(refusal: Refusal) -> bool:
    return any("flagged" in str(part.get("metadata", "")) for part in error_objects(refusal.body))


def _is_bad_key(refusal: Refusal) -> bool:
    return (
        "invalid_api_key" in refusal.codes
        or re.search(r"api key not valid|(invalid|incorrect|missing) api[ _-]?key", refusal.message, re.IGNORECASE)
        is not None
    )


def _is_missing_model(refusal: Refusal) -> bool:
    return bool(refusal.codes & {"model_not_found", "model_not_available"})


def _wait_in_body(body: Any) -> float | None:
    """Return the `retryDelay` that one dialect includes in the details of an error."""
    for part in error_objects(body):
        details = part.get("details")
        for detail in details if isinstance(details, list) else ():
            delay = detail.get("retryDelay") if isinstance(detail, Mapping) else None
            if isinstance(delay, str) and re.fullmatch(r"\d{1,6}(\.\d+)?s", delay):
                return float(delay[:-1])
    return None
