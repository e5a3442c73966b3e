"""What the nodes of a run use of its worker."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from asky.agent.domains import DomainConfiguration
    from asky.agent.obstacles import ObstacleHandler
    from asky.config.schema import BudgetSettings
    from asky.evidence.verification.claim_reader import ClaimReader
    from asky.llm.port import ChatModel
    from asky.llm.tokens import TokenCounter
    from asky.research.vector_store import VectorStore
    from asky.research.web.access import Web
    from asky.runs.access import Access
    from asky.runs.context import RunContext
    from asky.storage.corpus import CorpusStore
    from asky.storage.runs import RunStore
    from asky.storage.source_records import SourceRecords


class ResearchParts(Protocol):
    """The model, the stores and the settings of a run; see `asky.agent.worker.AgentWorker`."""

    @property
    def model(self) -> ChatModel: ...
    @property
    def claim_reader(self) -> ClaimReader | None: ...
    @property
    def store(self) -> Callable[[], VectorStore]: ...
    @property
    def corpus(self) -> CorpusStore: ...
    @property
    def runs(self) -> RunStore: ...
    @property
    def counter(self) -> Callable[[], TokenCounter]: ...
    @property
    def web(self) -> Callable[[Access], Web]: ...
    @property
    def limits(self) -> Callable[[RunContext], BudgetSettings]: ...
    @property
    def domains(self) -> Mapping[str, DomainConfiguration]: ...
    @property
    def obstacles(self) -> Callable[[str], ObstacleHandler]: ...
    @property
    def records(self) -> SourceRecords: ...
    @property
    def report(self) -> Callable[[str], dict[str, Any]]: ...
    @property
    def page_s(self) -> float: ...
