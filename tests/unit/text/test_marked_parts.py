"""What asky has written into a note, by its markers, also where somebody has edited these."""

from __future__ import annotations

import pytest

from asky.notes.section import replace_section
from asky.text.beside.marked_parts import marked_parts, without_parts

BEGIN, END = "%% asky:begin sha=0123456789ab %%", "%% asky:end %%"
WRITTEN = "The Kestrel makes 900 GWh."
ABOVE, BELOW, NEXT = "Mine above.", "Mine below.", "Mine in the next section."


def note(*lines: str) -> str:
    return "\n\n".join(["# Alpha", ABOVE, "## Research", *lines, "## Next", NEXT]) + "\n"


def kept(text: str) -> str:
    return without_parts(text, marked_parts(text))


def test_what_asky_has_written_is_left_out_and_lines_keep_their_numbers() -> None:
    text = replace_section(f"# Alpha\n\n{ABOVE}\n\n## Next\n\n{NEXT}\n".encode(), f"### Kestrel\n\n{WRITTEN}").decode()
    assert WRITTEN in text
    assert WRITTEN not in kept(text)
    assert "Kestrel" not in kept(text)
    assert [each for each in kept(text).splitlines() if each] == ["# Alpha", ABOVE, "## Next", NEXT, "## Research"]
    assert kept(text).count("\n") == text.count("\n")


EDITED = {
    "as it was": ((BEGIN, WRITTEN, END, BELOW), True),
    "its text edited": ((BEGIN, WRITTEN, "A word of mine.", END, BELOW), True),
    "its hash removed": (("%% asky:begin %%", WRITTEN, END, BELOW), True),
    "no last marker": ((BEGIN, WRITTEN, BELOW), False),
    "no first marker": ((WRITTEN, END, BELOW), True),
    "twice": ((BEGIN, WRITTEN, END, BELOW, BEGIN, WRITTEN, END), True),
    "first marker doubled": ((BEGIN, BEGIN, WRITTEN, END, BELOW), False),
    "last marker doubled": ((BEGIN, WRITTEN, END, WRITTEN, END, BELOW), True),
    "nested": ((BEGIN, BEGIN, WRITTEN, END, WRITTEN, END, BELOW), True),
    "a heading of level 2 within": ((BEGIN, WRITTEN, "## Own", WRITTEN, END, BELOW), True),
    "in a quote": ((f"> {BEGIN}\n>\n> {WRITTEN}\n>\n> {END}", BELOW), True),
    "behind a list": ((f"- mine\n{BEGIN}\n{WRITTEN}\n{END}", BELOW), True),
    "in code": ((f"```\n{BEGIN}\n{WRITTEN}\n{END}\n```", BELOW), True),
    "Windows": ((f"{BEGIN}\r\n\r\n{WRITTEN}\r\n\r\n{END}\r", BELOW), True),
}


@pytest.mark.parametrize("how", EDITED)
def test_markers_edited_by_hand_let_nothing_of_asky_pass(how: str) -> None:
    lines, keeps_below = EDITED[how]
    text = kept(note(*lines))
    assert WRITTEN not in text
    assert "asky:" not in text
    assert NEXT in text
    assert ABOVE in text
    assert (BELOW in text) == keeps_below


def test_a_part_that_was_moved_out_of_its_section_is_one_still() -> None:
    text = kept(f"{ABOVE}\n\n{BEGIN}\n\n{WRITTEN}\n\n{END}\n\n# Alpha\n\n{NEXT}\n")
    assert WRITTEN not in text
    assert ABOVE in text
    assert NEXT in text


def test_words_that_only_speak_of_the_markers_stay() -> None:
    text = f"The marker `{BEGIN}` begins a part, and {END} ends it.\n"
    assert kept(text) == text
