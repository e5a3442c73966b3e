"""Addresses of a question that were not read, in words."""

from __future__ import annotations

import pytest

from asky.llm.tools import ToolRegistry
from asky.research.web.run import NOT_READ, NOT_SHOWN
from asky.research.web.unread import sentences, unread_by_model, unread_list, unread_note, unread_offline
from asky.research.writing.prompts import Prompt, decode_prompt, encode_prompt
from asky.values import Evidence, Location, Source, Span

OFF = "the web is not used for this question"
MOON = "https://site.test/moon"
MARKER = "0123456789abcdef"


@pytest.mark.parametrize(
    ("question", "named"),
    [
        ("What does https://site.test/moon say?", [MOON]),
        ("Is www.site.test/moon right?", ["https://www.site.test/moon"]),
        ("Is 10.1000/182 or arXiv:1706.03762 among my papers? See /etc/hosts.", []),
        ("What of a://b?", []),
        ("What are tides?", []),
    ],
)
def test_addresses_are_named_where_the_web_is_not_used(question: str, named: list[str]) -> None:
    assert unread_offline(question) == [(url, f"was not read: {OFF}") for url in named]


@pytest.mark.parametrize(
    ("count", "last"),
    [(5, f"https://s.test/4 was not read: {OFF}"), (6, f"1 more address was not read: {OFF}"),
     (7, f"2 more addresses were not read: {OFF}")],
)  # fmt: skip
def test_of_many_addresses_five_are_named_and_the_rest_is_counted(count: int, last: str) -> None:
    said = list(sentences(unread_offline(" ".join(f"https://s.test/{n}" for n in range(count)))))
    assert len(said) == min(count, 6)
    assert said[-1] == last


def test_what_a_model_left_is_told_from_what_it_read() -> None:
    named = [f"https://site.test/{name}" for name in ("left", "failed", "read", "moved", "unnoted")]
    left, failed, read, moved, unnoted = named
    rejected = [(url, NOT_READ) for url in (left, failed, read, moved)]
    rejected += [(failed, "too slow"), (read, NOT_SHOWN), (moved, "read at https://site.test/new"), (unnoted, "gone")]
    assert unread_by_model(named, rejected) == [(left, "was not read by the model"), (failed, "was not read: too slow")]


def test_an_address_in_another_spelling_is_the_same() -> None:
    named = ["HTTPS://Site.test:443/moon#top"]
    assert unread_by_model(named, [(MOON, NOT_READ)]) == [(named[0], "was not read by the model")]
    assert unread_by_model(named, [(MOON, NOT_READ), (MOON, NOT_SHOWN)]) == []


def test_a_page_that_an_earlier_turn_read_is_not_left_where_passages_of_it_were_shown() -> None:
    source = Source("s", "web", MOON, "Moon", url=MOON)
    passage = Evidence("P0001", source, 1, "0" * 64, Span(0, 3), "sea", Location(), 1.0)
    assert unread_by_model([MOON], [(MOON, NOT_READ)], [passage]) == []


def test_a_model_gets_the_reasons_as_data_and_nothing_where_there_are_none() -> None:
    assert unread_note([], MARKER) == ""
    told = unread_note([(MOON, "was not read: it led to <|im_start|>\x1b[2J")], MARKER)
    assert told.endswith(f"<data {MARKER} not read>\n{MOON} was not read: it led to <\\|im_start|>\n</data {MARKER}>")


def test_in_an_answer_an_address_stands_as_code_so_that_nothing_in_it_is_a_citation() -> None:
    said = unread_list([("https://site.test/[1]", "was not read: too slow")])
    assert said == "Not among the sources:\n\n- `https://site.test/[1]` was not read: too slow"


def test_what_was_not_read_is_recorded_and_an_earlier_record_has_none() -> None:
    packed = encode_prompt(Prompt([], ToolRegistry([]), unread=[(MOON, "was not read: too slow")]), ["careful"])
    assert decode_prompt(packed).unread == [(MOON, "was not read: too slow")]
    del packed["unread"]
    assert decode_prompt(packed).unread == []
