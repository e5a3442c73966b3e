"""The tokenizer of an embedding model, from its `tokenizer.json`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tokenizers import Encoding, Tokenizer

_SURROGATE = re.compile("[\ud800-\udfff]")


class ModelTokenizer:
    """Implements `asky.research.chunker.Tokenizer`, and encodes texts for the model.

    `definition` is the text of a `tokenizer.json`; `window` is in tokens, special tokens included. A lone surrogate is
    read as U+FFFD, so that every `str` has tokens.
    """

    def __init__(self, definition: str, *, window: int, lower_case: bool = False) -> None:
        self._definition = definition
        self._window = window
        self._lower_case = lower_case

    def offsets(self, text: str) -> list[tuple[int, int]]:
        encoding: Encoding = self._untruncated.encode(_SURROGATE.sub("\ufffd", text), add_special_tokens=False)
        return encoding.offsets

    def count(self, texts: Sequence[str]) -> list[int]:
        encodings = self._untruncated.encode_batch_fast(_clean(texts), add_special_tokens=False)
        return [len(encoding) for encoding in encodings]

    def encode(self, texts: Sequence[str]) -> tuple[list[list[int]], int]:
        """Return the token ids of each text, with special tokens, cut to the window, and how many texts were cut."""
        encodings = self._truncated.encode_batch_fast(_clean(texts))
        cut = sum(1 for encoding in encodings if len(encoding) >= self._window and encoding.overflowing)
        return [encoding.ids for encoding in encodings], cut

    def available_tokens(self, prefix: str) -> int:
        """Return how many tokens of a text fit into the window after the special tokens and `prefix`."""
        return max(1, self._window - self._untruncated.num_special_tokens_to_add(False) - self.count([prefix])[0])

    @cached_property
    def _untruncated(self) -> Tokenizer:
        return self._tokenizer()

    @cached_property
    def _truncated(self) -> Tokenizer:
        tokenizer = self._tokenizer()
        tokenizer.enable_truncation(self._window)
        return tokenizer

    def _tokenizer(self) -> Tokenizer:
        from tokenizers import Tokenizer, normalizers  # only if a model is used

        tokenizer = Tokenizer.from_str(self._definition)
        tokenizer.no_padding()
        tokenizer.no_truncation()
        if self._lower_case:
            rest = [tokenizer.normalizer] if tokenizer.normalizer else []
            tokenizer.normalizer = normalizers.Sequence([normalizers.Lowercase(), *rest])
        return tokenizer


def _clean(texts: Sequence[str]) -> list[str]:
    return [_SURROGATE.sub("\ufffd", text) for text in texts]
