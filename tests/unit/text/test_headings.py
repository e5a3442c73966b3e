from __future__ import annotations

import subprocess
import sys
from itertools import pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from asky.text.headings import markdown_headings

LINES = [
    "", "", "# a", "## b ##", "   ### c", "    # code", "\t# tab", "####### seven", "#none", "text", "---", "===",
    "- - -", "```", "````", "~~~", "``` `x`", "- item", "  # in the item", "- ```", "1. one", "> quote", "> # quoted",
    "> ```", "<div>", "</div>", "<!-- c", "-->", "<pre>", "</pre>", "<b>", "[a]: b", "[a]:", "| a | b |", "|---|---|",
    "***",
]  # fmt: skip
documents = st.lists(st.sampled_from(LINES), max_size=14).map("\n".join)


def found(text: str) -> list[tuple[int, str]]:
    return [(heading.level, heading.source) for heading in markdown_headings(text)]


@given(documents)
@example("| a | b |\n|---|---|\n| c | d |\n---")
@example("[a]: b\n===")
def test_the_headings_are_those_that_markdown_it_finds(text: str) -> None:
    tokens = MarkdownIt("commonmark").enable("table").parse(text)
    lines = [0]
    for line in text.split("\n"):
        lines.append(lines[-1] + len(line) + 1)
    expected = [
        (lines[token.map[0]], min(lines[token.map[1]], len(text)), int(token.tag[1:]), following.content)
        for token, following in pairwise(tokens)
        if token.type == "heading_open" and token.level == 0 and token.map
    ]
    assert [(h.start, h.end, h.level, h.source) for h in markdown_headings(text)] == expected


@pytest.mark.parametrize("end", ["\r\n", "\r"])
@given(text=documents)
def test_other_line_ends_change_nothing_but_the_offsets(end: str, text: str) -> None:
    assert [(n, source.replace(" \n", "\n")) for n, source in found(text.replace("\n", end))] == found(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("%%\n# a\n%%\n# b", ["b"]),
        ("%% one %%\n# a", ["a"]),
        ("text %% and\n\n# a\n\nmore %% text\n\n# b", ["b"]),
        ("- item %% and\n\n# a\n\n%%\n# b", ["b"]),
        ("%% a\n```\n%%\n# b", ["b"]),
        ("%%\nTitle\n---\n%%\n# b", ["b"]),
        ("# a %% b\n# c\n%%\n# d", ["a %% b", "d"]),
        ("%% a\n%% b %%\n# c\n%%\n# d", ["d"]),
        ("%% never closed\n\n# a", ["%% never closed", "a"][1:]),
        ("Title %% never closed\n---\n# a", ["Title %% never closed", "a"]),
        ("`%%`\n# a\n`%%`\n# b", ["a", "b"]),
        ("`` ` %% ``\n# a\n%%\n# b", ["a", "b"]),
        ("`%% no code\n\n# a\n\n%%\n# b", ["b"]),
        ("```\n%%\n```\n# a\n%%\n# b\n%%\n# c", ["a", "c"]),
        ("    %%\n\n# a\n\n%%", ["a"]),
    ],
)
def test_comments_of_note_programs_hide_what_is_in_them(text: str, expected: list[str]) -> None:
    assert [source for _, source in found(text)] == expected


def test_front_matter_is_passed_over() -> None:
    text = "---\n# a: b\n---\n# c\n"
    (heading,) = markdown_headings(text, text.index("# c"))
    assert text[heading.start : heading.end] == "# c\n"


def test_text_without_headings_is_not_parsed() -> None:
    code = (
        "import sys; from asky.text.headings import markdown_headings as f;"
        "assert f('text\\n\\n- item #a\\n' * 9) == []; assert 'markdown_it' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
