"""A conversation in progress: the complete one, and the part that a model with a small context receives."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from asky.llm.port import Message, ModelUsage
from asky.research.writing.compaction import Measure, compact
from asky.research.writing.notes import joined


@dataclass(slots=True)
class Transcript:
    """A conversation in progress; the caller keeps it and can read it if the loop was cancelled or failed.

    `messages` is a valid conversation at any time: an assistant message with tool calls is added together with all
    their results. It begins with the initial messages, the last of which is the question, and is never shortened;
    `sent` is what the model receives of it. `calls` holds the usage of each model call, `partial` the deltas of the
    current reply, and `broken_off` the text of a reply that ended early, until a complete one arrives. `confidence`
    is that of the last answer; see `Reply`.
    """

    messages: list[Message]
    calls: list[ModelUsage] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    partial: list[str] = field(default_factory=list)
    broken_off: str = ""
    confidence: float | None = None
    sent: list[Message] = field(init=False)
    _initial_count: int = field(init=False)
    _question: int = field(init=False)

    def __post_init__(self) -> None:
        self.begin([])

    def begin(self, messages: Sequence[Message]) -> None:
        """Add the initial messages; the last of them is the question."""
        self.messages += messages
        self.sent = list(self.messages)
        self._initial_count = len(self.messages)
        self._question = max(0, self._initial_count - 1)

    def add(self, *messages: Message) -> None:
        """Add messages that follow."""
        self.messages += messages
        self.sent += messages

    def note(self, prompt: Message) -> None:
        """Add a prompt beside the question; after a message of the user it is sent as part of that message."""
        self.messages.append(prompt)
        self.sent[-1:] = joined([*self.sent[-1:], prompt])

    def continued(self, prompt: Message) -> Transcript:
        """Return a copy of the conversation with one more prompt, which belongs to the same question."""
        other = Transcript([*self.messages, prompt])
        other.sent = [*self.sent, prompt]
        other._initial_count, other._question = self._initial_count, self._question
        return other

    @property
    def earlier(self) -> tuple[Message, ...]:
        """Return the messages before the question."""
        return tuple(self.messages[: max(0, self._initial_count - 1)])

    @property
    def work(self) -> tuple[Message, ...]:
        """Return the messages after the question, complete."""
        return tuple(self.messages[self._initial_count :])

    def shorten(self, max_size: int, measure: Measure) -> int:
        """Shorten the messages to send, like `compact`; return how many were cut."""
        shorter = compact(self.sent, self._question, max_size, measure)
        if shorter.cut:
            self.sent, self._question = shorter.messages, shorter.question
        return shorter.cut

    @property
    def partial_text(self) -> str:
        """Return the text received so far of an incomplete reply; `""` between replies."""
        return "".join(self.partial)

    @property
    def unfinished_text(self) -> str:
        """Return the most text known of an unfinished answer: the current one, or one that broke off before."""
        return self.partial_text or self.broken_off

    @property
    def turns(self) -> int:
        """Return the number of successful model calls."""
        return len(self.calls)

    @property
    def usage(self) -> ModelUsage:
        """Return the sum over all calls; the cost is `None` if it is unknown for any call."""
        costs = [call.cost_usd for call in self.calls]
        return ModelUsage(
            sum(call.prompt_tokens for call in self.calls),
            sum(call.completion_tokens for call in self.calls),
            None if not costs or None in costs else sum(cost for cost in costs if cost is not None),
            any(call.estimated for call in self.calls),
        )
