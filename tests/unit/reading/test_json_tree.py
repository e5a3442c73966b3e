from __future__ import annotations

import json

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from asky.errors import SourceUnreadable
from asky.reading.settings.json_tree import read
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


@pytest.mark.parametrize("data", [b"{", b"", b"{'a': 1}", b'{"a": 1} {"b": 2}', b"\xff\xfe", b"[" * 1000])
def test_malformed_json_is_refused_with_the_place(data: bytes) -> None:
    with pytest.raises(SourceUnreadable, match=r"^a\.json: ") as caught:
        read(data, "a.json")
    assert caught.value.verdict == "failed"
    assert "\n" not in caught.value.message


def test_endless_nesting_is_refused() -> None:
    with pytest.raises(SourceUnreadable, match=r"a\.json: JSON is nested too deeply"):
        read(deep_json(200_000), "a.json")


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
