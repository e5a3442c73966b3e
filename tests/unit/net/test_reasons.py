"""Reasons why pages could not be read."""

from __future__ import annotations

import pytest

from asky.net.reasons import common_reasons, reason_without_address


@pytest.mark.parametrize(
    ("message", "url", "reason"),
    [
        ("a.example has no such page (HTTP 404)", "https://a.example/x", "the site has no such page (HTTP 404)"),
        (
            "refused: port 18600 of http://127.0.0.1:18600/x is not one that web servers use",
            "http://127.0.0.1:18600/x",
            "port 18600 of the site is not one that web servers use",
        ),
        (
            "refused: robots.txt of a.example disallows reading /x?y=1",
            "https://a.example/x?y=1",
            "robots.txt of the site disallows reading it",
        ),
        ("could not reach a.example: no such host", "https://a.example/", "could not reach the site: no such host"),
        ("aa is bad", "not an address", "aa is bad"),
    ],
)
def test_the_address_is_left_out(message: str, url: str, reason: str) -> None:
    assert reason_without_address(message, url) == reason


def test_the_commonest_come_first_and_the_rest_are_counted() -> None:
    failures = {f"https://h{n}.example/": f"h{n}.example is gone" for n in range(4)}
    assert common_reasons(failures) == "the site is gone"
    failures |= {f"https://o{n}.example/": f"reason {n}" for n in range(4)}
    assert common_reasons(failures) == "the site is gone (4); reason 0 (1); reason 1 (1); other reasons (2)"
