"""Lookup of a citation: the stored passage in its context, checked again, and the present state of its source."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from asky.errors import StoreDamaged, UsageError
from asky.evidence.passages import shown_title
from asky.evidence.quotes import quoted_spans
from asky.values import PRIVATE_KINDS, Citation, Source, Span

if TYPE_CHECKING:
    from asky.storage.corpus import CorpusStore, FileState
    from asky.storage.documents import DocumentStore
    from asky.storage.runs import Run, RunStore, StoredPassage

SourceNow = Literal["same", "changed", "modified", "missing", "unreadable", "removed"]


@dataclass(frozen=True, slots=True)
class PassageContext:
    """The text around a span. `cut_before` and `cut_after` are true if there is more text beyond."""

    before: str
    after: str
    cut_before: bool
    cut_after: bool


@dataclass(frozen=True, slots=True)
class BetterPassage:
    """A passage of the run that supports a claim which the cited ones do not: its key, its source and its text."""

    claim: str
    key: str
    source: Source
    span: Span
    text: str


@dataclass(frozen=True, slots=True)
class OpenedCitation:
    """A citation of an answer compared with the store.

    `citation` is its object in the answer. `passage` is `text[start:end]` of the stored text and `sha256` the hash of
    that text, both computed now; `quote_matches` and `hash_matches` compare them with the answer's. `source_now` is the
    relation of the source to that text today: the `same`, `changed` since as far as the store knows, a file that was
    `modified` but not read again, a file that is `missing`, `unreadable` when last read, or `removed` from the store.
    `quoted` are the characters of the passage that the answer quotes. `followed_by` names the collections that follow
    the file or a folder above it. `better` are the passages that support claims which cite this one in vain.
    """

    citation: Mapping[str, Any]
    key: str
    source: Source
    passage: str
    sha256: str
    context: PassageContext
    source_now: SourceNow
    quoted: tuple[Span, ...] = ()
    followed_by: tuple[str, ...] = ()
    better: tuple[BetterPassage, ...] = ()

    @property
    def quote_matches(self) -> bool:
        return bool(self.passage == self.citation["quote"])

    @property
    def hash_matches(self) -> bool:
        return bool(self.sha256 == self.citation["sha256"])


def open_citation(
    run: Run, n: int, *, runs: RunStore, documents: DocumentStore, corpus: CorpusStore, context_chars: int
) -> OpenedCitation:
    """Return citation `n` of a run's answer, with at most `context_chars` characters on either side.

    Raises `UsageError` if the run has no answer or its answer no such citation, and `StoreDamaged` if the passage is
    missing from the store.
    """
    citation = _citation(run, n)
    passages = runs.passages(run.id)
    shown = _shown_passage(passages, citation, documents)
    if shown is None:
        raise StoreDamaged(f"the passage of citation {n} of run {run.id} is not in the store", hint="run `asky doctor`")
    text = documents.text(shown.document_id)
    span = Span(citation["start"], citation["end"])
    claims = run.answer["claims"] if run.answer else ()
    return OpenedCitation(
        citation=citation,
        key=shown.key,
        source=shown.source,
        passage=text[span.start : span.end],
        sha256=hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest(),
        context=passage_context(text, span, context_chars),
        source_now=source_now(shown.source, citation["sha256"], documents, corpus),
        quoted=tuple(quoted_spans(claims, n, len(span))),
        followed_by=tuple(corpus.followers(shown.source.path)) if shown.source.path is not None else (),
        better=tuple(_better([claim for claim in claims if n in claim["citations"]], passages, documents)),
    )


def _better(
    claims: Sequence[Mapping[str, Any]], passages: Sequence[StoredPassage], documents: DocumentStore
) -> Iterator[BetterPassage]:
    by_key = {each.key: each for each in passages}
    for claim in claims:
        found = by_key.get(str(claim["checks"].get("better")))
        if found is not None:
            text = documents.text(found.document_id)[found.start : found.end]
            yield BetterPassage(claim["text"], found.key, found.source, Span(found.start, found.end), text)


def _citation(run: Run, n: int) -> Mapping[str, Any]:
    if run.answer is None:
        raise UsageError(
            f"run {run.id} has no answer: its status is {run.status}",
            hint="`asky runs list` shows the runs with an answer",
        )
    citations: list[Mapping[str, Any]] = run.answer["citations"]
    for citation in citations:
        if citation["n"] == n:
            return citation
    if not citations:
        raise UsageError(f"the answer of run {run.id} cites nothing", hint=f"`asky runs show {run.id}` prints it")
    numbers = "only citation 1" if len(citations) == 1 else f"citations 1 to {max(each['n'] for each in citations)}"
    raise UsageError(f"the answer of run {run.id} has no citation {n}", hint=f"it has {numbers}")


def _shown_passage(
    passages: list[StoredPassage], citation: Mapping[str, Any], documents: DocumentStore
) -> StoredPassage | None:
    """Return the run's passage that contains the citation: of the same source if possible, else of an equal text."""
    holding = [
        each
        for each in passages
        if each.start <= citation["start"]
        and citation["end"] <= each.end
        and documents.digest(each.document_id)[0] == citation["sha256"]
    ]
    holding.sort(key=lambda each: (each.source.id != citation["source_id"], each.end - each.start))
    return holding[0] if holding else None


def passage_context(text: str, span: Span, chars: int) -> PassageContext:
    """Return at most `chars` characters on either side of `span`, beginning and ending between words.

    A longer word is cut.
    """
    before, after = text[max(0, span.start - chars) : span.start], text[span.end : span.end + chars]
    cut_before, cut_after = span.start > chars, len(text) - span.end > chars
    if cut_before and not text[span.start - chars - 1].isspace():
        before = before[_first_break(before) :]
    if cut_after and not text[span.end + chars].isspace():
        after = after[: len(after) - _first_break(after[::-1])]
    return PassageContext(before, after, cut_before, cut_after)


def _first_break(text: str) -> int:
    """Return the position of the first white space in `text`, or 0 if there is none."""
    return next((index for index, character in enumerate(text) if character.isspace()), 0)


def changed_files(citations: Iterable[Citation], corpus: CorpusStore) -> list[str]:
    """Return a line for each cited file that was modified or removed since it was read.

    Only the sizes and times of the files are read from disk.
    """
    numbers: dict[Source, list[int]] = {}
    for each in citations:
        numbers.setdefault(each.source, []).append(each.n)
    lines = []
    for source, cited in numbers.items():
        state = corpus.file(source.id)
        if source.kind not in PRIVATE_KINDS or source.path is None or state is None or state.size is None:
            continue
        now = _file_now(source.path, state)
        if now != "same":
            marks, are = ", ".join(f"[{n}]" for n in cited), "is" if len(cited) == 1 else "are"
            became = "was modified since" if now == "modified" else "is not there any more"
            read = f"{marks} {are} from {shown_title(source)} as it was read before"
            lines.append(f"{read}: the file {became} (`asky why {cited[0]}` says more)")
    return lines


def source_now(source: Source, sha256: str, documents: DocumentStore, corpus: CorpusStore) -> SourceNow:
    """Return how `source` relates today to its text with the hash `sha256`; of a file only size and time are read."""
    state = corpus.file(source.id)
    if state is None:
        return "removed"
    current = corpus.current_document(source.id)
    if current is not None and documents.digest(current)[0] != sha256:
        return "changed"
    file = _file_now(source.path, state) if source.kind in PRIVATE_KINDS and source.path else "same"
    if file != "same":
        return file
    return "same" if current is not None else "unreadable"


def _file_now(path: str, state: FileState) -> Literal["same", "modified", "missing"]:
    """Return how a file compares with the store's record of it."""
    try:
        found = Path(path).stat()
    except OSError:
        return "missing"
    return "same" if (found.st_size, found.st_mtime_ns) == (state.size, state.mtime_ns) else "modified"
