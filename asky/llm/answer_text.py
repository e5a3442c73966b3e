"""The text of an answer as it streams: encodable, without keys, thinking, and calls that were written as text."""

from __future__ import annotations

from asky.config.redaction import RedactedText, Redactor
from asky.llm.merging import SurrogateJoiner
from asky.llm.port import ToolCall
from asky.llm.text_calls import Offered, TextCallHold, find_text_calls
from asky.llm.thinking import ThinkingSplitter


class AnswerText:
    """Takes text as it was received and gives out the answer.

    `redactor` hides keys. `offered` names the tools that may be called in text; without them nothing is held back for
    calls.
    """

    def __init__(self, redactor: Redactor, *, starts_thinking: bool = False, offered: Offered | None = None) -> None:
        self._joiner = SurrogateJoiner()
        self._redacted = RedactedText(redactor)
        self._thinking = ThinkingSplitter(starts_inside=starts_thinking)
        self._offered = offered
        self._hold = TextCallHold() if offered else None
        self._given: list[str] = []

    @property
    def content(self) -> str:
        """All that was given out."""
        return "".join(self._given)

    @property
    def starts_thinking(self) -> bool:
        """Whether the text began within thinking that no tag had opened."""
        return self._thinking.closed_unopened

    def feed(self, text: str) -> str:
        """The part of the answer that is certain now."""
        text = self._redacted.feed(self._thinking.feed(self._joiner.feed(text)))
        return self._give(text if self._hold is None else self._hold.feed(text))

    def end(self, *, may_call: bool) -> tuple[str, tuple[ToolCall, ...]]:
        """The rest of the answer, and the calls in it, which are looked for where `may_call` is set."""
        rest = self._thinking.feed(self._joiner.end()) + self._thinking.end()
        rest = self._redacted.feed(rest) + self._redacted.end()
        if self._hold is None or self._offered is None:
            return self._give(rest), ()
        rest = self._hold.feed(rest) + self._hold.end()
        if not may_call:
            return self._give(rest), ()
        content = self.content
        found = find_text_calls(content + rest, self._offered)
        if found.calls:
            rest = found.text[len(content) :].rstrip()
        return self._give(rest), found.calls

    def _give(self, text: str) -> str:
        if text:
            self._given.append(text)
        return text
