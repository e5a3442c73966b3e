"""Noticing that an endpoint read less of a prompt than it was sent: some cut what does not fit, and say nothing."""

from __future__ import annotations

from collections.abc import Sequence

from asky.llm.port import Message, ModelUsage
from asky.llm.request import Ask
from asky.llm.tokens import TokenCounter, least_tokens

_SHARE = 0.85
"""What `least_tokens` hardly ever exceeds of a prompt's real tokens: it is 0.82 of them in the median of prose."""
_KEPT = 0.9
"""How much of what was read of the beginning is counted on again: templates end each prompt in their own way."""
_HARDLY_ANY = 100
_LEAST_CONTEXT = 1000
"""About half of the smallest context that servers are set up with."""
_FULL = (0, -1)
_HALF = (2, 3)
"""What a server leaves of a prompt that it cuts is a power of two and one of these.

Source: Ollama. It cut to the context (2,048 tokens by default, later 4,096), in its version 0.30 to one token less; now
it keeps four or five tokens of the beginning and half of the context's rest (its pull request 16856; its users report
2,050 tokens of a context of 4,096, and 32,770 of one of 65,536).
"""


class PromptWatch:
    """Judges the reports of one model's endpoint, call after call; calls of several conversations may share it."""

    def __init__(self) -> None:
        self._last: tuple[Ask, int] | None = None

    def judge(self, name: str, ask: Ask, usage: ModelUsage) -> str | None:
        """A warning where `usage` says that the endpoint called `name` has not read all of `ask`; else `None`.

        That is certain where it reports fewer tokens than the prompt has at the very least; what it reported of the
        beginning, in the call before this one, is part of that bound. It is likely for just as many tokens as a context
        has where the prompt looks larger. An endpoint that counts only what it had not in its cache is not blamed.
        """
        if usage.estimated or usage.cached_tokens >= usage.prompt_tokens:
            return None
        read = usage.prompt_tokens
        last, self._last = self._last, (ask, read)
        certain = least_tokens(ask.messages)
        new = ask.messages[-1:]
        if last is not None and _continues(ask, last[0]):
            new = ask.messages[len(last[0].messages) :]
            certain = max(certain, int(last[1] * _KEPT) + least_tokens(new))
        if read < certain and (not _may_be_all_of(new, read) or _is_power_and(_FULL + _HALF, read)):
            size = f"at least {certain:,}"
        elif certain > _SHARE * read and _is_power_and(_FULL, read):
            size = f"about {certain / _SHARE:,.0f}"
        else:
            return None
        return (
            f"{name} read only {read:,} tokens of a prompt of {size}: its context is smaller than configured and it "
            "cut the prompt without saying so"
        )


def _may_be_all_of(new: Sequence[Message], tokens: int) -> bool:
    """Whether so many tokens may be those of `new` messages, or of hardly anything: the others were in a cache."""
    return tokens < _HARDLY_ANY or least_tokens(new) <= tokens <= TokenCounter().count(new, ())


def _continues(ask: Ask, last: Ask) -> bool:
    """Whether `ask` is `last` and more, so that all that was read then is to be read again."""
    so_far = len(last.messages)
    return (
        len(ask.messages) > so_far
        and (ask.tools, ask.tool_choice, ask.schema) == (last.tools, last.tool_choice, last.schema)
        and tuple(ask.messages[:so_far]) == tuple(last.messages)
        and not any(map(_has_thoughts, last.messages))
    )


def _has_thoughts(message: Message) -> bool:
    """Whether `message` came with anything but its text and calls; templates drop the thoughts of earlier turns."""
    raw = message.raw or {}
    more = any(value for key, value in raw.items() if key not in ("role", "content", "tool_calls"))
    return more or (raw.get("content") or message.content) != message.content


def _is_power_and(extras: tuple[int, ...], tokens: int) -> bool:
    """Whether `tokens` is a power of two, as contexts are, and one of `extras`."""
    sizes = (tokens - extra for extra in extras)
    return any(size >= _LEAST_CONTEXT and size & (size - 1) == 0 for size in sizes)
