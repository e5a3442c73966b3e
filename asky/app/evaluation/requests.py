"""What to measure, as a value."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from asky.app.requests import DocumentName, Mode, as_tuple, document_name
from asky.errors import UsageError


@dataclass(frozen=True, slots=True, kw_only=True)
class EvalRequest:
    """A question set and how to measure it.

    `questions` is a file or a BEIR folder, of which `split` chooses the judgements. The documents are those of the
    set, else `documents` and `collection`, else the default collection. `vary` holds options `KEY=VALUE,VALUE`. `limit`
    keeps the first questions and `sample` a fixed draw of them. With `fresh`, nothing that an interrupted evaluation
    has measured is used. With `keep_runs`, the answers stay in the store as runs. `max_cost_usd` is for all questions.
    """

    questions: Path
    split: str | None = None
    documents: tuple[DocumentName, ...] = ()
    collection: str | None = None
    model: str | None = None
    mode: Mode = "standard"
    offline: bool = False
    retrieval_only: bool = False
    vary: tuple[str, ...] = ()
    limit: int | None = None
    sample: int | None = None
    concurrency: int = 1
    max_cost_usd: float | None = None
    keep_runs: bool = False
    fresh: bool = False

    def __post_init__(self) -> None:
        named = as_tuple("documents", self.documents)
        object.__setattr__(self, "documents", tuple(document_name(each) for each in named))
        object.__setattr__(self, "vary", as_tuple("vary", self.vary))
        for name, value in (("limit", self.limit), ("sample", self.sample), ("concurrency", self.concurrency)):
            if value is not None and value < 1:
                raise UsageError(f"{name} must be at least 1")
