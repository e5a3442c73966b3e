"""Front matter: properties of a note, whatever stands there."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from asky.reading.front_matter import front_matter
from asky.reading.markdown import read
from tests.support.files import check_document
from tests.support.timing import check_linear

BOMB = "a: &a [x, x]\n" + "".join(
    f"{key}: &{key} [{', '.join(['*' + before] * 9)}]\n" for before, key in ("ab", "bc", "cd")
)


def properties(yaml: str) -> dict[str, str]:
    return front_matter(f"---\n{yaml}\n---\nbody").metadata


@pytest.mark.parametrize(
    ("yaml", "expected"),
    [
        ("tags: [recipe, '#dessert']", {"tags": "recipe; dessert"}),
        ("tags: recipe, to do", {"tags": "recipe; to do"}),
        ('tags: "#recipe #dessert"', {"tags": "recipe; dessert"}),
        ("tags:\n- recipe\naliases: Tart", {"tags": "recipe", "aliases": "Tart"}),
        ("author:\n  - '[[Steph Ango]]'\n  - B; C", {"author": "Steph Ango; B, C"}),
        ("authors: A", {"authors": "A", "author": "A"}),
        ("date: 2023-09-29T10:00", {"date": "2023-09-29T10:00", "published": "2023-09-29"}),
        ("published: soon\nStatus: no", {"status": "no"}),
        ("rating: 7\nempty:\nlist: []", {"rating": "7"}),
        ("project: {status: done, who: [A, B]}", {"project.status": "done", "project.who": "A; B"}),
        ("3: number\n2023-09-12: date\n? [a, b]\n: c", {"3": "number", "2023-09-12": "date"}),
        ("k: 1\nk: 2", {"k": "2"}),
        ("omitted_characters: 5\ninvisible_characters: 6\nhidden_characters: 7\nk: v", {"k": "v"}),
        ("site: http://x.y/a_b\nquote: 'it''s'", {"site": "http://x.y/a_b", "quote": "it's"}),
        ("obj: !!python/object/apply:os.system ['echo']", {"obj": "echo"}),
        ("text: |\n  one\n  two", {"text": "one two"}),
    ],
)  # fmt: skip
def test_properties_are_text_as_it_is_written(yaml: str, expected: dict[str, str]) -> None:
    assert properties(yaml) == expected


@pytest.mark.parametrize(
    ("yaml", "expected"),
    [
        ("a: b: c\ntags: x", {"a": "b: c", "tags": "x"}),
        ("k: v\n\ttab: 1", {"k": "v"}),
        ("ok: 1\nopen: [a\nlast: 2", {"ok": "1", "open": "[a", "last": "2"}),
        ("name: @x\nother: y", {"name": "@x", "other": "y"}),
    ],
)
def test_of_broken_yaml_the_lines_are_taken(yaml: str, expected: dict[str, str]) -> None:
    assert properties(yaml) == expected


@pytest.mark.parametrize(
    "text",
    [
        "---\n# One\n---\n",
        "---\nk: v\nnever closed",
        "text\n---\nk: v\n---\n",
        "---\n- k: v\n---\n",
        "---\n\nprose\n\n---\n",
        "----\nk: v\n---\n",
        "",
    ],
)
def test_a_thematic_break_begins_no_front_matter(text: str) -> None:
    assert (front_matter(text).end, front_matter(text).metadata) == (0, {})


def test_empty_front_matter_is_skipped_and_is_no_section() -> None:
    document = read(b"---\n---\n# Head\n", "a.md")
    assert [s.heading for s in document.sections] == ["Head"]


def test_a_title_may_be_the_only_thing_that_can_be_read() -> None:
    assert front_matter("---\ntitle: A: B\n---\n").title == "A: B"


def test_bombs_and_depth_multiply_nothing() -> None:
    found = properties(BOMB + "merged:\n  <<: [*a, *b]\n  k: v")
    assert sum(map(len, found.values())) < 100
    assert len(properties("k: v\na: " + "{a: " * 900 + "1" + "}" * 900)["a"]) <= 2_000


@pytest.mark.parametrize("unit", ["k: v\n", "[", "- a\n", "a: {b: [", "&a [*a, ", "\t", "? ", "'", "k: *a\n", "# c\n"])
def test_any_size_takes_linear_time(unit: str) -> None:
    check_linear(lambda count: front_matter("---\na: 1\n" + unit * count + "\n---\n"), 1_000)
    large = "---\na: 1\n" + unit * (1_000_000 // len(unit)) + "\n---\n"
    assert front_matter(large).end == len(large)
    assert front_matter(large).metadata == {}


@given(st.text(alphabet="ab: -[]{}'\"#&*!|>?%@`\\\t\n,<", max_size=80))
def test_no_front_matter_fails(yaml: str) -> None:
    check_document(read(f"---\na: 1\n{yaml}\n---\nbody".encode(), "a.md"))
