"""What rewriters of streamed answers share: they hold text back until it is certain, and remember what came before."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Iterator

_MAX_SENTENCE_CHARS = 600
_SENTENCE_END = re.compile(r"[.!?]['\"”’)*_]*\s+|\n")


class StreamRewriter(ABC):
    """Rewrites an answer that arrives in pieces. The joined output does not depend on how the answer is cut.

    `struck` holds what is written in place of each key that stands for a citation of nothing.
    """

    def __init__(self) -> None:
        self.struck: dict[str, str] = {}
        self._held = ""
        self._before = ""

    def feed(self, delta: str) -> str:
        """Return what is certain after `delta`; what may be the beginning of a citation is held back."""
        self._held += delta
        return "".join(self._pieces(is_final=False))

    def close(self) -> str:
        """Return the rest of the answer."""
        return "".join(self._pieces(is_final=True))

    @abstractmethod
    def _pieces(self, *, is_final: bool) -> Iterator[str]:
        """Take what is certain off `_held`, and yield it rewritten."""

    def _pass(self, end: int) -> str:
        """Take the first `end` characters off the held text, and return them as they are."""
        passed, self._held = self._held[:end], self._held[end:]
        self._before = (self._before + passed)[-_MAX_SENTENCE_CHARS:]
        return passed

    def _last_sentence(self) -> str:
        """Return the sentence that the text so far ends with, without its full stop."""
        body = self._before.rstrip(" .!?*_")
        ends = [match.end() for match in _SENTENCE_END.finditer(body)]
        return body[ends[-1] :] if ends else body
