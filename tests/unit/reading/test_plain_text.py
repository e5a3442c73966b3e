from __future__ import annotations

import pytest

from asky.reading import plain_text
from asky.values import Section
from tests.support.timing import check_linear

LAB = (
    "Buffers\n=======\n\nBuffer A\n--------\n\n- Tris\n\nBuffer B, strong\n-----------------\n\n- NaOH\n\n"
    "Columns\n=======\n\nSilica.\n"
)


def test_underlined_lines_are_headings_and_the_text_stays() -> None:
    document = plain_text.read(LAB.encode(), "lab.txt")
    assert document.text == LAB
    assert document.title is None
    end, columns, b = len(LAB), LAB.index("Columns"), LAB.index("Buffer B")
    assert document.sections == (
        Section("Buffers", 1, 0, columns),
        Section("Buffer A", 2, LAB.index("Buffer A"), b),
        Section("Buffer B, strong", 2, b, columns),
        Section("Columns", 1, columns, end),
    )


def test_line_ends_of_windows_will_do() -> None:
    data = LAB.replace("\n", "\r\n").encode()
    assert [each.heading for each in plain_text.read(data, "LAB.TXT").sections] == [
        "Buffers",
        "Buffer A",
        "Buffer B, strong",
        "Columns",
    ]


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("The sea was calm that day.\n---\nThe next one too.", "diary.txt"),
        ("It was late.\nThe sea\n-------\n", "diary.txt"),
        ("\n\nName | Age\n----------\nAda | 36", "people.txt"),
        ("\n\nName  Age\n----  ---\nAda   36", "people.txt"),
        ("-----\n-----\n\n", "lines.txt"),
        ("Started\n-------\nok", "web.log"),
        ("Started\n-------\nok", "README"),
    ],
)
def test_other_lines_of_signs_make_no_headings(text: str, name: str) -> None:
    assert plain_text.read(text.encode(), name).sections == ()


def test_many_lines_take_linear_time() -> None:
    check_linear(lambda size: plain_text.read(b"a\n\n" * size + b"-" * size, "a.txt"), 10_000)
