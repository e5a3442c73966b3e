"""Addresses in a question that were not read: reported to the user, and to the model that answers.

Each comes with a reason that completes a sentence, as in "https://a.example/x was not read: a.example has no such
page".
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

_MAX_LISTED = 5  # addresses that were not attempted: pasted text may be full of them
_WEB_OFF = "the web is not used for this question"


def unread_offline(text: str) -> list[Unread]:
    """Return the addresses in a question that may not use the web: the first 5, then how many more there are."""
    if "://" not in text and "www." not in text.casefold():
        return []
    from asky.research.shortlist_collect import read_prompt  # 15 ms: for a text that may hold an address

    named = [each.url for each in read_prompt(text).candidates if each.kind != "paper"]
    found = [(url, f"was not read: {_WEB_OFF}") for url in named[:_MAX_LISTED]]
    more = len(named) - _MAX_LISTED
    if more > 0:
        found.append(
            (f"{more:,} more address{'es' * (more > 1)}", f"{'were' if more > 1 else 'was'} not read: {_WEB_OFF}")
        )
    return found


def unread_by_model(
    named: Sequence[str], rejected: Sequence[tuple[str, str]], shown: Iterable[Evidence] = ()
) -> list[Unread]:
    """Return those of the `named` addresses, which were offered to a model, that it did not read.

    A page of which passages were `shown` may have been read in an earlier turn. Addresses not recorded as offered are
    ignored: earlier versions of asky did not record them.
    """
    from asky.research.web.run import NOT_READ, was_read  # for questions to the web only

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
    """Yield a sentence for each address, as a warning to the user."""
    return (f"{one_line(url)} {one_line(reason, None)}" for url, reason in unread)


def unread_note(unread: Sequence[Unread], marker: str) -> str:
    """Return the note for a model, empty if everything was read; the reasons may contain text from hosts."""
    if not unread:
        return ""
    fenced = fence("\n".join(sentences(unread)), marker, "not read")
    return f"Of the addresses in the question these are not among the sources; the user has been told:\n{fenced}"


def unread_list(unread: Sequence[Unread]) -> str:
    """Return the note for an answer that consists of quotations."""
    lines = (f"- `{one_line(url)}` {one_line(reason, None)}" for url, reason in unread)
    return "\n".join(["Not among the sources:", "", *lines])
