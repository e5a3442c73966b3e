"""Verdicts by the reader that asky ships, and by a small one with a name."""

from __future__ import annotations

from pathlib import Path

import pytest

from asky.evidence.verification.claim_reader import ClaimReader
from asky.evidence.verification.verify import verify_claim
from asky.research.embedding.cross_encoder import open_cross_encoder
from asky.research.reader.model import FOLDER, GRAPH_FILE, ShippedReader
from asky.research.reader.named import NamedReader
from tests.support.claim_readers import ClaimReaderContract, Read
from tests.support.small_reader import NLI, WORDS, save_small_reader

needs_weights = pytest.mark.skipif(not (FOLDER / GRAPH_FILE).is_file(), reason="the reader's weights are not here")


@needs_weights
class TestShippedReader(ClaimReaderContract):
    @pytest.fixture
    def read(self) -> Read:
        return ShippedReader().verdicts


class TestNamedReader(ClaimReaderContract):
    @pytest.fixture
    def read(self, tmp_path: Path) -> Read:
        folder = str(save_small_reader(tmp_path / "m", NLI, WORDS))
        return NamedReader(folder, lambda: open_cross_encoder(folder)).verdicts


@needs_weights
@pytest.mark.parametrize(
    ("claim", "passage", "verdict"),
    [
        (
            "Visitors may not bring dogs.",
            "The garden is open from Tuesday to Sunday. Dogs are not allowed anywhere on the grounds.",
            "supported",
        ),
        (
            "The committee postponed its decision on the new bridge.",
            "After two hours the committee put off deciding about the new bridge until spring.",
            "supported",
        ),
        (
            "The mayor opened the new library with a speech in Latin.",
            "On Friday the mayor opened the new library. Two hundred people came to the reading in the evening.",
            "partial",
        ),
    ],
)
def test_the_reader_judges_what_words_leave_open(claim: str, passage: str, verdict: str) -> None:
    check = verify_claim(claim, [passage], reader=ClaimReader(ShippedReader().verdicts))
    assert (check.verdict, "meaning" in check.checks) == (verdict, True)
