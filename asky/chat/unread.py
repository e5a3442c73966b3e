"""Addresses that a question names and that were not read: the user is told, and so is whoever answers.

Each comes with words that follow it, as in "https://a.example/x was not read: a.example has no such page".
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from asky.evidence.passages import fence
from asky.text.scrub import one_line
from asky.text.urls import canonical_url

if TYPE_CHECKING:
    from asky.values import Evidence

Unread = tuple[str, str]

_MOST = 5  # of addresses that nobody tried to read: a text that was pasted may be full of them
_OFF = "the web is not used for this question"


def kept_off(text: str) -> list[Unread]:
    """The addresses in a question that is kept off the web: the first 5, then how many more there are."""
    if "://" not in text and "www." not in text.casefold():
        return []
    from asky.research.shortlist_collect import read_prompt  # 15 ms: for a text that may hold an address

    named = [each.url for each in read_prompt(text).candidates if each.kind != "paper"]
    found = [(url, f"was not read: {_OFF}") for url in named[:_MOST]]
    more = len(named) - _MOST
    if more > 0:
        found.append((f"{more:,} more address{'es' * (more > 1)}", f"{'were' if more > 1 else 'was'} not read: {_OFF}"))
    return found


def left_by_model(
    named: Sequence[str], rejected: Sequence[tuple[str, str]], shown: Iterable[Evidence] = ()
) -> list[Unread]:
    """Those of the `named` addresses, which a model was offered, that it has not read after all.

    A page of which passages were `shown` may have been read in an earlier turn. What was not noted as offered does not
    count: an earlier asky did not take note of it.
    """
    from asky.research.web import NOT_READ, was_read  # for questions to the web only

    offered, last = {url for url, why in rejected if why == NOT_READ}, dict(rejected)
    offered -= {each.source.url for each in shown if each.source.url is not None}
    found: list[Unread] = []
    for url in named:
        with suppress(ValueError):
            key = canonical_url(url)
            if key in offered and not was_read(last[key]):
                why = f": {last[key]}" if last[key] != NOT_READ else " by the model"
                found.append((url, f"was not read{why}"))
    return found


def sentences(unread: Sequence[Unread]) -> Iterator[str]:
    """A sentence for each, as the user is warned of it."""
    return (f"{one_line(url)} {one_line(said, None)}" for url, said in unread)


def told_unread(unread: Sequence[Unread], marker: str) -> str:
    """What a model is told of them, or nothing where there are none; hosts may have had a say in the reasons."""
    if not unread:
        return ""
    told = fence("\n".join(sentences(unread)), marker, "not read")
    return f"Of the addresses in the question these are not among the sources; the user has been told:\n{told}"


def said_unread(unread: Sequence[Unread]) -> str:
    """What an answer says of them that is made of quotations."""
    lines = (f"- `{one_line(url)}` {one_line(said, None)}" for url, said in unread)
    return "\n".join(["Not among the sources:", "", *lines])
