from __future__ import annotations

import json

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from asky.reading.json_file import read
from asky.text.scrub import scrub
from tests.support.files import deep_json

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
    max_leaves=20,
)


def text_of(value: str) -> str:
    return read(value.encode(), "a.json").text


def test_every_value_stands_under_its_path_in_the_order_of_the_file() -> None:
    text = text_of('{"b": {"c": [1, {"d": "x"}]}, "a": null, "e": true}')
    assert text == "b.c[0]: 1\nb.c[1].d: x\na: null\ne: true\n"


def test_records_are_parted_by_a_blank_line() -> None:
    assert text_of('[{"n": "Ann", "y": 1}, {"n": "Bo"}]') == "[0].n: Ann\n[0].y: 1\n\n[1].n: Bo\n\n"


def test_numbers_keep_their_spelling_and_repeated_keys_are_all_kept() -> None:
    digits = "9" * 5000
    assert text_of(f'{{"n": 1.10, "n": 1e5, "big": {digits}}}') == f"n: 1.10\nn: 1e5\nbig: {digits}\n"


def test_escapes_become_the_characters_they_stand_for_and_are_scrubbed() -> None:
    assert text_of(r'{"a": "caf\u00e9\u202e\ud800\u0000\r\nend"}') == "a: café\ufffd\ufffd\nend\n"


def test_the_title_is_the_outermost_one() -> None:
    assert read(b'{"x": {"title": "inner"}, "title": "outer"}', "a.json").title == "outer"
    assert read(b'{"title": ["x"]}', "a.json").title is None
    assert read(b'"title"', "a.json").title is None


@pytest.mark.parametrize("data", [b"{", b'{"a": 1} {"b": 2}', b"[" * 2_000, deep_json(200_000), b'{"a": 1, "b": [2}'])
def test_what_is_no_json_is_read_as_the_text_that_it_is_and_says_so(data: bytes) -> None:
    document = read(data, "a.json")
    assert document.text == data.decode()
    assert document.metadata["unread_parts"].startswith("structure: ")
    assert document.metadata["unread_parts"].endswith("read as plain text")


def test_a_file_with_a_value_on_each_line_is_json_lines() -> None:
    assert text_of('{"port": "Lynvik"}\n{"port": "Skerry"}\n') == "[0].port: Lynvik\n\n[1].port: Skerry\n\n"


def test_a_page_or_xml_with_the_name_of_json_is_read_as_what_it_is() -> None:
    assert "Not found" in text_of("<!DOCTYPE html><html><body><p>Not found</p></body></html>")
    assert text_of('<?xml version="1.0"?><error><code>404</code></error>') == "\ncode: 404\n".lstrip("\n")


SETTINGS = """{
  // how long a lamp burns,
  // in hours
  "lampHours": 1340,
  "keeper": { name: 'Sun"niva', "since": 2011, }, // since the storm
  /* by the
   * door */
  "lamps": [
    "left", // broken
    +.5, 0xFF,
    "https://example.org//x /* no comment */",
  ],
}
"""


def test_comments_stay_with_their_values_and_the_rest_is_read_as_it_is_meant() -> None:
    assert text_of(SETTINGS) == (
        "lampHours: 1340 # how long a lamp burns, in hours\n"
        'keeper: # since the storm\nkeeper.name: Sun"niva\nkeeper.since: 2011\n'
        "lamps: # by the door\nlamps[0]: left # broken\nlamps[1]: +.5\nlamps[2]: 0xFF\n"
        "lamps[3]: https://example.org//x /* no comment */\n"
    )


@pytest.mark.parametrize("text", ["{a 1}", "{a: 1 b: 2}", "[1 2]", "{,}", "[1,,2]", "{a:}", "[1}", "{'a'}", "[1] [2]"])
def test_what_may_mean_anything_is_not_guessed(text: str) -> None:
    assert text_of(text) == text


def test_comments_without_end_take_linear_time() -> None:
    assert len(text_of("{" + "/*" * 200_000)) > 200_000
    assert len(text_of("[" + "1, // x\n" * 50_000 + "]")) > 200_000


@given(VALUES)
@example("\u034f")  # printable, and invisible: no part of any text that is read
def test_every_string_of_the_file_is_in_the_text(value: object) -> None:
    text = read(json.dumps(value).encode(), "a.json").text
    assert text.count("\n") >= text.count(": null")

    def check(part: object) -> None:
        if isinstance(part, dict):
            for member in part.values():
                check(member)
        elif isinstance(part, list):
            for member in part:
                check(member)
        elif isinstance(part, str) and part.isprintable():
            assert scrub(part) in text
        elif isinstance(part, int):
            assert str(part).lower() in text

    check(value)
