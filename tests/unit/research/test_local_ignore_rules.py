"""The expectations are what `git check-ignore` says of the same rules and names."""

from __future__ import annotations

import time

import pytest

from asky.research.local.ignore_rules import IgnoreRules, parse_rules


def excluded(lines: str, path: str) -> bool:
    """Whether a walk from the root would leave out `path`; one that ends in / is a folder."""
    rules = IgnoreRules(parse_rules(lines.split("\n")))
    parts = tuple(path.removesuffix("/").split("/"))
    above = [rules.excludes(parts[:depth], folder=True) for depth in range(1, len(parts))]
    return any(above) or rules.excludes(parts, folder=path.endswith("/"))


@pytest.mark.parametrize(
    ("lines", "path", "expected"),
    [
        ("*.log", "a/b.log", True),
        ("*.log", "a.logs", False),
        ("/a.md", "a.md", True),
        ("/a.md", "x/a.md", False),
        ("x/a.md", "x/a.md", True),
        ("x/a.md", "y/x/a.md", False),
        ("build/", "build/", True),
        ("build/", "x/build/a.md", True),
        ("build/", "build", False),
        ("**/build", "x/y/build", True),
        ("a/**/b", "a/b", True),
        ("a/**/b", "a/x/y/b", True),
        ("a/**/b", "a/x/y/c", False),
        ("a/**", "a/", False),
        ("a/**", "a/x", True),
        ("****/x", "a/x", True),
        ("*\n!*/\n!*.md", "a/b.md", False),
        ("*\n!*/\n!*.md", "a/b.txt", True),
        ("*\n!*/\n!*.md", "a/", False),
        ("*.md\n!keep.md", "x/keep.md", False),
        ("x/\n!x/keep.md", "x/keep.md", True),
        ("# note\n\n   \n*.tmp  ", "a.tmp", True),
        ("\\#a", "#a", True),
        ("\\!a", "!a", True),
        ("a\\ ", "a ", True),
        ("a ", "a ", False),
        ("a.md\r", "a.md", True),
        ("[ab].md", "b.md", True),
        ("[!ab].md", "b.md", False),
        ("[^a-c]x", "dx", True),
        ("[]a]", "]", True),
        ("[[:digit:]]x", "7x", True),
        ("[a\\-c]x", "-x", True),
        ("[a\\-c]x", "bx", False),
        ("[z", "[z", False),
        ("a?c", "abc", True),
        ("a?c", "ac", False),
        ("\\*", "*", True),
        ("\\*", "a", False),
        ("A", "a", False),
        ("!", "!", False),
        ("/", "a", False),
        ("a//b", "a/b", False),
        ("a\\", "a", False),
    ],
)
def test_rules_mean_what_they_mean_to_git(lines: str, path: str, expected: bool) -> None:
    assert excluded(lines, path) is expected


def test_rules_of_a_deeper_folder_come_first_and_are_relative_to_it() -> None:
    top = IgnoreRules(parse_rules(["*.md", "!b.md"]))
    inner = top.below(parse_rules(["!a.md", "/b.md"]), 1)
    assert not inner.excludes(("x", "a.md"), folder=False)
    assert inner.excludes(("x", "b.md"), folder=False)
    assert not inner.excludes(("x", "y", "b.md"), folder=False)
    assert inner.excludes(("x", "c.md"), folder=False)


def test_a_hostile_pattern_costs_no_more_than_the_length_of_the_name() -> None:
    rules = IgnoreRules(parse_rules(["*a" * 30 + "*b", "/".join(["**", "a*"] * 30)]))
    started = time.process_time()
    assert not rules.excludes(("a" * 255,), folder=False)
    assert not rules.excludes(("a",) * 500 + ("b",), folder=False)
    assert time.process_time() - started < 5  # usually a tenth of it; quadratic time would be minutes
