from __future__ import annotations

from itertools import pairwise

import pytest

from asky.text.markdown import Block, BlockSplitter


def blocks_of(text: str) -> list[Block]:
    scanner = BlockSplitter()
    return [*scanner.feed(text), *scanner.close()]


def sources(text: str) -> list[str]:
    return [block.source.strip("\n") for block in blocks_of(text)]


def test_a_paragraph_ends_at_a_blank_line_and_at_what_may_interrupt_it() -> None:
    assert sources("one\ntwo\n\nthree") == ["one\ntwo", "three"]
    for other in ("# head", "- item", "1. item", "> said", "***", "```\ncode\n```"):
        assert sources(f"one\n{other}\n") == ["one", other]
    for same in ("2. not a list", "-", "    not code", "#no", "1.", "*a*"):
        assert sources(f"one\n{same} \n")[0].startswith(f"one\n{same}")


def test_a_heading_under_a_line_is_one_with_it() -> None:
    assert sources("Title\n=====\ntext") == ["Title\n=====", "text"]
    assert sources("Title\n---\ntext") == ["Title\n---", "text"]


def test_each_item_is_a_block_with_all_that_is_inside_of_it() -> None:
    text = "- one\n  more\nlazy\n\n  paragraph\n  - nested\n- two\n\n- three\n\nafter"
    assert sources(text) == ["- one\n  more\nlazy\n\n  paragraph\n  - nested", "- two", "- three", "after"]
    assert [block.kind for block in blocks_of(text)] == ["list_item"] * 3 + ["paragraph"]


def test_code_in_an_item_ends_with_the_item_at_the_latest() -> None:
    assert sources("- a\n  ```\n  # no\n\n  - no\n  ```\n- b") == ["- a\n  ```\n  # no\n\n  - no\n  ```", "- b"]
    assert sources("- a\n  ```\n  x\nb") == ["- a\n  ```\n  x", "b"]


def test_code_between_fences_is_one_block_whatever_it_holds() -> None:
    assert sources("```py\n# a\n\n- b\n```\nc") == ["```py\n# a\n\n- b\n```", "c"]
    assert sources("~~~~\n~~~\n```\n~~~~~ \nc") == ["~~~~\n~~~\n```\n~~~~~ ", "c"]
    assert sources("```\nnever closed\n\n# a") == ["```\nnever closed\n\n# a"]


def test_a_table_goes_on_to_a_blank_line_and_needs_its_rule() -> None:
    table = "| a | b |\n|---|:-:|\n| 1 | 2 |\n| 3 | 4 |"
    assert [(block.kind, block.source.strip("\n")) for block in blocks_of(table + "\n\nafter")] == [
        ("table", table),
        ("paragraph", "after"),
    ]
    assert blocks_of("| a |\nno rule\n")[0].kind == "paragraph"


def test_code_set_in_by_four_and_quotations() -> None:
    assert sources("    a\n\n    b\nc") == ["    a\n\n    b", "c"]
    assert sources("> a\nlazy\n> b\n\nc") == ["> a\nlazy\n> b", "c"]


def test_a_block_is_known_as_soon_as_the_next_one_cannot_be_part_of_it() -> None:
    scanner = BlockSplitter()
    assert scanner.feed("- one\n") == []
    assert scanner.feed("- ") == []
    assert [block.source for block in scanner.feed("t")] == ["- one\n"]
    assert scanner.rest == "- t"
    assert scanner.feed("wo\n\n") == []
    assert [block.source for block in scanner.feed("A")] == ["- two\n\n"]
    assert [block.source for block in scanner.feed("fter\n\n")] == ["After\n\n"]


@pytest.mark.parametrize(
    "text",
    [
        "# A\n\ntext\nmore\n- x\n- y\n\n1. z\n   ```\n   c\n   ```\n\n> q\n\n| a | b |\n|--|--|\n| 1 | 2 |\n***\nend",
        "- |\n-|-\n\na - b\n- - -\n- * a\n* b\n+ - c",
        "a\n- |\nb | c\n- |\n",
        "\n\n  - a\n - b\n      c\n\n\n    d\n",
        "> a\n```\nb\n> c\n```\n# \n#\n",
        "# a | b\n|--|--|\n| 1 | 2 |\n# c | d\ne\n ```py`x\nf\n",
        "> a\n>\n> b\n> # c\n> d\n\n> e\n",
    ],
)
def test_the_pieces_a_text_comes_in_make_no_difference(text: str) -> None:
    def said(blocks: list[Block]) -> list[tuple[str, str, str]]:
        """The blocks without the blank lines around them, and those in one piece."""
        return [(block.kind, block.source.strip("\n"), block.marker) for block in blocks]

    whole = blocks_of(text)
    assert "".join(block.source for block in whole) == text
    for first in range(len(text)):
        scanner = BlockSplitter()
        assert said([*scanner.feed(text[:first]), *scanner.feed(text[first:]), *scanner.close()]) == said(whole)
    scanner = BlockSplitter()
    pieces = [block for piece in text for block in scanner.feed(piece)] + scanner.close()
    assert said(pieces) == said(whole)
    assert [after.follows_blank_line(before) for before, after in pairwise(pieces)] == [
        after.follows_blank_line(before) for before, after in pairwise(whole)
    ]


def test_the_complete_lines_of_open_code_can_be_taken() -> None:
    scanner = BlockSplitter()
    assert scanner.cut() is None
    assert scanner.feed("text\n\n```py\none\n") == [Block("paragraph", "text\n\n")]
    assert scanner.feed("two\n\nthr") == []
    assert scanner.cut() == Block("fence", "```py\none\ntwo")
    assert scanner.cut() is None
    assert scanner.rest == "```py\n\nthr"
    assert scanner.feed("ee\n```\n") == [Block("fence", "```py\n\nthree\n```\n", goes_on=True)]
    assert scanner.cut() is None
    scanner.feed("- a\n- b")
    assert scanner.cut() is None


def test_items_of_one_list_stand_close_and_lists_apart() -> None:
    def gaps(text: str) -> list[bool]:
        found = blocks_of(text)
        return [after.follows_blank_line(before) for before, after in pairwise(found)]

    assert gaps("- a\n- b\n\n- c\n") == [False, False]
    assert gaps("- a\n\n1. b\n") == [True]
    assert gaps("1. a\n - b\n") == [False]
    assert gaps("a\n\n- b\n\nc\n\nd") == [True, True, True]


def test_a_line_of_a_million_characters_takes_no_time() -> None:
    scanner = BlockSplitter()
    for _ in range(200_000):
        assert scanner.feed("words") == []
    assert len(scanner.close()[0].source) == 1_000_000
