"""What search sees of a file's name and folders."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from asky.research.corpus.file_names import name_words
from asky.research.local.names import source_title
from asky.values import Document


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("api-ip-addresses.md", "api ip addresses"),
        ("courier/retry.py", "retry courier"),
        ("docs/getUserName.js", "getUserName get User Name docs"),
        ("GitHub/HTTPServer_utf8 IPv4.txt", "HTTPServer HTTP Server utf8 IPv4 GitHub Git Hub"),
        ("2023-09-12.md", "2023 09 12"),
        ("2. Part/01-intro.md", "intro Part"),
        ("2024 plan/3D printing.md", "3D printing 2024 plan"),
        ("17.txt", ""),
        ("1984.txt", "1984"),
        ("notes/a3f9c2d4e5.md", "notes"),
        ("550e8400-e29b-41d4-a716-446655440000.md", ""),
        ("the/how-to.md", ""),
        ("notes/Notes.md", "Notes"),
        ("caf\udce9/x\udcff.md", "x caf"),
        ("🎉.md", ""),
        ("كتاب/مرحبا.md", "مرحبا كتاب"),
        ("日本語ノート.md", "日本語ノート"),
        (".md", "md"),
        ("archive.tar.gz", "archive tar"),
    ],
)
def test_names_are_split_into_words_without_noise(path: str, words: str) -> None:
    assert name_words(path) == words


@pytest.mark.parametrize(
    ("path", "title", "words"),
    [
        ("api-ip-addresses.md", "API IP address", ""),
        ("api-ip-addresses.md", "IP addresses", "api ip addresses"),
        ("Recipes/tart.md", "Nectarine tart", "Recipes"),
    ],
)
def test_what_the_title_says_is_not_said_twice(path: str, title: str, words: str) -> None:
    assert name_words(path, title) == words


def test_a_long_path_gives_a_bounded_number_of_words() -> None:
    assert len(name_words("/".join(["aB-" * 80] * 40)).split()) == 80
    assert name_words("x" * 251 + ".md") == "x" * 251


@given(st.text(max_size=80), st.text(max_size=20))
def test_no_name_fails(path: str, title: str) -> None:
    assert "\n" not in name_words(path, title)
    name_words(path.encode("utf-8", "surrogatepass").decode("utf-8", "surrogateescape"), title).encode()


@pytest.mark.parametrize(
    ("document", "title"),
    [
        (None, "a b.md"),
        (Document("x", "text/plain"), "a b.md"),
        (Document("x", "text/markdown"), "a b"),
        (Document("x", "text/markdown", "Title"), "Title"),
    ],
)
def test_a_note_without_a_title_has_its_name(document: Document | None, title: str) -> None:
    assert source_title(document, "folder/a b.md") == title
    assert source_title(Document("x", "text/markdown"), "a\udce9.md") == "a\\xe9"
