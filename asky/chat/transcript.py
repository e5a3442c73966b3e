"""A conversation while it grows: all of it, and what a model with a small context gets of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from asky.chat.compaction import Measure, compact
from asky.chat.notes import joined
from asky.llm.port import Message, ModelUsage


@dataclass(slots=True)
class Transcript:
    """A conversation while it grows; the caller keeps it and can read it when the loop was cancelled or failed.

    `messages` is a valid conversation at any time: an assistant message with tool calls is added together with the
    results of all of them. It begins with what the loop is given, whose last message asks, and is never shortened;
    `sent` is what the model gets of it. `calls` holds the usage of each model call, `partial` the deltas of the reply
    under way, and `broken_off` the text of one that ended too early, until a whole one has come.
    """

    messages: list[Message]
    calls: list[ModelUsage] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    partial: list[str] = field(default_factory=list)
    broken_off: str = ""
    sent: list[Message] = field(init=False)
    _given: int = field(init=False)
    _question: int = field(init=False)

    def __post_init__(self) -> None:
        self.begin([])

    def begin(self, messages: Sequence[Message]) -> None:
        """Add what the loop is to begin with; the last of it asks."""
        self.messages += messages
        self.sent = list(self.messages)
        self._given = len(self.messages)
        self._question = max(0, self._given - 1)

    def add(self, *messages: Message) -> None:
        """Add what has come of it since."""
        self.messages += messages
        self.sent += messages

    def note(self, prompt: Message) -> None:
        """Add what is said to the model beside the question; behind words of the user it is sent as part of these."""
        self.messages.append(prompt)
        self.sent[-1:] = joined([*self.sent[-1:], prompt])

    def continued(self, prompt: Message) -> Transcript:
        """The same conversation with one more prompt, which belongs to the same question."""
        other = Transcript([*self.messages, prompt])
        other.sent = [*self.sent, prompt]
        other._given, other._question = self._given, self._question
        return other

    @property
    def earlier(self) -> tuple[Message, ...]:
        """What was there before the question."""
        return tuple(self.messages[: max(0, self._given - 1)])

    @property
    def work(self) -> tuple[Message, ...]:
        """What has come since the question, whole."""
        return tuple(self.messages[self._given :])

    def shorten(self, most: int, measure: Measure) -> int:
        """Make what is sent shorter, as `compact` does; returns how many messages were cut."""
        shorter = compact(self.sent, self._question, most, measure)
        if shorter.cut:
            self.sent, self._question = shorter.messages, shorter.question
        return shorter.cut

    @property
    def partial_text(self) -> str:
        """What has arrived of a reply that is not complete; `""` between replies."""
        return "".join(self.partial)

    @property
    def unfinished_text(self) -> str:
        """The most that is known of an answer that did not come: what arrived last, or broke off before."""
        return self.partial_text or self.broken_off

    @property
    def turns(self) -> int:
        """Model calls that brought something."""
        return len(self.calls)

    @property
    def usage(self) -> ModelUsage:
        """The sum over all calls; the cost is `None` as soon as one call's is."""
        costs = [call.cost_usd for call in self.calls]
        return ModelUsage(
            sum(call.prompt_tokens for call in self.calls),
            sum(call.completion_tokens for call in self.calls),
            None if not costs or None in costs else sum(cost for cost in costs if cost is not None),
            any(call.estimated for call in self.calls),
        )
