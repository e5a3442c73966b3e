"""How long ten topics of a note take, compared with the best schedule of four at a time."""

from __future__ import annotations

from pathlib import Path

from asky.events import StageFinished
from asky.research.web.gathering import STAGE
from tests.support.note_lab import NoteLab, topics

_DELAY_S = 2.0
_ROUNDS = 3  # of four topics, four and two
_WORDS = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
_LABELS = [f"subject number {word}" for word in _WORDS]


def test_ten_deep_topics_take_at_most_a_third_more_than_the_best_schedule(tmp_path: Path) -> None:
    with NoteLab(tmp_path, **{"network.per_host": 8}) as lab:
        for label in _LABELS:
            word = label.split()[-1]
            lab.found[f"number {word}"] = [(f"/{word}-{each}", f"Page {word}", f"All about {word}.") for each in "ab"]
            for each in "ab":
                text = f"<html><body><article><p>The subject number {word} is told here.</p></article></body></html>"
                lab.site.page(f"/{word}-{each}", html=text, delay_s=_DELAY_S)
        lab.endpoint.play(topics(*_LABELS), "### One\n\nNothing is known.")
        lab.research(model="far", depth="deep")
        (took,) = (each.seconds for each in lab.heard if isinstance(each, StageFinished) and each.stage == STAGE)
        ideal = _ROUNDS * _DELAY_S
        read = [each.path for each in lab.site.requests if "robots" not in each.path]
        print(f"\nten deep topics: {took:.2f} s, the best schedule {ideal:.1f} s, {took / ideal:.2f} times")
        assert len(read) == 20
        assert took <= 1.3 * ideal
