"""The room that a prompt has in a model's context, and how a conversation is kept within it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from asky.chat.compaction import QUESTIONS_LOST, has_lost_questions
from asky.llm.tokens import least_tokens

if TYPE_CHECKING:
    from asky.chat.transcript import Transcript
    from asky.llm.port import Message, ModelUsage, ToolSpec
    from asky.llm.tokens import TokenCounter

# Of the room that a prompt has, what it takes after it was made shorter: so the next few replies cost no further cut,
# and the beginning of the prompt stays the same, and cached, meanwhile.
_KEPT_SHARE = 0.6
_SHORTENED = "the conversation was too long for the model: part of what was looked up was left out"


def _reply_room(context_tokens: int) -> int:
    """Tokens of a model's context that its reply is left: an eighth, from 512 to 4,096."""
    return min(4_096, max(512, context_tokens // 8))


class PromptRoom:
    """Keeps what is sent of `transcript` with its `tools` within `context_tokens`, as `counter` counts them.

    `warn` is told what was left out, and not what is among the transcript's warnings already.
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
        self._reported: tuple[int, int] | None = None  # messages of the last prompt, and tokens as the endpoint counted

    def make(self) -> None:
        """Make the prompt shorter before an endpoint does it its own way: some drop the instructions without a word."""
        if self._size() > self._most:
            self._shorten(int(self._most * _KEPT_SHARE))

    def make_after(self, limit_tokens: int | None) -> bool:
        """Make room after an endpoint has refused the prompt; `False` if there is nothing to give up."""
        size = self._size()
        if limit_tokens is not None:
            self._context_tokens = min(self._context_tokens, limit_tokens)
        return self._shorten(min(int(self._most * _KEPT_SHARE), size // 2))

    def learn(self, messages: Sequence[Message], usage: ModelUsage) -> None:
        """Take note of what the endpoint counted: that much is known of these messages, and nothing of other texts.

        So the estimate for others may rise, and never falls: a table has more tokens than the prose before it.
        """
        if usage.estimated or usage.prompt_tokens < least_tokens(messages):
            return
        self._reported = (len(messages), usage.prompt_tokens)
        if usage.prompt_tokens > self._counter.count(messages, self._tools):
            self._counter.learn(messages, self._tools, usage)

    @property
    def _most(self) -> int:
        return self._context_tokens - _reply_room(self._context_tokens)

    def _size(self) -> int:
        """Tokens of the next prompt: as the endpoint counted the last one, and as estimated what has come since."""
        sent, known = self._transcript.sent, self._reported
        if known is None:
            return self._counter.count(sent, self._tools)
        return known[1] + sum(map(self._counter.count_message, sent[known[0] :]))

    def _shorten(self, tokens: int) -> bool:
        transcript = self._transcript
        cut = transcript.shorten(tokens - self._counter.count((), self._tools), self._counter.count_message)
        self._reported = None
        if cut:
            self._say(_SHORTENED)
        if cut and has_lost_questions(transcript.earlier, transcript.sent):
            self._say(QUESTIONS_LOST)
        return cut > 0

    def _say(self, warning: str) -> None:
        if warning not in self._transcript.warnings:
            self._warn(warning)
