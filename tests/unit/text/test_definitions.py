from __future__ import annotations

import pytest

from asky.text.definitions import are_of_kinds, definition_line, is_private, kinds_in


@pytest.mark.parametrize(
    ("text", "name", "line"),
    [
        ("class Mill(Building):\n    pass", "Mill", "class Mill(Building):"),
        ("# Grinds.\n@cache\ndef grind(oats: int) -> int:\n    return oats", "grind", "def grind(oats: int) -> int:"),
        ("    async def stop(\n        self,\n    ) -> None:", "stop", "async def stop"),
        ("// The mill.\nfunc (m *Mill) Grind(n int) error {", "Grind", "func (m *Mill) Grind(n int) error {"),
        ("CREATE TABLE IF NOT EXISTS mill (id int);", "mill", "CREATE TABLE IF NOT EXISTS mill (id int);"),
        ("int grind(int oats) {\n", "grind", "int grind(int oats) {"),
        ("class Fire(Exception):  # noqa: N818", "Fire", "class Fire(Exception):"),
        ("fn Mill::open() {}", "Mill::open", "fn Mill::open() {}"),
    ],
)
def test_the_line_of_a_definition_is_found_below_its_comments(text: str, name: str, line: str) -> None:
    found = definition_line(text, name)
    assert found is not None
    assert text[slice(*found)] == line


def test_a_constant_is_no_definition_and_a_comment_with_the_name_is_none_either() -> None:
    assert definition_line("LIMIT = 3\n", "LIMIT") is None
    assert definition_line("# class Mill is gone\n", "Mill") is None
    assert definition_line("class Mills:\n", "Mill") is None


LINES = [
    "class MillError(Exception):",
    "class Mill:",
    "class Fire(MillError):",
    "class Blaze(Fire):",
    "def error() -> None:",
    "class Wheel(Enum):",
]


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("which exceptions are there?", [0, 2, 3]),
        ("list the functions", [4]),
        ("which enums are defined?", [5]),
        ("what classes does it have?", [0, 1, 2, 3, 5]),
        ("", [0, 1, 2, 3, 4, 5]),
    ],
)
def test_kinds_choose_among_definitions_and_what_is_derived_from_them(question: str, expected: list[int]) -> None:
    chosen = are_of_kinds(LINES, kinds_in(question))
    assert [number for number, is_chosen in enumerate(chosen) if is_chosen] == expected


def test_private_definitions_are_told_by_their_names() -> None:
    assert is_private("def _grind() -> None:")
    assert is_private("private void grind() {")
    assert not is_private("def grind(_oats: int) -> None:")
