"""Taking documents out of a collection."""

from __future__ import annotations

import os
from collections.abc import Sequence

from asky.cli.workbench import Workbench
from asky.errors import UsageError
from asky.storage.scope import Scope
from asky.text.counting import counted
from asky.values import Source


def remove_collection(bench: Workbench, collection_id: int) -> None:
    """Forget a whole collection and say on stderr what it held."""
    store = bench.services.corpus
    found = store.status(collection_id)
    forgotten = store.remove_collection(collection_id)
    what = f"{counted(found.sources, 'document')}, {counted(found.chunks, 'passage')}"
    bench.terminal.note(f"removed the collection {found.name}: {what}" + _kept_elsewhere(found.sources - forgotten))
    for root in found.roots:
        bench.terminal.note(f"{root} is not followed any more")


def remove_sources(bench: Workbench, collection_id: int, given: Sequence[str]) -> None:
    """Take what the user names (ids, paths, folders, addresses, external ids) out of a collection, and say how much.

    Raises `UsageError` for a name that is nothing there; then nothing is removed.
    """
    chosen = _chosen(bench, collection_id, given)
    _stop_following(bench, collection_id, given)
    forgotten = bench.services.corpus.remove_sources(collection_id, chosen)
    bench.terminal.note(f"removed {counted(len(chosen), 'document')}" + _kept_elsewhere(len(chosen) - forgotten))


def _kept_elsewhere(count: int) -> str:
    return f" ({count:,} still in other collections)" if count else ""


def _stop_following(bench: Workbench, collection_id: int, given: Sequence[str]) -> None:
    """Follow the named paths no longer, and say what a folder that is still followed will bring back."""
    store = bench.services.corpus
    for each in given:
        path = _real(each)
        if not store.remove_root(collection_id, path):
            kept = [root for root in store.roots(collection_id) if path.startswith(root + os.sep)]
            if kept:
                bench.terminal.note(
                    f"{each} lies in {kept[0]}, and the next sync adds it again unless .askyignore names it"
                )


def _chosen(bench: Workbench, collection_id: int, given: Sequence[str]) -> list[str]:
    """The ids of the sources that the user named; `1` names the record 1 and the record "1"."""
    sources = bench.services.corpus.sources(Scope((collection_id,)))
    chosen: dict[str, None] = {}
    for each in given:
        path = _real(each)
        found = [source.id for source in sources if _is_named(source, each, path)]
        if not found and path not in bench.services.corpus.roots(collection_id):
            raise UsageError(f"{each}: not in this collection", hint="`asky corpus list` shows what there is")
        chosen |= dict.fromkeys(found)
    return list(chosen)


def _is_named(source: Source, given: str, path: str) -> bool:
    ids = (source.id, source.url, None if source.external_id is None else str(source.external_id))
    below = source.path is not None and (source.path == path or source.path.startswith(path + os.sep))
    return given in ids or below


def _real(given: str) -> str:
    """The real path that `given` names; given back as it is where no file can have such a name."""
    from asky.research.local_names import uri_path

    path = uri_path(given) or given
    return path if "\0" in path else os.path.realpath(path)
