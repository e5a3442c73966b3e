"""Comments that the author of a Markdown text has hidden."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from asky.reading.markdown import read, read_whole
from asky.text.beside.hidden_comments import without_comments
from tests.support.timing import check_linear


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("Moored %%ask Leif%% at Vik.", "Moored  at Vik."),
        ("a\n\n%%\nOne.\n\n## Two\n%%\n\nb", "a\n\n\n\n\n\n\n\nb"),
        ("a <!-- one\n\ntwo --> b", "a \n\n b"),
        ("> %% x\n> y %%\n> z", "> \n\n> z"),
        ("- %% x %% y\n- %% z\n\n%%", "-  y\n- %% z\n\n"),
        ("a\n%% open\n\n# b", "a\n\n\n"),
        ("a\n<!-- open\n\n# b", "a\n\n\n"),
        ("`%% code %%` and `<!-- code -->`", "`%% code %%` and `<!-- code -->`"),
        ("```\n%% code %%\n<!-- code -->\n```\n~~~\n%%\n~~~", "```\n%% code %%\n<!-- code -->\n```\n~~~\n%%\n~~~"),
        ("$$ a %% b $$ %%c%%", "$$ a %% b $$ "),
        ("It is 50%% of it.\n\nMore.", "It is 50%% of it.\n\nMore."),
        ("%%% a %%% b", "% b"),
        ("\\%% a %%b%%", "\\%% a "),
        ("%%%%", ""),
        ("<!-- %% --> a %% b %% <!-- %% -->", " a  "),
    ],
)
def test_comments_are_left_out_and_lines_keep_their_numbers(text: str, shown: str) -> None:
    assert without_comments(text) == shown


def test_a_note_is_stored_without_its_comments_and_front_matter_has_none() -> None:
    text = "---\nfigure: 50 %% 60 %%\n---\n%%a%% One.\n\n## Two %%b%%\n\n%%\n#c\n[[d]]\n%%\n"
    for document in (read(text.encode(), "a.md"), read_whole(text.encode(), "a.md")):
        assert document.text == "---\nfigure: 50 %% 60 %%\n---\n One.\n\n## Two \n\n\n\n\n\n"
        assert [each.heading for each in document.sections] == ["Properties", "Two"]
        assert "tags" not in document.metadata
        assert not document.note_links


def test_a_comment_that_is_never_closed_is_told() -> None:
    found = read(b"---\nunread_parts: none\n---\n\nOne.\n\n%% two\n\nThree.\n", "a.md")
    assert found.text.rstrip() == "---\nunread_parts: none\n---\n\nOne."
    assert found.metadata["unread_parts"] == "text from line 7: a comment that begins there is never closed"
    assert "unread_parts" not in read(b"One.\n\n%% two %%", "a.md").metadata


PIECES = ["%%", "<!--", "-->", "`", "```", "\n", "\n\n", "> ", "- ", "word ", "\\", "$$", "%", "~~~\n"]


@given(st.lists(st.sampled_from(PIECES), max_size=40).map("".join))
def test_what_is_left_is_the_text_in_order_with_its_lines(text: str) -> None:
    shown = without_comments(text)
    assert shown.count("\n") == text.count("\n")
    rest = iter(text)
    assert all(character in rest for character in shown)


@pytest.mark.parametrize("unit", ["%%", "%% a\n\n", "<!--", "<!-- a -->", "a %% ", "`%%", "```\n", "> %%\n"])
def test_hostile_comments_take_linear_time(unit: str) -> None:
    check_linear(lambda count: without_comments(unit * count), 1_000)
