"""What a link leads to, and how a link to a note is written."""

from __future__ import annotations

from pathlib import Path

import pytest

from asky.notes.names import NoteFile, NoteNames

ROOT = Path("/vault")


def note(relative: str) -> NoteFile:
    return NoteFile(ROOT / relative, relative, ROOT)


NOTES = [
    "Index.md",
    "Bread.md",
    "Recipes/Bread.md",
    "Recipes/Rye/Bread.md",
    "Recipes/Sourdough.md",
    "Work/Plan.md",
    "Work/2026/Plan.md",
    "Version 1.2.md",
    "Café.md",
    "C# and [types].md",
    "Log.txt",
    "Plan.txt",
    "picture.png.md",
]
NAMES = NoteNames([note(each) for each in NOTES])

LEADS = [
    ("Sourdough", "Index.md", "Recipes/Sourdough.md"),
    ("sourDOUGH", "Index.md", "Recipes/Sourdough.md"),
    ("Sourdough.md", "Index.md", "Recipes/Sourdough.md"),
    ("Recipes/Sourdough", "Index.md", "Recipes/Sourdough.md"),
    ("/Recipes/Sourdough", "Index.md", "Recipes/Sourdough.md"),
    ("/Sourdough", "Index.md", None),
    ("Bread", "Recipes/Rye/Bread.md", "Bread.md"),  # a path of the vault
    ("Rye/Bread", "Index.md", "Recipes/Rye/Bread.md"),
    ("./Bread", "Recipes/Sourdough.md", "Recipes/Bread.md"),
    ("../Bread", "Recipes/Rye/Bread.md", "Recipes/Bread.md"),
    ("../../Bread", "Recipes/Sourdough.md", None),
    ("Plan", "Index.md", "Work/Plan.md"),  # the shortest path
    ("Plan", "Work/2026/Plan.md", "Work/2026/Plan.md"),  # beneath the folder of the link
    ("Plan.txt", "Index.md", "Plan.txt"),
    ("Log", "Index.md", None),  # only .md may be left out
    ("Version 1.2", "Index.md", "Version 1.2.md"),
    ("Cafe\u0301", "Index.md", "Café.md"),
    ("read", "Index.md", None),
    ("", "Work/Plan.md", "Work/Plan.md"),
    ("Nothing", "Index.md", None),
]


@pytest.mark.parametrize(("target", "source", "expected"), LEADS)
def test_a_link_leads_to_the_note_that_obsidian_opens(target: str, source: str, expected: str | None) -> None:
    found = NAMES.resolve(target, note(source))
    assert (found.relative if found else None) == expected


@pytest.mark.parametrize(
    ("relative", "link"),
    [
        ("Recipes/Sourdough.md", "[[Sourdough]]"),
        ("Recipes/Bread.md", "[[Recipes/Bread|Bread]]"),
        ("Bread.md", "[[Bread]]"),
        ("Work/2026/Plan.md", "[[Work/2026/Plan|Plan]]"),
        ("Log.txt", "[[Log.txt]]"),
        ("Version 1.2.md", "[[Version 1.2]]"),
        ("C# and [types].md", r"[C# and \[types\]](C%23%20and%20%5Btypes%5D.md)"),
        ("picture.png.md", "[[picture.png.md|picture.png]]"),
    ],
)
def test_a_link_is_as_short_as_it_is_clear(relative: str, link: str) -> None:
    assert NAMES.link_to(note(relative)) == link
