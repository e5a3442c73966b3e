"""Links, tags and blocks of notes."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from asky.text.wikilinks import find_block, find_links, find_tags, visible

LINKS = [
    ("[[Note]]", [("Note", "", "", False)]),
    ("[[ Note ]] and [[Folder/Note.md]]", [("Note", "", "", False), ("Folder/Note.md", "", "", False)]),
    ("[[Folder/Note#Heading#Sub|alias]]", [("Folder/Note", "Heading#Sub", "alias", False)]),
    ("[[Note#^block]]", [("Note", "^block", "", False)]),
    ("[[#Heading]] [[#^block|here]]", [("", "Heading", "", False), ("", "^block", "here", False)]),
    ("![[embed]] ![[picture.png|300]]", [("embed", "", "", True), ("picture.png", "", "300", True)]),
    (r"| [[Note\|alias]] | [[Other#A\|b]] |", [("Note", "", "alias", False), ("Other", "A", "b", False)]),
    ("[[Note|]] [[Note|an [odd] alias]]", [("Note", "", "", False), ("Note", "", "an [odd] alias", False)]),
    ("[[Note|`code`]]", [("Note", "", "`code`", False)]),
    ("> [!note] See [[Note]]\n> - [[Other]]\n", [("Note", "", "", False), ("Other", "", "", False)]),
    ('---\nup: "[[Up]]"\n---\n[[Down]]', [("Up", "", "", False), ("Down", "", "", False)]),
    ("[a note](Folder/My%20Note.md#A%20B)", [("Folder/My Note", "A B", "a note", False)]),
    ('[a](<My Note.md>) ![b](x.txt "title")', [("My Note.md", "", "a", False), ("x.txt", "", "b", True)]),
    ("[a](#part) [b](C%23.md)", [("", "part", "a", False), ("C#.md", "", "b", False)]),
    ("[web](https://a.example/x.md) [mail](mailto:a@b.md) [pdf](x.pdf) [[]] [[|a]] [[a\nb]] [x]", []),
    ("``` \n[[a]]\n```\n~~~~\n[[b]]\n~~~\n~~~~~\n[[c]]", [("c", "", "", False)]),
    ("> ```\n> [[a]]\n\n[[b]]", [("b", "", "", False)]),
    ("- ```\n  [[a]]\n  ```\n- [[b]]", [("b", "", "", False)]),
    ("```\n[[a]]", []),
    ("``[[a]] ` [[b]]`` [[c]] ` [[d]]", [("c", "", "", False), ("d", "", "", False)]),
    ("` [[a]]\n\n[[b]] `", [("a", "", "", False), ("b", "", "", False)]),
    ("%%[[a]]%% [[b]]\n%%\n[[c]]\n\n[[d]]\n%%\n[[e]]", [("b", "", "", False), ("e", "", "", False)]),
    ("5%% of [[a]]\n\n7%%", [("a", "", "", False)]),
    ("[[a]]\n%%\n[[b]]", [("a", "", "", False)]),
    ("<!-- [[a]]\n\n[[b]] --> [[c]]", [("c", "", "", False)]),
    ("$$\n[[a]]\n$$ [[b]]", [("b", "", "", False)]),
    (r"\[[a]] \`[[b]]\` \\[[c]]", [("b", "", "", False), ("c", "", "", False)]),
    ("[[a]]`%%`[[b]]", [("a", "", "", False), ("b", "", "", False)]),
]


@pytest.mark.parametrize(("text", "expected"), LINKS)
def test_links_are_found_as_obsidian_finds_them(text: str, expected: list[tuple[str, str, str, bool]]) -> None:
    start = text.rfind("---\n") + 4 if text.startswith("---") else 0
    found = list(find_links(text, start))
    targets = [(each.target, each.part, each.alias, each.is_embed) for each in found]
    assert [(target.removesuffix(".md"), *rest) for target, *rest in targets] == [
        (target.removesuffix(".md"), *rest) for target, *rest in expected
    ]
    for each in found:
        assert text[each.start : each.end].startswith("![" if each.is_embed else "[")
        assert text[each.end - 1] in "])"


TAGS = [
    ("#one and #two/three", ["one", "two/three"]),
    ("a#b #1984 #y1984 #a-b_c #über #日本 #🎉 #x.", ["y1984", "a-b_c", "über", "日本", "🎉", "x"]),
    ("# heading\n##no\n#Yes\n#yes\n\t#tab", ["Yes", "tab"]),
    ("`#code` %%#comment%% [[#part]] [[Note #x]] [a](#b) &#123; <!-- #html --> \\#escaped https://a/#b", []),
    ("#trail/ (#bracket) #end,#next", ["trail", "end"]),
]


@pytest.mark.parametrize(("text", "expected"), TAGS)
def test_tags_are_found_as_obsidian_finds_them(text: str, expected: list[str]) -> None:
    assert find_tags(text) == expected


BLOCKS = [
    ("para one\ngoes on ^id\n\nnext", "para one\ngoes on"),
    ("# Head\npara ^id", "para"),
    ("- one\n- two ^id\n- three", "- two"),
    ("- one\n- two\n\n^id\n", "- two"),
    ("> quote\n> more\n\n^id", "> quote\n> more"),
    ("a ^ID", "a"),
    ("![[picture.png]]^id", "![[picture.png]]"),
    ("a ^idx `^id`", None),
    ("^id", ""),
]


@pytest.mark.parametrize(("text", "expected"), BLOCKS)
def test_a_block_is_the_paragraph_or_item_with_the_id(text: str, expected: str | None) -> None:
    found = find_block(text, "id")
    assert (None if found is None else text[slice(*found)]) == expected


@given(st.text(st.sampled_from("`~%<!->$[]|#\\\n \tab^*>.md()"), max_size=60))
def test_offsets_stay_and_links_do_not_overlap(text: str) -> None:
    shown = visible(text)
    assert len(shown) == len(text)
    assert [at for at, char in enumerate(shown) if char == "\n"] == [at for at, char in enumerate(text) if char == "\n"]
    end = 0
    for link in find_links(text):
        assert end <= link.start < link.end <= len(text)
        end = link.end
    find_tags(text)
    find_block(text, "a")


@pytest.mark.few(6)
@pytest.mark.parametrize(
    "part", ["` `` ", "%% a ", "[[a|", "[a](", "> - ", "```\n", "<!--", "$$ ", "[[a]] ", "\\", "#a "]
)
def test_no_text_takes_the_square_of_its_length(part: str) -> None:
    text = part * (1_000_000 // len(part))
    started = time.monotonic()
    sum(1 for _ in find_links(text))
    find_tags(text)
    assert time.monotonic() - started < 20
