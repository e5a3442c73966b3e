from __future__ import annotations

from asky.text.beside.remarks import REMARK, remark


def test_a_remark_is_one_line_that_is_recognised() -> None:
    line = remark("is this\nstill true?", author="Ada Byrne", about="the “north” quay")
    assert line == '[Comment by Ada Byrne on “the “north" quay”: is this still true?]'
    assert REMARK.findall(f"The quay is old.\n{line}\nIt leaks.") == [line]
    assert REMARK.fullmatch(remark("why?")) is not None


def test_a_remark_without_text_is_none() -> None:
    assert remark(" \n", author="Ada") == ""
