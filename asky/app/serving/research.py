"""What a server needs of the research agent, and what its clients may have it read."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Literal, Protocol

from asky.agent.models import USER_STOP as USER_STOP
from asky.agent.models import Phase as Phase
from asky.agent.models import PrivacyMode as PrivacyMode
from asky.agent.models import ResearchRequest as ResearchRequest
from asky.agent.modes import AGENT as AGENT
from asky.errors import SourceRefused, UsageError
from asky.events import Listener, ignore
from asky.values import Approve, Clarify, decline

if TYPE_CHECKING:
    from asky.agent.models import ResearchState
    from asky.app.runs import Run, RunHandle, RunService
    from asky.config.loader import Config

ReportForm = Literal["json", "md", "html", "pdf"]


class ListedResearch(Protocol):
    """A run of the agent in a list."""

    @property
    def id(self) -> str: ...
    @property
    def query(self) -> str: ...
    @property
    def status(self) -> str: ...
    @property
    def started_at(self) -> object: ...
    @property
    def cycle(self) -> int: ...
    @property
    def phase(self) -> str: ...
    @property
    def stop_reason(self) -> str | None: ...


class ResearchAgent(Protocol):
    """The agent. Its methods but `start` and `resume` read the store, for runs of any process."""

    def start(
        self,
        request: ResearchRequest,
        *,
        listen: Listener = ignore,
        notes: Callable[[], Sequence[str]] = tuple,
        approve: Approve = decline,
        clarify: Clarify | None = None,
    ) -> AbstractAsyncContextManager[RunHandle]:
        """Start a run; leaving the body cancels it."""
        ...

    def resume(
        self,
        run_id: str,
        *,
        listen: Listener = ignore,
        notes: Callable[[], Sequence[str]] = tuple,
        approve: Approve = decline,
        clarify: Clarify | None = None,
    ) -> AbstractAsyncContextManager[RunHandle]:
        """Go on with a run. Raises `UsageError` if another process has it, or it has ended."""
        ...

    def state(self, run_id: str) -> ResearchState:
        """Return the state of a run. Raises `UsageError` if there is no such run of the agent."""
        ...

    def list(self, *, limit: int = 20) -> Sequence[ListedResearch]:
        """Return runs, newest first."""
        ...

    def stop(self, run_id: str) -> None:
        """Have a run of any process end its cycle and write its report."""
        ...


def export_report(runs: RunService, run: Run, form: ReportForm) -> bytes:
    """Return the report of a run with an answer, as a file; as JSON, that of the agent is `asky.research/1`."""
    exported = runs.export_answer(run.answer, form) if run.mode == AGENT and run.answer else runs.export(run, form)
    return exported.data


def allowed_documents(names: Sequence[str], config: Config) -> tuple[Path, ...]:
    """Return the files and folders that a client names by absolute path, if the configuration grants them.

    Raises `SourceRefused` for any other, whether it exists or not, and `UsageError` for a granted one that is missing.
    """
    roots = [os.path.realpath(each) for each in config.research.local_document_roots]
    return tuple(_allowed(name, roots) for name in names)


def _allowed(name: str, roots: Sequence[str]) -> Path:
    real = os.path.realpath(name) if name.startswith("/") and name.isprintable() else ""
    if not any(real == root or real.startswith(root.rstrip(os.sep) + os.sep) for root in roots):
        readable = "only those of research.local_document_roots, by absolute paths" if roots else "none"
        raise SourceRefused(
            f"a document is outside the folders that the server may read: {readable}",
            hint="on its machine, `asky corpus add PATH` keeps documents, which then need not be named, and"
            " `asky config set research.local_document_roots '[\"FOLDER\"]'` opens a folder from the next start on",
        )
    if not os.path.exists(real):  # noqa: PTH110 - False, not an error, in a folder that may not be searched
        raise UsageError("a document that is named does not exist")
    return Path(real)
