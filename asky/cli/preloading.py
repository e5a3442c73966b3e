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
    from asky.storage.sessions import Session


@dataclass(slots=True)
class Preloaded:
    """`shown` is the question without its paths; `rejected` names what could not be read, and why."""

    shown: str
    collection_id: int | None = None
    rejected: list[tuple[str, str]] = field(default_factory=list)


def preload(bench: Workbench, granted: Sequence[Path], session: Session, text: str) -> Preloaded:
    """Read what `text` names beneath the `granted` and configured folders into a collection of the session.

    Whatever cannot be read is said on stderr, and the question goes on without it.
    """
    services = bench.services
    roots = services.roots(granted)
    adapters = services.adapters(roots)
    targets = extract_local_source_targets(text, roots, adapters.prefixes)
    preloaded = Preloaded(redact_local_targets(text, targets))
    for name in dict.fromkeys(target.text for target in targets):
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
