"""How two texts become the token ids that the reader reads: one way for the training and for every use.

A question: `[CLS] question [SEP] unit [SEP] context [SEP]`. A claim: `[CLS] claim [SEP] evidence [SEP]`. The first text
has token type 0, what follows 1. What is too long is cut at its end.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tokenizers import Tokenizer

WINDOW = 192
"""Tokens of a pair at most, special tokens included. It holds a claim of 30 words with evidence of 100."""
_QUESTION, _CONTEXT, _CLAIM = 48, 40, 80  # tokens of each at most; the rest is the unit's, or the evidence's
_CLS, _SEP = 101, 102
_MAX_CHARS = 4000  # of one text: no 192 tokens of English need more


@dataclass(frozen=True, slots=True)
class Pair:
    """Token ids of a pair; the first `first` of them are of type 0."""

    ids: tuple[int, ...]
    first: int

    @property
    def types(self) -> list[int]:
        return [0] * self.first + [1] * (len(self.ids) - self.first)


class PairEncoder:
    """Encodes pairs of texts with the tokenizer of the embedding model. Thread-safe."""

    def __init__(self, tokenizer_file: Path) -> None:
        from tokenizers import Tokenizer  # only if a model is used

        self._tokenizer: Tokenizer = Tokenizer.from_file(str(tokenizer_file))
        self._tokenizer.no_padding()
        self._tokenizer.no_truncation()
        self._tokenizer.encode_special_tokens = True  # "[SEP]" in a text is text

    def questions(self, items: Sequence[tuple[str, str, str]]) -> list[Pair]:
        """Return one pair for each question, unit and context."""
        ids = self._ids([text for item in items for text in item])
        return [_question(*ids[at : at + 3]) for at in range(0, len(ids), 3)]

    def claims(self, items: Sequence[tuple[str, str]]) -> list[Pair]:
        """Return one pair for each claim and evidence."""
        ids = self._ids([text for item in items for text in item])
        return [_claim(*ids[at : at + 2]) for at in range(0, len(ids), 2)]

    def _ids(self, texts: Sequence[str]) -> list[list[int]]:
        clean = [text[:_MAX_CHARS].encode("utf-8", "replace").decode("utf-8") for text in texts]
        return [each.ids for each in self._tokenizer.encode_batch_fast(clean, add_special_tokens=False)]


def _question(question: list[int], unit: list[int], context: list[int]) -> Pair:
    first = [_CLS, *question[:_QUESTION], _SEP]
    second = [*context[:_CONTEXT], _SEP] if context else []
    return Pair((*first, *unit[: WINDOW - len(first) - len(second) - 1], _SEP, *second), len(first))


def _claim(claim: list[int], evidence: list[int]) -> Pair:
    first = [_CLS, *claim[:_CLAIM], _SEP]
    return Pair((*first, *evidence[: WINDOW - len(first) - 1], _SEP), len(first))
