"""The web addresses in a text that somebody has written, and the words around them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from contextlib import suppress

from asky.errors import UsageError
from asky.text.urls import canonical_url, host_of

_STOP = r"\s<>\"`|\\^\u3000-\u3003\u3008-\u3011\uff01\uff08\uff09\uff0c\uff1a\uff1b\uff1f“”«»"
_HOST = r"(?:[^\W_](?:[\w-]{0,61}[^\W_])?\.)+"
_URL = re.compile(
    rf"""
      https?://[^{_STOP}]{{1,4000}}
    | (?<![\w@./:-]) www\.{_HOST}[^\W\d_]{{2,24}}(?::\d+)?(?:[/?\#][^{_STOP}]{{0,4000}})?
    | (?<![\w@./:-]) {_HOST}(?:com|org|net|edu|gov|int|info)(?::\d+)?/[^{_STOP}]{{0,4000}}
    """,
    re.VERBOSE | re.IGNORECASE,
)
_NEXT_URL = re.compile(r"[,;]https?://", re.IGNORECASE)
_PAIRS = {")": "(", "]": "[", "}": "{"}
_TRAILING = ".,;:!?'*_~…’”»"
_MARKDOWN_LINK = re.compile(r"!?\[([^\[\]]*)\]\(\s*(?:\"[^\"]*\"|'[^']*')?\s*\)")  # with its address removed
_LEFT_OVER = "()[]{}<>*_`'\",;.:|!"  # around an address that was removed from a sentence
_NO_DOMAIN = re.compile(r"[\s/?#@*%\\]|^$|^[^\[]*:")


def split_addresses(text: str) -> tuple[list[str], str]:
    """Return the http and https addresses in `text`, in order, and the text without them.

    They may be in Markdown, in brackets or followed by punctuation, none of which becomes part of them. A name without
    a scheme counts if it begins with `www.`, or has one of the oldest top-level domains and a path: `example.org/page`
    is an address, `amazon.com` a company and `docs/readme.md` a file.
    """
    addresses: list[str] = []
    rest: list[str] = []
    position = 0
    while match := _URL.search(text, position):
        written = _trim(match.group())
        url = written if "://" in written[:8] else f"https://{written}"
        is_address = _is_address(url)
        if is_address:
            addresses.append(url)
        end = match.start() + len(written) if is_address else match.end()
        rest.append(text[position : match.start() if is_address else end])
        position = end
    rest.append(text[position:])
    return addresses, _MARKDOWN_LINK.sub(r" \1 ", "".join(rest))


def words_around(outside: str) -> str:
    """Return the words of a text whose addresses were removed, without the punctuation that stood around these."""
    return " ".join(word for word in outside.split() if word.strip(_LEFT_OVER))


def without_addresses(query: str) -> str:
    """Return the query without addresses: no passage is about one. A query of addresses alone is returned unchanged."""
    addresses, outside = split_addresses(query) if "/" in query or "www." in query else ([], query)
    return (words_around(outside) or query) if addresses else query


def parse_domains(given: Iterable[str]) -> tuple[str, ...]:
    """Normalize domains as users write them (`Example.org`, `*.example.org`, `www.example.org`, `bücher.example`).

    A top-level domain alone (`gov`) covers everything below it. Raises `UsageError` for anything that is not a domain.
    """
    return tuple(dict.fromkeys(_parse_domain(each) for each in given))


def site_of(url: str) -> str:
    """Return the host of a URL without a leading `www.`, which does not distinguish sites."""
    host = host_of(url)
    return host.removeprefix("www.") if host.count(".") > 1 else host


def _is_address(url: str) -> bool:
    """Return whether `url` is the address of a page, and not only looks like one."""
    try:
        canonical_url(url)
    except ValueError:
        return False
    return True


def _trim(written: str) -> str:
    """Return the address in a run of characters: up to an unmatched closing bracket, or the next address."""
    if following := _NEXT_URL.search(written, 1):
        written = written[: following.start()]
    opened: list[str] = []
    for position, character in enumerate(written):
        if character in "([{":
            opened.append(character)
        elif character in _PAIRS and (not opened or opened.pop() != _PAIRS[character]):
            written = written[:position]
            break
    trimmed = written.rstrip(_TRAILING + "([{")
    return "" if trimmed.endswith(":/") or trimmed.lower() in ("http", "https") else trimmed


def _parse_domain(given: str) -> str:
    text = given.strip().removeprefix("*").removeprefix(".")
    if not _NO_DOMAIN.search(text):
        with suppress(ValueError):
            return site_of(f"https://{text}/")
    raise UsageError(f"{given!r} is not a domain", hint="write it like example.org, without a scheme, port or path")
