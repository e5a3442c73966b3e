from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from asky.reading.charset import decode, is_declarable


@given(st.binary(), st.none() | st.text(max_size=20))
def test_no_bytes_and_no_declaration_raise(data: bytes, declared: str | None) -> None:
    assert isinstance(decode(data, declared), str)


@given(st.text(alphabet=st.characters(exclude_categories=("Cs",), exclude_characters="\ufeff\x00")))
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-32"])
def test_unicode_with_its_mark_comes_back(encoding: str, text: str) -> None:
    assert decode(text.encode(encoding)) == text


def test_utf8_with_a_cut_last_character_stays_utf8() -> None:
    assert decode("Füße und Käse über".encode()[:-4]) == "Füße und Käse \ufffd"


@pytest.mark.parametrize(
    ("encoding", "text"),
    [
        ("cp1252", "Die Größe der Brücke über den Fluss wurde im Frühjahr für die Öffentlichkeit geprüft. " * 3),
        ("koi8-r", "Съешь ещё этих мягких французских булок, да выпей чаю. Широкая электрификация южных губерний." * 3),
        ("shift_jis", "吾輩は猫である。名前はまだ無い。どこで生れたかとんと見当がつかぬ。" * 5),
    ],
)
def test_other_encodings_are_guessed(encoding: str, text: str) -> None:
    assert decode(text.encode(encoding)) == text


def test_a_declared_encoding_comes_before_a_guess() -> None:
    assert decode("Łódź".encode("iso-8859-2"), "ISO-8859-2") == "Łódź"


def test_latin_1_is_read_as_its_windows_superset() -> None:
    assert decode(b"\x93quoted\x94 \xe9", "iso-8859-1") == "“quoted” é"


@pytest.mark.parametrize("declared", ["rot13", "utf-7", "klingon-8", "unicode_escape", "", "punycode"])
def test_a_declaration_that_no_page_should_make_is_not_followed(declared: str) -> None:
    assert decode(b"caf\xe9 \\u0041", declared) == decode(b"caf\xe9 \\u0041")


def test_text_far_behind_ascii_is_still_guessed_from_its_own_bytes() -> None:
    tail = "Съешь ещё этих мягких французских булок, да выпей чаю. Широкая электрификация южных губерний. "
    assert decode(b"# head\n" * 30_000 + tail.encode("cp1251")).endswith(tail)


def test_encodings_whose_bytes_pass_for_others_are_heeded_where_they_are_declared() -> None:
    text = "吾輩は猫である。名前はまだ無い。"
    assert decode(text.encode("iso-2022-jp"), "ISO-2022-JP") == text
    assert decode("plain words".encode("utf-16-le"), "utf-16") == "plain words"
    assert decode("plain words".encode("utf-16-be"), "UTF-16BE") == "plain words"
    assert decode("Привет, words and more words".encode("utf-16-be"), "utf-16be").startswith("Привет")


def test_a_declaration_that_the_bytes_belie_is_not_heeded() -> None:
    assert decode(b"plain words", "utf-16le") == "plain words"
    assert decode("Füße".encode(), "iso-2022-jp") == "Füße"
    assert decode("x".encode("utf-16-le") + b"y", "utf-16le").startswith("x")


@pytest.mark.parametrize(
    ("charset", "usable"),
    [("UTF-8", True), (" iso-8859-1 ", True), ("utf-16be", True), ("utf-7", False), ("rot13", False), ("", False)],
)
def test_only_known_encodings_may_be_declared(charset: str, usable: bool) -> None:
    assert is_declarable(charset) is usable


@pytest.mark.parametrize(
    "text",
    ["Rope;£2.50", "Unit price (£),%", "12,50 €", "25 °C", "It’s – well", "§ 5 Miete", "½ cup", "±0.5 µm", "20 m²"],
)
def test_a_few_signs_among_ascii_are_those_of_western_text(text: str) -> None:
    assert decode(f"Notes of the day\n{text}\n".encode("cp1252")) == f"Notes of the day\n{text}\n"


def test_western_text_is_preferred_to_encodings_that_nobody_uses() -> None:
    assert decode("Notes of the day\nnaïve café\n".encode("cp1252")) == "Notes of the day\nnaïve café\n"
