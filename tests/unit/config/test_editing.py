from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from asky.config.documents import parse_toml, statements
from asky.config.editing import set_in_text
from asky.errors import ConfigError

FILE = Path("/home/user/research.toml")

TEXT = """\
# My own settings.

[research]   # what I research
max_turns = 9    # not "8", not '#7'
local_document_roots = [
    "/a",  # first
    "/b",
]

# Retrieval, measured in May.
[research.retrieval]
"engine" = "exact"

[models."gpt-4.1"]
model = "a # b"  # why
"""


def edited(text: str, path: tuple[str, ...], value: object) -> str:
    return set_in_text(text, path, value, file=FILE)


@pytest.mark.parametrize(
    ("path", "value", "old", "new"),
    [
        (("research", "max_turns"), 12, "max_turns = 9    # not", "max_turns = 12    # not"),
        (("research", "retrieval", "engine"), "auto", '"engine" = "exact"', '"engine" = "auto"'),
        (("models", "gpt-4.1", "model"), 'x"y', 'model = "a # b"  # why', 'model = "x\\"y"  # why'),
        (
            ("research", "local_document_roots"),
            (Path("/c"),),
            '[\n    "/a",  # first\n    "/b",\n]',
            '["/c"]',
        ),
        (("research", "max_passages"), 4, '"/b",\n]\n', '"/b",\n]\nmax_passages = 4\n'),
        (("research", "retrieval", "per_source"), 2, '= "exact"\n', '= "exact"\nper_source = 2\n'),
        (("ui", "progress"), False, "# why\n", "# why\n\n[ui]\nprogress = false\n"),
        (("models", "a b", "model"), "m", "# why\n", '# why\n\n[models."a b"]\nmodel = "m"\n'),
        (("default",), "m", "# My own", 'default = "m"\n# My own'),
    ],
)
def test_only_the_key_changes(path: tuple[str, ...], value: object, old: str, new: str) -> None:
    assert edited(TEXT, path, value) == TEXT.replace(old, new)


def test_an_empty_file_gets_the_table() -> None:
    assert edited("", ("ui", "color"), "never") == '[ui]\ncolor = "never"\n'
    assert edited("", ("default",), "m") == 'default = "m"\n'


def test_windows_line_ends_stay() -> None:
    text = "[ui]\r\ncolor = 'auto' # c\r\n"
    assert edited(text, ("ui", "color"), "never") == '[ui]\r\ncolor = "never" # c\r\n'
    assert edited(text, ("ui", "progress"), True) == "[ui]\r\ncolor = 'auto' # c\r\nprogress = true\r\n"
    assert edited(text, ("research", "max_turns"), 3) == text + "\r\n[research]\r\nmax_turns = 3\r\n"


def test_a_dotted_key_is_changed_where_it_stands() -> None:
    assert edited("research.embedding.model = 'a'\n", ("research", "embedding", "model"), "b") == (
        'research.embedding.model = "b"\n'
    )


@pytest.mark.parametrize(
    "text",
    [
        "research = {max_turns = 3}\n",
        "research.max_turns = 3\n",
        "[research]\nmax_passages = [\n" + "1,\n" * 200 + "]\n[ui]\n",
    ],
)
def test_a_file_laid_out_otherwise_is_left_alone(text: str) -> None:
    with pytest.raises(ConfigError, match=r"research\.toml: cannot set research\.max_passages") as caught:
        edited(text, ("research", "max_passages"), 4)
    assert caught.value.hint == "use: asky config edit"


def test_each_statement_is_found_with_its_lines() -> None:
    found = [(s.start + 1, s.end, ".".join(s.table), ".".join(s.key)) for s in statements(TEXT)]
    assert found == [
        (3, 3, "research", ""),
        (4, 4, "research", "max_turns"),
        (5, 8, "research", "local_document_roots"),
        (11, 11, "research.retrieval", ""),
        (12, 12, "research.retrieval", "engine"),
        (14, 14, "models.gpt-4.1", ""),
        (15, 15, "models.gpt-4.1", "model"),
    ]


def test_statements_know_headers_and_equal_signs_inside_of_strings() -> None:
    text = '"a=b" = """\n[not.a.table]\nx = 1\n"""\n\'c.d\'.e = 1\n[[list]]\nf = "g = h"\n[ x . "y" ]\n'
    assert [(s.start, s.table, s.key) for s in statements(text)] == [
        (0, (), ("a=b",)),
        (4, (), ("c.d", "e")),
        (5, ("list",), ()),
        (6, ("list",), ("f",)),
        (7, ("x", "y"), ()),
    ]


names = st.sampled_from(["research", "max_turns", "a b", "#", "=", "gpt-4.1", "é", '"', ""])
values = st.one_of(
    st.booleans(),
    st.integers(-(10**12), 10**12),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(st.characters(codec="utf-8"), max_size=20),
    st.lists(st.text(st.characters(codec="utf-8"), max_size=5), max_size=3).map(tuple),
)


@settings(deadline=None)
@given(st.lists(st.tuples(st.lists(names, min_size=1, max_size=3).map(tuple), values), max_size=6))
def test_setting_keys_one_after_the_other_gives_a_file_that_says_them(
    changes: list[tuple[tuple[str, ...], object]],
) -> None:
    text = TEXT
    for path, value in changes:
        try:
            text = edited(text, path, value)
        except ConfigError:
            continue  # a table where the value should stand, or the other way round
        found: object = parse_toml(text)
        for name in path:
            assert isinstance(found, dict)
            found = found[name]
        assert found == (list(value) if isinstance(value, tuple) else value)
    assert text.count("#") >= TEXT.count("#") - 1  # the comments, but for one inside of a replaced list
