"""One form for every way of writing an address, and no repair of an address that is to be fetched."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from asky.text.urls import canonical_url, host_of, parse_address, readable_host, site_of

SAME = [
    ("http://example.org", "http://example.org/"),
    ("HTTP://EXAMPLE.ORG/", "http://example.org/"),
    ("https://Example.Org/Path", "https://example.org/Path"),
    ("http://example.org:80/", "http://example.org/"),
    ("https://example.org:443/a", "https://example.org/a"),
    ("https://example.org:0443/a", "https://example.org/a"),
    ("http://example.org:/a", "http://example.org/a"),
    ("http://example.org./a", "http://example.org/a"),
    ("  http://example.org/a\n", "http://example.org/a"),
    ("http://example.org/a#part", "http://example.org/a"),
    ("http://example.org/#", "http://example.org/"),
    ("http://example.org/a#:~:text=mill", "http://example.org/a"),
    ("http://example.org/a?", "http://example.org/a"),
    ("http://example.org/a?#x", "http://example.org/a"),
    ("http://example.org?a=1", "http://example.org/?a=1"),
    ("http://example.org/a?utm_source=x", "http://example.org/a"),
    ("http://example.org/a?UTM_Source=x", "http://example.org/a"),
    ("http://example.org/a?utm%5Fsource=x", "http://example.org/a"),
    ("http://example.org/a?utm_source=x&b=1&utm_medium=y", "http://example.org/a?b=1"),
    ("http://example.org/a?b=1&gclid=q", "http://example.org/a?b=1"),
    ("http://example.org/a?fbclid=q&b=1", "http://example.org/a?b=1"),
    ("http://example.org/a?msclkid=1", "http://example.org/a"),
    ("http://example.org/a?mc_cid=1&mc_eid=2", "http://example.org/a"),
    ("http://example.org/a?igshid=1", "http://example.org/a"),
    ("http://example.org/a?_hsenc=1&_hsmi=2", "http://example.org/a"),
    ("http://example.org/a?srsltid=1&gad_source=1&wbraid=2", "http://example.org/a"),
    ("http://example.org/a?yclid=1&twclid=2&ttclid=3&dclid=4", "http://example.org/a"),
    ("http://example.org/a?pk_campaign=1&mtm_source=2", "http://example.org/a"),
    ("http://example.org/a?gclid", "http://example.org/a"),
    ("http://example.org/a?b=1&&c=2&", "http://example.org/a?b=1&c=2"),
    ("http://example.org/%7Emill", "http://example.org/~mill"),
    ("http://example.org/a%2db", "http://example.org/a-b"),
    ("http://example.org/caf%c3%a9", "http://example.org/caf%C3%A9"),
    ("http://example.org/café", "http://example.org/caf%C3%A9"),
    ("http://example.org/a b", "http://example.org/a%20b"),
    ("http://example.org/?q=a b", "http://example.org/?q=a%20b"),
    ("http://example.org/100%", "http://example.org/100%25"),
    ("http://example.org/%4%31", "http://example.org/%2541"),
    ("http://example.org/a/./b", "http://example.org/a/b"),
    ("http://example.org/a/../b", "http://example.org/b"),
    ("http://example.org/a/%2e%2E/b", "http://example.org/b"),
    ("http://example.org/../../a", "http://example.org/a"),
    ("http://example.org\\a", "http://example.org/a"),
    ("http://exam\tple.org/", "http://example.org/"),
    ("http://user@example.org/", "http://example.org/"),
    ("http://user:secret@example.org/a", "http://example.org/a"),
    ("http://münchen.de/", "http://xn--mnchen-3ya.de/"),
    ("http://MÜNCHEN.de/", "http://xn--mnchen-3ya.de/"),
    ("http://xn--mnchen-3ya.de/", "http://xn--mnchen-3ya.de/"),
    ("http://пример.рф/", "http://xn--e1afmkfd.xn--p1ai/"),
    ("http://faß.de/", "http://xn--fa-hia.de/"),
    ("http://食狮。公司。cn/", "http://xn--85x722f.xn--55qx5d.cn/"),
    ("http://ex%61mple.org/", "http://example.org/"),
    ("http://ＥＸＡＭＰＬＥ.org/", "http://example.org/"),
    ("http://0x7f.1/", "http://127.0.0.1/"),
    ("http://2130706433/", "http://127.0.0.1/"),
    ("http://[::FFFF:127.0.0.1]/", "http://[::ffff:7f00:1]/"),
    ("http://[2001:DB8:0:0::1]:80/", "http://[2001:db8::1]/"),
    ("http:example.org/a", "http://example.org/a"),
    ("https:///example.org/a", "https://example.org/a"),
]
DIFFERENT = [
    ("http://example.org/a", "https://example.org/a"),
    ("http://example.org/a", "http://example.org/a/"),
    ("http://example.org/a", "http://example.org/A"),
    ("http://example.org/a", "http://www.example.org/a"),
    ("http://example.org:8080/", "http://example.org/"),
    ("http://example.org/?a=1&b=2", "http://example.org/?b=2&a=1"),
    ("http://example.org/?a=1&a=2", "http://example.org/?a=1"),
    ("http://example.org/?a=", "http://example.org/?a"),
    ("http://example.org/?id=utm_source", "http://example.org/"),
    ("http://example.org/?ref=1", "http://example.org/"),
    ("http://example.org/a%2Fb", "http://example.org/a/b"),
    ("http://example.org/?a=%26b", "http://example.org/?a=&b"),
    ("http://example.org/?a=1+2", "http://example.org/?a=1%202"),
    ("http://example.org/a;b", "http://example.org/a"),
]
NO_PAGES = ["", "example.org", "/a", "//example.org", "ftp://example.org/", "file:///etc/passwd", "mailto:a@b.org",
            "javascript:alert(1)", "data:,hello", "http://", "http://exa mple.org/", "http://[::1", "http://a:99999/",
            "http://./", "http://\ud800.org/", "http://a%00b/"]  # fmt: skip


@pytest.mark.parametrize(("written", "canonical"), SAME)
def test_an_address_has_one_form(written: str, canonical: str) -> None:
    assert canonical_url(written) == canonical
    assert canonical_url(canonical) == canonical


@pytest.mark.parametrize(("one", "other"), DIFFERENT)
def test_addresses_of_different_pages_stay_different(one: str, other: str) -> None:
    assert canonical_url(one) != canonical_url(other)


@pytest.mark.parametrize("text", NO_PAGES)
def test_what_is_no_address_of_a_page_has_no_form(text: str) -> None:
    with pytest.raises(ValueError, match=r"not a URL|not the address"):
        canonical_url(text)


@given(st.one_of(st.text(max_size=60), st.text("/%2eE41aA?&=#:@[].é \\", max_size=40)))
def test_a_canonical_form_is_its_own(rest: str) -> None:
    for text in (rest, f"http://example.org{rest}", f"http://example.org/{rest}", f"https://example.org/?{rest}"):
        try:
            canonical = canonical_url(text)
        except ValueError:
            continue
        assert canonical_url(canonical) == canonical
        assert canonical.isascii()
        assert "#" not in canonical


@given(st.text(max_size=60))
def test_what_is_fetched_is_what_is_checked(rest: str) -> None:
    """An address that passes names one host to everybody: it can be parsed again to the same."""
    for text in (rest, f"http://example.org{rest}", f"http://{rest}/", f"https://example.org/{rest}"):
        try:
            address = parse_address(text)
        except ValueError:
            continue
        assert parse_address(str(address)) == address


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("ftp://example.org/", "only http and https"),
        ("gopher://127.0.0.1:6379/_INFO", "only http and https"),
        ("file:///etc/passwd", "only http and https"),
        ("jar:http://example.org!/", "only http and https"),
        ("http://a@b/", "contains a user name"),
        ("http://user:secret@127.0.0.1/", "contains a user name"),
        ("http://@127.0.0.1/", "contains a user name"),
        ("http://example.org\\@127.0.0.1/", "a backslash"),
        ("http://127.0.0.1\\.example.org/", "a backslash"),
        ("http:\\\\127.0.0.1/", "a backslash"),
        (" http://example.org/", "white space"),
        ("http://example.org/\n", "control characters"),
        ("http://exam\tple.org/", "control characters"),
        ("http://example.org/a\r\nHost: b", "control characters"),
        ("http://example.org/\x00", "control characters"),
        ("http:example.org", "no host"),
        ("http:/example.org", "no host"),
        ("http:///example.org", "no host"),
        ("//example.org/", "no host"),
        ("example.org", "no host"),
        ("http://./", "no host"),
        ("http://[::1", "not a URL"),
        ("http://a:99999/", "not a URL"),
        ("http://exa mple.org/", "not a URL"),
        ("http://\ud800/", "not a URL"),
        ("http://example.org/" + "a" * 9000, "longer than"),
    ],
)  # fmt: skip
def test_nothing_is_repaired_that_is_to_be_fetched(text: str, reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        parse_address(text)


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("../c", "https://example.org/c"),
        ("?q", "https://example.org/a/b?q"),
        ("", "https://example.org/a/b?x"),
        ("#part", "https://example.org/a/b?x"),
        ("//example.com/d", "https://example.com/d"),
        ("http://example.com:8080/", "http://example.com:8080/"),
        ("/caf\u00e9 menu", "https://example.org/caf%C3%A9%20menu"),
    ],
)
def test_a_relative_address_is_taken_from_its_page(text: str, address: str) -> None:
    assert str(parse_address(text, parse_address("https://example.org/a/b?x"))) == address


def test_an_address_knows_what_a_host_header_says() -> None:
    assert parse_address("http://[::1]:8080/a").authority == "[::1]:8080"
    assert parse_address("https://EXAMPLE.org:443").authority == "example.org"


@pytest.mark.parametrize(
    ("url", "host", "site"),
    [
        ("http://a.b.example.co.uk:8080/x", "a.b.example.co.uk", "example.co.uk"),
        ("https://en.wikipedia.org/", "en.wikipedia.org", "wikipedia.org"),
        ("https://me.github.io/", "me.github.io", "me.github.io"),
        ("http://www.xn--85x722f.xn--55qx5d.cn/", "www.xn--85x722f.xn--55qx5d.cn", "xn--85x722f.xn--55qx5d.cn"),
        ("http://www.пример.рф/", "www.xn--e1afmkfd.xn--p1ai", "xn--e1afmkfd.xn--p1ai"),
        ("http://wiki.office.lan/", "wiki.office.lan", "office.lan"),
        ("http://localhost:8123/", "localhost", "localhost"),
        ("http://10.0.0.1:8123/", "10.0.0.1", "10.0.0.1"),
        ("http://[2001:db8::1]:81/", "[2001:db8::1]", "[2001:db8::1]"),
    ],
)
def test_an_address_has_a_host_and_a_site(url: str, host: str, site: str) -> None:
    assert host_of(url) == host
    assert site_of(url) == site


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("http://xn--mnchen-3ya.de/", "münchen.de"),
        ("http://xn--e1afmkfd.xn--p1ai/", "пример.рф"),
        ("http://例え.jp/", "例え.jp"),
        ("http://\u0430pple.com/", "xn--pple-43d.com"),  # a Cyrillic a among Latin letters
        ("http://\u0430\u0440\u0440\u04cf\u0435.com/", "xn--80ak6aa92e.com"),  # nothing but lookalikes
        ("http://example.org/", "example.org"),
    ],
)
def test_a_host_that_could_pass_for_another_is_shown_as_it_is_sent(url: str, shown: str) -> None:
    assert readable_host(url) == shown
