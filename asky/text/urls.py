"""Web addresses: one parser for everything that is checked, fetched and stored.

Source: the URL Standard of the WHATWG, as implemented by ada (1.5 µs per address); the list of public suffixes, as
shipped with the package tld.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass

from asky.text.letters import LOOKALIKES

_MAX_CHARS = 8192
"""Longer addresses are not real page addresses; servers commonly refuse them too. Source: RFC 9110, 4.1."""

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
"""Parameters that say how a reader came to a page and never identify the page.

Source: the lists of stripped query parameters of Firefox and Brave, without those that some sites use for content.
"""

_TRACKING_FAMILIES = ("utm_", "mtm_", "matomo_", "piwik_", "hsa_")

_UNRESERVED = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
_ESCAPE = re.compile(r"%([0-9A-Fa-f]{2})?")
_CONTROLS = re.compile(r"[\x00-\x1f\x7f-\x9f]")
_AUTHORITY = re.compile(r"(https?)://([^/?#]*)", re.IGNORECASE)

_MIXED_TOGETHER = (
    {"LATIN", "CJK", "HIRAGANA", "KATAKANA"},
    {"LATIN", "CJK", "HANGUL"},
    {"LATIN", "CJK", "BOPOMOFO"},
)


@dataclass(frozen=True, slots=True)
class WebAddress:
    """An absolute http or https address to request.

    `host` is lower case, ASCII, an IPv6 address without its brackets; `port` is that of the scheme if none was given;
    `target` is the path and the query.
    """

    scheme: str
    host: str
    port: int
    target: str

    @property
    def authority(self) -> str:
        """Return `host[:port]`, as in a Host header: without the scheme's own port."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == _usual_port(self.scheme) else f"{host}:{self.port}"

    def __str__(self) -> str:
        return f"{self.scheme}://{self.authority}{self.target}"


def parse_address(text: str, base: WebAddress | None = None) -> WebAddress:
    """Parse the address in `text`, relative to `base` if given; a fragment is dropped.

    Refuses instead of repairing: raises `ValueError`, with the reason, for another scheme, a user name, control
    characters, white space at the ends, a backslash before the query, and anything that is no URL.
    """
    import ada_url  # 0.02 s: only if addresses are parsed

    _refuse_tricks(text, is_relative=base is not None)
    try:
        url = ada_url.URL(text, str(base) if base else None)
    except (ValueError, UnicodeError):
        raise ValueError("it is not a URL") from None
    scheme = url.protocol.rstrip(":")
    if scheme not in ("http", "https"):
        raise ValueError(f"only http and https are fetched, not {_brief(scheme)}")
    if url.username or url.password:
        raise ValueError("it contains a user name")
    host = url.hostname.strip("[]")
    if not host.strip("."):
        raise ValueError("it has no host")
    if len(url.href) > _MAX_CHARS:
        raise ValueError(f"it is longer than {_MAX_CHARS} characters")
    port = int(url.port) if url.port else _usual_port(scheme)
    return WebAddress(scheme, host, port, (url.pathname or "/") + url.search)


def canonical_url(text: str) -> str:
    """Return the canonical form of a page's address: the key of stored data about it.

    Lower-case scheme and host, IDN as xn--, without the final dot of a host, the usual port, user names, the fragment,
    an empty query and the parameters that only track readers; escapes in one form. The order of parameters and a
    trailing slash of the path stay, as servers may distinguish them. Idempotent.

    Raises `ValueError` for anything but an absolute http or https URL.
    """
    import ada_url  # 0.02 s: only if addresses are parsed

    try:
        url = ada_url.URL(text.strip())
    except (ValueError, UnicodeError):
        raise ValueError(f"not a URL: {_brief(text)}") from None
    host = url.hostname.rstrip(".")
    if url.protocol not in ("http:", "https:") or not host:
        raise ValueError(f"not the address of a page: {_brief(text)}")
    port = f":{url.port}" if url.port else ""
    query = "&".join(part for part in _plain_escapes(url.search[1:]).split("&") if part and not _only_tracks(part))
    return f"{url.protocol}//{host}{port}{_plain_escapes(url.pathname or '/')}{'?' + query if query else ''}"


def host_of(url: str) -> str:
    """Return the host of an absolute http or https URL, as in `canonical_url`, which also raises `ValueError`."""
    authority = canonical_url(url).partition("://")[2].partition("/")[0]
    return re.sub(r":\d+$", "", authority)


def site_of(url: str) -> str:
    """Return the registrable domain, such as `example.co.uk` for `https://a.example.co.uk/`.

    An IP address and a name without a dot are their own site. Approximate if a suffix is newer than the installed list
    of public suffixes: then it is the last two labels. Raises `ValueError` as `canonical_url` does.
    """
    import ada_url
    from tld import get_fld  # 0.1 s, and 3 MB: only if sites are compared

    host = host_of(url)
    if host.startswith("[") or host.replace(".", "").isdigit() or "." not in host:
        return host
    readable = ada_url.idna_to_unicode(host)  # the list has suffixes in their own script
    found: str | None = get_fld(f"http://{readable}/", fail_silently=True, search_private=True)
    labels = host.split(".")
    return ".".join(labels[-(found.count(".") + 1 if found else 2) :])


def readable_host(url: str) -> str:
    """Return the host of `url` for display: in its own script, but as xn-- if it could pass for another name.

    That is the case for a label that mixes scripts which no language mixes, and for one made up of Latin lookalikes.
    Raises `ValueError` as `canonical_url` does.
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
        raise ValueError("it contains a user name")
    has_scheme = re.match(r"https?:", text, re.IGNORECASE)
    names_host = authority is not None and authority[2] != ""
    if (has_scheme and not names_host) or not (has_scheme or is_relative or ":" in text):
        raise ValueError("it has no host")


def _plain_escapes(text: str) -> str:
    """Return `text` with upper-case escapes, only where necessary, and one for a bare `%`. Source: RFC 3986, 6.2.2."""

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
    return not all(char in LOOKALIKES for char in label if char.isalpha())


def _script(char: str) -> str:
    """Return the first word of the character's name, which is its script for all letters used in names."""
    return unicodedata.name(char, "?").partition(" ")[0]


def _usual_port(scheme: str) -> int:
    return 443 if scheme == "https" else 80


def _brief(text: str) -> str:
    return ascii(text[:60])
