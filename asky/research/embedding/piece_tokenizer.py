"""A tokenizer for use without an embedding model: its counts are at least those of a real model."""

from __future__ import annotations

import re
from collections.abc import Sequence

# WordPiece keeps most English words whole; four letters per piece counts one and a half times as many on prose and
# code.
_PIECE = re.compile(r"[^\W_]{1,4}|[^\w\s]|_")


class PieceTokenizer:
    """Splits text into pieces of up to four letters or digits, and single marks."""

    def offsets(self, text: str) -> Sequence[tuple[int, int]]:
        """Return the pieces of `text` as half-open character ranges, in order."""
        return [match.span() for match in _PIECE.finditer(text)]

    def count(self, texts: Sequence[str]) -> list[int]:
        """Return the number of pieces of each text."""
        return [len(self.offsets(text)) for text in texts]
