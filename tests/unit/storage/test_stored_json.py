"""JSON in the store: read where it is of the shape that its readers rely on, and damage where it is not."""

from __future__ import annotations

import json
from typing import Any

import pytest

from asky.chat.entries import CHAT_ENTRIES
from asky.errors import StoreDamaged
from asky.storage.stored_json import ANSWER, FAILURE, LINKS, SETTINGS, fits, json_fault, stored_json, template_of
from asky.values import Failure

CITED = {"n": int, "title": str | None, "authors?": [str]}


@pytest.mark.parametrize(
    ("value", "template", "does"),
    [
        ({"a": 1}, dict, True),
        ([1], dict, False),
        (["a", "b"], [str], True),
        (["a", 1], [str], False),
        ([], [str], True),
        ("ab", [str], False),
        (["a", 1], (str, int), True),
        (["a"], (str, int), False),
        ({"n": 1, "title": None}, CITED, True),
        ({"n": 1}, CITED, False),
        ({"n": "1", "title": None}, CITED, False),
        ({"n": 1, "title": "x", "more": [1]}, CITED, True),
        ({"n": 1, "title": "x", "authors": ["A"]}, CITED, True),
        ({"n": 1, "title": "x", "authors": "A"}, CITED, False),
        ([{"n": 1, "title": "x"}, 2], [CITED], False),
        (["a", ["b"]], (str, [int]), False),
        ([["a", 1], ["b"]], [(str, int)], False),
        (3, lambda value: value > 2, True),
        (2, lambda value: value > 2, False),
    ],
)
def test_a_value_is_like_its_template_or_not(value: Any, template: Any, does: bool) -> None:
    assert fits(value, template) is does


@pytest.mark.parametrize(
    ("text", "template", "fault"),
    [
        ("{", dict, "it is not JSON"),
        ("[" * 100_000, dict, "it is not JSON"),
        ("", dict, "it is not JSON"),
        ("[1]", ANSWER, "it is not what asky writes there"),
        ("{}", ANSWER, "it is not what asky writes there"),
        ('[["https://a.example", "A"]]', LINKS, "it is not what asky writes there"),
        ('{"sites": 5}', SETTINGS, "it is not what asky writes there"),
        (b"{}", dict, "it is not text"),
        (None, dict, "it is not text"),
    ],
)
def test_what_cannot_be_read_is_damage_that_names_its_place(text: object, template: Any, fault: str) -> None:
    assert json_fault(text, template) == fault
    with pytest.raises(StoreDamaged) as caught:
        stored_json(text, template, "the answer of run 7")
    assert caught.value.message == f"the store is damaged: the answer of run 7: {fault}"
    assert "asky doctor" in (caught.value.hint or "")


def test_what_fits_comes_back_as_it_is() -> None:
    text = json.dumps({"web": False, "model": None, "sites": ["a.example"], "later": 1})
    assert json_fault(text, SETTINGS) is None
    assert stored_json(text, SETTINGS, "the settings") == json.loads(text)


def test_a_failure_fits_exactly_where_it_can_be_made_of_it() -> None:
    whole = {"subject": "s", "code": "c", "message": "m", "hint": None, "retryable": True}
    assert Failure(**stored_json(json.dumps(whole), FAILURE, "a failure")).retryable
    assert json_fault(json.dumps({**whole, "hinu": None}), FAILURE) is not None
    assert template_of("page", "failure") is FAILURE


def test_the_fields_of_a_record_hang_on_its_kind() -> None:
    assert json_fault("{}", template_of("message", "data", "user")) is None
    assert json_fault("{}", template_of("message", "data", "tool")) is not None
    assert template_of("message", "data", "unheard of") is dict
    assert template_of("ledger", "data", None) is dict
    assert template_of("run", "answer") is ANSWER
    assert template_of("run", "question") is None


def test_a_program_that_ran_has_more_to_say_than_one_that_did_not_start() -> None:
    said = {"tool": "calendar", "argv": ["cal"]}
    ran = template_of("ledger", "data", "ran", CHAT_ENTRIES)
    assert fits({**said, "ended": "not_started"}, ran)
    assert not fits({**said, "ended": "ended"}, ran)
    assert fits({**said, "ended": "ended", "status": 0, "output_bytes": 5, "seconds": 0.1}, ran)
