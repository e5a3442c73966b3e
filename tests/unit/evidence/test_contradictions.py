from __future__ import annotations

import sys
from collections.abc import Callable
from types import FrameType

import pytest

from asky.evidence.alike_sentences import sourced_sentences
from asky.evidence.contradictions import answer_contradictions, find_contradictions
from asky.evidence.verification.verify import verify_answer
from asky.values import Citation, Evidence, Location, Source, Span


def source(title: str, doi: str | None = None) -> Source:
    return Source(f"s-{title}-{doi}", "file", f"file:///{title}", title, path=f"/{title}", doi=doi)


def found(first: str, second: str, titles: tuple[str, str] = ("Heat pump", "House log")) -> list[tuple[str, str]]:
    """What is found between two texts of sources with these titles."""
    sentences = [
        each
        for number, (text, title) in enumerate(zip((first, second), titles, strict=True))
        for each in sourced_sentences(text, source(title), f"P{number:04x}")
    ]
    return [(each.kind, each.explanation) for each in find_contradictions(sentences)]


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        (
            "The heat pump of the house draws 7 kW in winter.",
            "The heat pump of the house draws 9 kW in winter.",
            ("number", "7, 9"),
        ),
        (
            "The heat pump was installed and built in March 2021.",
            "The heat pump was built and installed by Miller in May 2021.",
            ("date", "March 2021, May 2021"),
        ),
        (
            "Clare Mill was founded in 1911 by Ann Brook.",
            "Clare Mill was founded in 1912 by Ann Brook.",
            ("date", "1911, 1912"),
        ),
        (
            "The heat pump is suitable for old radiators and houses.",
            "The heat pump is not suitable for old radiators and houses.",
            ("negation", "one of the two denies it"),
        ),
        (
            "The heat pump can heat the pool and the house.",
            "The heat pump cannot heat the pool and the house.",
            ("negation", "one of the two denies it"),
        ),
        ("The heat pump cost 12,400 euros in total.", "The heat pump cost €14,900 in total.", None),  # of unequal form
        (
            "The heat pump has three fans for cooling air.",
            "The heat pump has 5 fans for cooling air.",
            ("number", "three, 5"),
        ),
    ],
)
def test_sources_that_say_the_same_otherwise_contradict_each_other(
    first: str, second: str, expected: tuple[str, str] | None
) -> None:
    assert found(first, second) == ([expected] if expected is not None else [])
    assert len(found(second, first)) == (expected is not None)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("In 2019 the heat pump used 5 MWh of power.", "In 2020 the heat pump used 7 MWh of power."),
        ("The heat pump used 5 MWh of power in winter.", "The heat pump used 7 MWh of power in summer."),
        ("The heat pump used 5 MWh of power.", "The heat pump used 7 MWh of power in 2020."),
        ("The heat pump weighs about 120 kg when empty.", "The heat pump weighs about 140 kg when empty."),
        ("The heat pump weighs 1,412 kg when it is full.", "The heat pump weighs 1.4 thousand kg when it is full."),
        ("The heat pump weighs 120 kg when it is full.", "The heat pump weighs 264 pounds when it is full."),
        ("The heat pump heats before 6 hours have passed.", "The heat pump heats after 8 hours have passed."),
        ("Table 3 shows the heat pump and its power.", "Table 5 shows the heat pump and its power."),
        ("It was built in 1911 beside the heat pump mill.", "It was built in 1912 beside the heat pump mill."),
        ("We trained the heat pump for 5 epochs of data.", "We trained the heat pump for 9 epochs of data."),
        ("The heat pump may not heat the pool and house.", "The heat pump heats the pool and the house."),
        ("Is the heat pump of 7 kW enough for a house?", "Is the heat pump of 9 kW enough for a house?"),
        ("| heat pump | power | 7 | 8 | 9 |", "| heat pump | power | 9 | 8 | 7 |"),
        ("The heat pump draws 7 kW in winter.", "The heat pump draws 7 kW in winter."),
        ("Heat pump Alpha draws 7 kW in the winter.", "Heat pump Beta draws 9 kW in the winter."),
        ("The fan has 7 blades of steel and tin.", "The fan has 9 blades of steel and tin."),  # which fan?
        ("x", "y"),
        ("", "不"),
        ("该公司在上海有五百名员工。", "该公司在北京有七百名员工。"),
        ("تأسست الشركة في عام 1911", "تأسست المدرسة في عام 1912"),
    ],
)
def test_what_need_not_be_a_contradiction_is_none(first: str, second: str) -> None:
    assert found(first, second) == []


@pytest.mark.parametrize(
    "titles", [("Lease v1", "Lease v2"), ("Report 2019", "Report 2020"), ("Lease", "Lease (draft)")]
)
def test_versions_and_periods_of_one_document_are_not_compared(titles: tuple[str, str]) -> None:
    assert found("The lease costs 850 euros a month.", "The lease costs 900 euros a month.", titles) == []


def test_a_sentence_that_every_source_fills_in_differently_is_a_pattern() -> None:
    texts = [
        (f"{name} Town had {n} people in two big schools.", f"{name} Town")
        for name, n in (("A", 5), ("A", 7), ("A", 11))
    ]
    sentences = [
        each
        for n, (text, _) in enumerate(texts)
        for each in sourced_sentences(text, source(f"Towns {chr(97 + n)}x"), "P")
    ]
    assert len(find_contradictions(sentences[:2])) == 1
    assert find_contradictions(sentences) == []


def evidence(key: str, title: str, text: str) -> Evidence:
    return Evidence(key, source(title), 1, "0" * 64, Span(0, len(text)), text, Location(), 0.5)


def cited(number: int, shown: Evidence) -> Citation:
    return Citation(number, shown.key, shown.source, shown.location, shown.span, shown.text, shown.sha256, shown.score)


def test_the_other_side_is_cited_though_the_answer_did_not() -> None:
    first = evidence("P0001", "Heat pump", "Bought from Miller. The heat pump was installed in March 2021.")
    other = evidence("P0002", "House log", "The heat pump was installed in May 2021 by Miller.")
    third = evidence("P0003", "Garden", "The garden pump was installed in May 2021 by Miller.")
    shown = {each.key: each for each in (third, first, other)}
    first = shown["P0001"]
    text = "The heat pump was installed in March 2021 [1]."
    claims = verify_answer(text, {1: first.text})
    contradictions, citations = answer_contradictions(claims, [cited(1, first)], shown)
    (one,) = contradictions
    assert (one.kind, one.stated_by) == ("date", "check")
    assert {side.source: side.citations for side in one.sides} == {"Heat pump": (1,), "House log": (2,)}
    assert [(each.n, each.key) for each in citations] == [(1, "P0001"), (2, "P0002")]
    assert citations[1].quote == other.text


def test_what_no_citation_takes_part_in_is_not_told() -> None:
    shown = {
        each.key: each
        for each in (
            evidence("P0001", "Heat pump", "The heat pump was installed in March 2021."),
            evidence("P0002", "House log", "The heat pump was installed in May 2021 by Miller."),
            evidence("P0003", "Garden", "The garden has a shed."),
        )
    }
    assert answer_contradictions((), [cited(1, shown["P0003"])], shown)[0] == ()


def test_statements_of_a_model_are_compared_with_the_passages_of_other_sources() -> None:
    first = evidence("P0001", "Heat pump", "Installation of it: done by Miller, March of the year 2021.")
    other = evidence("P0002", "House log", "The heat pump was installed in May 2021 by Miller.")
    text = "The heat pump was installed in March 2021 [1]."
    found, _ = answer_contradictions(
        verify_answer(text, {1: first.text}), [cited(1, first)], {"P0001": first, "P0002": other}
    )
    assert [each.explanation for each in found] == ["March 2021, May 2021"]


def _words(seed: int, count: int) -> str:
    """Words that no other seed gives, the first with a capital."""
    return " ".join(
        f"{chr(97 + seed % 26)}{chr(97 + seed // 26 % 26)}word{chr(97 + at)}" for at in range(count)
    ).capitalize()


def calls(function: Callable[[], object]) -> int:
    """The calls of Python and built-in functions that it takes: a measure of time that no other process changes."""
    count = 0

    def profile(_frame: FrameType, event: str, _argument: object) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    sys.setprofile(profile)
    try:
        function()
    finally:
        sys.setprofile(None)
    return count


def test_an_answer_costs_a_few_milliseconds_whatever_its_passages() -> None:
    """Twelve passages of ten sentences take 3 ms, some 12,000 calls; equal ones of 50,000 characters are cut off."""

    def compared(texts: list[str]) -> Callable[[], object]:
        return lambda: find_contradictions(
            [each for n, text in enumerate(texts) for each in sourced_sentences(text, source(f"T{chr(97 + n)}"), "P")]
        )

    usual = [" ".join(f"{_words(n * 100 + i, 12)} of the pump." for i in range(10)) for n in range(12)]
    assert calls(compared(usual)) < 15_000
    alike = ["".join(f"Pump{n}x of {i} kg tells of part{n * i}z and it. " for i in range(10)) for n in range(12)]
    assert calls(compared(alike)) < 40_000
    long = ["The heat pump was installed in March 2021 by a man. " * 1000 for _ in range(12)]
    assert find_contradictions(sourced_sentences(long[0], source("A"), "P")) == []
    assert calls(compared(long)) < 200_000
