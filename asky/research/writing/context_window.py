"""The context window of a model: how much a prompt may take, and how a conversation is kept within it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from asky.llm.tokens import min_tokens
from asky.research.writing.compaction import QUESTIONS_OMITTED, omits_questions

if TYPE_CHECKING:
    from asky.llm.port import Message, ModelUsage, ToolSpec
    from asky.llm.tokens import TokenCounter
    from asky.research.writing.transcript import Transcript

# The share of the window that a shortened prompt takes: the next few replies then need no further cut, and the
# beginning of the prompt stays the same, and thus cached.
_KEPT_SHARE = 0.6
_SHORTENED = "the conversation was too long for the model: part of what was looked up was left out"


def _reply_tokens(context_tokens: int) -> int:
    """Return the tokens of the context that are reserved for the reply: an eighth, from 512 to 4,096."""
    return min(4_096, max(512, context_tokens // 8))


class ContextWindow:
    """Keeps the messages sent of `transcript`, with its `tools`, within `context_tokens` as `counter` counts them.

    `warn` is called with what was left out, unless the transcript already has that warning.
    """

    def __init__(
        self,
        transcript: Transcript,
        tools: Sequence[ToolSpec],
        counter: TokenCounter,
        context_tokens: int,
        warn: Callable[[str], None],
    ) -> None:
        self._transcript = transcript
        self._tools = tools
        self._counter = counter
        self._context_tokens = context_tokens
        self._warn = warn
        self._reported: tuple[int, int] | None = None  # messages of the last prompt, and the endpoint's token count

    def fit(self) -> None:
        """Shorten the prompt if it is too long; otherwise an endpoint would: some silently drop the instructions."""
        if self._size() > self._max_tokens:
            self._shorten(int(self._max_tokens * _KEPT_SHARE))

    def fit_after_refusal(self, limit_tokens: int | None) -> bool:
        """Shorten the prompt after an endpoint has refused it; `False` if nothing could be cut."""
        size = self._size()
        if limit_tokens is not None:
            self._context_tokens = min(self._context_tokens, limit_tokens)
        return self._shorten(min(int(self._max_tokens * _KEPT_SHARE), size // 2))

    def learn(self, messages: Sequence[Message], usage: ModelUsage) -> None:
        """Record the endpoint's own count of these messages, and raise the estimates for others if they were too low.

        Estimates never fall: a table has more tokens than the prose before it.
        """
        if usage.estimated or usage.prompt_tokens < min_tokens(messages):
            return
        self._reported = (len(messages), usage.prompt_tokens)
        if usage.prompt_tokens > self._counter.count(messages, self._tools):
            self._counter.learn(messages, self._tools, usage)

    @property
    def _max_tokens(self) -> int:
        return self._context_tokens - _reply_tokens(self._context_tokens)

    def _size(self) -> int:
        """Return the tokens of the next prompt: the endpoint's count of the last one, plus an estimate of the rest."""
        sent, known = self._transcript.sent, self._reported
        if known is None:
            return self._counter.count(sent, self._tools)
        return known[1] + sum(map(self._counter.count_message, sent[known[0] :]))

    def _shorten(self, tokens: int) -> bool:
        transcript = self._transcript
        cut = transcript.shorten(tokens - self._counter.count((), self._tools), self._counter.count_message)
        self._reported = None
        if cut:
            self._warn_once(_SHORTENED)
        if cut and omits_questions(transcript.earlier, transcript.sent):
            self._warn_once(QUESTIONS_OMITTED)
        return cut > 0

    def _warn_once(self, warning: str) -> None:
        if warning not in self._transcript.warnings:
            self._warn(warning)
