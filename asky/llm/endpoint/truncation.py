"""Detects endpoints that read less of a prompt than was sent: some silently cut what does not fit."""

from __future__ import annotations

from collections.abc import Sequence

from asky.llm.endpoint.request import ModelRequest
from asky.llm.port import Message, ModelUsage
from asky.llm.tokens import TokenCounter, min_tokens

_SHARE = 0.85
"""An upper bound on `min_tokens` as a share of a prompt's real tokens: the median for prose is 0.82."""
_KEPT = 0.9
"""The share of the tokens read for the shared beginning that must be read again: templates end prompts differently."""
_HARDLY_ANY = 100
_MIN_CONTEXT = 1000
"""About half of the smallest context that servers are configured with."""
_FULL = (0, -1)
_HALF = (2, 3)
"""Prompts that a server has cut have a power of two plus one of these as their token count.

Source: Ollama. It cut to the context (2,048 tokens by default, later 4,096), in its version 0.30 to one token less; now
it keeps four or five tokens of the beginning and half of the context's rest (its pull request 16856; its users report
2,050 tokens of a context of 4,096, and 32,770 of one of 65,536).
"""


class PromptWatch:
    """Checks the reports of one model's endpoint, call after call; several conversations may share it."""

    def __init__(self) -> None:
        self._last: tuple[ModelRequest, int] | None = None

    def judge(self, name: str, model_request: ModelRequest, usage: ModelUsage) -> str | None:
        """Return a warning if by `usage` the endpoint called `name` has not read the whole prompt; else `None`.

        An endpoint that counts wrongly looks the same, so the warning says what is reported. It is certain if the
        endpoint reports fewer tokens than the prompt has at least; its report for the shared beginning, in the previous
        call, is part of that bound. It is likely for exactly the tokens of a context size if the prompt looks larger.
        An endpoint that counts only uncached tokens is not blamed.
        """
        if usage.estimated or usage.cached_tokens >= usage.prompt_tokens:
            return None
        read = usage.prompt_tokens
        last, self._last = self._last, (model_request, read)
        certain = min_tokens(model_request.messages)
        new = model_request.messages[-1:]
        if last is not None and _continues(model_request, last[0]):
            new = model_request.messages[len(last[0].messages) :]
            certain = max(certain, int(last[1] * _KEPT) + min_tokens(new))
        if read < certain and (not _may_be_all_of(new, read) or _is_power_and(_FULL + _HALF, read)):
            size = f"at least {certain:,}"
        elif certain > _SHARE * read and _is_power_and(_FULL, read):
            size = f"about {certain / _SHARE:,.0f}"
        else:
            return None
        return (
            f"{name} reports {read:,} tokens for a prompt of {size}: if it counts right, its context is smaller than "
            "configured and it cut the prompt without saying so"
        )


def _may_be_all_of(new: Sequence[Message], tokens: int) -> bool:
    """Return whether `tokens` may count only the `new` messages, or hardly anything, with the rest in a cache."""
    return tokens < _HARDLY_ANY or min_tokens(new) <= tokens <= TokenCounter().count(new, ())


def _continues(model_request: ModelRequest, last: ModelRequest) -> bool:
    """Return whether `model_request` extends `last`, so that everything read then must be read again."""
    so_far = len(last.messages)
    return (
        len(model_request.messages) > so_far
        and (model_request.tools, model_request.tool_choice, model_request.schema)
        == (last.tools, last.tool_choice, last.schema)
        and tuple(model_request.messages[:so_far]) == tuple(last.messages)
        and not any(map(_has_thoughts, last.messages))
    )


def _has_thoughts(message: Message) -> bool:
    """Return whether `message` has more than its text and calls; templates drop the thinking of earlier turns."""
    raw = message.raw or {}
    more = any(value for key, value in raw.items() if key not in ("role", "content", "tool_calls"))
    return more or (raw.get("content") or message.content) != message.content


def _is_power_and(extras: tuple[int, ...], tokens: int) -> bool:
    """Return whether `tokens` is a power of two, as contexts are, plus one of `extras`."""
    sizes = (tokens - extra for extra in extras)
    return any(size >= _MIN_CONTEXT and size & (size - 1) == 0 for size in sizes)
