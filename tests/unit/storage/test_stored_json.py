"""JSON in the store: read where it is of the shape that its readers rely on, and damage where it is not."""

from __future__ import annotations

import json
from datetime import date
from typing import Any

import pytest

from asky.errors import StoreDamaged
from asky.storage.record_shapes import MESSAGE, shape_of
from asky.storage.stored_json import (
    ANSWER,
    FAILURE,
    LINKS,
    SETTINGS,
    SHAPES,
    AnyOf,
    Fields,
    Made,
    Named,
    fits,
    json_fault,
    stored_json,
)
from asky.values import Failure, Span

MET = Named(object, {"notes": [str], "limit": bool})
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
        (True, int, False),
        (True, int | float | None, False),
        (True, bool | None, True),
        (True, object, True),
        (1, int | None, True),
        (["a", [1]], (str, [int]), True),
        (["a", ["b"]], (str, [int]), False),
        ([["a", 1], ["b", 2]], [(str, int)], True),
        ([["a", 1], ["b", True]], [(str, int)], False),
        ([["a", 1], ["b"]], [(str, int)], False),
        ([["a", True]], [(str, bool)], True),
        ("a", frozenset({"a", "b"}), True),
        ("c", frozenset({"a", "b"}), False),
        (["a"], frozenset({"a", "b"}), False),
        (None, AnyOf(([int], None)), True),
        ([1], AnyOf(([int], None)), True),
        (["a"], AnyOf(([int], None)), False),
        ({"notes 1": ["a"], "limit 2": True, "x": 5}, MET, True),
        ({"notes 1": "a"}, MET, False),
        ({"limit": ["a"]}, MET, False),
        ([], MET, False),
        ("2026-01-31", Made(str, date.fromisoformat), True),
        ("2026-01-32", Made(str, date.fromisoformat), False),
        (5, Made(str, date.fromisoformat), False),
        ([3, 2], Made((int, int), lambda span: Span(*span)), False),
        ([2, 3], Made((int, int), lambda span: Span(*span)), True),
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


def test_the_shape_of_a_record_is_that_of_its_kind() -> None:
    assert shape_of("message", "data", {"role": "tool"}) is MESSAGE.of("tool")
    assert shape_of("message", "data", {"role": "unheard of"}) is dict
    assert shape_of("message", "data", {"role": None}) is dict
    assert shape_of("run", "answer", {"id": "x"}) is ANSWER
    assert shape_of("run", "question", {"id": "x"}) is None
    assert json_fault("{}", MESSAGE.of("user")) is None
    assert json_fault("{}", MESSAGE.of("tool")) is not None
