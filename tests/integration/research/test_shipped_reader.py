"""The reader that asky ships, with its real weights: what it says, whatever is read beside it, and damaged files."""

from __future__ import annotations

import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from asky.errors import NotConfigured
from asky.research.embedding import packaged
from asky.research.reader.model import FILES, FOLDER, GRAPH_FILE, WEIGHTS_FILE, ShippedReader

READER = ShippedReader()
QUESTION = "How often is the boiler serviced?"
UNITS = [
    "The boiler is checked once a year, in September.",
    "The boiler stands in the cellar.",
    "A second-hand bicycle was sold for 40 euros.",
]
ITEMS = [(QUESTION, unit, "Heating") for unit in UNITS]


def test_what_answers_stands_before_what_has_its_words_and_that_before_the_rest() -> None:
    found = READER.answers(ITEMS)
    assert found.dtype == np.float32
    assert found.argmax() == 0
    assert found[0] > 0 > found[2]


def test_a_claim_is_entailed_contradicted_or_neither() -> None:
    evidence = "The boiler is checked once a year, in September."
    claims = ("The boiler is checked once a year.", "The boiler is checked in May.", "The wall is green.")
    found = READER.verdicts([(claim, evidence) for claim in claims])
    assert found.shape == (3, 3)
    assert found.argmax(axis=1).tolist() == [0, 1, 2]


def test_a_pair_is_read_alike_alone_and_among_others() -> None:
    alone = np.concatenate([READER.answers([each]) for each in ITEMS])
    many = [*ITEMS, *((QUESTION, f"{unit} {'more ' * number}", "") for number, unit in enumerate(UNITS * 160))]
    assert len(many) > 480
    np.testing.assert_allclose(READER.answers(many)[: len(ITEMS)], alone, atol=1e-4)


def test_many_threads_read_alike() -> None:
    with ThreadPoolExecutor(4) as threads:
        found = list(threads.map(lambda _: READER.answers(ITEMS), range(8)))
    for each in found:
        np.testing.assert_allclose(each, found[0], atol=1e-4)


@pytest.mark.parametrize(
    "item",
    [("", "", ""), ("🙂", "🙂", ""), ("word " * 2_000, "word " * 5_000, "word " * 500), ("a[SEP]b", "[CLS]", "\ud800")],
)
def test_odd_texts_are_read(item: tuple[str, str, str]) -> None:
    assert np.isfinite(READER.answers([item])).all()
    assert np.isfinite(READER.verdicts([item[:2]])).all()


def test_nothing_is_read_of_nothing() -> None:
    assert READER.answers([]).shape == (0,)
    assert READER.verdicts([]).shape == (0, 3)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return Path(shutil.copytree(FOLDER, tmp_path / "reader"))


def test_a_model_that_is_not_there_or_not_the_one_that_was_shipped_is_named(folder: Path) -> None:
    def fails() -> str:
        with pytest.raises(NotConfigured) as raised:
            ShippedReader(folder).answers(ITEMS)
        assert "install asky again" in (raised.value.hint or "")
        return str(raised.value)

    weights = (folder / WEIGHTS_FILE).read_bytes()
    (folder / WEIGHTS_FILE).write_bytes(weights[:-1000])
    assert "is not the file that it was" in fails()
    shutil.copy(packaged.FOLDER / packaged.WEIGHTS_FILE, folder / WEIGHTS_FILE)
    assert "is not the file that it was" in fails()
    (folder / WEIGHTS_FILE).write_bytes(weights)
    assert ShippedReader(folder).answers(ITEMS).shape == (3,)
    shutil.copy(packaged.FOLDER / packaged.GRAPH_FILE, folder / GRAPH_FILE)
    assert "is not the file that it was" in fails()
    (folder / GRAPH_FILE).unlink()
    assert "No such file" in fails()
    assert set(FILES) == {GRAPH_FILE, WEIGHTS_FILE}
