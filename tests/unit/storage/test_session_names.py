"""Which names a session can have, and what is said of one that it cannot."""

from __future__ import annotations

import unicodedata

import pytest

from asky.errors import UsageError
from asky.storage.session_names import checked_name

PERSIAN = "می\u200cخواهم"
FAMILY = "👩\u200d👩\u200d👧"


@pytest.mark.parametrize(
    "name", ["sea", "a b", "日本語", PERSIAN, FAMILY, "❤\ufe0f", "क्\u200dष", "x" * 80, "-x", "it's #1"]
)
def test_a_name_that_can_be_read_is_one(name: str) -> None:
    assert checked_name(name) == unicodedata.normalize("NFC", name)


def test_a_name_is_composed() -> None:
    assert checked_name("Zu\u0308rich") == "Z\u00fcrich"


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("a\u200bb", "U+200B is not allowed"),
        ("a\u200db", "U+200D is not allowed"),
        ("sea\u200c", "U+200C is not allowed"),
        ("a\u202eb", "U+202E is not allowed"),
        ("\u200d", "U+200D is not allowed"),
        (f"{PERSIAN}\u200b", "U+200B is not allowed"),
        ("a\tb", "U+0009 is not allowed"),
        ("\udcff", "U+DCFF is not allowed"),
        ("a/b", "without slashes"),
        ("a\\b", "without slashes"),
        ("", "up to 80"),
        (" sea", "no space around"),
        ("x" * 81, "up to 80"),
    ],
)
def test_another_is_refused_and_the_character_named_that_cannot_be_seen(name: str, told: str) -> None:
    with pytest.raises(UsageError, match="not a session name") as caught:
        checked_name(name)
    assert told in str(caught.value.hint)
