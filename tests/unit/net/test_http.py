"""The HTTP client reaches what it is meant for, and no other way."""

from __future__ import annotations

import pytest

from asky.net.addresses import is_loopback
from asky.net.http import client_factory
from asky.version import __version__


@pytest.mark.parametrize("host", ["localhost", "LOCALHOST.", "a.localhost", "127.0.0.1", "127.9.9.9", "::1"])
def test_this_machine_is_known(host: str) -> None:
    assert is_loopback(host)


@pytest.mark.parametrize(
    "host", ["", "example.org", "localhost.example.org", "10.0.0.1", "0.0.0.0", "::2", "127.0.0.1.nip.io"]
)
def test_other_machines_are_not_this_one(host: str) -> None:
    assert not is_loopback(host)


@pytest.mark.parametrize("url", ["http://localhost:1/v1", "https://example.org/v1"])
def test_a_client_follows_no_redirects_and_names_itself(url: str) -> None:
    client = client_factory(url)()
    assert not client.follow_redirects
    assert client.headers["user-agent"] == f"asky/{__version__}"
