from __future__ import annotations

import json

import pytest

from asky.errors import UsageError
from asky.research.records import parse_record


def line(**record: object) -> bytes:
    return json.dumps(record).encode()


@pytest.mark.parametrize("text", ["One.\r\nTwo.\r\n\r\nThree.", "a\rb\x85c", "\ufeffna\u00efve \U0001f600 e\u0301\n"])
def test_the_text_of_a_record_is_stored_as_it_was_given(text: str) -> None:
    assert parse_record(line(id="a", text=text), "default")[1].text == text


def test_what_cannot_be_shown_is_replaced_without_moving_what_follows() -> None:
    text = "before\x00 \x1b[31m\u202eafter\ud800 end"
    kept = parse_record(line(id="a", text=text), "default")[1].text
    assert len(kept) == len(text)
    assert kept.index("end") == text.index("end")


def test_a_title_is_one_line() -> None:
    source, document = parse_record(line(id="a", text="x", title=" [1] A\n# B\r\n"), "default")
    assert (source.title, document.title) == ("[1] A # B", "[1] A # B")


@pytest.mark.parametrize("id_", [None, True, 1.5, "", [], {}])
def test_an_id_is_a_text_or_a_whole_number(id_: object) -> None:
    with pytest.raises(UsageError, match="id"):
        parse_record(line(id=id_, text="x"), "default")
