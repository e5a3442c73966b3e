"""Long, wild and foreign answers are checked whole, with work that grows with their length and no faster."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial

import pytest

from asky.evidence.verification.checked_reply import check_reply
from asky.evidence.verification.support import read_passage
from asky.evidence.verification.verify import check_claim
from asky.values import Evidence, Location, Source, Span

SOURCE = Source("s1", "file", "file:///gauge", "Gauge", path="/gauge")
PART = """## Part {n}

- The gauge {n} stood at {n} feet {key}.
  - It was read by the keeper of the {n}th lamp, who wrote "the sea was calm all day" {key}.
    1. In {year} the harbour grew, but trade fell by {n} % {key}.

| Quay | 2019 | 2020 |
|---|---|---|
| North {n} | 12 | 15 {key} |

```
gauge = {n}  # {key}
```

The pier was sold to the town by the captain.[^{n}] 港口在{year}年开放{key}。 افتتح الميناء في عام {year} {key}. \
A\u0301r\u0308b\u0327o\u0301r {n} {key}!

[^{n}]: a footnote, {key}
"""
PROSE = "The gauge stood at nine feet and the sea was calm. 港口在1984年开放。 افتتح الميناء في عام 1984. "
PASSAGES = {
    "a word": "gauge",
    "prose": PROSE * 60,
    "a table": "| Quay | 2019 | 2020 |\n|---|---|---|\n" + "".join(f"| North {n} | {n} | 15 |\n" for n in range(150)),
    "marks": "a\u0301\u0308\u0327" * 500,
    "JSON, cut": '"a": true, "quay": {"north": 12, "x": null, ' * 60,
}


def answer(chars: int, key: str) -> str:
    parts: list[str] = []
    size = 0
    while size < chars:
        parts.append(PART.format(n=len(parts) + 1, year=1800 + len(parts) % 200, key=key))
        size += len(parts[-1])
    return "\n".join(parts)[:chars]


def check(text: str, passage: str) -> int:
    shown = {
        key: Evidence(key, SOURCE, 7, "hash", Span(0, len(each)), each, Location("Before", 1), 0.5)
        for key, each in {"P7f3a": passage, "P0001": "The pier was sold to the town by the captain."}.items()
    }
    checked = check_reply(text, shown, lambda *_: Location(), claims_anything=True)
    assert all(checked.text[claim.span.start : claim.span.end] == claim.text for claim in checked.claims)
    return len(checked.claims)


def calls(work: Callable[[], object]) -> int:
    """The number of calls that `work` makes, of Python's functions and of those in C."""
    made = 0

    def count(_: object, event: str, __: object) -> None:
        nonlocal made
        made += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(count)
    try:
        work()
    finally:
        sys.setprofile(before)
    return made


@pytest.mark.parametrize("key", ["[P7f3a]", "[P0000]", ""], ids=["cited", "all wrong", "none"])
def test_an_answer_of_100_000_characters_is_checked(key: str) -> None:
    assert check(answer(100_000, key), PASSAGES["a word"]) > 500


def test_a_passage_of_50_000_characters_is_read() -> None:
    assert check(answer(2_000, "[P7f3a]"), PROSE * 600) > 5


@pytest.mark.parametrize("passage", PASSAGES.values(), ids=PASSAGES)
def test_the_work_grows_with_the_answer_and_no_faster(passage: str) -> None:
    small, large = (calls(partial(check, answer(chars, "[P7f3a]"), passage)) for chars in (1_000, 4_000))
    assert large < 5 * small


def test_a_claim_takes_little_work_once_its_passages_are_read() -> None:
    """20,000 calls would take about 2 ms on one core, in which a claim is to be checked."""
    passages = [read_passage(text) for text in PASSAGES.values()]
    for claim in ("North 7 had 12 boats in 2019.", "The sea was calm and the gauge stood at nine feet.", "a is false."):
        check_claim(claim, passages)
        assert calls(partial(check_claim, claim, passages)) < 20_000
