from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from asky.reading.markdown import COMMENTS, find_headings, read
from tests.support.files import check_document

FRAGMENTS = [
    "# a",
    "## b ##",
    "text",
    "---",
    "===",
    "",
    "```",
    "~~~",
    "- item",
    "    code",
    "> q",
    "<div>",
    "<!-- c",
    "-->",
]


def headings(text: str) -> list[tuple[str, int]]:
    return [(heading.text, heading.level) for heading in find_headings(text)]


def test_the_text_is_the_file_and_sections_nest_exactly() -> None:
    text = "intro\n\n# One\n\na\n\n## Two\n\nb\n\n# Three\n\nc\n"
    document = read(text.encode(), "a.md")
    assert document.text == text
    assert document.title == "One"
    found = [(s.heading, s.level, text[s.start : s.end]) for s in document.sections]
    assert found == [
        ("One", 1, "# One\n\na\n\n## Two\n\nb\n\n"),
        ("Two", 2, "## Two\n\nb\n\n"),
        ("Three", 1, "# Three\n\nc\n"),
    ]


def test_setext_headings_begin_where_their_text_begins() -> None:
    text = "para\n\nTitle over\ntwo lines\n===\n\nSub\n---\n"
    found = [(h.text, h.level, text[h.start : h.start + 5]) for h in find_headings(text)]
    assert found == [("Title over\ntwo lines", 1, "Title"), ("Sub", 2, "Sub\n-")]
    assert [section.heading for section in read(text.encode(), "a.md").sections] == ["Title over two lines", "Sub"]


@pytest.mark.parametrize(
    "text",
    [
        "```\n# code\n```",
        "~~~~ python\n# code\n~~~\n# still code\n~~~~",
        "```\n# never closed\n\n# to the end",
        "    # indented code",
        "\t# indented code",
        "<!-- \n# comment\n\n# comment\n-->",
        "<pre>\n# raw\n\n# raw\n</pre>",
        "<div>\n# html\n</div>",
        "#tag\n#no-space",
        "####### seven",
        "- item\n---",
        "> quote\n---",
        "---\n\n***\n- - -",
        "- item\n  # inside the item",
        "text\n\n---\n\ntext",
        "\\# escaped",
    ],
)
def test_what_only_looks_like_a_heading_is_none(text: str) -> None:
    assert headings(text) == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("# a #\n## b ##  \n### c#", [("a", 1), ("b", 2), ("c#", 3)]),
        ("   # three spaces", [("three spaces", 1)]),
        ("#\n# #\n##", [("", 1), ("", 1), ("", 2)]),
        ("text\n# interrupts", [("interrupts", 1)]),
        ("```a`b\n# not a fence", [("not a fence", 1)]),
        ("- item\n\n# after", [("after", 1)]),
        ("<!-- one line -->\n# after", [("after", 1)]),
        (
            "# **Bold** `code` [link](http://x.y) [[Page|alias]] snake_case _it_",
            [("Bold code link alias snake_case it", 1)],
        ),
    ],
)
def test_headings_as_commonmark_has_them(text: str, expected: list[tuple[str, int]]) -> None:
    assert headings(text) == expected


def test_front_matter_stays_in_the_text_as_a_section_and_gives_title_and_metadata() -> None:
    text = '---\ntitle: "A: title"\ntags: [x]\n# a comment\n---\n# Head\n'
    document = read(text.encode(), "a.md")
    check_document(document)
    assert document.text == text
    assert document.title == "A: title"
    assert dict(document.metadata) == {"tags": "x"}
    head = text.index("# Head")
    assert [(s.heading, s.level, s.start, s.end) for s in document.sections] == [
        ("Properties", 0, 0, head),
        ("Head", 1, head, len(text)),
    ]


def test_comments_are_kept_beside_the_text_with_the_offsets_where_they_are_left_out() -> None:
    text = "# Head\n\nOne %%two%% three.\n<!-- four\nfive -->\nSix `%%seven%%`.\n"
    document = read(text.encode(), "a.md")
    check_document(document)
    assert document.text == "# Head\n\nOne  three.\n\n\nSix `%%seven%%`.\n"
    kept = json.loads(document.metadata[COMMENTS])
    assert [each[1] for each in kept] == ["%%two%%", "<!-- four\nfive -->"]
    whole = document.text
    for at, comment in reversed(kept):
        whole = whole[:at] + comment + whole[at + comment.count("\n") :]
    assert whole == text


def test_titles_and_headings_have_no_markup() -> None:
    text = "---\ntitle: The **[[Sea|ocean]]**\n---\n## ==Tides== of the [[Moon#Phases]] ^a1\n"
    document = read(text.encode(), "a.md")
    assert document.title == "The ocean"
    assert [s.heading for s in document.sections] == ["Properties", "Tides of the Moon > Phases"]


def test_a_rule_at_the_start_is_no_front_matter() -> None:
    assert [s.heading for s in read(b"---\n# One\n---\n# Two\n", "a.md").sections] == ["One", "Two"]


def test_without_a_heading_of_level_one_there_is_no_title() -> None:
    assert read(b"## Two\n", "a.md").title is None


def test_offsets_are_those_of_the_scrubbed_text() -> None:
    document = read(b"a\r\n\x1bb\r\n# Head\r\ntext", "a.md")
    (section,) = document.sections
    assert document.text[section.start : section.end] == "# Head\ntext"


def test_escape_sequences_stay_out_of_titles_and_change_no_text() -> None:
    document = read(b"# \x1b]0;pwn\x07Ti\x1b[1mdes\x1b[0m\n\n\x1b[31mred\n\n## \x1b[1mSpring\x1b[0m tides\n", "a.md")
    assert document.text == "# ]0;pwnTi[1mdes[0m\n\n[31mred\n\n## [1mSpring[0m tides\n"
    assert document.title == "Tides"
    assert [(s.heading, document.text[s.start : s.start + 3]) for s in document.sections] == [
        ("Tides", "# ]"),
        ("Spring tides", "## "),
    ]
    assert read(b"---\ntitle: \x1b]0;pwn\x07Tides\n---\ntext\n", "a.md").title == "Tides"


def test_a_heading_of_any_length_has_a_short_name() -> None:
    document = read(b"# " + b"word " * 50_000, "a.md")
    assert len(document.sections[0].heading) <= 200
    assert len(document.text) == 250_002


@given(st.lists(st.sampled_from(FRAGMENTS), max_size=12))
def test_every_heading_stands_at_the_start_of_a_line(lines: list[str]) -> None:
    text = "\n".join(["x", *lines])
    for heading in find_headings(text):
        assert heading.start == 0 or text[heading.start - 1] == "\n"
        assert heading.text.split()[:1] == text[heading.start :].lstrip("# ").split()[:1] or heading.text == ""
    check_document(read(text.encode(), "a.md"))


def test_links_and_tags_of_a_note_are_found_with_their_places() -> None:
    text = (
        '\ufeff---\r\ntags: [Bread]\r\nup: "[[Index]]"\r\n---\r\n'
        "# Rye #grain\r\n> [!tip] See [[Sourdough#Flour|flour]]\r\n\r\n#bread #starter `[[code]] #code`\r\n"
    )
    document = read(text.encode(), "rye.md")
    assert [document.text[each.start : each.end] for each in document.note_links] == [
        "[[Index]]",
        "[[Sourdough#Flour|flour]]",
    ]
    assert document.metadata["tags"] == "Bread; grain; starter"
    assert [each.heading for each in document.sections] == ["Properties", "Rye #grain"]
