"""Floors of reading web pages, each with the hash of its data. A floor only rises."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest
import trafilatura

from asky.reading.charset import decode
from tests.quality.pages import (
    LabelledPage,
    PageSet,
    alarms,
    load_readability,
    load_snippets,
    load_wcxb,
    read_text,
    snippet_f1,
    word_f1,
)

_SPEED_RATIO = 1.5  # 1.18 to 1.27 where nothing else runs


@dataclass(frozen=True, slots=True)
class Floor:
    """What reading must reach on the set with this hash; trafilatura alone reaches `.736`, `.915` and `.932`."""

    name: str
    load: Callable[[Path], PageSet]
    metric: Callable[[Sequence[LabelledPage], Callable[[LabelledPage], str]], float]
    sha256: str
    f1: float


FLOORS = [
    Floor("wcxb", load_wcxb, word_f1, "2f5e81a78b6d7b8730ed8b177ad34797bb767b078196a6cd8116a284e312322b", 0.793),
    Floor(
        "trafilatura_eval",
        load_snippets,
        snippet_f1,
        "76688e26227e3b9983d91ad68cb5439f78337ca1cb11fd63d246119fcfce97b9",
        0.921,
    ),
    Floor(
        "readability_pages",
        load_readability,
        word_f1,
        "a57900a5cf486980a2228d06d456099c7a2ea80ec4a22f383affd70847234d62",
        0.957,
    ),
]


@pytest.mark.parametrize("floor", FLOORS, ids=lambda floor: floor.name)
def test_pages_are_read_at_least_as_well_as_before(floor: Floor, data_folder: Path) -> None:
    pages = floor.load(data_folder / floor.name)
    assert pages.sha256 == floor.sha256, "the floor was measured on other data"
    f1 = floor.metric(pages.pages, read_text)
    print(f"\n{floor.name}: F1 {f1:.4f} over {len(pages.pages)} pages")
    assert f1 >= floor.f1


@pytest.mark.parametrize("floor", FLOORS, ids=lambda floor: floor.name)
def test_no_page_with_text_is_taken_for_an_obstacle(floor: Floor, data_folder: Path) -> None:
    assert alarms(floor.load(data_folder / floor.name).pages) == []


def test_reading_a_page_costs_little_more_than_its_extraction(data_folder: Path) -> None:
    pages = load_wcxb(data_folder / "wcxb").pages[:100]
    for page in pages[:5]:
        read_text(page)
    rounds = [  # in turn: whoever reads a page second finds strings of it in the extractor's caches
        (_cpu_s(read_text, pages), _cpu_s(lambda page: trafilatura.extract(decode(page.data)), pages)) for _ in range(3)
    ]
    ours, theirs = (min(side) for side in zip(*rounds, strict=True))
    print(
        f"\n{len(pages) / ours:.1f} pages/CPU-s, {len(pages) / theirs:.1f} by the extractor alone: {ours / theirs:.2f}x"
    )
    assert ours <= _SPEED_RATIO * theirs


def _cpu_s(work: Callable[[LabelledPage], object], pages: Sequence[LabelledPage]) -> float:
    started = time.process_time()
    for page in pages:
        work(page)
    return time.process_time() - started
