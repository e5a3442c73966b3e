"""Web pages that earlier turns of a session cited or showed: a later question may be about one of them."""

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

_MAX_PAGES = 20
_MAX_URL_CHARS = 300  # of an address in the prompt; longer ones are cut there, but may be fetched
_ON_THE_WEB = ("web", "paper")


def earlier_pages(history: Sequence[StoredMessage], passages: Sequence[StoredPassage]) -> list[Source]:
    """Return the web pages with passages mentioned in `history`, each once: at most 20, those of the last turn first.

    Within a turn, pages cited by the answer come first, in the order cited. Withdrawn turns and local documents are
    left out.
    """
    sources = {each.key: each.source for each in passages}
    pages = (sources[key] for key in _keys(history) if key in sources and _is_page(sources[key]))
    return list(islice({each.id: each for each in pages}.values(), _MAX_PAGES))


def pages_note(pages: Sequence[Source], marker: str) -> str:
    """Return the note about `pages` for a model, empty without pages; the titles are fenced as untrusted text."""
    if not pages:
        return ""
    lines = (f"{each.id}: {shown_title(each)}\n   {(each.url or '')[:_MAX_URL_CHARS]}" for each in pages)
    heading = "Pages of earlier turns, those of the last turn first, each turn's in the order its answer cites them:"
    fenced = fence("\n".join(lines), marker, "pages")
    return f"{heading}\n{fenced}"


def _keys(history: Sequence[StoredMessage]) -> Iterator[str]:
    for each in reversed(history):
        if each.is_withdrawn:
            continue
        if each.role == "assistant":
            yield from each.data.get("keys", ())
        elif each.role == "tool":
            yield from KEY.findall(each.content)


def _is_page(source: Source) -> bool:
    return source.kind in _ON_THE_WEB and source.url is not None
