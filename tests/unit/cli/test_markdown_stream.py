from __future__ import annotations

import fcntl
import io
import os
import pty
import re
import struct
import subprocess
import sys
import termios

import pytest

from asky.cli.terminal.markdown_stream import MarkdownStream, PlainStream, markdown_stream, terminal_size
from tests.support.asky_command import ROOT
from tests.support.terminals import ScreenStream

ENVIRON = {"TERM": "xterm-256color"}
ANSWER = """\
# Tides

The sea rises and **falls** twice a day [1], because the moon pulls on the water and the earth turns below it [2][3].

- Spring tides come at new moon, when sun and moon pull together.
- Neap tides come a week later.
  1. nested

| place | range |
|-------|------:|
| Bay of Fundy | 16 m [1] |

> The tide waits for nobody.

```python
height = 16

print(height)
```
End.
"""
RENDERED = """\
Tides

The sea rises and falls twice a day
[1], because the moon pulls on the
water and the earth turns below it
[2][3].

 • Spring tides come at new moon, when
   sun and moon pull together.
 • Neap tides come a week later.
    1 nested

 place            range
 ──────────────────────
 Bay of Fundy  16 m [1]

▌ The tide waits for nobody.

  height = 16

  print(height)

End.""".splitlines()


class Shown:
    """An answer on a screen."""

    def __init__(self, columns: int = 40, rows: int = 40) -> None:
        self.stream = ScreenStream(columns, rows)
        self.markdown = MarkdownStream(self.stream, environ=ENVIRON, size=self.stream.size)

    def write(self, *pieces: str) -> Shown:
        for piece in pieces:
            self.markdown.write(piece)
        return self

    @property
    def lines(self) -> list[str]:
        return self.stream.lines()

    @property
    def cursor(self) -> tuple[int, int]:
        return self.stream.screen.cursor.x, self.stream.screen.cursor.y


def pieces_of(text: str, size: int) -> list[str]:
    return [text[start : start + size] for start in range(0, len(text), size)]


def test_a_whole_answer_is_rendered() -> None:
    shown = Shown().write(ANSWER)
    shown.markdown.finish()
    assert shown.lines == RENDERED
    assert shown.cursor == (0, len(RENDERED))


@pytest.mark.parametrize("size", [1, 2, 3, 7, 40])
def test_an_answer_in_pieces_ends_as_the_same_screen(size: int) -> None:
    shown = Shown().write(*pieces_of(ANSWER, size))
    shown.markdown.finish()
    assert shown.lines == RENDERED
    assert shown.cursor == (0, len(RENDERED))


def test_the_first_piece_is_seen_at_once_and_as_it_is() -> None:
    shown = Shown().write("**Hel")
    assert shown.lines == ["**Hel"]
    assert shown.cursor == (5, 0)


def test_every_piece_is_seen_when_it_has_been_written() -> None:
    shown, so_far = Shown(), ""
    for character in ANSWER:
        shown.write(character)
        so_far += character
        last = so_far.rstrip().rpartition("\n")[2].split()[-1]
        letters = re.sub(r"[^A-Za-z]", "", last)
        assert letters in re.sub(r"[^A-Za-z]", "", "".join(shown.lines)), so_far


def test_a_block_is_rendered_when_it_is_complete_and_not_before() -> None:
    shown = Shown().write("**one** tw")
    assert shown.lines == ["**one** tw"]
    shown.write("o\n\n")
    assert shown.lines == ["one two"]
    shown.write("- *a*\n")
    assert shown.lines == ["one two", "", "- *a*"]
    shown.write("- b")
    assert shown.lines == ["one two", "", " • a", "- b"]


def test_one_piece_is_one_write_and_what_is_painted_again_is_one_update() -> None:
    shown = Shown().write(*pieces_of(ANSWER, 3))
    assert len(shown.stream.writes) <= len(pieces_of(ANSWER, 3))
    for sent in shown.stream.writes:
        if re.search(r"\x1b\[\d*A|\r(?!\n)", sent):
            assert sent.startswith("\x1b[?2026h")
            assert sent.endswith("\x1b[?2026l")


def test_no_row_is_painted_more_often_than_it_has_to_be() -> None:
    """Each character is sent as it comes, once more if its word is moved, and once more in its rendered row."""
    shown = Shown()
    shown.write(*ANSWER)
    printed = sum(len(re.sub(r"\x1b\[[?\d;]*[A-Za-z]|[\r\n]", "", sent)) for sent in shown.stream.writes)
    assert printed < 2.2 * len(ANSWER)


def test_rows_of_plain_words_are_not_sent_a_second_time() -> None:
    shown = Shown().write("These are nothing but words of a paragraph, and they go on for three rows, as one can see.")
    assert len(shown.lines) == 3
    before = len(shown.stream.writes)
    shown.write("\n\n")
    assert shown.stream.writes[before:] == []


def test_blocks_that_are_complete_never_change_again() -> None:
    shown, done = Shown(), 0
    for character in ANSWER:
        shown.write(character)
        lines = shown.lines
        assert lines[:done] == RENDERED[:done]
        if "\x1b[?2026l" in shown.stream.writes[-1] and lines == RENDERED[: len(lines)]:
            done = len(lines)
    assert done >= 15


TALL = {
    "code": "```python\n" + "".join(f"x{n} = {n}\n" + "\n" * (n % 3 == 2) for n in range(20)) + "```\n",
    "code set in by four": "    first\n" + "".join(f"    line {n}\n" for n in range(20)),
    "paragraph": "The **sea** " + " ".join(f"rises *and {n} falls* by `{n} m` [{n}] a day" for n in range(30)),
    "paragraph of lines": "The **sea**\n" + "".join(f"rises {n} times\nand *falls*\n" for n in range(20)),
    "quotation": "> The **tide**\n" + "".join(f"> waits for {n} people, *never*\n" for n in range(20)),
    "item": "2. Places\n" + "".join(f"   - Bay {n} of *Fundy*\n" for n in range(20)),
    "deep item": "- a\n" + "".join(f"  - b {n}\n    1. c **{n}**\n" for n in range(10)),
}


@pytest.mark.parametrize(("rows", "size"), [(6, 1), (8, 7), (13, 10_000)])
@pytest.mark.parametrize("kind", TALL)
def test_a_block_taller_than_the_screen_ends_as_on_a_tall_screen(kind: str, rows: int, size: int) -> None:
    text = f"Before it:\n\n{TALL[kind]}\n**after** it\n\n- x"
    tall, small = Shown(40, 300).write(text), Shown(40, rows).write(*pieces_of(text, size))
    tall.markdown.finish()
    small.markdown.finish()
    assert small.stream.all_lines() == tall.lines
    assert small.stream.all_lines()[-3:] == ["after it", "", " • x"]


def test_a_tall_block_is_rendered_as_it_fills_the_screen_and_its_end_is_seen_as_it_comes() -> None:
    shown = Shown(40, 6).write(*"".join(f"line {n}\n" for n in range(3)).join(["```\n", ""]))
    assert shown.lines == ["```", "line 0", "line 1", "line 2"]
    shown.write("line 3\nline 4\nli")
    assert shown.stream.all_lines() == [*(f"  line {n}" for n in range(5)), "li"]
    shown.write(*"".join(f"ne {n}\nli" for n in range(5, 30)))
    lines = shown.stream.all_lines()
    assert lines[: len(lines) - 6] == [f"  line {n}" for n in range(len(lines) - 6)]
    assert [line.strip() for line in lines] == [*(f"line {n}" for n in range(30)), "li"]


def test_of_a_tall_table_the_end_is_seen_as_it_comes_and_all_of_it_when_it_is_complete() -> None:
    rows = "".join(f"| {n} | {'word ' * (1 + n % 3)}|\n" for n in range(1, 15))
    shown = Shown(40, 6).write("Before it:\n\n", *f"| n | what |\n|--:|---|\n{rows}")
    assert shown.stream.all_lines() == ["Before it:", *(row.rstrip() for row in rows.splitlines()[-6:])]
    shown.write(*f"| 15 | {'long ' * 9}|\n\nEnd")
    shown.markdown.finish()
    lines = shown.stream.all_lines()[2:]
    assert (lines[0], lines[2]) == ("  n  what", "  1  word word")
    assert lines[15:] == [" 14  word word word", " 15  long long long long long long", "     long long long", "", "End"]
    assert sum("what" in line for line in lines) == 1


def test_a_tall_block_is_shown_whole_before_a_message() -> None:
    words = [f"word{n}" for n in range(60)]
    shown = Shown(40, 5).write("Before it:\n\n", *" ".join(words))
    assert "word0" not in "".join(shown.stream.all_lines())
    shown.markdown.interrupt()
    assert "".join(shown.stream.all_lines()).count("word") == 60


def test_the_parts_of_a_tall_block_are_painted_in_one_update_each() -> None:
    shown = Shown(40, 8).write(*TALL["code"])
    repainted = [sent for sent in shown.stream.writes if "\x1b[" in sent]
    assert 2 <= len(repainted) <= 8
    assert all(sent.startswith("\x1b[?2026h") and sent.endswith("\x1b[?2026l") for sent in repainted)


@pytest.mark.parametrize(
    ("block", "rows"),
    [
        ("```\n" + "x" * 300 + "\n```\n", ["  " + "x" * 37] * 8),
        ("- " + "**words** " * 60 + "\n", [" • " + "words " * 5 + "words", *["   " + "words " * 5 + "words"] * 9]),
        ("x" * 300 + "\n", ["x" * 39] * 7),
        (
            "**" + "never closed " * 12 + "\n",
            ["**never closed never closed never", "closed never closed never closed never"],
        ),
    ],
)
def test_a_tall_block_in_one_line_is_rendered_when_it_is_complete(block: str, rows: list[str]) -> None:
    shown = Shown(40, 3)
    shown.write(*(block + "\n**after** it"))
    shown.markdown.finish()
    lines = shown.stream.all_lines()
    assert lines[: len(rows)] == rows
    assert lines[-2:] == ["", "after it"]


def test_a_message_or_a_new_size_within_a_tall_block_loses_nothing() -> None:
    shown = Shown(40, 6).write(*TALL["code"][:120])
    shown.markdown.interrupt()
    shown.stream.write("warning: slow\n")
    shown.write(*TALL["code"][120:170])
    shown.stream.resize(50, 7)
    shown.write(*TALL["code"][170:], "\n**after**")
    shown.markdown.finish()
    lines = shown.stream.all_lines()
    words = "".join("".join(lines).replace("warning: slow", "").split())
    assert words == "".join(TALL["code"].replace("```python", "").split()) + "after"


def test_what_has_scrolled_off_is_not_touched() -> None:
    shown = Shown(40, 8)
    shown.write(*ANSWER)
    shown.markdown.finish()
    assert shown.stream.all_lines() == RENDERED


@pytest.mark.parametrize("size", [(30, 40), (60, 40), (40, 12)])
def test_after_a_change_of_size_the_open_block_stays_plain_and_the_next_one_is_rendered(size: tuple[int, int]) -> None:
    shown = Shown().write("zero\n\nThis is a **paragraph** of more than one row ")
    shown.stream.resize(*size)
    before = len(shown.stream.writes)
    shown.write("*three*\n")
    shown.write("\n*four*")
    assert not re.search(r"\x1b\[\d*[AJ]", "".join(shown.stream.writes[before:]))
    shown.markdown.finish()
    lines = ["zero", "", "This is a **paragraph** of more than", "one row *three*", "", "four"]
    assert shown.lines == (lines if size[0] > 30 else [*lines[:2], lines[2][:30], *lines[3:]])


def test_a_change_of_size_leaves_a_block_of_one_row_where_it_is() -> None:
    shown = Shown().write("zero\n\n- **a**\n- **b")
    shown.stream.resize(50, 40)
    shown.write(*"**\n- **c**\n- **d**\n")
    shown.markdown.finish()
    assert shown.lines == ["zero", "", " • a", " • b", " • c", " • d"]


def test_a_terminal_too_narrow_for_rows_of_words_gets_plain_text() -> None:
    shown = Shown(12, 20).write(*"a **b**\n\n\n- c\n- d")
    shown.markdown.finish()
    assert shown.lines == ["a **b**", "", "- c", "- d"]


def test_a_reply_that_was_not_the_answer_is_taken_off_the_screen() -> None:
    shown = Shown()
    shown.stream.write("$ asky question\n")
    shown.write(*"Let me look.\n\n- first **this**\n- then")
    shown.markdown.restart()
    assert shown.lines == ["$ asky question"]
    assert shown.cursor == (0, 1)
    shown.write("*Answer*")
    shown.markdown.finish()
    assert shown.lines == ["$ asky question", "Answer"]


def test_a_reply_that_has_partly_scrolled_off_is_left_and_said_not_to_be_the_answer() -> None:
    shown = Shown(40, 6).write(*("Let me look.\n\n" * 6))
    shown.markdown.restart()
    shown.write("Answer")
    shown.markdown.finish()
    assert shown.stream.all_lines()[-4:] == ["Let me look.", "(the text above is not the answer)", "", "Answer"]


def test_a_message_before_the_first_piece_does_not_keep_a_reply_on_the_screen() -> None:
    shown = Shown()
    shown.markdown.interrupt()
    shown.stream.write("warning: slow\n")
    shown.write("Let me look.")
    shown.markdown.restart()
    assert shown.lines == ["warning: slow"]


def test_a_message_after_a_part_of_a_reply_keeps_it() -> None:
    shown = Shown().write("Let me look.\n\n")
    shown.markdown.interrupt()
    shown.stream.write("warning: slow\n")
    shown.markdown.restart()
    assert shown.lines == ["Let me look.", "warning: slow", "(the text above is not the answer)"]


def test_taking_back_nothing_shows_nothing() -> None:
    shown = Shown()
    shown.markdown.restart()
    shown.markdown.finish()
    assert shown.stream.writes == []


def test_a_message_in_between_gets_a_row_of_its_own_and_the_block_goes_on_below_it() -> None:
    shown = Shown().write("first\n\n**half")
    shown.markdown.interrupt()
    shown.stream.write("warning: slow\n")
    shown.write(" and half**\n\n*last*")
    shown.markdown.finish()
    assert shown.lines == ["first", "", "**half", "warning: slow", " and half**", "", "last"]


def test_a_message_between_blocks_leaves_both_rendered() -> None:
    shown = Shown().write("*first*\n\n")
    shown.markdown.interrupt()
    shown.stream.write("warning: slow\n")
    shown.write("*last*")
    shown.markdown.finish()
    assert shown.lines == ["first", "warning: slow", "last"]
    shown.markdown.interrupt()
    assert shown.cursor == (0, 3)


def test_one_stream_shows_one_answer_after_another() -> None:
    shown = Shown()
    for _ in range(2):
        shown.write("*a*\n")
        shown.markdown.finish()
    assert shown.lines == ["a", "a"]


def test_blanks_alone_leave_nothing() -> None:
    shown = Shown().write("\n", "  ", "\n \n")
    shown.markdown.finish()
    assert shown.lines == []
    assert shown.cursor == (0, 0)


def test_controls_in_the_text_do_not_reach_the_terminal() -> None:
    shown = Shown().write("a\x1b[2Jb\x07\r\n\nc\x9b31m\u202e d", "\x1b", "[31m e")
    shown.markdown.finish()
    assert shown.lines == ["ab", "", "c d[31m e"]
    assert not re.search(r"\x1b(?!\[[?\d;]*[A-Za-z])|[\x07\x80-\x9f\u202e]", "".join(shown.stream.writes))


def test_an_open_code_block_is_rendered_at_the_end() -> None:
    shown = Shown().write("```\nx = 1")
    shown.markdown.finish()
    assert shown.lines == ["  x = 1"]


def test_wide_and_combining_characters_stay_in_their_rows() -> None:
    text = (
        "中文字符" * 8 + " e\u0301te\u0301 " + "日本語の文 **太字** " * 4 + "\n\nslovo слово слово слово слово ελληνικά"
    )
    whole, pieces = Shown(24, 40).write(text), Shown(24, 40).write(*text)
    whole.markdown.finish()
    pieces.markdown.finish()
    assert pieces.lines == whole.lines
    assert "**" not in "".join(whole.lines)


def test_a_terminal_that_can_move_its_cursor_gets_markdown_with_and_without_colour() -> None:
    for environ in ({"TERM": "dumb"}, {}):
        assert isinstance(markdown_stream(ScreenStream(), environ=environ, colored=True), PlainStream)
    for colored in (True, False):
        assert isinstance(markdown_stream(ScreenStream(), environ=ENVIRON, colored=colored), MarkdownStream)
        assert isinstance(markdown_stream(io.StringIO(), environ=ENVIRON, colored=colored), PlainStream)


def test_plain_text_goes_through_as_it_is_without_controls() -> None:
    out = io.StringIO()
    plain = PlainStream(out)
    for piece in ("# A **b**", " \x1b[31m[1]\n", "c"):
        plain.write(piece)
    plain.finish()
    plain.finish()
    assert out.getvalue() == "# A **b** [1]\nc\n"
    plain.write("x")
    plain.restart()
    assert out.getvalue().endswith("x\n\n")


def test_rich_is_loaded_with_the_first_complete_block_only() -> None:
    program = (
        "import io, sys\n"
        "from asky.cli.terminal.markdown_stream import MarkdownStream\n"
        "out = MarkdownStream(io.StringIO(), environ={'TERM': 'xterm'}, size=lambda: (80, 24))\n"
        "out.write('some words')\n"
        "assert 'rich' not in sys.modules and 'markdown_it' not in sys.modules\n"
        "out.write('\\n\\n')\n"
        "assert 'rich' in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True, cwd=ROOT, timeout=300)


def test_a_real_terminal_says_how_large_it_is() -> None:
    master, slave = pty.openpty()
    with os.fdopen(master, "rb"), os.fdopen(slave, "w") as stream:
        fcntl.ioctl(stream, termios.TIOCSWINSZ, struct.pack("HHHH", 31, 97, 0, 0))
        assert terminal_size(stream) == (97, 31)
        fcntl.ioctl(stream, termios.TIOCSWINSZ, struct.pack("HHHH", 0, 0, 0, 0))
        assert terminal_size(stream) == (80, 24)
    assert terminal_size(io.StringIO()) == (80, 24)
