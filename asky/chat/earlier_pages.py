"""The pages of the web that earlier turns of a session cited or showed: a later question may be about one of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING

from asky.evidence.keys import KEY
from asky.evidence.passages import fence, shown_title

if TYPE_CHECKING:
    from asky.storage.runs import StoredPassage
    from asky.storage.sessions import StoredMessage
    from asky.values import Source

_MOST = 20
_LONGEST_URL = 300  # of an address that is named; a longer one is offered all the same
_ON_THE_WEB = ("web", "paper")


def earlier_pages(said: Sequence[StoredMessage], passages: Sequence[StoredPassage]) -> list[Source]:
    """The pages that `said` names by their passages, each once: at most 20, those of the last turn first.

    Of a turn those come first that its answer cites, in that order. Turns that were withdrawn do not count, nor do
    documents of this machine.
    """
    sources = {each.key: each.source for each in passages}
    pages = (sources[key] for key in _keys(said) if key in sources and _is_page(sources[key]))
    return list(islice({each.id: each for each in pages}.values(), _MOST))


def told_pages(pages: Sequence[Source], marker: str) -> str:
    """The pages as a model is told of them, or nothing where there are none; others have written their titles."""
    if not pages:
        return ""
    lines = (f"{each.id}: {shown_title(each)}\n   {(each.url or '')[:_LONGEST_URL]}" for each in pages)
    told = fence("\n".join(lines), marker, "pages")
    return (
        f"Pages of earlier turns, those of the last turn first, each turn's in the order its answer cites them:\n{told}"
    )


def _keys(said: Sequence[StoredMessage]) -> Iterator[str]:
    for each in reversed(said):
        if each.is_withdrawn:
            continue
        if each.role == "assistant":
            yield from each.data.get("keys", ())
        elif each.role == "tool":
            yield from KEY.findall(each.content)


def _is_page(source: Source) -> bool:
    return source.kind in _ON_THE_WEB and source.url is not None
