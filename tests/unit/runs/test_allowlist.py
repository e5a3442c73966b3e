"""What may be fetched stays the same for a run that is taken up after an interruption."""

from __future__ import annotations

import json

import pytest

from asky.errors import SourceRefused
from asky.runs.journal.allowlist import AllowlistEntry, JournaledAllowlist

PAGE = "https://found.example/"
LINKS = [f"https://found.example/{letter}" for letter in "abcde"]


def again(entries: list[AllowlistEntry], *, is_private: bool) -> JournaledAllowlist:
    """The allowlist as the next process makes it of what is recorded."""
    return JournaledAllowlist(json.loads(json.dumps(entries)), is_private=is_private)


def test_links_that_were_followed_before_an_interruption_count_after_it() -> None:
    entries: list[AllowlistEntry] = []
    offered = JournaledAllowlist(entries, is_private=True)
    offered.offer_found([PAGE])
    offered.offer_links(LINKS)
    for link in LINKS[:2]:
        offered.require(link)
    resumed = again(entries, is_private=True)
    with pytest.raises(SourceRefused, match="reveal too much"):
        resumed.require(LINKS[2])
    assert resumed.require(LINKS[0]) == LINKS[0]


def test_what_was_offered_before_an_interruption_can_be_fetched_after_it() -> None:
    entries: list[AllowlistEntry] = []
    offered = JournaledAllowlist(entries, is_private=False)
    offered.offer(["https://named.example/"])
    offered.offer_found([PAGE])
    offered.offer_links(LINKS)
    resumed = again(entries, is_private=False)
    for url in ("https://named.example/", PAGE, *LINKS):
        assert resumed.require(url) == url
    with pytest.raises(SourceRefused, match="was not offered"):
        resumed.require("https://found.example/z")
