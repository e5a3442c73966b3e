"""Addresses on the web: one parser for what is checked, what is fetched and what is remembered.

Source: the URL Standard of the WHATWG, as ada implements it (1.5 µs an address); the list of public suffixes, as the
package tld carries it.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass

_MAX_CHARS = 8192
"""Longer addresses name no page that anybody means; servers commonly refuse them too. Source: RFC 9110, 4.1."""

# fmt: off
_TRACKING = frozenset((
    "__hsfp", "__hssc", "__hstc", "__s", "__twitter_impression", "_branch_match_id", "_ga", "_gl", "_hsenc", "_hsmi",
    "_openstat", "dclid", "epik", "fb_action_ids", "fb_action_types", "fb_source", "fbclid", "gad_campaignid",
    "gad_source", "gbraid", "gclid", "gclsrc", "hsctatracking", "igsh", "igshid", "li_fat_id", "mc_cid", "mc_eid",
    "mkt_tok", "ml_subscriber", "ml_subscriber_hash", "msclkid", "oft_id", "oly_anon_id", "oly_enc_id", "pk_campaign",
    "pk_cid", "pk_kwd", "rb_clickid", "rdt_cid", "s_cid", "srsltid", "ttclid", "twclid", "vero_conv", "vero_id",
    "wbraid", "wickedid", "yclid",
))
# fmt: on
"""Parameters that say how a reader came to a page and never which page it is.

Source: the lists of stripped query parameters of Firefox and Brave, without those that some sites use for content."""

_TRACKING_FAMILIES = ("utm_", "mtm_", "matomo_", "piwik_", "hsa_")

_UNRESERVED = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
_ESCAPE = re.compile(r"%([0-9A-Fa-f]{2})?")
_CONTROLS = re.compile(r"[\x00-\x1f\x7f-\x9f]")
_AUTHORITY = re.compile(r"(https?)://([^/?#]*)", re.IGNORECASE)

# Letters that pass for Latin ones in common fonts. Source: Unicode Technical Standard 39, confusables.
_LOOKALIKES = frozenset("асԁеһіјӏкорԛѕтԝхуъьвгнмпѵѡαινορτυχ")
_MIXED_TOGETHER = (
    {"LATIN", "CJK", "HIRAGANA", "KATAKANA"},
    {"LATIN", "CJK", "HANGUL"},
    {"LATIN", "CJK", "BOPOMOFO"},
)


@dataclass(frozen=True, slots=True)
class WebAddress:
    """An absolute http or https address as it is asked for.

    `host` is lower case, ASCII, an IPv6 address without its brackets; `port` is that of the scheme where none was
    named; `target` is the path and the query.
    """

    scheme: str
    host: str
    port: int
    target: str

    @property
    def authority(self) -> str:
        """`host[:port]`, as a Host header has it: without the scheme's own port."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == _usual_port(self.scheme) else f"{host}:{self.port}"

    def __str__(self) -> str:
        return f"{self.scheme}://{self.authority}{self.target}"


def parse_address(text: str, base: WebAddress | None = None) -> WebAddress:
    """The address in `text`, relative to `base` where there is one; a fragment is dropped.

    Refuses instead of repairing: raises `ValueError`, with the reason, for another scheme, a user name, control
    characters, white space at the ends, a backslash before the query, and whatever is no URL.
    """
    import ada_url  # 0.02 s: only where addresses are looked at

    _refuse_tricks(text, is_relative=base is not None)
    try:
        url = ada_url.URL(text, str(base) if base else None)
    except (ValueError, UnicodeError):
        raise ValueError("it is no URL") from None
    scheme = url.protocol.rstrip(":")
    if scheme not in ("http", "https"):
        raise ValueError(f"only http and https are fetched, not {_brief(scheme)}")
    if url.username or url.password:
        raise ValueError("it names a user")
    host = url.hostname.strip("[]")
    if not host.strip("."):
        raise ValueError("it has no host")
    if len(url.href) > _MAX_CHARS:
        raise ValueError(f"it is longer than {_MAX_CHARS} characters")
    port = int(url.port) if url.port else _usual_port(scheme)
    return WebAddress(scheme, host, port, (url.pathname or "/") + url.search)


def canonical_url(text: str) -> str:
    """One form for all ways of writing the address of a page: the key of what is known about it.

    Lower-case scheme and host, IDN as xn--, without the final dot of a host, the usual port, user names, the fragment,
    an empty query and the parameters that only track readers; escapes in one form. The order of parameters and the
    slash that ends a path stay, as servers may tell them apart. Canonical forms are their own canonical form.

    Raises `ValueError` for what is no absolute http or https URL.
    """
    import ada_url  # 0.02 s: only where addresses are looked at

    try:
        url = ada_url.URL(text.strip())
    except (ValueError, UnicodeError):
        raise ValueError(f"no URL: {_brief(text)}") from None
    host = url.hostname.rstrip(".")
    if url.protocol not in ("http:", "https:") or not host:
        raise ValueError(f"no address of a page: {_brief(text)}")
    port = f":{url.port}" if url.port else ""
    query = "&".join(part for part in _plain_escapes(url.search[1:]).split("&") if part and not _only_tracks(part))
    return f"{url.protocol}//{host}{port}{_plain_escapes(url.pathname or '/')}{'?' + query if query else ''}"


def host_of(url: str) -> str:
    """The host of an absolute http or https URL, in the form of `canonical_url`. Raises `ValueError` as it does."""
    authority = canonical_url(url).partition("://")[2].partition("/")[0]
    return re.sub(r":\d+$", "", authority)


def site_of(url: str) -> str:
    """The domain under which one owner registers names, such as `example.co.uk` for `https://a.example.co.uk/`.

    An address of the Internet Protocol and a name without a dot are their own site. Approximate where a suffix is
    newer than the list of public suffixes that is installed: then it is the last two labels. Raises `ValueError` as
    `canonical_url` does.
    """
    import ada_url
    from tld import get_fld  # 0.1 s, and 3 MB: only where sites are compared

    host = host_of(url)
    if host.startswith("[") or host.replace(".", "").isdigit() or "." not in host:
        return host
    readable = ada_url.idna_to_unicode(host)  # the list has suffixes in their own script
    found: str | None = get_fld(f"http://{readable}/", fail_silently=True, search_private=True)
    labels = host.split(".")
    return ".".join(labels[-(found.count(".") + 1 if found else 2) :])


def readable_host(url: str) -> str:
    """The host of `url` as people read it: in its own script, but as xn-- where it could pass for another name.

    That is the case for a label that mixes scripts which no language mixes, and for one of letters that look Latin
    throughout. Raises `ValueError` as `canonical_url` does.
    """
    import ada_url

    labels = host_of(url).split(".")
    shown = (ada_url.idna_to_unicode(label) if label.startswith("xn--") else label for label in labels)
    return ".".join(label if _is_honest(label) else raw for label, raw in zip(shown, labels, strict=True))


def _refuse_tricks(text: str, *, is_relative: bool) -> None:
    if _CONTROLS.search(text):
        raise ValueError("it has control characters")
    if text != text.strip():
        raise ValueError("it has white space around it")
    if "\\" in re.split(r"[?#]", text, maxsplit=1)[0]:
        raise ValueError("it has a backslash")
    authority = _AUTHORITY.match(text)
    if authority and "@" in authority[2]:
        raise ValueError("it names a user")
    has_scheme = re.match(r"https?:", text, re.IGNORECASE)
    names_host = authority is not None and authority[2] != ""
    if (has_scheme and not names_host) or not (has_scheme or is_relative or ":" in text):
        raise ValueError("it has no host")


def _plain_escapes(text: str) -> str:
    """`text` with capital escapes, none for what needs none, and one for a `%` of its own. Source: RFC 3986, 6.2.2."""

    def plain(escape: re.Match[str]) -> str:
        if escape[1] is None:
            return "%25"
        char = chr(int(escape[1], 16))
        return char if char in _UNRESERVED else escape[0].upper()

    return _ESCAPE.sub(plain, text)


def _only_tracks(parameter: str) -> bool:
    name = parameter.partition("=")[0].lower()
    return name in _TRACKING or name.startswith(_TRACKING_FAMILIES)


def _is_honest(label: str) -> bool:
    if label.isascii():
        return True
    scripts = {_script(char) for char in label if char.isalpha()}
    if len(scripts) > 1:
        return any(scripts <= together for together in _MIXED_TOGETHER)
    return not all(char in _LOOKALIKES for char in label if char.isalpha())


def _script(char: str) -> str:
    """The first word of the character's name, which is its script for all letters that names are made of."""
    return unicodedata.name(char, "?").partition(" ")[0]


def _usual_port(scheme: str) -> int:
    return 443 if scheme == "https" else 80


def _brief(text: str) -> str:
    return ascii(text[:60])
