"""Keeping papers: what was read of one becomes a paper of the library, once, whatever it is called."""

from __future__ import annotations

import hashlib
import threading
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal

from asky.errors import SourceError, SourceUnreadable
from asky.events import FileVerdict, Listener
from asky.evidence.paper_names import PAPER_URI
from asky.papers.catalog import CONTENT
from asky.papers.files import PaperFiles
from asky.papers.identity import Identity, free_id, is_by_title, is_title_like, may_be_one
from asky.papers.summaries import SUMMARIES
from asky.research.corpus.ingest import FileFacts, read_with
from asky.storage.papers import Paper, PaperFile, PaperStatus, PaperTable
from asky.values import Document, Source, SourceKind, UnreadFile, source_id

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from asky.papers.online import PaperRecord
    from asky.reading.process.pool import ReaderPool
    from asky.research.corpus.ingest import Ingester
    from asky.storage.corpus import CorpusStore
    from asky.storage.database import Database
    from asky.storage.documents import DocumentStore

Outcome = Literal["added", "updated", "known", "unread"]

PDF = "application/pdf"
NO_TEXT: FileVerdict = "no_text_layer"
_NO_PDF = "failed"


@dataclass(frozen=True, slots=True)
class AddedPaper:
    """The outcome for one file or id: its paper, why it was `unread` or what it is `known` as, or what it lacks.

    `verdict` is that of the reader on a file that is `unread`.
    """

    file: str
    outcome: Outcome
    paper: Paper | None = None
    why: str | None = None
    verdict: FileVerdict = "failed"


@dataclass(frozen=True, slots=True)
class PaperParts:
    """The shared parts that the library drives."""

    database: Database
    corpus: CorpusStore
    table: PaperTable
    ingester: Ingester
    readers: ReaderPool
    files: PaperFiles
    max_file_bytes: int
    workers: int
    listener: Listener
    documents: DocumentStore

    def collection(self) -> int:
        """Return the id of the collection with the texts of all papers."""
        return self.corpus.collection(CONTENT, create=True)

    def summaries(self) -> int:
        """Return the id of the collection with the summaries of all papers."""
        return self.corpus.collection(SUMMARIES, create=True)


@dataclass(frozen=True, slots=True)
class ReadPdf:
    """A PDF and its text, or why it has none because its pages are images.

    `shown` is its name in messages, `like` the stored document that the same bytes gave before. `is_open` says that it
    is from an address that everybody may read.
    """

    shown: str
    data: bytes = field(repr=False)
    read: Document | SourceUnreadable
    file: PaperFile | None = None
    like: int | None = None
    is_open: bool = False

    @property
    def document(self) -> Document:
        """Return the text, empty if there is none."""
        return self.read if isinstance(self.read, Document) else Document("", PDF)

    @property
    def first_page(self) -> str:
        """Return the text of the first page, or of all if there are no pages."""
        document = self.document
        return document.text[: document.pages[0].end] if document.pages else document.text

    @property
    def why(self) -> str | None:
        """Return why there is no text."""
        return reason(self.read, self.shown) if isinstance(self.read, SourceUnreadable) else None


def unread_of(outcomes: Iterable[AddedPaper], kept: Iterable[UnreadFile]) -> tuple[UnreadFile, ...]:
    """Return what was not read of the files of outcomes; `kept` is what was not read of papers, by their names."""
    lacks: dict[str, list[UnreadFile]] = {}
    for each in kept:
        lacks.setdefault(each.path, []).append(each)
    found: list[UnreadFile] = []
    for outcome in outcomes:
        if outcome.outcome == "unread":
            found.append(UnreadFile(outcome.file, outcome.verdict, outcome.why or ""))
        elif outcome.paper is not None:
            found += (replace(each, path=outcome.file) for each in lacks.get(outcome.paper.name, ()))
    return tuple(found)


def reason(error: SourceError, shown: str) -> str:
    """Return the message of an error without the name of what it is about."""
    return error.message.removeprefix(f"{shown}: ")


class PaperKeeper:
    """Keeps papers in the store, and their files in the folder."""

    def __init__(self, parts: PaperParts) -> None:
        self._parts = parts
        self._keeping = threading.Lock()

    def read(self, data: bytes, shown: str) -> Document | SourceUnreadable:
        """Return the text of a PDF, or why it has none because its pages are images. Raises for any other reason."""
        try:
            return self._parts.readers.read(data, name=shown, media_type=PDF)
        except SourceUnreadable as error:
            if error.verdict != NO_TEXT:
                raise
            return error

    def keep(
        self, pdf: ReadPdf, identity: Identity, *, record: PaperRecord | None = None, replaced: Paper | None = None
    ) -> AddedPaper:
        """Store what was read as a paper, unless the library has that text of it, with what a `record` says of it.

        Its text takes the place of that of the paper `replaced`.
        """
        parts, document = self._parts, pdf.document
        cut = parts.ingester.cut(document) if document.text else ((), ())
        with self._keeping, parts.database.write():
            known = replaced or self.known(identity)
            if known is not None and replaced is None and not _is_better(identity, document, known):
                return self._leave(pdf, identity, known, record)
            paper = self._paper(identity, known, "complete" if document.text else "no_text", is_open=pdf.is_open)
            parts.files.put_pdf(paper.name, pdf.data)
            if document.text:
                facts = _facts(parts.files.pdf(paper.name), pdf.data)
                parts.ingester.keep(paper.source, document, cut, parts.collection(), facts, like=pdf.like)
            else:
                parts.corpus.put_source(
                    paper.source, parts.collection(), document_id=None, verdict=NO_TEXT, why=pdf.why
                )
            stored = self._put(paper, identity, record)
            if pdf.file is not None:
                parts.table.put_file(pdf.file, paper.id)
        if known is not None and known.name != stored.name:
            parts.files.remove(known.name)
        if document.text:
            parts.files.put_text(stored, document)
        self._put_metadata(stored)
        if pdf.why is not None:
            return AddedPaper(pdf.shown, "unread", stored, pdf.why, NO_TEXT)
        return AddedPaper(pdf.shown, "added" if known is None else "updated", stored)

    def keep_without_pdf(self, shown: str, record: PaperRecord, why: str) -> AddedPaper:
        """Store a paper whose PDF cannot be had, and why; one that the library has stays as it is."""
        parts, identity = self._parts, record.identity
        with self._keeping, parts.database.write():
            known = self.known(identity)
            if known is not None and known.status != "no_pdf":
                stored = self._put(known, identity, record)
            else:
                paper = self._paper(identity, known, "no_pdf", is_open=True)
                parts.corpus.put_source(paper.source, parts.collection(), document_id=None, verdict=_NO_PDF, why=why)
                stored = self._put(paper, identity, record)
        self._put_metadata(stored)
        return AddedPaper(shown, "unread", stored, why)

    def note(self, paper: Paper, record: PaperRecord) -> Paper | None:
        """Store what a record says of a paper that the library has, and return it as it is now.

        Return `None`, and store nothing, for another paper: the titles are not alike, and the id is not one that a
        registry has told, but one on its first page.
        """
        shares = paper.is_described and set(record.identity.keys) & set(self._parts.table.aliases(paper.id))
        if not shares and not is_title_like(record.identity.title, paper.source.title):
            return None
        with self._keeping, self._parts.database.write():
            stored = self._put(paper, record.identity, record)
        self._put_metadata(stored)
        return stored

    def known(self, identity: Identity) -> Paper | None:
        """Return the paper of the library with this identity."""
        table = self._parts.table
        found = table.known_as([each for each in identity.keys if not is_by_title(each)])
        if found is not None:
            return found
        found = table.known_as([each for each in identity.keys if is_by_title(each)])
        return found if found is not None and may_be_one(identity, table.aliases(found.id)) else None

    def with_content(self, shown: str, file: PaperFile, *, is_open: bool) -> AddedPaper | None:
        """Return the outcome for a PDF with the bytes of a paper that the library has, else `None`."""
        table = self._parts.table
        known = table.with_content(file.content_sha256)
        if known is None:
            return None
        table.put_file(file, known.id)
        if is_open and known.source.kind != "paper":
            table.open_up(known.id)
        return AddedPaper(shown, "known", known)

    def _leave(self, pdf: ReadPdf, identity: Identity, known: Paper, record: PaperRecord | None) -> AddedPaper:
        """Record a file of a paper that the library has; one with its id but another title is another paper."""
        why = f"the paper {known.name}"
        if not is_title_like(identity.title, known.source.title):
            said = f"{why} by its id, but its title is “{identity.title}”: not added"
            return AddedPaper(pdf.shown, "known", known, said)
        if pdf.file is not None:
            self._parts.table.put_file(pdf.file, known.id)
        stored = self._put(known, identity, record)
        if record is not None:
            self._put_metadata(stored)
        return AddedPaper(pdf.shown, "known", stored, why)

    def _put(self, paper: Paper, identity: Identity, record: PaperRecord | None) -> Paper:
        """Store a paper with its names and what a record says of it, and return it as it is stored."""
        table, source = self._parts.table, paper.source
        table.put(replace(paper, doi=paper.doi or identity.doi, pmid=paper.pmid or identity.pmid), identity.keys)
        if record is not None:
            if record.told:
                self._parts.corpus.describe(source.id, **record.told)
            table.put_notices(paper.id, record.notices, is_checked=record.is_checked)
        return table.get(paper.id) or paper

    def _put_metadata(self, paper: Paper) -> None:
        self._parts.files.put_metadata(paper, self._parts.table.aliases(paper.id))

    def _paper(self, identity: Identity, known: Paper | None, status: PaperStatus, *, is_open: bool) -> Paper:
        if known is not None:
            paper_id = known.id
        elif identity.arxiv or identity.doi:
            paper_id = identity.id
        else:
            paper_id = free_id(identity.own_name, lambda each: self._parts.table.get(each) is not None)
        version = identity.version if paper_id == identity.arxiv else known.version if known is not None else None
        uri = f"{PAPER_URI}{paper_id}"
        name = paper_id if version is None else f"{paper_id}v{version}"
        kind: SourceKind = "paper" if is_open else "file"
        source = Source(
            source_id(uri),
            kind,
            uri,
            known.source.title if known is not None and known.is_described else identity.title,
            url=identity.url or (known.source.url if known is not None else None),
            path=str(self._parts.files.pdf(name)) if status != "no_pdf" else None,
            authors=identity.authors,
            published=identity.published,
            doi=identity.doi,
        )
        paper = Paper(paper_id, version, identity.doi, identity.pmid, status, source)
        return replace(paper, added_at=known.added_at) if known is not None else paper


def _facts(copy: Path, data: bytes) -> FileFacts:
    """Return the facts about the library's copy of a PDF."""
    return FileFacts(len(data), copy.stat().st_mtime_ns, hashlib.sha256(data).hexdigest(), read_with(PDF))


def _is_better(identity: Identity, document: Document, known: Paper) -> bool:
    """Return whether a text should take the place of that of a known paper: a newer version, or the first text."""
    if known.status == "no_pdf":
        return True
    if not document.text:
        return False
    if known.status != "complete":
        return True
    is_newer = known.id == identity.arxiv and (identity.version or 0) > (known.version or 0)
    return is_newer and is_title_like(identity.title, known.source.title)
