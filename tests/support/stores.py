"""Small filled stores, made through the public storage API. Nothing is embedded."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from asky.chat.entries import CHAT_ENTRIES
from asky.evidence.answer import answer_json, build_citations
from asky.evidence.keys import KeyRing
from asky.storage.corpus import DEFAULT_COLLECTION, CorpusStore
from asky.storage.database import Database, utc_now
from asky.storage.documents import DocumentStore
from asky.storage.findings import FindingStore
from asky.storage.runs import Run, RunStore
from asky.storage.session_removal import SessionRemoval
from asky.storage.sessions import NewMessage, SessionStore
from asky.storage.vectors import Pack, VectorTable
from asky.values import (
    Answer,
    Chunk,
    Claim,
    Document,
    Evidence,
    Location,
    Page,
    Section,
    Source,
    Span,
    StoppedBy,
    Usage,
    source_id,
)

TIDES = (
    "# Tides\n\nThe sea rises and falls twice a day. The moon pulls on the water, and the earth turns below it.\n\n"
    "## Spring tides\n\nSun and moon pull together at new moon. The range of the tide is then largest.\n"
)
MILL = "The mill on the hill burned down in 1871.\n\nIt was rebuilt in brick by the miller's widow two years later.\n"


class FilledStore:
    """The store under `home`, as `ASKY_HOME=home` finds it. Close it before a command opens it."""

    def __init__(self, home: Path, *, clock: Callable[[], str] = utc_now) -> None:
        self.home = home
        self.data = home / "data"
        for folder in (home, self.data):
            folder.mkdir(mode=0o700, exist_ok=True)
        self.database = Database(self.data / "asky.db", clock=clock, ledger_entries=CHAT_ENTRIES)
        self.documents = DocumentStore(self.database)
        self.corpus = CorpusStore(self.database, self.documents)
        self.runs = RunStore(self.database)
        self.sessions = SessionStore(self.database)
        self.session_removal = SessionRemoval(self.database, self.corpus, self.documents)
        self.findings = FindingStore(self.database)
        self.vectors = VectorTable(self.database)
        self.collection = self.corpus.collection(DEFAULT_COLLECTION, create=True)

    def __enter__(self) -> FilledStore:
        return self

    def __exit__(self, *raised: object) -> None:
        self.database.close()

    def add_text(
        self, path: Path, text: str, *, title: str = "", sections: Sequence[Section] = (), pages: Sequence[Page] = ()
    ) -> int:
        """Write `text` to `path` and keep it as a source, in chunks of 100 characters; returns the document's id."""
        path.write_text(text, "utf-8")
        chunks = [
            Chunk(number, Span(start, min(start + 100, len(text))), 25)
            for number, start in enumerate(range(0, len(text), 100))
        ]
        document = Document(text, "text/plain", title or path.stem, tuple(sections), tuple(pages))
        stored = self.documents.put_document(document, chunks, [""] * len(chunks))
        found = path.stat()
        self.corpus.put_source(
            source_at(path, title),
            self.collection,
            document_id=stored.id,
            size=found.st_size,
            mtime_ns=found.st_mtime_ns,
        )
        return stored.id

    def add_vectors(self, document_id: int, *, dim: int = 4, fingerprint: str = "test-4") -> int:
        """Give every chunk of a document a vector, the third of four axes; returns the id of the space."""
        space_id = self.vectors.space(fingerprint, dim)
        chunk_ids = self.documents.chunk_ids(document_id)
        one = b"\0\0\0\0" * (dim - 2) + b"\0\0\x80\x3f" + b"\0\0\0\0"
        packed = b"".join(each.to_bytes(8, "little") for each in chunk_ids)
        self.vectors.put(space_id, [Pack(document_id, packed, one * len(chunk_ids))])
        return space_id

    def evidence(self, run: Run, path: Path, document_id: int, quote: str, **location: Any) -> Evidence:
        """The first occurrence of `quote` in a document, as a passage of the run."""
        start = self.documents.text(document_id).index(quote)
        span = Span(start, start + len(quote))
        sha256, _ = self.documents.digest(document_id)
        key = KeyRing(run.id).key_for(sha256, span)
        source = source_at(path, location.pop("title", ""))
        return Evidence(key, source, document_id, sha256, span, quote, Location(**location), 0.5)

    def answered(
        self,
        question: str,
        text: str,
        cited: Callable[[Run], Sequence[Evidence]],
        *,
        session: str | None = None,
        stopped_by: StoppedBy | None = None,
        quoted: str | None = None,
        confidence: float | None = None,
        mode: str = "research",
    ) -> str:
        """A finished run whose answer cites what `cited` gives, in that order; returns its id.

        `quoted` are words of the first passage that the answer quotes.
        """
        kept = self.sessions.open(session, mode=mode) if session is not None else None
        run = self.runs.start(question=question, mode=mode, model="extractive", session_id=kept.id if kept else None)
        self.runs.record(run.id, "asked", {"model": "extractive", "host": None, "sources": 1})
        self.runs.record(run.id, "searched", {"queries": [question], "sources": None, "hits": []})
        shown = list(cited(run))
        self.runs.show(run.id, shown)
        answer = _answer(run, text, shown, session=session, stopped_by=stopped_by)
        if quoted is not None:
            start = shown[0].text.index(quoted)
            quotation = {"n": 1, "start": start, "end": start + len(quoted)}
            answer = replace(answer, claims=(replace(answer.claims[0], checks={"quotation": quotation}),))
        kept_answer = answer_json(replace(answer, confidence=confidence))
        self.runs.record(run.id, "cited", {"keys": [each.key for each in shown]})
        self.runs.finish(run.id, "finished", kept_answer)
        self.runs.release(run.id)
        if kept is not None:
            said = [NewMessage("user", question), NewMessage("assistant", text)]
            self.sessions.append(kept.id, said, run_id=run.id)
        return run.id


def fill_home(home: Path) -> None:
    """Give `home` a text, and a run in the session "lab" whose answer cites the text."""
    path = home / "docs" / "tides.md"
    path.parent.mkdir()
    with FilledStore(home / "asky") as store:
        document_id = store.add_text(path, TIDES, title="Tides")
        quote = "The sea rises and falls twice a day."
        store.answered(
            "How often?",
            "Twice a day [1].",
            lambda run: [store.evidence(run, path, document_id, quote, title="Tides")],
            session="lab",
        )


def source_at(path: Path, title: str = "") -> Source:
    """The source of a file."""
    uri = path.as_uri()
    return Source(
        source_id(uri), "file", uri, title or path.stem, path=str(path), fetched_at="2026-01-01T00:00:00.000000Z"
    )


def _answer(
    run: Run, text: str, shown: Sequence[Evidence], *, session: str | None, stopped_by: StoppedBy | None
) -> Answer:
    """An answer of one claim, which rests on everything that was shown."""
    citations = build_citations([each.key for each in shown], {each.key: each for each in shown})
    claim = Claim(text, Span(0, len(text)), tuple(each.n for each in citations), "supported", 0.9)
    return Answer(
        run=run.id,
        session=session,
        mode=run.mode,
        question=run.question,
        model=run.model,
        text=text,
        citations=citations,
        claims=(claim,) if citations else (),
        sources=tuple((each.source, each.score or 0.0, True) for each in shown),
        rejected=(),
        usage=Usage(llm_calls=2, prompt_tokens=100, completion_tokens=20, searches=1, seconds=0.1),
        stopped_by=stopped_by,
    )
