from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from asky.errors import UsageError
from asky.research.corpus.records import open_lines, parse_record


def line(**record: object) -> bytes:
    return json.dumps(record).encode()


@pytest.mark.parametrize(
    "text", ["One.\r\nTwo.\r\n\r\nThree.", "a\rb\x85c", "na\u00efve \U0001f600 e\u0301 re\u00adal\n"]
)
def test_the_text_of_a_record_is_stored_as_it_was_given(text: str) -> None:
    assert parse_record(line(id="a", text=text), "default")[1].text == text


def test_what_cannot_be_shown_is_replaced_without_moving_what_follows() -> None:
    text = "\ufeffbefore\x00 \x1b[31m\u202eaft\u200ber\ud800 end"
    kept = parse_record(line(id="a", text=text), "default")[1].text
    assert len(kept) == len(text)
    assert kept.index("end") == text.index("end")


def test_a_title_is_one_line() -> None:
    source, document = parse_record(line(id="a", text="x", title=" [1] A\n# B\r\n"), "default")
    assert (source.title, document.title) == ("[1] A # B", "[1] A # B")


def test_a_title_is_whole_and_without_escape_sequences() -> None:
    title = "word " * 100
    assert parse_record(line(id="a", text="x", title=f"\x1b]0;pwn\x07{title}"), "c")[0].title == title.strip()
    assert parse_record(line(id="\x1b[1mx", text="x"), "c")[0].title == "x"
    assert parse_record(line(id="\x1b[0m", text="x"), "c")[0].title == "untitled"


IDS = st.one_of(st.integers(-(2**63), 2**63 - 1), st.text(st.characters(codec="utf-8"), min_size=1))


@given(IDS, IDS)
@example(1, "1")
@example(1, "int:1")
@example("a/b", "a%2Fb")
def test_an_id_keeps_its_type_and_two_ids_never_share_a_source(one: int | str, other: int | str) -> None:
    sources = [parse_record(line(id=id_, text="x"), "c")[0] for id_ in (one, other)]
    assert [source.external_id for source in sources] == [one, other]
    assert [type(source.external_id) for source in sources] == [type(one), type(other)]
    assert (sources[0].uri == sources[1].uri) == (one == other)


@pytest.mark.parametrize(
    ("id_", "message"), [(2**63, "64 bits"), (-(2**63) - 1, "64 bits"), ("\ud800", "lone surrogate")]
)
def test_an_id_that_cannot_be_stored_is_refused(id_: object, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        parse_record(line(id=id_, text="x"), "default")


def test_lines_are_opened_at_once_and_closed_at_the_end(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot read"), open_lines(tmp_path / "missing.jsonl"):
        pytest.fail("nothing was opened")
    with pytest.raises(UsageError, match="cannot read"), open_lines(tmp_path):
        pytest.fail("a folder was opened")
    (tmp_path / "a.jsonl").write_bytes(b"1\n2")
    with open_lines(tmp_path / "a.jsonl") as lines:
        assert list(lines) == [b"1\n", b"2"]


@pytest.mark.parametrize("id_", [None, True, 1.5, "", [], {}])
def test_an_id_is_a_text_or_a_whole_number(id_: object) -> None:
    with pytest.raises(UsageError, match="id"):
        parse_record(line(id=id_, text="x"), "default")


@pytest.mark.parametrize(
    ("value", "kept"),
    [
        ("Bly, Nellie; Roe, Jo", "Bly, Nellie; Roe, Jo"),
        (["Bly, Nellie", "Müller, Jörg"], "Bly, Nellie; Müller, Jörg"),
        (["one; of a list", None, " ", "two"], "one  of a list; two"),
        ([2021, 3.5], "2021; 3.5"),
        (2021, "2021"),
        (-0.5, "-0.5"),
        (" text\x00 ", "text\ufffd"),
        (None, None),
        ("", None),
        ([], None),
        ([None, ""], None),
    ],
)
@pytest.mark.parametrize("key", ["author", "published", "shelf"])
def test_metadata_are_texts_and_what_says_nothing_is_not_there(key: str, value: object, kept: str | None) -> None:
    metadata = parse_record(line(id="a", text="x", metadata={key: value}), "c")[1].metadata
    assert metadata == ({} if kept is None else {key: kept})


@pytest.mark.parametrize("value", [True, {"family": "Bly"}, [["Bly"]], [{"name": "Bly"}], ["Bly", False]])
def test_what_is_neither_text_nor_number_nor_a_list_of_them_says_nothing_of_a_work(value: object) -> None:
    record = line(id="a", text="x", metadata={"author": value, "published_in": value, "shelf": value})
    metadata = parse_record(record, "c")[1].metadata
    assert metadata == {"shelf": json.dumps(value)}
