"""Claims that rules leave open are read: all at once, with the few windows that have their words."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from asky.errors import NotConfigured
from asky.evidence.marks import reason
from asky.evidence.verification.best_passage import judge_claim
from asky.evidence.verification.checked_reply import check_reply
from asky.evidence.verification.claim_reader import ClaimReader
from asky.evidence.verification.meaning import windows_of
from asky.evidence.verification.support import read_passage, read_statement
from asky.evidence.verification.verify import verify_answer, verify_claim
from asky.values import Evidence, Location, Source, Span
from tests.support.claim_readers import ClaimReaderContract, Floats, KnowingReader, Read

HARBOUR = (
    "The harbour of Ennis freezes in most winters. Ferries then stop, and the islanders are supplied by air. "
    "The pier was rebuilt in 1984 with stone from the old mill."
)
FREEZES = "Most winters the harbour of Ennis is covered by ice."
ALL = "The harbour of Ennis freezes in all winters."
MILL = "The mill was taken down for the sake of the pier."


class TestKnowingReader(ClaimReaderContract):
    @pytest.fixture
    def read(self) -> Read:
        return KnowingReader([("ferry", "noon", "entailed")])


@pytest.fixture
def known() -> KnowingReader:
    return KnowingReader(
        [("covered by ice", "freezes", "entailed"), ("in all winters", "in most winters", "contradicted")]
    )


def test_a_paraphrase_that_a_passage_entails_is_supported(known: KnowingReader) -> None:
    alone, read = verify_claim(FREEZES, [HARBOUR]), verify_claim(FREEZES, [HARBOUR], reader=known.reader)
    assert (alone.verdict, read.verdict) == ("partial", "supported")
    assert read.score >= 0.55
    assert read.checks["says"] == {"n": 1, "text": "The harbour of Ennis freezes in most winters."}
    assert read.checks["meaning"] == {"entailed": 0.95, "contradicted": 0.002}


def test_a_claim_in_the_words_of_a_passage_that_says_otherwise_is_contradicted(known: KnowingReader) -> None:
    alone, read = verify_claim(ALL, [HARBOUR]), verify_claim(ALL, [HARBOUR], reader=known.reader)
    assert (alone.verdict, read.verdict, read.checks["contradicted_by"]) == ("supported", "contradicted", "meaning")
    assert read.score < 0.25
    told = reason({"verdict": read.verdict, "checks": read.checks})
    assert told == "a passage says otherwise; the passage says: “The harbour of Ennis freezes in most winters.”"


def test_what_the_reader_knows_nothing_of_is_partial_in_any_words() -> None:
    reader = KnowingReader().reader
    assert verify_claim(ALL, [HARBOUR], reader=reader).verdict == "partial"
    assert verify_claim("Whales were seen off the coast of Kerry.", [HARBOUR], reader=reader).verdict == "unsupported"


def test_a_window_that_entails_outweighs_one_that_contradicts() -> None:
    read = KnowingReader(
        [("in all winters", "in most winters", "contradicted"), ("in all winters", "every winter", "entailed")]
    )
    other = "Every winter the harbour of Ennis freezes: every winter brings ice."
    assert verify_claim(ALL, [HARBOUR, other], reader=read.reader).verdict == "supported"
    judged = judge_claim(ALL, [read_passage(HARBOUR), read_passage(other)], reader=read.reader)
    assert judged is not None
    assert (judged.index, judged.check.verdict) == (1, "supported")


def test_what_the_rules_decide_is_not_read() -> None:
    reader = KnowingReader([("", "", "entailed")])
    rows = "server.port: 8080\nserver.tls: false\nserver.workers: 4\n"
    cases = [
        ("The harbour of Ennis freezes in most winters.", HARBOUR, "supported"),  # a quotation
        ("The pier was rebuilt in 1985 with stone from the old mill.", HARBOUR, "contradicted"),
        ("The pier cost 40 million euros.", HARBOUR, "unsupported"),
        ("They wrote “the islanders are supplied by sea”.", HARBOUR, "unsupported"),
        ("The server has TLS enabled.", rows, "contradicted"),
        ("Ennis harbour", HARBOUR, "supported"),
    ]
    for claim, passage, verdict in cases:
        assert verify_claim(claim, [passage], reader=reader.reader).verdict == verdict, claim
    assert verify_claim(FREEZES, [], reader=reader.reader).verdict == "uncited"
    assert reader.calls == []


def test_all_claims_of_an_answer_are_read_in_one_call(known: KnowingReader) -> None:
    answer = f"## Winter\n\n{FREEZES} [1] {ALL} [2]\n\n- {MILL} [1]\n"
    claims = verify_answer(answer, {1: HARBOUR, 2: HARBOUR}, reader=known.reader)
    assert [claim.verdict for claim in claims] == ["supported", "contradicted", "partial"]
    assert [claim.checks["says"]["n"] for claim in claims] == [1, 2, 1]  # type: ignore[index]
    assert claims[1].checks["rules"] == "supported"
    assert len(known.calls) == 1
    assert len(known.calls[0]) <= 6


def test_other_passages_are_read_once_more_for_what_is_in_doubt(known: KnowingReader) -> None:
    others = [("P1", "The islands lie in the west."), ("P2", HARBOUR)]
    (claim,) = verify_answer(f"{FREEZES} [1]", {1: others[0][1]}, others=others, reader=known.reader)
    assert (claim.verdict, claim.checks["better"], len(known.calls)) == ("unsupported", "P2", 2)
    (claim,) = verify_answer(f"{ALL} [1]", {1: others[0][1]}, others=others, reader=known.reader)
    assert "better" not in claim.checks


@pytest.mark.parametrize(
    ("claim", "passage"),
    [
        ("Der Hafen von Ennis ist in den meisten Wintern mit Eis bedeckt.", HARBOUR),
        (
            FREEZES,
            "Der Hafen von Ennis friert in den meisten Wintern zu, und dann wird die Insel aus der Luft versorgt.",
        ),
        ("港口在冬天结冰。", HARBOUR),
    ],
)
def test_words_decide_in_other_languages_than_the_reader_s(claim: str, passage: str) -> None:
    reader = KnowingReader([("", "", "entailed")])
    assert verify_claim(claim, [passage], reader=reader.reader).verdict == verify_claim(claim, [passage]).verdict
    assert reader.calls == []
    verify_claim(claim, [passage], reader=ClaimReader(reader, None))
    assert len(reader.calls) == 1


def test_a_reader_that_cannot_be_opened_leaves_the_words_and_a_warning() -> None:
    def read(_: Sequence[tuple[str, str]]) -> Floats:
        raise NotConfigured("the reader is damaged")

    source = Source("s1", "file", "file:///harbour", "Harbour", path="/harbour")
    shown = {"P7f3a": Evidence("P7f3a", source, 7, "hash", Span(0, len(HARBOUR)), HARBOUR, Location("Ennis", 1), 0.5)}
    checked = check_reply(
        f"{FREEZES} [P7f3a]", shown, lambda *_: Location(), claims_anything=True, reader=ClaimReader(read)
    )
    assert checked.claims[0].verdict == "partial"
    assert list(checked.warnings()) == ["the verdicts are by words alone: the reader is damaged"]


def test_windows_are_neighbouring_sentences_or_rows_with_their_columns() -> None:
    table = (
        "Sales by region.\n\n| Region | 2019 | 2020 |\n|---|---|---|\n| North | 12 | 15 |\n| South West | 30 | 28 |\n"
    )
    windows = windows_of(read_statement("In the South West sales fell in 2020."), [read_passage(table)])
    assert windows[0].text == "Region: South West; 2019: 30; 2020: 28"
    windows = windows_of(read_statement("Ferries stop when the harbour of Ennis freezes."), [read_passage(HARBOUR)])
    assert windows[0].text.startswith("The harbour of Ennis freezes")
    assert windows[0].text.endswith("by air.")


def test_an_empty_claim_and_a_passage_of_one_long_word_are_read() -> None:
    reader = KnowingReader()
    for claim in ("", "…", "42", "🦆 🦆 🦆 🦆"):
        assert verify_claim(claim, ["x" * 50_000], reader=reader.reader).verdict in ("unsupported", "partial")
    assert np.array([len(text) for call in reader.calls for _, text in call] or [0]).max() <= 1_000
