"""The text of an answer as it streams: encodable, without keys, thinking, and tool calls written as text."""

from __future__ import annotations

from asky.config.redaction import RedactedText, Redactor
from asky.llm.endpoint.merging import SurrogateJoiner
from asky.llm.endpoint.text_calls import Offered, TextCallHold, find_text_calls
from asky.llm.endpoint.thinking import ThinkingSplitter
from asky.llm.port import ToolCall


class AnswerText:
    """Takes received text and returns the answer.

    `redactor` hides keys. `offered` names the tools that may be called in text; without them nothing is held back for
    calls.
    """

    def __init__(self, redactor: Redactor, *, starts_thinking: bool = False, offered: Offered | None = None) -> None:
        self._joiner = SurrogateJoiner()
        self._redacted = RedactedText(redactor)
        self._thinking = ThinkingSplitter(starts_inside=starts_thinking)
        self._offered = offered
        self._hold = TextCallHold() if offered else None
        self._output: list[str] = []

    @property
    def content(self) -> str:
        """Return all answer text so far."""
        return "".join(self._output)

    @property
    def starts_thinking(self) -> bool:
        """Return whether the text began inside thinking without an opening tag."""
        return self._thinking.closed_unopened

    def feed(self, text: str) -> str:
        """Return the part of the answer that is now certain."""
        text = self._redacted.feed(self._thinking.feed(self._joiner.feed(text)))
        return self._emit(text if self._hold is None else self._hold.feed(text))

    def end(self, *, may_call: bool) -> tuple[str, tuple[ToolCall, ...]]:
        """Return the rest of the answer, and the calls in it if `may_call` is set."""
        rest = self._thinking.feed(self._joiner.end()) + self._thinking.end()
        rest = self._redacted.feed(rest) + self._redacted.end()
        if self._hold is None or self._offered is None:
            return self._emit(rest), ()
        rest = self._hold.feed(rest) + self._hold.end()
        if not may_call:
            return self._emit(rest), ()
        content = self.content
        found = find_text_calls(content + rest, self._offered)
        if found.calls:
            rest = found.text[len(content) :].rstrip()
        return self._emit(rest), found.calls

    def _emit(self, text: str) -> str:
        if text:
            self._output.append(text)
        return text
