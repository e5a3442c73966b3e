"""The files that a question names: read before it is asked, and kept from what the model sees of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from asky.errors import SourceError
from asky.research.local_names import refuse_outside
from asky.research.local_targets import extract_local_source_targets, redact_local_targets
from asky.storage.sessions import own_collection

if TYPE_CHECKING:
    from asky.cli.workbench import Workbench
    from asky.research.adapters import SourceAdapters
    from asky.research.local_files import LocalRoots
    from asky.storage.sessions import Session
    from asky.wiring import Services


@dataclass(slots=True)
class Preloaded:
    """`shown` is the question without its paths; `rejected` names what could not be read, and why."""

    shown: str
    collection_id: int | None = None
    rejected: list[tuple[str, str]] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Named:
    """What a question names of this machine, in order, nothing twice; `shown` is the question without its paths."""

    names: tuple[str, ...]
    shown: str
    roots: LocalRoots
    adapters: SourceAdapters

    @property
    def readable(self) -> tuple[str, ...]:
        """Those that there is a reader for."""
        return tuple(name for name in self.names if self.adapters.handles(name))


def find_named(services: Services, granted: Sequence[Path], text: str) -> Named:
    """What `text` names beneath the `granted` and configured folders, or of adapters; nothing is read.

    Raises `UsageError` for a folder that is not there.
    """
    roots = services.roots(granted)
    adapters = services.adapters(roots)
    targets = extract_local_source_targets(text, roots, adapters.prefixes)
    names = tuple(dict.fromkeys(target.text for target in targets))
    return Named(names, redact_local_targets(text, targets), roots, adapters)


def preload(bench: Workbench, granted: Sequence[Path], session: Session, text: str) -> Preloaded:
    """Read what `text` names beneath the `granted` and configured folders into a collection of the session.

    Whatever cannot be read is said on stderr, and the question goes on without it.
    """
    services = bench.services
    named = find_named(services, granted, text)
    roots, adapters = named.roots, named.adapters
    preloaded = Preloaded(named.shown)
    for name in named.names:
        try:
            if not adapters.handles(name):
                raise refuse_outside(name)
            if preloaded.collection_id is None:  # nothing is made for what cannot be read
                preloaded.collection_id = services.corpus.collection(own_collection(session.id), create=True)
            problems = services.acquirer.add_target(name, adapters, roots, preloaded.collection_id)
        except SourceError as error:
            preloaded.rejected.append((name, error.message))
            bench.terminal.note(error.message + (f" ({error.hint})" if error.hint else ""))
        else:
            preloaded.rejected += [(each.path, f"{each.verdict}: {each.why}") for each in problems]
    return preloaded
