"""Content comes from the public internet and from what the user allows, however an address is written."""

from __future__ import annotations

import socket
from collections.abc import Sequence

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st

from asky.errors import AskyError, ConfigError, SourceRefused, Unreachable
from asky.net.addresses import is_public, parse_ip
from asky.net.guard import Guard
from tests.support import ssrf
from tests.support.fetching import names


def locate(url: str, *allow: str, answers: Sequence[str] | None = None) -> tuple[str, ...]:
    """Where a fetch of `url` would connect to."""

    async def main() -> tuple[str, ...]:
        resolve = ssrf.Names() if answers is None else names({"a.test": answers})
        guard = Guard(allow, resolve=resolve)
        return await guard.locate(guard.check(url))

    return anyio.run(main)


@pytest.mark.parametrize("url", [url for url in ssrf.VECTORS if "changing" not in url], ids=ascii)
def test_no_way_of_writing_an_address_leads_into_a_private_network(url: str) -> None:
    with pytest.raises((SourceRefused, Unreachable)) as caught:
        locate(url)
    assert isinstance(caught.value, SourceRefused) or "nonsense" in url or "nothing" in url
    assert "\n" not in caught.value.message


@pytest.mark.parametrize("url", ssrf.CONTROLS)
def test_public_and_allowed_addresses_are_let_through(url: str) -> None:
    found = locate(url, "granted.test", f"{ssrf.GRANTED}:7777")
    assert set(found) <= {*ssrf.PUBLIC, ssrf.GRANTED}
    assert found


@given(st.ip_addresses(v=4))
def test_an_ipv4_address_is_judged_alike_in_all_its_wrappings(address: object) -> None:
    inner = parse_ip(str(address))
    assert inner is not None
    for wrapped in (f"::ffff:{address}", f"64:ff9b::{address}"):
        outer = parse_ip(wrapped)
        assert outer is not None
        assert is_public(outer) == is_public(inner)
    compatible = parse_ip(f"::{address}")
    assert compatible is not None
    assert not is_public(compatible)


@given(st.ip_addresses())
def test_what_python_calls_private_is_not_public(address: object) -> None:
    parsed = parse_ip(str(address))
    assert parsed is not None
    mapped = getattr(parsed, "ipv4_mapped", None)
    if is_public(parsed) and mapped is None:
        assert parsed.is_global or str(parsed).startswith("64:ff9b::")


ALLOWED = [
    ("10.0.0.5", "http://10.0.0.5/", True),
    ("10.0.0.5", "http://10.0.0.5:8080/", True),
    ("10.0.0.5", "https://10.0.0.5:8443/", True),
    ("10.0.0.5", "http://10.0.0.5:8123/", False),
    ("10.0.0.5", "http://10.0.0.6/", False),
    ("10.0.0.5:8123", "http://10.0.0.5:8123/", True),
    ("10.0.0.5:8123", "http://10.0.0.5/", False),
    ("10.0.0.5:8123", "http://10.0.0.5:8080/", False),
    ("10.0.0.0/24", "http://10.0.0.77/", True),
    ("10.0.0.7/24", "http://10.0.0.77/", True),
    ("10.0.0.0/24", "http://10.0.1.77/", False),
    ("10.0.0.0/24:8123", "http://10.0.0.77:8123/", True),
    ("127.0.0.1:8123", "http://[::ffff:127.0.0.1]:8123/", True),
    ("127.0.0.1:8123", "http://2130706433:8123/", True),
    ("::1", "http://[::1]/", True),
    ("[::1]", "http://[::1]/", True),
    ("[::1]:8123", "http://[::1]:8123/", True),
    ("[fd00::/8]:8123", "http://[fd12::5]:8123/", True),
    ("fd00::/8", "http://[fd12::5]/", True),
    ("fd00::/8", "http://[fe80::5]/", False),
    ("loopback.test", "http://loopback.test/", True),
    ("LOOPBACK.test.", "http://loopback.TEST/", True),
    ("loopback.test", "http://private.test/", False),
    ("loopback.test", "http://sub.loopback.test/", False),
    ("loopback.test", "http://127.0.0.1/", False),
    ("loopback.test:8123", "http://loopback.test:8123/", True),
    ("loopback.test:8123", "http://loopback.test/", False),
    ("127.0.0.1", "http://loopback.test/", True),
    ("127.0.0.1:8123", "http://loopback.test:8123/", True),
    ("127.0.0.1:8123", "http://public.test:8123/", False),
    ("10.0.0.1", "http://mixed.test/", True),
    ("public.test:9000", "http://public.test:9000/", True),
]


@pytest.mark.parametrize(("entry", "url", "is_allowed"), ALLOWED)
def test_an_entry_allows_what_it_names_and_nothing_else(entry: str, url: str, is_allowed: bool) -> None:
    if is_allowed:
        assert locate(url, entry)
        return
    with pytest.raises(AskyError):
        locate(url, entry)


@pytest.mark.parametrize("entry", ["", "  ", "http://wiki.lan", "a b", "10.0.0.0/99", "10.0.0.1:0", "10.0.0.1:99999",
                                   "wiki.lan/a", "user@wiki.lan", ":80", "[::1", "10.0.0", "*.lan"])  # fmt: skip
def test_an_entry_that_means_nothing_is_a_mistake_of_the_configuration(entry: str) -> None:
    with pytest.raises(ConfigError, match=r"network\.allow_private"):
        Guard([entry])


@pytest.mark.parametrize(
    ("url", "words", "hint"),
    [
        ("http://10.0.0.5/", "10.0.0.5 is a private address", 'add "10.0.0.5" to network.allow_private'),
        ("http://private.test/", "private.test is in a private network (10.0.0.1)", 'add "private.test"'),
        ("http://127.0.0.1:8123/", "port 8123", 'add "127.0.0.1:8123"'),
        ("http://[::1]:8123/", "port 8123", 'add "[::1]:8123"'),
        ("ftp://example.org/", "only http and https are fetched", None),
        ("http://user:secret@example.org/", "it contains a user name", None),
    ],
)
def test_a_refusal_says_what_and_how_to_allow_it(url: str, words: str, hint: str | None) -> None:
    with pytest.raises(SourceRefused) as caught:
        locate(url)
    assert words in caught.value.message
    assert "secret" not in caught.value.message
    assert (hint or "") in (caught.value.hint or "")


@pytest.mark.parametrize(
    ("errno", "words", "retryable"),
    [(socket.EAI_NONAME, "no such host", False), (socket.EAI_AGAIN, "cannot be resolved now", True)],
)
def test_a_name_that_does_not_resolve_is_an_unreachable_host(errno: int, words: str, retryable: bool) -> None:
    async def resolve(host: str) -> Sequence[str]:
        raise socket.gaierror(errno, "no")

    async def main() -> None:
        guard = Guard(resolve=resolve)
        await guard.locate(guard.check("http://a.test/"))

    with pytest.raises(Unreachable, match=words) as caught:
        anyio.run(main)
    assert caught.value.retryable is retryable


def test_the_system_is_asked_where_nobody_else_is() -> None:
    async def main() -> None:
        guard = Guard(["localhost"])
        assert set(await guard.locate(guard.check("http://localhost/"))) <= {"127.0.0.1", "::1"}
        with pytest.raises(SourceRefused):
            await Guard().locate(guard.check("http://localhost/"))
        with pytest.raises(Unreachable):
            await guard.locate(guard.check(f"http://{'a' * 80}.test/"))
        with pytest.raises(Unreachable):
            await guard.locate(guard.check("http://a..invalid/"))

    anyio.run(main)


@pytest.mark.parametrize("odd", ["", "example.org", "93.184.216", "93.184.216.34:80", "fe80::1%eth0%1"])
@pytest.mark.parametrize("place", [0, 1])
def test_an_answer_that_is_no_address_spoils_the_good_ones_beside_it(odd: str, place: int) -> None:
    answers = ["93.184.216.34"]
    answers.insert(place, odd)
    with pytest.raises(Unreachable, match="no address"):
        locate("http://a.test/", answers=answers)


def test_answers_keep_their_order_and_come_once() -> None:
    found = locate("http://a.test/", answers=["2606:2800::34", "93.184.216.34", "2606:2800::34"])
    assert found == ("2606:2800::34", "93.184.216.34")
