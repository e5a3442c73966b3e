from __future__ import annotations

import contextlib
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from asky.config.tool_parameters import check_schema
from asky.llm.arguments import MAX_ARGUMENT_CHARS, BadArguments, canonical, describe, parse_arguments

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "queries": {"type": "array", "items": {"type": "string", "maxLength": 5}, "minItems": 1, "maxItems": 2},
        "limit": {"type": "integer", "minimum": 1, "maximum": 20},
        "share": {"type": "number", "minimum": 0, "description": "a share", "default": 0.5},
        "mode": {"type": "string", "enum": ["fast", "good"], "minLength": 1},
        "deep": {"type": "boolean"},
        "where": {
            "type": "object",
            "properties": {"page": {"type": "integer"}},
            "required": ["page"],
            "additionalProperties": False,
        },
        "anything": {"type": "object"},
    },
    "required": ["queries"],
    "additionalProperties": False,
}


def test_arguments_that_fit_come_back_as_they_are() -> None:
    arguments = {
        "queries": ["a", "b"],
        "limit": 20,
        "share": 1,
        "mode": "good",
        "deep": False,
        "where": {"page": 3},
        "anything": {"x": [1, None]},
    }
    assert parse_arguments(json.dumps(arguments), SCHEMA) == arguments


@pytest.mark.parametrize("text", ["", "  \n", "{}"])
def test_no_arguments_are_an_empty_object(text: str) -> None:
    assert parse_arguments(text, {"type": "object", "additionalProperties": False}) == {}


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("{", "not JSON (Expecting property name enclosed in double quotes at character 1)"),
        ('{"queries": ["a"]} {}', "not JSON (Extra data at character 19)"),
        ("null", "arguments: must be of type object"),
        ("[]", "arguments: must be of type object"),
        ("{}", "queries: is required"),
        ('{"queries": "a"}', "queries: must be of type array"),
        ('{"queries": []}', "queries: must have at least 1 items"),
        ('{"queries": ["a", "b", "c"]}', "queries: must have at most 2 items"),
        ('{"queries": ["a", 2]}', "queries[1]: must be of type string"),
        ('{"queries": ["abcdef"]}', "queries[0]: must have at most 5 characters"),
        ('{"queries": ["a"], "limit": true}', "limit: must be of type integer"),
        ('{"queries": ["a"], "limit": 2.0}', "limit: must be of type integer"),
        ('{"queries": ["a"], "limit": 0}', "limit: must be at least 1"),
        ('{"queries": ["a"], "limit": 21}', "limit: must be at most 20"),
        ('{"queries": ["a"], "share": "1"}', "share: must be of type number"),
        ('{"queries": ["a"], "mode": "best"}', 'mode: must be one of "fast", "good"'),
        ('{"queries": ["a"], "deep": 1}', "deep: must be of type boolean"),
        ('{"queries": ["a"], "where": {}}', "where.page: is required"),
        ('{"queries": ["a"], "where": {"page": 1, "line": 2}}', "where: 'line' is not a parameter (known: page)"),
        (
            '{"queries": ["a"], "session": "other"}',
            "arguments: 'session' is not a parameter (known: queries, limit, share, mode, deep, where, anything)",
        ),
        ('{"queries": ["\\ud800"]}', "not JSON that can be read"),
        ('{"queries": ["a"], "share": NaN}', "not JSON that can be read"),
        ('{"queries": ["a"], "share": 1e999}', "not JSON that can be read"),
        ("[" * 90_000, "not JSON that can be read"),
        ('{"limit": ' + "9" * 5_000 + "}", "not JSON that can be read"),
        ('"' + "a" * MAX_ARGUMENT_CHARS + '"', "longer than 100000 characters"),
    ],
)
def test_arguments_that_do_not_fit_are_refused_with_the_place_and_the_rule(text: str, problem: str) -> None:
    with pytest.raises(BadArguments) as refused:
        parse_arguments(text, SCHEMA)
    assert str(refused.value) == problem


def test_many_problems_are_told_in_a_short_line() -> None:
    with pytest.raises(BadArguments) as refused:
        parse_arguments(json.dumps({f"k{i}" * 100: i for i in range(50)}), SCHEMA)
    assert str(refused.value).endswith("; and 48 more")
    assert len(str(refused.value)) < 500


@pytest.mark.parametrize(
    ("schema", "problem"),
    [
        ({}, "parameters: type must be one of"),
        ({"type": "null"}, "parameters: type must be one of"),
        ({"type": ["string", "null"]}, "parameters: type must be one of"),
        ({"type": "string", "pattern": "a+"}, "parameters: 'pattern' is not understood for type string"),
        ({"type": "integer", "maxLength": 3}, "parameters: 'maxLength' is not understood for type integer"),
        ({"type": "object", "additionalProperties": True}, "parameters: additionalProperties can only be false"),
        ({"type": "object", "required": ["a"]}, "parameters: 'a' is required but not among the properties"),
        ({"type": "object", "properties": {"a": {"type": "date"}}}, "parameters.a: type must be one of"),
        ({"type": "array", "items": {"type": "string", "format": "uri"}}, "parameters[]: 'format' is not understood"),
    ],
)
def test_a_schema_with_a_rule_that_is_not_enforced_is_refused(schema: dict[str, Any], problem: str) -> None:
    with pytest.raises(ValueError, match="^" + problem.replace("[", r"\[").replace("]", r"\]")):
        check_schema(schema)


@given(st.text(max_size=300))
def test_any_text_is_parsed_or_refused_and_never_crashes(text: str) -> None:
    with contextlib.suppress(BadArguments):
        parse_arguments(text, SCHEMA)
    describe(text)
    canonical(text)


def test_equal_arguments_have_one_canonical_spelling() -> None:
    assert canonical('{"b": 1, "a": "é"}') == canonical('{ "a":"\\u00e9","b":1 }')
    assert canonical("") == canonical("{}")
    assert canonical("{oops") == "{oops"


def test_arguments_are_described_by_their_strings_in_one_short_line() -> None:
    assert describe('{"queries": ["mill\\nfire", "river"], "limit": 3, "x": {"y": "deep"}}') == "mill fire, river, deep"
    assert describe("{}") == ""
    assert describe("{oops") == "unreadable arguments"
    long = describe(json.dumps({"q": "word " * 100}))
    assert len(long) <= 80
    assert long.endswith("…")
