"""The section of a note: only asky's part of it changes, whatever the note is like."""

from __future__ import annotations

import pytest

from asky.errors import SourceUnreadable, UsageError
from asky.notes.section import present_body, replace_section

BODY = "### Tides\n\nThe sea rises twice a day."
OTHER = "### Waves\n\nWind makes them."


def after_three(note: bytes, body: str = BODY) -> bytes:
    """The note after one run; two more change nothing."""
    once = replace_section(note, body)
    assert replace_section(replace_section(once, body), body) == once
    assert present_body(once) == body
    return once


def test_a_note_without_the_section_gets_it_at_its_end() -> None:
    written = after_three(b"# Note\n\ntext\n").decode()
    assert written == (
        "# Note\n\ntext\n\n## Research\n\n%% asky:begin sha=ac2f3b050a09 %%\n\n"
        "### Tides\n\nThe sea rises twice a day.\n\n%% asky:end %%\n"
    )


@pytest.mark.parametrize(
    ("note", "between"),
    [
        (b"", b""),
        (b"\xef\xbb\xbf", b""),
        (b"text", b"\n\n"),
        (b"text\n", b"\n"),
        (b"text\n\n", b""),
        (b"text\n \t\n", b""),
        (b"text\r\nmore", b"\r\n\r\n"),
        (b"text\r\nmore\r\n", b"\r\n"),
        (b"a\rb\r", b"\r"),
        (b"---\ntitle: x\n---\n", b"\n"),
        (b"a\nb\nc\r\n", b"\n"),
    ],
)
def test_one_blank_line_stands_before_an_appended_section(note: bytes, between: bytes) -> None:
    assert after_three(note).startswith(note + between + b"## Research")


@pytest.mark.parametrize(("note", "end"), [(b"a\r\nb\r\n\n", b"\r\n"), (b"a\nb\n\r\n", b"\n"), (b"a\rb\r", b"\r")])
def test_the_part_has_the_line_ends_that_most_lines_have(note: bytes, end: bytes) -> None:
    written = after_three(note)[len(note) :]
    assert written.replace(end, b"").count(b"\r") + written.replace(end, b"").count(b"\n") == 0
    assert written.endswith(b"%%" + end)


def test_a_note_without_a_final_line_end_stays_without() -> None:
    assert after_three(b"text").endswith(b"asky:end %%")


@pytest.mark.parametrize(
    "heading",
    [
        b"## Research\n", b"## Research ##\n", b"   ## research\n", b"##\tRESEARCH  \n", b"Research\n---\n",
        b"## Research ^id-1\n", b"## **Research**\n", b"## Research\r\n", b"Research\r\n--------\r\n",
    ],
)  # fmt: skip
def test_the_section_is_found_and_what_is_in_it_stays_above(heading: bytes) -> None:
    before, after = b"# Note\n\n" + heading + b"\nmine  \n\n### mine too\n- x\n", b"\n\n## Next\n\ntext\n# Other"
    written = after_three(before + after)
    assert written.startswith(before + (b"\n%% asky:begin" if b"\r" not in heading else b""))
    assert written.startswith(before)
    assert written.endswith(b"asky:end %%\n" + after)
    again = after_three(written, OTHER)
    assert b"Tides" not in again
    assert again.startswith(before)
    assert again.endswith(b"asky:end %%\n" + after)


@pytest.mark.parametrize(
    "note",
    [
        b"```\n## Research\n```\n",
        b"````\n```\n## Research\n```\n````\n",
        b"~~~\n```\n## Research\n~~~\n",
        b"> ## Research\n",
        b"- item\n  ## Research\n",
        b"<!--\n## Research\n-->\n",
        b"<div>\n## Research\n</div>\n",
        b"%%\n## Research\n%%\n",
        b"a %% b\n\n## Research\n\nc %% d\n",
        b"    ## Research\n",
        b"\\## Research\n",
        b"# Research\n",
        b"### Research\n",
        b"####### Research\n",
        b"##Research\n",
        b"## Research notes\n",
        b"---\ntitle: [broken\n## Research\n---\ntext\n",
        b"---\n: no yaml\n## Research\n---\ntext\n",
        b"\xef\xbb\xbf---\r\n## Research\r\n---\r\ntext\r\n",
    ],
)
def test_what_only_looks_like_the_section_is_left_alone(note: bytes) -> None:
    assert after_three(note).startswith(note)


def test_the_next_heading_is_not_joined_to_the_part() -> None:
    written = after_three(b"## Research\nNext\n---\n\ntext\n")
    assert written.endswith(b"%% asky:end %%\n\nNext\n---\n\ntext\n")
    assert after_three(b"## Research\n# Next\n").endswith(b"%% asky:end %%\n\n# Next\n")


def test_text_of_yours_before_and_after_the_markers_stays() -> None:
    first = replace_section(b"## Research\n\nabove\n", BODY)
    note = first + b"\nbelow\n\n## Next\n"
    written = after_three(note, OTHER)
    assert written.startswith(b"## Research\n\nabove\n\n%% asky:begin")
    assert written.endswith(b"Wind makes them.\n\n%% asky:end %%\n\nbelow\n\n## Next\n")
    assert b"Tides" not in written


def test_markers_keep_their_place_without_blank_lines_around_them() -> None:
    first = replace_section(b"## Research\n\nabove\n", BODY).replace(b"\n\n%% asky:begin", b"\n%% asky:begin")
    written = after_three(first + b"below", OTHER)
    assert written.startswith(b"## Research\n\nabove\n%% asky:begin")
    assert written.endswith(b"asky:end %%\nbelow")


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b"rises twice", b"rises *almost* twice"),
        (b"### Tides\n", b"   my own line  \n### Tides\n"),
        (b"a day.\n", b"a day.\n\n### Mine\n\n```\ncode\n```\n"),
        (b" sha=", b" hash="),
        (b"\n%% asky:end %%\n", b""),
    ],
)
def test_what_you_have_changed_in_the_part_is_yours(old: bytes, new: bytes) -> None:
    note = b"# Note\n\n" + replace_section(b"## Research\n\nabove\n", BODY) + b"\nbelow\n\n## Next\n"
    edited = note.replace(old, new)
    written = after_three(edited, OTHER)
    kept = [line for line in edited.splitlines() if b"asky:" not in line and line.strip()]
    lines = written.splitlines()
    assert [line for line in lines if line in kept and line.strip()] == kept
    assert written.count(b"asky:begin") == written.count(b"asky:end") == 1
    assert lines.index(b"### Tides") < lines.index(b"### Waves") < lines.index(b"## Next")


def test_a_heading_that_you_put_into_the_part_divides_it_and_nothing_is_lost() -> None:
    note = replace_section(b"", "### A\n\na\n\n### B\n\nb").replace(b"### B", b"## Mine\n\n### B")
    written = after_three(note, OTHER).decode()
    order = [
        written.index(each) for each in ("## Research", "### A", "\na\n", "### Waves", "## Mine", "### B", "\nb\n")
    ]
    assert order == sorted(order)


def test_an_edit_that_only_changes_line_ends_is_none() -> None:
    note = replace_section(b"# Note\n", BODY).replace(b"\n", b"\r\n")
    assert replace_section(note, BODY) == note
    assert b"Tides" not in replace_section(note, OTHER)


def test_of_several_sections_the_one_with_the_markers_is_ours() -> None:
    note = b"## Research\n\nmine\n\n" + replace_section(b"", BODY) + b"\n## Research\n\nalso mine\n"
    written = after_three(note, OTHER)
    assert written.startswith(b"## Research\n\nmine\n\n## Research\n\n%% asky:begin")
    assert written.endswith(b"\n## Research\n\nalso mine\n")


@pytest.mark.parametrize(
    ("note", "lines"),
    [
        (b"## Research\r\n\r\n# Note\r\n\r\nResearch\r\n---\r\n", "lines 1, 5"),
        (replace_section(b"", BODY) * 2 + b"## Research\n", "lines 1, 10"),
    ],
)
def test_several_sections_are_refused_with_their_lines(note: bytes, lines: str) -> None:
    with pytest.raises(UsageError, match=lines):
        replace_section(note, BODY)


@pytest.mark.parametrize(
    "note",
    [
        b"```\ncode",
        b"text\n\n<!-- open\n",
        b"<script>\n",
        b"%% open\n",
        b"## Research\n\n~~~\n\n# x\n",
        b"---\ntitle: x\n",
    ],
)
def test_a_part_that_nobody_would_see_is_not_written(note: bytes) -> None:
    body = BODY + "\n\n---\n\nmore" if note.startswith(b"---") else BODY
    with pytest.raises(UsageError, match="not closed"):
        replace_section(note, body)


@pytest.mark.parametrize("body", ["# Top\n\ntext", "text\n\n```\nopen", "a\n\n%% asky:end %%\n\nb"])
def test_a_part_that_would_end_itself_or_not_at_all_is_not_written(body: str) -> None:
    with pytest.raises(UsageError):
        replace_section(b"# Note\n\n## Research\n\n## Next\n", body)


@pytest.mark.parametrize(
    "note",
    [
        b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR",
        b"text\x00",
        "text".encode("utf-16"),
        "text".encode("utf-32"),
        "Küste\n".encode("latin-1"),
        b"\xff\xfe",
    ],
)
def test_what_is_not_utf_8_is_refused_in_one_line(note: bytes) -> None:
    with pytest.raises(SourceUnreadable) as caught:
        replace_section(note, BODY)
    assert caught.value.message.isprintable()
    with pytest.raises(SourceUnreadable):
        present_body(note)


def test_without_a_part_there_is_no_present_body() -> None:
    assert present_body(b"# Note\n") is None
    assert present_body(b"## Research\n\nmine\n") is None
    assert present_body(replace_section(b"", BODY).replace(b"rises", b"falls")) is None


def test_markers_in_code_of_yours_are_text() -> None:
    note = b"## Research\n\n```\n" + replace_section(b"", BODY).split(b"\n\n", 1)[1] + b"```\n"
    assert after_three(note, OTHER).startswith(note)
