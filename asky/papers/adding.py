"""Adding PDFs to the library: read once, recognised as papers, and kept once whatever their files are called."""

from __future__ import annotations

import hashlib
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from asky.concurrency import error_of, gather, in_thread
from asky.errors import SourceError, SourceUnreadable
from asky.events import Listener, StageAdvanced, StageFinished, StageStarted
from asky.evidence.paper_names import PAPER_URI
from asky.papers.catalog import CONTENT
from asky.papers.files import PaperFiles
from asky.papers.identity import Identity, free_id, identify, is_by_title, is_title_like, may_be_one
from asky.papers.summaries import SUMMARIES
from asky.reading.formats import HEAD_BYTES, media_type_of
from asky.research.corpus.ingest import FileFacts, read_with
from asky.research.local.discovery import DiscoveredFile, Unread, discover
from asky.storage.papers import Paper, PaperFile, PaperStatus, PaperTable
from asky.values import Document, Failure, Source, source_id

if TYPE_CHECKING:
    from pathlib import Path

    from asky.reading.process.pool import ReaderPool
    from asky.research.corpus.ingest import Ingester
    from asky.research.local.files import LocalRoots
    from asky.storage.corpus import CorpusStore
    from asky.storage.database import Database
    from asky.storage.documents import DocumentStore

Outcome = Literal["added", "updated", "known", "unread"]

_PDF = "application/pdf"
_NO_TEXT = "no_text_layer"


@dataclass(frozen=True, slots=True)
class AddedPaper:
    """The outcome for one file: its paper, and why it was `unread` or what it is `known` as."""

    file: str
    outcome: Outcome
    paper: Paper | None = None
    why: str | None = None


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


class PaperAdder:
    """Adds papers to the library. Each is on disk when its outcome is known: an interrupted add goes on from there."""

    def __init__(self, parts: PaperParts) -> None:
        self._parts = parts
        self._keeping = threading.Lock()

    async def add(self, roots: LocalRoots) -> list[AddedPaper]:
        """Add the PDFs among `roots` and in the folders there; other files in folders are left out.

        A file with the size and time that it had before is not opened.
        """
        fresh, outcomes = await in_thread(self._find, roots)
        started, listener = time.monotonic(), self._parts.listener
        done = 0

        async def add_one(found: DiscoveredFile) -> AddedPaper:
            nonlocal done
            outcome = await in_thread(self._add_file, roots, found)
            done += 1
            listener(StageAdvanced("read", done, len(fresh)))
            return outcome

        if fresh:
            listener(StageStarted("read", len(fresh)))
            for outcome in await gather(fresh, add_one, limit=self._parts.workers):
                if isinstance(outcome, Failure):
                    raise error_of(outcome)
                outcomes.append(outcome)
            listener(StageFinished("read", time.monotonic() - started, f"{len(fresh)} files"))
        return sorted(outcomes, key=lambda each: each.file)

    def lacking(self) -> list[Paper]:
        """Return the papers without a text, and those that this version reads better."""
        states, now = self._parts.corpus.files(self._parts.collection()), read_with(_PDF)
        papers = self._parts.table.papers()
        return [each for each in papers if each.status != "complete" or states[each.source.uri].read_with != now]

    async def retry(self, papers: Sequence[Paper]) -> list[AddedPaper]:
        """Read the copies of papers again."""
        return [await in_thread(self._read_again, each) for each in papers]

    # finding

    def _find(self, roots: LocalRoots) -> tuple[list[DiscoveredFile], list[AddedPaper]]:
        known = self._parts.table.files()
        fresh, outcomes = [], []
        named = {each.path for each in roots.files}
        for item in discover(roots, recursive=True):
            if isinstance(item, Unread):
                is_pdf = item.relative.lower().endswith(".pdf") or item.path in named
                if item.verdict == "failed" or (item.verdict == "refused" and is_pdf):
                    outcomes.append(AddedPaper(item.name, "unread", why=item.reason))
                continue
            path, state = str(item.file.path), known.get(str(item.file.path))
            if state is not None and (state.size, state.mtime_ns) == (item.stat.size, item.stat.mtime_ns):
                paper = self._parts.table.with_content(state.content_sha256)
                outcomes.append(AddedPaper(item.file.shown, "known", paper))
            elif path.lower().endswith(".pdf") or item.file.path in named:
                fresh.append(item)
        return fresh, outcomes

    # reading

    def _add_file(self, roots: LocalRoots, found: DiscoveredFile) -> AddedPaper:
        shown = found.file.shown
        try:
            with roots.open_file(found.file) as opened:
                data = opened.read(self._parts.max_file_bytes)
            if media_type_of(found.file.path.name, data[:HEAD_BYTES]) != _PDF:
                raise SourceUnreadable(f"{shown}: not a PDF", verdict="unsupported")
            digest = hashlib.sha256(data).hexdigest()
            file = PaperFile(str(found.file.path), found.stat.size, found.stat.mtime_ns, digest)
            known = self._parts.table.with_content(digest)
            if known is not None:
                self._parts.table.put_file(file, known.id)
                return AddedPaper(shown, "known", known)
            before = self._parts.ingester.read_before(digest, found.file.path.suffix, _PDF)
            read = before[1] if before is not None else self._read(data, shown)
            like = before[0] if before is not None else None
            return self._keep(shown, file, data, read, found.file.path.stem, like=like)
        except SourceError as error:
            return AddedPaper(shown, "unread", why=error.message.removeprefix(f"{shown}: "))

    def _read(self, data: bytes, shown: str) -> Document | SourceUnreadable:
        """Return the text of a PDF, or why it has none because its pages are images. Raises for any other reason."""
        try:
            return self._parts.readers.read(data, name=shown, media_type=_PDF)
        except SourceUnreadable as error:
            if error.verdict != _NO_TEXT:
                raise
            return error

    def _read_again(self, paper: Paper) -> AddedPaper:
        path = self._parts.files.pdf(paper.name)
        try:
            data = path.read_bytes()
            read = self._read(data, path.name)
        except OSError as error:
            return AddedPaper(path.name, "unread", paper, f"its copy cannot be read: {error.strerror}")
        except SourceError as error:
            return AddedPaper(path.name, "unread", paper, error.message.removeprefix(f"{path.name}: "))
        if isinstance(read, SourceUnreadable):
            return AddedPaper(path.name, "unread", paper, read.message.removeprefix(f"{path.name}: "))
        return self._keep(path.name, None, data, read, path.stem, replaced=paper)

    # keeping

    def _keep(
        self,
        shown: str,
        file: PaperFile | None,
        data: bytes,
        read: Document | SourceUnreadable,
        stem: str,
        *,
        like: int | None = None,
        replaced: Paper | None = None,
    ) -> AddedPaper:
        """Store what was read as a paper, unless the library has that text of it.

        `like` is the stored document that the same bytes gave before.
        """
        parts = self._parts
        document = read if isinstance(read, Document) else Document("", _PDF)
        identity = identify(document, stem)
        cut = parts.ingester.cut(document) if document.text else ((), ())
        with self._keeping, parts.database.write():
            known = replaced or self._known(identity)
            if known is not None and replaced is None and not _is_better(identity, document, known):
                return self._leave(shown, file, identity, known)
            paper = self._paper(identity, known, has_text=bool(document.text))
            parts.files.put_pdf(paper.name, data)
            if document.text:
                facts = _facts(parts.files.pdf(paper.name), data)
                parts.ingester.keep(paper.source, document, cut, parts.collection(), facts, like=like)
            else:
                why = str(read).removeprefix(f"{shown}: ")
                parts.corpus.put_source(paper.source, parts.collection(), document_id=None, verdict=_NO_TEXT, why=why)
            parts.table.put(paper, identity.keys)
            if file is not None:
                parts.table.put_file(file, paper.id)
            stored = parts.table.get(paper.id) or paper
            aliases = parts.table.aliases(paper.id)
        if known is not None and known.name != stored.name:
            parts.files.remove(known.name)
        if document.text:
            parts.files.put_text(stored, document)
        parts.files.put_metadata(stored, aliases)
        if isinstance(read, SourceUnreadable):
            return AddedPaper(shown, "unread", stored, read.message.removeprefix(f"{shown}: "))
        return AddedPaper(shown, "added" if known is None else "updated", stored)

    def _leave(self, shown: str, file: PaperFile | None, identity: Identity, known: Paper) -> AddedPaper:
        """Record a file of a paper that the library has; one with its id but another title is another paper."""
        why = f"the paper {known.name}"
        if not is_title_like(identity.title, known.source.title):
            return AddedPaper(shown, "known", known, f"{why} by its id, but its title is “{identity.title}”: not added")
        if file is not None:
            self._parts.table.put_file(file, known.id)
        self._parts.table.put(known, identity.keys)
        return AddedPaper(shown, "known", known, why)

    def _known(self, identity: Identity) -> Paper | None:
        """Return the paper of the library that this text is of."""
        table = self._parts.table
        found = table.known_as([each for each in identity.keys if not is_by_title(each)])
        if found is not None:
            return found
        found = table.known_as([each for each in identity.keys if is_by_title(each)])
        return found if found is not None and may_be_one(identity, table.aliases(found.id)) else None

    def _paper(self, identity: Identity, known: Paper | None, *, has_text: bool) -> Paper:
        if known is not None:
            paper_id = known.id
        elif identity.arxiv or identity.doi:
            paper_id = identity.id
        else:
            paper_id = free_id(identity.own_name, lambda each: self._parts.table.get(each) is not None)
        version = identity.version if paper_id == identity.arxiv else known.version if known is not None else None
        uri = f"{PAPER_URI}{paper_id}"
        name = paper_id if version is None else f"{paper_id}v{version}"
        source = Source(
            source_id(uri),
            "file",
            uri,
            identity.title,
            url=identity.url,
            path=str(self._parts.files.pdf(name)),
            authors=identity.authors,
            published=identity.published,
            doi=identity.doi,
        )
        status: PaperStatus = "complete" if has_text else "no_text"
        paper = Paper(paper_id, version, identity.doi, None, status, source)
        return replace(paper, added_at=known.added_at) if known is not None else paper


def _facts(copy: Path, data: bytes) -> FileFacts:
    """Return the facts about the library's copy of a PDF."""
    return FileFacts(len(data), copy.stat().st_mtime_ns, hashlib.sha256(data).hexdigest(), read_with(_PDF))


def _is_better(identity: Identity, document: Document, known: Paper) -> bool:
    """Return whether a text should take the place of that of a known paper: a newer version, or the first text."""
    if not document.text:
        return False
    if known.status != "complete":
        return True
    is_newer = known.id == identity.arxiv and (identity.version or 0) > (known.version or 0)
    return is_newer and is_title_like(identity.title, known.source.title)
