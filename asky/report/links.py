"""Links in a report: shown with their host, and active only if the answer's sources contain the address."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from asky.report.markup import Html, join, tag
from asky.text.scrub import one_line
from asky.text.urls import canonical_url, parse_address, readable_host

_MAX_SHOWN_CHARS = 120


@dataclass(frozen=True, slots=True)
class AllowedLinks:
    """The addresses that an answer may link to: those of its sources, and those that occur in its passages.

    Any other address was invented by a model, or would transmit what it knows as soon as it is clicked.
    """

    pages: Collection[str]
    passages: tuple[str, ...]

    def has(self, url: str) -> bool:
        """Return whether `url` is allowed. Only http, https and mail addresses are."""
        if url.lower().startswith("mailto:"):
            address = url[len("mailto:") :]
            return "@" in address and "?" not in address and self._is_written(address)
        try:
            parse_address(url)
            return canonical_url(url) in self.pages or self._is_written(url)
        except ValueError:
            return False

    def _is_written(self, address: str) -> bool:
        return any(address in passage for passage in self.passages)


def allowed_links(answer: Mapping[str, Any]) -> AllowedLinks:
    """Return the addresses that an answer's sources allow."""
    urls = [each["url"] for each in (*answer["citations"], *answer["sources"]) if each["url"]]
    return AllowedLinks(frozenset(_canonical(urls)), tuple(each["quote"] for each in answer["citations"]))


def page_link(url: str, *label: str) -> Html:
    """Return a link to a page that was read, or its label alone if the address is invalid."""
    try:
        parse_address(url)
    except ValueError:
        return join(label)
    return _anchor(url, *label)


def answer_link(url: str, label: Html, text: str, allowed: AllowedLinks) -> Html:
    """Return a link in an answer with the visible `text`; its host is shown unless the text is the address."""
    if not allowed.has(url):
        return join([label, *([] if text == url else [" ", tag("span", f"({_brief(url)})", class_="host")])])
    if text in (url, url.removeprefix("mailto:")):
        return _anchor(url, label)
    return join([_anchor(url, label), " ", tag("span", f"({host_of(url)})", class_="host")])


def host_of(url: str) -> str:
    """Return the host of a page in readable form, or the address itself if it has none."""
    try:
        return readable_host(url)
    except ValueError:
        return _brief(url.removeprefix("mailto:"))


def _anchor(url: str, *label: str) -> Html:
    return tag("a", *label, href=url, rel="noopener noreferrer", referrerpolicy="no-referrer")


def _brief(url: str) -> str:
    return one_line(url, _MAX_SHOWN_CHARS)


def _canonical(urls: Iterable[str]) -> Iterable[str]:
    for url in urls:
        try:
            yield canonical_url(url)
        except ValueError:
            continue
