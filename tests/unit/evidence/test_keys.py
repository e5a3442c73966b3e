from __future__ import annotations

import hashlib

import pytest

from asky.evidence.citations.scanner import AnswerScanner
from asky.evidence.keys import KEY, MAX_DIGITS, MIN_DIGITS, KeyRing
from asky.text.sentences import sentence_spans
from asky.values import Span

DOCUMENT = hashlib.sha256(b"a document").hexdigest()


def test_a_passage_keeps_its_key_and_another_ring_of_the_run_gives_the_same() -> None:
    ring = KeyRing("run-1")
    key = ring.key_for(DOCUMENT, Span(0, 80))
    assert KEY.fullmatch(key)
    assert len(key) == 5
    assert ring.key_for(DOCUMENT, Span(0, 80)) == key
    assert KeyRing("run-1").key_for(DOCUMENT, Span(0, 80)) == key


def test_the_run_the_document_and_the_span_all_change_the_key() -> None:
    keys = {
        KeyRing(run).key_for(document, span)
        for run in ("run-1", "run-2")
        for document in (DOCUMENT, DOCUMENT[::-1])
        for span in (Span(0, 80), Span(1, 80), Span(0, 81))
    }
    assert len(keys) == 12


def test_keys_stay_unique_and_grow_only_where_they_collide() -> None:
    ring = KeyRing("run-1")
    keys = [ring.key_for(DOCUMENT, Span(start, start + 10)) for start in range(5_000)]
    assert len(set(keys)) == 5_000
    assert all(KEY.fullmatch(key) for key in keys)
    longer = [key for key in keys if len(key) > 5]
    assert 0 < len(longer) < 500
    assert all(key[:5] in keys for key in longer)


def test_a_key_that_was_handed_out_never_changes_when_others_collide_with_it() -> None:
    ring = KeyRing("run-1")
    spans = [Span(start, start + 10) for start in range(5_000)]
    first = [ring.key_for(DOCUMENT, span) for span in spans]
    assert [ring.key_for(DOCUMENT, span) for span in spans] == first


def test_a_full_ring_refuses_instead_of_reusing_a_key() -> None:
    ring = KeyRing("run-1")
    digest = hashlib.sha256(f"run-1\n{DOCUMENT}\n0\n1".encode()).hexdigest()
    for digits in range(4, 9):
        ring._passage_of["P" + digest[:digits]] = ("another document", Span(0, 1))
    with pytest.raises(ValueError, match="no key is left"):
        ring.key_for(DOCUMENT, Span(0, 1))


@pytest.mark.parametrize("digits", range(MIN_DIGITS - 1, MAX_DIGITS + 2))
def test_whoever_reads_an_answer_knows_the_same_keys(digits: int) -> None:
    key = "P" + "7f3a09c2b"[:digits]
    is_key = KEY.fullmatch(key) is not None
    assert is_key == (MIN_DIGITS <= digits <= MAX_DIGITS)
    answer = f"It rained. [{key}] It stopped."
    first = sentence_spans(answer)[0]
    assert (answer[first.start : first.end] == f"It rained. [{key}]") == is_key
    scanner = AnswerScanner()
    pieces = [*scanner.feed(f"It rained {key} then."), *scanner.close()]
    assert any(piece.kind == "word" and key in piece.source for piece in pieces) == is_key
