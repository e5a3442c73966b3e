"""What a model writes does nothing in a note, and stays readable."""

from __future__ import annotations

import pytest

from asky.notes.harmless import harmless
from asky.notes.section import present_body, replace_section
from tests.support.active_content import SCRIPTS, URLS, WIKILINKS, active


def written(markdown: str) -> str:
    return harmless(markdown, urls=URLS, wikilinks=WIKILINKS)


@pytest.mark.parametrize("name", SCRIPTS)
def test_no_active_content_gets_through(name: str) -> None:
    text = written(SCRIPTS[name])
    assert active(text) == []
    assert written(text) == text
    note = replace_section(b"# Note\n", text)
    assert present_body(note) == text.strip("\n")


def test_the_scripts_are_seen_as_active_before() -> None:
    """All but those whose danger is in what is kept hidden: no code of a test knows more than the writer does."""
    unseen = {name for name, script in SCRIPTS.items() if not active(script)}
    assert unseen <= {"entities", "rule"}


@pytest.mark.parametrize(
    ("markdown", "expected"),
    [
        ("Plain *text*, **bold**, ~~gone~~, `code` and snake_case.", None),
        ("### Tides\n\n- one\n- two\n  - three\n\n1. first\n2. second", None),
        ("- loose\n\n- list\n\n  with a paragraph", None),
        ("> quote\n>\n> - list", None),
        ("> [!warning] Contradiction\n> The note says so.", None),
        ("```python\nx = {'a': 1}\n```", None),
        ("| a | b |\n| --- | --: |\n| 1 | [[Tides]] |", None),
        ("See [Title](https://a.test/page) and [[Tides]], [[Sea/Waves#Part|waves]] [1] [2, 3].", None),
        ("<https://a.test/page>", None),
        ("Cited[^asky-1].\n\n[^asky-1]: A note.", None),
        ("$x^2 + y_1$ and p < 0.05, 5 > 3, R&D, 50% #12", None),
        ("# One\n\n## Two\n\n#### Four", "### One\n\n#### Two\n\n###### Four"),
        ("#### Four\n\n##### Five", None),
        ("Title\n=====\n\ntext", "### Title\n\ntext"),
        ("---\ntitle: x\n---\n\ntext\n\n---\n\nmore", "text\n\n***\n\nmore"),
        ("[a](https://a.test/page?utm_source=x#SECRET)", "[a](https://a.test/page)"),
        ("https://a.test/page.", "<https://a.test/page>."),
        ("[a](http://e.test) http://e.test/x.", "a `http://e.test/x`."),
        ("![alt](https://a.test/page) ![alt](http://e.test)", "[alt](https://a.test/page) alt"),
        ("[[Other|shown]] [[Other#Part]] ![[Tides]]", "shown Other > Part [[Tides]]"),
        ("costs $5, #tag, a:: b, ^x, <b>", r"costs \$5, \#tag, a:\: b, \^x, &lt;b>"),
        ("- [ ] task", r"- \[ \] task"),
        ("`= this.x` `$= y`", r"= this.x \$= y"),
        ("```dataview\nLIST\n```", "```\nLIST\n```"),
        ("~~~\nnever closed\n```", "````\nnever closed\n```\n````"),
        ("text  \nbroken", "text\nbroken"),
        ("", ""),
    ],
)
def test_what_is_harmless_stays_as_it_is(markdown: str, expected: str | None) -> None:
    assert written(markdown) == (markdown if expected is None else expected)


def test_addresses_are_written_so_that_they_stay_addresses() -> None:
    url = "https://a.test/a_(b)?x=%%&y=a|b::c"
    text = harmless(f"[a](<{url}>) <{url}>", urls=[url], wikilinks=())
    assert text == "[a]({0}) <{0}>".format("https://a.test/a_%28b%29?x=%25%25&y=a%7Cb:%3Ac")
    assert harmless(text, urls=[url], wikilinks=()) == text


def test_a_paragraph_that_takes_long_to_parse_is_text() -> None:
    text = written("[" * 50_000 + "\n\n" + "x" + "`" * 50_000 + "\n\n**bold**")
    assert text.startswith("```\n[[[")
    assert text.endswith("**bold**")


def test_brackets_that_are_escaped_do_not_count() -> None:
    text = "[x " * 390
    assert written(text) == "\\[x " * 389 + "\\[x"
    assert written(written(text)) == written(text)


def test_a_table_has_so_many_cells_at_most() -> None:
    text = written("|a" * 100 + "\n" + "|-" * 100 + "\n" + "|b\n" * 25)
    assert text.count("\n") == 20
    assert written(text) == text
