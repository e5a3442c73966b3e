"""JSON in the store: read where it is of the shape that its readers rely on, and damage where it is not."""

from __future__ import annotations

import json
from typing import Any

import pytest

from asky.errors import StoreDamaged
from asky.storage.stored_json import ANSWER, FAILURE, LINKS, SETTINGS, SHAPES, Fields, fits, json_fault, stored_json
from asky.values import Failure

CITED = Fields({"n": int, "title": str | None}, {"authors": [str]})


@pytest.mark.parametrize(
    ("value", "shape", "does"),
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
        ({"n": 1}, Fields({"n": int}, is_closed=True), True),
        ({"n": 1, "m": 2}, Fields({"n": int}, is_closed=True), False),
    ],
)
def test_a_value_fits_its_shape_or_not(value: Any, shape: Any, does: bool) -> None:
    assert fits(value, shape) is does


@pytest.mark.parametrize(
    ("text", "shape", "fault"),
    [
        ("{", dict, "it is no JSON"),
        ("[" * 100_000, dict, "it is no JSON"),
        ("", dict, "it is no JSON"),
        ("[1]", ANSWER, "it is not what asky writes there"),
        ("{}", ANSWER, "it is not what asky writes there"),
        ('[["https://a.example", "A"]]', LINKS, "it is not what asky writes there"),
        ('{"sites": 5}', SETTINGS, "it is not what asky writes there"),
        (b"{}", dict, "it is no text"),
        (None, dict, "it is no text"),
    ],
)
def test_what_cannot_be_read_is_damage_that_names_its_place(text: object, shape: Any, fault: str) -> None:
    assert json_fault(text, shape) == fault
    with pytest.raises(StoreDamaged) as caught:
        stored_json(text, shape, "the answer of run 7")
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
    assert SHAPES["page", "failure"] is FAILURE
