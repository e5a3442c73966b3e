"""Adding papers to the library: PDFs of this machine, and papers by their ids and addresses."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeVar

from asky.concurrency import error_of, gather, in_thread
from asky.errors import AskyError, SourceError, SourceUnreadable, StorageError
from asky.events import StageAdvanced, StageFinished, StageStarted
from asky.papers.identity import as_printed, bears_title, identifier_in, identify, without_ids
from asky.papers.keeping import PDF, AddedPaper, PaperKeeper, PaperParts, ReadPdf, reason
from asky.papers.online import OpenPdf, entry_record
from asky.papers.wanted import WantedPaper
from asky.reading.detection import HEAD_BYTES, media_type_of
from asky.research.corpus.ingest import read_with
from asky.research.corpus.report import verdict_of
from asky.research.local.discovery import DiscoveredFile, Unread, discover
from asky.search.identifiers import Identifier, find_identifiers
from asky.search.lookup import UnknownPaper
from asky.storage.papers import Paper, PaperFile
from asky.text.urls import canonical_url
from asky.values import Failure

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from pathlib import Path

    from asky.papers.identity import Identity
    from asky.papers.online import OnlinePapers, PaperRecord
    from asky.research.local.files import LocalRoots

_Item = TypeVar("_Item")
_Outcome = TypeVar("_Outcome")

_AT_ONCE = 4
_OFFLINE = "not looked up: --offline"
_RETRY = "`asky papers retry` tries again"
_FRONT_CHARS = 6_000  # of a first page: as far as an id in its foot


@dataclass(frozen=True, slots=True)
class PaperSources:
    """Where papers are added from: `roots` with PDFs, and `papers` by id, address or the entry of an export."""

    roots: LocalRoots
    papers: Sequence[WantedPaper] = ()

    def entries(self) -> Mapping[Path, WantedPaper]:
        """Return the entries of exports by the PDFs that are theirs alone, links resolved."""
        found: dict[Path, list[WantedPaper]] = {}
        for each in self.papers:
            for pdf in each.pdfs:
                found.setdefault(pdf.resolve(), []).append(each)
        return {pdf: entries[0] for pdf, entries in found.items() if len(entries) == 1}


class PaperAdder:
    """Adds papers to the library. Each is on disk when its outcome is known: an interrupted add goes on from there."""

    def __init__(self, parts: PaperParts, keeper: PaperKeeper) -> None:
        self._parts = parts
        self._keeper = keeper

    async def add(
        self, sources: PaperSources, online: OnlinePapers | None, *, looks_up: bool = False
    ) -> list[AddedPaper]:
        """Add the PDFs among the roots and in the folders there, and then the papers that have none of these.

        Other files in folders are left out, and a file with the size and time that it had before is not opened. With
        `looks_up`, the ids on first pages are looked up, or else their titles. Without `online`, nothing is sent.
        """
        files = await self._add_files(sources, online if looks_up else None)
        read = await in_thread(self._parts.table.files)
        missing = [each for each in sources.papers if not any(str(pdf.resolve()) in read for pdf in each.pdfs)]
        findable = [each for each in missing if each.identifiers or each.url]
        return [*files, *await self.fetch(findable, online)]

    async def fetch(self, papers: Sequence[WantedPaper], online: OnlinePapers | None) -> list[AddedPaper]:
        """Add papers by their ids and addresses, in their order; those that the library has are not looked up."""
        known = [await in_thread(self._known, each) for each in papers]
        fresh = [each for each, outcome in zip(papers, known, strict=True) if outcome is None]

        async def add_one(wanted: WantedPaper) -> AddedPaper:
            if online is None:
                return AddedPaper(wanted.name, "unread", why=_OFFLINE, verdict="refused")
            return await self._fetch(wanted, online)

        found = iter(await self._staged("look up", "papers", fresh, add_one, _AT_ONCE))
        return [outcome if outcome is not None else next(found) for outcome in known]

    def lacking(self) -> list[Paper]:
        """Return the papers without a text, and those that this version reads better."""
        states, now = self._parts.corpus.files(self._parts.collection()), read_with(PDF)
        papers = self._parts.table.papers()
        return [each for each in papers if each.status != "complete" or states[each.source.uri].read_with != now]

    async def retry(
        self, papers: Sequence[Paper], online: OnlinePapers | None, *, checks: Sequence[Paper] = ()
    ) -> list[AddedPaper]:
        """Read the copies of papers again, fetch those that there are none of, and look up the notices on `checks`."""
        wanted = {each.id: await in_thread(self.wanted, each) for each in (*papers, *checks)}
        again = [await in_thread(self._read_again, each) for each in papers if each.status != "no_pdf"]

        async def complete(paper: Paper) -> AddedPaper:
            if online is None:
                return AddedPaper(paper.name, "unread", paper, _OFFLINE, "refused")
            return await self._fetch(wanted[paper.id], online)

        async def check(paper: Paper) -> AddedPaper | None:
            return await self._check(paper, wanted[paper.id], online) if online is not None else None

        fetched = await self._staged(
            "look up", "papers", [e for e in papers if e.status == "no_pdf"], complete, _AT_ONCE
        )
        seen = {each.id for each in papers if each.status == "no_pdf"}
        checked = await self._staged("look up", "papers", [e for e in checks if e.id not in seen], check, _AT_ONCE)
        return [*again, *fetched, *(each for each in checked if each is not None)]

    def wanted(self, paper: Paper) -> WantedPaper:
        """Return a paper of the library as one to look up and fetch."""
        ids = list(filter(None, map(identifier_in, self._parts.table.aliases(paper.id))))
        own = [each for each in ids if each.value in (paper.id, paper.doi, paper.pmid)] or ids  # not its preprint's
        named = (replace(each, version=paper.version) if each.value == paper.id else each for each in own)
        return WantedPaper(paper.name, tuple(named), None if ids else paper.source.url)

    # PDFs of this machine

    async def _add_files(self, sources: PaperSources, online: OnlinePapers | None) -> list[AddedPaper]:
        roots, entries = sources.roots, sources.entries()
        fresh, outcomes = await in_thread(self._find, roots)

        async def add_one(found: DiscoveredFile) -> AddedPaper:
            read = await in_thread(self._read_file, roots, found)
            if isinstance(read, AddedPaper):
                return read
            identity = identify(read.document, found.file.path.stem)
            entry = entries.get(found.file.path.resolve())
            record, why = None, None
            if entry is not None and (told := _other_title(entry, identity, read)):
                why = (
                    f"{entry.name} calls it “{told}”, which its first page does not: added without what the entry says"
                )
            elif entry is not None:
                record = entry_record(entry, identity, has_title=bool(read.document.title))
                identity = record.identity
            if online is not None:
                identity, record, unsure = await self._looked_up(read, identity, record, online)
                why = _joined(why, unsure)
            kept = await in_thread(lambda: self._keeper.keep(read, identity, record=record))
            return replace(kept, why="; ".join(filter(None, (kept.why, why))) or None)

        return sorted(
            [*outcomes, *await self._staged("read", "files", fresh, add_one, self._parts.workers)],
            key=lambda each: each.file,
        )

    async def _looked_up(
        self, read: ReadPdf, identity: Identity, record: PaperRecord | None, online: OnlinePapers
    ) -> tuple[Identity, PaperRecord | None, str | None]:
        """Return who a local PDF is by the id on its first page, or else by its title, and why that is not certain.

        An id of a paper with another title is not taken.
        """
        ids = identity.identifiers or _pmids(read.first_page)
        try:
            if not ids and read.document.title:
                ids = await online.ids_of_title(identity.title, identity.authors)
            if not ids:
                return identity, record, "its first page has no id, and no registry was found to know its title"
            found = await online.record(WantedPaper(read.shown, ids))
        except StorageError:
            raise
        except AskyError as error:
            return identity, record, error.message
        if not found.is_certain:
            return identity, record, "; ".join(found.wrong)
        if not bears_title(found.identity.title, identity, read.first_page):
            said = f"its first page names {ids[0].value}, which is “{found.identity.title}”: added without that id"
            return without_ids(identity), None, said
        is_arxiv = identity.arxiv is not None and identity.arxiv == found.identity.arxiv
        known = replace(found.identity, version=identity.version) if is_arxiv else as_printed(found.identity)
        return known, replace(found, identity=known), _unchecked(found)

    def _find(self, roots: LocalRoots) -> tuple[list[DiscoveredFile], list[AddedPaper]]:
        known = self._parts.table.files()
        fresh, outcomes = [], []
        named = {each.path for each in roots.files}
        for item in discover(roots, recursive=True):
            if isinstance(item, Unread):
                is_pdf = item.relative.lower().endswith(".pdf") or item.path in named
                if item.verdict == "failed" or (item.verdict == "refused" and is_pdf):
                    outcomes.append(AddedPaper(item.name, "unread", why=item.reason, verdict=item.verdict))
                continue
            path, state = str(item.file.path), known.get(str(item.file.path))
            if state is not None and (state.size, state.mtime_ns) == (item.stat.size, item.stat.mtime_ns):
                paper = self._parts.table.with_content(state.content_sha256)
                outcomes.append(AddedPaper(item.file.shown, "known", paper))
            elif path.lower().endswith(".pdf") or item.file.path in named:
                fresh.append(item)
        return fresh, outcomes

    def _read_file(self, roots: LocalRoots, found: DiscoveredFile) -> ReadPdf | AddedPaper:
        shown = found.file.shown
        try:
            with roots.open_file(found.file) as opened:
                data = opened.read(self._parts.max_file_bytes)
            if media_type_of(found.file.path.name, data[:HEAD_BYTES]) != PDF:
                raise SourceUnreadable(f"{shown}: not a PDF", verdict="unsupported")
            digest = hashlib.sha256(data).hexdigest()
            file = PaperFile(str(found.file.path), found.stat.size, found.stat.mtime_ns, digest)
            known = self._keeper.with_content(shown, file, is_open=False)
            if known is not None:
                return known
            before = self._parts.ingester.read_before(digest, found.file.path.suffix, PDF)
            read = before[1] if before is not None else self._keeper.read(data, shown)
            return ReadPdf(shown, data, read, file, before[0] if before is not None else None)
        except SourceError as error:
            return _unread(shown, error)

    def _read_again(self, paper: Paper) -> AddedPaper:
        path = self._parts.files.pdf(paper.name)
        try:
            data = path.read_bytes()
            read = self._keeper.read(data, path.name)
        except OSError as error:
            return AddedPaper(path.name, "unread", paper, f"its copy cannot be read: {error.strerror}")
        except SourceError as error:
            return _unread(path.name, error, paper)
        if isinstance(read, SourceUnreadable):
            return _unread(path.name, read, paper)
        pdf = ReadPdf(path.name, data, read, is_open=paper.source.kind == "paper")
        identity = identify(read, path.stem)
        if paper.is_described:  # its ids are known, whatever its first page says
            identity = replace(without_ids(identity), keys=())
        return self._keeper.keep(pdf, identity, replaced=paper)

    # papers by id and address

    def _known(self, wanted: WantedPaper) -> AddedPaper | None:
        """Return the outcome for a paper that the library has, in that version or a newer one."""
        table = self._parts.table
        known = table.known_as(each.key for each in wanted.identifiers)
        if known is None and wanted.url is not None:
            known = table.with_file(canonical_url(wanted.url))
        if known is None:
            return None
        newest = max((each.version or 0 for each in wanted.identifiers if each.value == known.id), default=0)
        if known.status == "complete" and newest > (known.version or 0):
            return None
        said = None if wanted.name in (known.id, known.name) else f"the paper {known.name}"
        if known.status != "complete":
            said = f"the paper {known.name}, which lacks its text: {_RETRY}"
        return AddedPaper(wanted.name, "known", known, said)

    async def _fetch(self, wanted: WantedPaper, online: OnlinePapers) -> AddedPaper:
        try:
            record = await online.record(wanted)
        except UnknownPaper as error:
            return AddedPaper(wanted.name, "unread", why=error.message)
        held = await in_thread(self._keeper.known, record.identity)
        if held is not None and held.status == "complete" and not _is_newer(record.identity, held, wanted):
            return await in_thread(self._note, wanted.name, held, record)
        whys: list[str] = []
        async for found in online.pdfs(wanted, record):
            if isinstance(found, OpenPdf):
                outcome = await in_thread(self._keep, wanted, record, found)
                if isinstance(outcome, AddedPaper):
                    return replace(outcome, why=_joined(outcome.why, _unchecked(record)))
                found = outcome
            whys.append(found.message)
        why = "; ".join(dict.fromkeys((*whys, *record.wrong))) or "no open copy of its PDF is known"
        if not wanted.identifiers and not record.told:
            return AddedPaper(wanted.name, "unread", why=why)
        asked = next((each for each in wanted.identifiers if each.kind == "arxiv"), None)
        told = record.identity
        named = as_printed(told) if asked is None else replace(told, version=asked.version)
        return await in_thread(self._keeper.keep_without_pdf, wanted.name, replace(record, identity=named), why)

    def _keep(self, wanted: WantedPaper, record: PaperRecord, found: OpenPdf) -> AddedPaper | AskyError:
        """Keep a PDF that was fetched as the paper that is wanted; return why it cannot be."""
        digest = hashlib.sha256(found.data).hexdigest()
        file = PaperFile(canonical_url(found.url), len(found.data), 0, digest)
        known = self._keeper.with_content(wanted.name, file, is_open=True)
        if known is not None and known.paper is not None:
            noted = self._keeper.note(known.paper, record) if record.is_certain else known.paper
            if noted is None:
                return SourceUnreadable(f"the PDF at its address is that of {known.paper.name}: not taken")
            why = _joined(f"the paper {noted.name}", _unchecked(record) if record.is_certain else None)
            return replace(known, paper=noted, why=why)
        try:
            read = self._keeper.read(found.data, wanted.name)
        except SourceError as error:
            return SourceUnreadable(error.message.removeprefix(f"{wanted.name}: "))
        pdf = ReadPdf(wanted.name, found.data, read, file, is_open=True)
        page = identify(pdf.document, wanted.name.rpartition("/")[2].removesuffix(".pdf"))
        if not record.is_certain:
            return self._keep_uncertain(wanted, record, found, pdf, page)
        told = record.identity
        is_own = page.arxiv is not None and page.arxiv == told.arxiv
        if pdf.document.text and not is_own and not bears_title(told.title, page, pdf.first_page):
            return SourceUnreadable(f"the PDF at its address is titled “{page.title}”: not taken")
        if not is_own and found.arxiv is None:
            return self._keeper.keep(pdf, as_printed(told), record=record)
        version = page.version if is_own else told.version
        return self._keeper.keep(pdf, replace(told, version=version), record=record)

    def _note(self, shown: str, held: Paper, record: PaperRecord) -> AddedPaper:
        """Store what a record says of a paper that the library has; one that is called otherwise is flagged."""
        stored = self._keeper.note(held, record)
        if stored is None:
            said = f"the paper {held.name} bears its id, but “{record.identity.title}” is another title: not looked up"
            return AddedPaper(shown, "known", held, said)
        return AddedPaper(shown, "known", stored, _joined(f"the paper {held.name}", _unchecked(record)))

    def _keep_uncertain(
        self, wanted: WantedPaper, record: PaperRecord, found: OpenPdf, pdf: ReadPdf, page: Identity
    ) -> AddedPaper | AskyError:
        """Keep a PDF of which no registry says whose it is, unless its first page bears another id of that kind."""
        own = {each.kind: each.value for each in page.identifiers}
        for each in wanted.identifiers:
            if own.get(each.kind, each.value) != each.value:
                return SourceUnreadable(f"the PDF at its address is that of {own[each.kind]}: not taken")
        filled = entry_record(wanted, page, has_title=bool(pdf.document.title))
        version = page.version or (found.arxiv.version if found.arxiv is not None else None)
        identity = replace(filled.identity, address=found.url, version=version)
        return self._keeper.keep(pdf, identity, record=replace(filled, identity=identity, wrong=record.wrong))

    async def _check(self, paper: Paper, wanted: WantedPaper, online: OnlinePapers) -> AddedPaper | None:
        """Look up a paper of the library again; return an outcome if something is wrong or new."""
        try:
            record = await online.record(wanted)
        except UnknownPaper as error:
            return AddedPaper(paper.name, "known", paper, error.message)
        if not record.is_certain:
            return AddedPaper(paper.name, "known", paper, "; ".join(record.wrong))
        noted = await in_thread(self._note, paper.name, paper, record)
        stored = noted.paper
        if stored is None or stored.notices_checked_at == paper.notices_checked_at:
            return noted
        if stored.notices == paper.notices:
            return None
        return replace(noted, why=_joined(*stored.notice_texts, _unchecked(record)) or "its notices are gone")

    async def _staged(
        self,
        stage: str,
        items: str,
        fresh: Sequence[_Item],
        work: Callable[[_Item], Awaitable[_Outcome]],
        limit: int,
    ) -> list[_Outcome]:
        """Return the outcomes of `work` for each item, in their order, and tell how far it is."""
        if not fresh:
            return []
        started, listener, done = time.monotonic(), self._parts.listener, 0

        async def one(item: _Item) -> _Outcome:
            nonlocal done
            outcome = await work(item)
            done += 1
            listener(StageAdvanced(stage, done, len(fresh)))
            return outcome

        listener(StageStarted(stage, len(fresh)))
        outcomes = []
        for outcome in await gather(fresh, one, limit=limit):
            if isinstance(outcome, Failure):
                raise error_of(outcome)
            outcomes.append(outcome)
        listener(StageFinished(stage, time.monotonic() - started, f"{len(fresh)} {items}"))
        return outcomes


def _unread(shown: str, error: SourceError, paper: Paper | None = None) -> AddedPaper:
    return AddedPaper(shown, "unread", paper, reason(error, shown), verdict_of(error))


def _is_newer(identity: Identity, held: Paper, wanted: WantedPaper) -> bool:
    asked = next((each.version for each in wanted.identifiers if each.kind == "arxiv"), None)
    return held.id == identity.arxiv and (asked or 0) > (held.version or 0)


def _other_title(entry: WantedPaper, identity: Identity, read: ReadPdf) -> str | None:
    """Return the title of an entry that the first page of its PDF does not bear; `None` if it may, or has no text."""
    title = entry.candidate.title if entry.candidate is not None else ""
    is_other = title and read.document.text.strip() and not bears_title(title, identity, read.first_page)
    return title if is_other else None


def _unchecked(record: PaperRecord) -> str | None:
    return f"notices could not be checked: {'; '.join(record.wrong)}" if record.wrong else None


def _joined(*parts: str | None) -> str | None:
    return "; ".join(filter(None, parts)) or None


def _pmids(first_page: str) -> tuple[Identifier, ...]:
    """Return the PMID on a first page, if there is one alone."""
    found = tuple(each for each in find_identifiers(first_page[:_FRONT_CHARS]) if each.kind == "pmid")
    return found if len(found) == 1 else ()
