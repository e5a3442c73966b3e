"""What becomes of a reply before it is shown."""

from __future__ import annotations

from dataclasses import replace

import pytest

from asky.evidence.quotes import Quotable
from asky.evidence.verification.checked_reply import check_reply
from asky.values import Evidence, Location, Source, Span
from tests.support.timing import check_linear, cpu_s

SOURCE = Source("s1", "file", "file:///gauge", "Gauge", path="/gauge")


def _shown(text: str, key: str = "P7f3a") -> dict[str, Evidence]:
    return {key: Evidence(key, SOURCE, 7, "hash", Span(1000, 1000 + len(text)), text, Location("Before", 1), 0.5)}


def _located(document_id: int, span: Span) -> Location:
    return Location(f"of {document_id} at {span.start}-{span.end}")


def test_a_citation_is_located_where_its_first_quoted_sentence_stands() -> None:
    text = "The pier is old. The gauge stood at nine feet. The sea was calm."
    reply = "It was a fine day [P7f3a]. The gauge stood at nine feet [P7f3a]. The sea was calm [P7f3a]."
    checked = check_reply(reply, _shown(text), _located, claims_anything=True)
    begin = 1000 + text.index("The gauge")
    assert [each.location.section for each in checked.citations] == [f"of 7 at {begin}-{begin + 29}"]


SOUPS = (
    "Leek soup\n\nServes four. It needs three leeks.\n\nPea soup\n\nServes four. It needs **dried** [peas](https://p.test)."
    "\n\nBread\n\nServes four. It needs rye flour.\n\nJam\n\nIt needs plums."
)


@pytest.mark.parametrize(
    ("reply", "section"),
    [
        ("It needs three leeks. [P7f3a]", "Soups › Leek"),
        ("It needs dried peas. [P7f3a]", "Soups › Pea"),
        ("It needs three leeks. [P7f3a] It needs dried peas. [P7f3a]", "Soups › Leek; Pea"),
        ("It needs rye flour. [P7f3a] It needs three leeks. [P7f3a]", "Bread; Soups › Leek"),
        ("Serves four. [P7f3a] It needs dried peas. [P7f3a]", "Soups › Pea"),  # it stands there too
        ("Serves four. [P7f3a]", None),  # of three recipes
        (
            " ".join(f"It needs {each}. [P7f3a]" for each in ("three leeks", "dried peas", "rye flour", "plums")),
            None,
        ),
        ("Nobody knows what is in it. [P7f3a]", "Soups › Leek"),
    ],
)
def test_a_citation_has_the_headings_of_what_it_quotes(reply: str, section: str | None) -> None:
    starts = {"Pea soup": "Soups › Pea", "Bread": "Bread", "Jam": "Jam"}
    inside = tuple((SOUPS.index(f"\n\n{name}") + 2, path) for name, path in starts.items())
    passage = replace(_shown(SOUPS)["P7f3a"], location=Location("Soups › Leek"), sections=inside)
    (cited,) = check_reply(reply, {"P7f3a": passage}, _located, claims_anything=True).citations
    assert cited.location.section == section


def test_a_quotation_is_where_its_passage_has_it_whatever_markup_stands_before_it() -> None:
    text = "The **old** mill at [Clare](https://x.test/abc)[3] burned. > It was <b>rebuilt</b> at once."
    for quote in ("The old mill at Clare burned.", "It was rebuilt at once."):
        checked = check_reply(f"{quote} [P7f3a]", _shown(text), _located, claims_anything=True)
        found = checked.claims[0].checks["quotation"]
        assert isinstance(found, dict)
        assert text[found["start"] : found["end"]].startswith(quote[:4])
        assert text[found["start"] : found["end"]].rstrip(".").endswith(quote.rstrip(".")[-4:])


def test_a_citation_of_quoted_code_is_located_where_the_code_stands() -> None:
    text = "    return gauge\n\n\nclass Pier:\n    feet: int = 9"
    reply = "```\nclass Pier:\n    feet: int = 9\n```\n\n[P7f3a]"
    for claims_anything in (True, False):
        checked = check_reply(reply, _shown(text), _located, claims_anything=claims_anything)
        begin = 1000 + text.index("class Pier")
        assert [each.location.section for each in checked.citations] == [f"of 7 at {begin}-{1000 + len(text)}"]


def test_a_citation_that_quotes_nothing_is_located_where_its_passage_begins() -> None:
    checked = check_reply("Nobody measured [P7f3a].", _shown("The pier is old."), _located, claims_anything=True)
    assert [each.location for each in checked.citations] == [Location("Before", 1)]


def test_a_passage_is_read_once_however_many_sentences_cite_it() -> None:
    text = " ".join(f"On day {number} the gauge at the pier stood at {number} feet." for number in range(3000))
    reply = " ".join(f"Nobody measured anything on the evening of day {number} [P7f3a]." for number in range(100))
    once = cpu_s(lambda: Quotable(text), rounds=3)
    whole = cpu_s(lambda: check_reply(reply, _shown(text), _located, claims_anything=False), rounds=3)
    assert whole < 10 * once
    assert len(check_reply(reply, _shown(text), _located, claims_anything=False).citations) == 1


def test_what_looks_like_a_citation_is_a_fault_unless_a_passage_holds_it() -> None:
    shown = _shown("The gauge stood at nine feet.[3] The sea was calm.")
    copied = check_reply("The gauge stood at nine feet.[3] [P7f3a]", shown, _located, claims_anything=True)
    assert (copied.numbered.lookalikes, copied.invented, copied.faults) == (("[3]",), (), 0)
    assert list(copied.warnings()) == ["1 mark that looks like a citation and cites nothing was struck out"]
    made_up = check_reply("The gauge stood at nine feet&#91;4&#93;. [P7f3a]", shown, _located, claims_anything=True)
    assert made_up.text == "The gauge stood at nine feet ~~[4?]~~. [1]"
    assert (made_up.invented, made_up.faults) == (("&#91;4&#93;",), 1)


def test_the_claims_of_a_marked_answer_stand_where_it_says_so() -> None:
    reply = "## The gauge stood at ten feet\n\nNobody knows why. The gauge stood at nine feet [P7f3a].\n\nWho cares."
    checked = check_reply(reply, _shown("The gauge stood at nine feet."), _located, claims_anything=True)
    assert checked.text == (
        "## The gauge stood at ten feet ⚠ contradicted\n\nNobody knows why. The gauge stood at nine feet [1]."
        "\n\nWho cares."
    )
    assert all(checked.text[claim.span.start : claim.span.end] == claim.text for claim in checked.claims)
    assert "numbers that no cited passage contains: ten" in list(checked.warnings())


def test_a_long_answer_over_twenty_passages_takes_linear_time() -> None:
    shown: dict[str, Evidence] = {}
    for passage in range(20):
        days = range(100 * passage, 100 * passage + 12)
        text = " ".join(
            f"On day {day} the gauge at the pier stood at {day + 5} feet and the sea was calm." for day in days
        )
        shown |= _shown(text, f"P{passage:04x}")

    def check(claims: int) -> None:
        reply = " ".join(f"On day {day} the gauge stood at {day + 5} feet [P{day % 20:04x}]." for day in range(claims))
        assert len(check_reply(reply, shown, _located, claims_anything=True).claims) == claims

    check_linear(check, 100)
