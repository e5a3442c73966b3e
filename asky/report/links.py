"""Addresses in a report: shown with their host, and followed only where the answer's sources stand behind them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from asky.report.markup import Html, join, tag
from asky.text.scrub import one_line
from asky.text.urls import canonical_url, parse_address, readable_host

_LONGEST_SHOWN = 120


@dataclass(frozen=True, slots=True)
class Offered:
    """The addresses that an answer may lead to: those of its sources, and those that stand in its passages.

    Any other is an invention of a model, or carries away what it knows as soon as somebody clicks.
    """

    pages: Collection[str]
    passages: tuple[str, ...]

    def has(self, url: str) -> bool:
        """Whether `url` is one of them. Only http, https and mail addresses are."""
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


def offered_by(answer: Mapping[str, Any]) -> Offered:
    """What an answer's sources offer."""
    urls = [each["url"] for each in (*answer["citations"], *answer["sources"]) if each["url"]]
    return Offered(frozenset(_canonical(urls)), tuple(each["quote"] for each in answer["citations"]))


def page_link(url: str, *label: str) -> Html:
    """A link to a page that was read, or its label alone where the address is none of a page."""
    try:
        parse_address(url)
    except ValueError:
        return join(label)
    return _anchor(url, *label)


def answer_link(url: str, label: Html, said: str, offered: Offered) -> Html:
    """A link of an answer's text, which reads `said`; its host is shown unless the text is the address."""
    if not offered.has(url):
        return join([label, *([] if said == url else [" ", tag("span", f"({_brief(url)})", class_="host")])])
    if said in (url, url.removeprefix("mailto:")):
        return _anchor(url, label)
    return join([_anchor(url, label), " ", tag("span", f"({host_of(url)})", class_="host")])


def host_of(url: str) -> str:
    """The host of a page as people read it, or the address itself where it has none."""
    try:
        return readable_host(url)
    except ValueError:
        return _brief(url.removeprefix("mailto:"))


def _anchor(url: str, *label: str) -> Html:
    return tag("a", *label, href=url, rel="noopener noreferrer", referrerpolicy="no-referrer")


def _brief(url: str) -> str:
    return one_line(url, _LONGEST_SHOWN)


def _canonical(urls: Iterable[str]) -> Iterable[str]:
    for url in urls:
        try:
            yield canonical_url(url)
        except ValueError:
            continue
