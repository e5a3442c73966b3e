"""The documents of a question: folders, collections, attached texts, and files that the question names."""

from __future__ import annotations

import hashlib
import os
import re
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from asky.app.unread_files import sum_up_unread
from asky.concurrency import in_thread
from asky.errors import SourceError, UsageError
from asky.events import Event, Noted, Warned
from asky.evidence.unread import PARTIAL, describe_files, describe_parts, of_rows, parts_of
from asky.research.corpus.report import AcquireCounts, verdict_of
from asky.research.local.names import is_local_target, refuse_outside, show_target, uri_path
from asky.storage.corpus import DEFAULT_COLLECTION
from asky.storage.scope import Scope
from asky.storage.sessions import own_collection
from asky.text.beside.hidden_comments import open_comment, without_comments
from asky.text.beside.marked_parts import marked_parts, without_parts
from asky.text.counting import counted
from asky.text.scrub import scrub_in_place
from asky.values import PRIVATE_KINDS, Document, Source, UnreadFile, source_id

if TYPE_CHECKING:
    from collections.abc import Callable

    from asky.app.requests import AskRequest, Attachment, DocumentName
    from asky.research.adapters import SourceAdapters
    from asky.research.corpus.report import AcquireReport
    from asky.research.local.files import LocalRoots
    from asky.storage.sessions import Session
    from asky.wiring import Services

_MAX_LISTED_UNSUPPORTED = 50  # files; more are only summed up
_NOT_TRIED = ("refused", PARTIAL)
_MAX_LISTED_PARTIAL = 10  # files read without some of their parts
_SIGNS_OF_A_PATH = frozenset("/\\~:")


_MARKDOWN = (".md", ".markdown")
_FOLDER = "folder "
_ADAPTERS = "[research.source_adapters] in the configuration names the programs for such targets"


def folder_collection(name: DocumentName) -> str:
    """Return the name of the collection that follows a file, folder or target passed with a question."""
    return f"{_FOLDER}{name if isinstance(name, str) else os.path.realpath(name)}"


def name_documents(services: Services) -> str:
    """Return the advice to name documents, with the file or folder that a question named last, if any."""
    last = services.corpus.last_used(_FOLDER)
    if last is None:
        return "name documents with -d PATH"
    return f"add -d {shlex.quote(last.removeprefix(_FOLDER))} for the documents used last"


def unread_of(services: Services, collections: tuple[int, ...]) -> list[UnreadFile]:
    """Return what was not read of the files of collections, as they were last read."""
    return of_rows(services.corpus.unread(Scope(collections)))


def unreadable_error(unread: Sequence[UnreadFile]) -> SourceError:
    """Return the error for files that could not be read: that is no missing answer."""
    files = [each for each in unread if each.part is None]
    return SourceError(f"{counted(len(files), 'file')} could not be read: {describe_files(files)}")


def unread_names(unread: Sequence[UnreadFile], names: Sequence[DocumentName]) -> list[UnreadFile]:
    """Return the files that were named themselves, not by a folder, and could not be read."""
    files = {each.name for each in names if isinstance(each, Path) and not each.is_dir()}
    return [each for each in unread if each.part is None and each.path in files]


def raise_for_unread(unread: Sequence[UnreadFile], names: Sequence[DocumentName]) -> None:
    """Raise `SourceError` if one of the files that were named themselves could not be read."""
    if found := unread_names(unread, names):
        raise unreadable_error(found)


def require_documents(services: Services, names: Sequence[DocumentName]) -> None:
    """Raise `UsageError` for a path that does not exist and for a target that no adapter handles."""
    services.only([each for each in names if isinstance(each, Path)])
    adapters = services.adapters(None)
    for each in names:
        if isinstance(each, str) and not adapters.runs_program(each):
            remedy = "`asky corpus add URL` adds web pages" if each.casefold().startswith("http") else _ADAPTERS
            raise UsageError(f"{show_target(each)}: not a file, a folder or the target of an adapter", hint=remedy)


@dataclass(frozen=True, slots=True)
class KeptDocuments:
    """A collection: its name and id, the number of its documents, and the followed paths that are not there now.

    An empty folder counts as one that is not there: it may be where a disk would be mounted.
    """

    name: str
    collection_id: int
    documents: int
    missing: tuple[str, ...]

    def words(self) -> str:
        """Return which documents these are, in words."""
        gone = f" ({', '.join(self.missing)} is gone or empty now: as last read)" if self.missing else ""
        return f"collection {self.name}, {counted(self.documents, 'document')}{gone}"


def kept_documents(services: Services) -> KeptDocuments | None:
    """Return the documents that are kept, from which questions are answered that name no others; `None` without any.

    No file is opened: those of a disk that is not there are answered from as they were last read.
    """
    if DEFAULT_COLLECTION not in services.corpus.collections():
        return None
    return documents_of(services, DEFAULT_COLLECTION)


def documents_of(services: Services, name: str) -> KeptDocuments:
    """Return the documents of a collection. Raises `UsageError` if there is none with that name."""
    found = services.corpus.collection(name)
    missing = tuple(each for each in services.corpus.roots(found) if _is_missing(each))
    return KeptDocuments(name, found, services.corpus.count_sources(Scope((found,)), with_text=True), missing)


def _is_missing(path: str) -> bool:
    if not os.path.isdir(path):  # noqa: PTH112 - False, not an error, in a folder that may not be searched
        return not os.path.lexists(path)
    try:
        with os.scandir(path) as entries:
            return next(entries, None) is None
    except OSError:
        return True


def session_documents(services: Services, session: Session | None) -> tuple[int, ...]:
    """Return the collections with documents of a session: its own one only if it holds more than pages."""
    if session is None or not session.collections:
        return ()
    own = _own_collection(services, session)
    if own is None or services.corpus.count_sources(Scope((own,)), PRIVATE_KINDS):
        return session.collections
    return tuple(each for each in session.collections if each != own)


def pages_of(services: Services, session: Session) -> tuple[int, ...]:
    """Return the collection with the pages and texts of a session, without the documents that it has named."""
    own = _own_collection(services, session)
    return () if own is None else (own,)


def _own_collection(services: Services, session: Session) -> int | None:
    """Return the collection of the pages and texts of a session, if it uses one."""
    name = own_collection(session.id)
    is_used = name in services.corpus.names(session.collections)
    return services.corpus.collection(name) if is_used else None


async def sync_folder(services: Services, path: DocumentName) -> tuple[int, AcquireReport]:
    """Update the collection of one path or target; return its id and the report on its files.

    A target that cannot be read now keeps its earlier texts. Raises `UsageError` if the path does not exist or no
    adapter handles the target, and `SourceError` for a target that could never be read.
    """
    if isinstance(path, str):
        return await in_thread(_sync_target, services, path)

    def open_collection() -> tuple[int, LocalRoots]:
        roots = services.only([path])
        collection_id = services.corpus.collection(folder_collection(path), create=True)
        services.corpus.add_root(collection_id, os.path.realpath(path))
        return collection_id, roots

    collection_id, roots = await in_thread(open_collection)
    return collection_id, await services.acquirer.sync(collection_id, roots)


def _sync_target(services: Services, target: str) -> tuple[int, AcquireReport]:
    require_documents(services, [target])
    name = folder_collection(target)
    is_new = name not in services.corpus.collections()
    collection_id = services.corpus.collection(name, create=True)
    counts = AcquireCounts(services.listener)
    try:
        adapters = services.adapters(None)
        services.target_acquirer.add(target, adapters, collection_id, counts, prune=True)
    except SourceError as error:
        if not services.corpus.files(collection_id):
            if is_new:
                services.corpus.remove_collection(collection_id)
            raise
        counts.record(show_target(target), verdict_of(error), error.message)
        services.listener(Warned(f"{error.message}: the earlier text of {show_target(target)} is used", error.hint))
    return collection_id, counts.report()


@dataclass(slots=True)
class Inputs:
    """Collects the documents of a question. `emit` receives notes about files that cannot be read.

    `shown` is the question as a model may see it, without local paths, and `file_names` are the names of the files that
    it names. `rejected` lists unreadable files with reasons, and `unread` files and parts of files. `updated` are
    the collections whose files were read or compared now.
    """

    services: Services
    emit: Callable[[Event], None]
    shown: str = ""
    collections: list[int] = field(default_factory=list)
    folders: list[Path] = field(default_factory=list)
    targets: list[str] = field(default_factory=list)
    rejected: list[tuple[str, str]] = field(default_factory=list)
    file_names: Sequence[str] = ()
    unread: list[UnreadFile] = field(default_factory=list)
    updated: set[int] = field(default_factory=set)

    def add_collections(
        self, names: Sequence[str], session: Session | None, *, default_documents: bool = True, has_text: bool = False
    ) -> None:
        """Add the named collections or, with `default_documents`, those that are kept if there are no other documents.

        `has_text` says that the question comes with texts or names files. Which documents that are kept are used is
        told. Raises `UsageError` if a collection does not exist.
        """
        for name in names:
            self.add(self.services.corpus.collection(name))
        if not default_documents or has_text or self.collections or self.folders or self.targets:
            return
        if session_documents(self.services, session):
            return
        kept = kept_documents(self.services)
        if kept is not None and kept.documents:
            self.add(kept.collection_id)
            self.emit(Noted(f"answering from your documents: {kept.words()}"))

    def add(self, collection_id: int) -> None:
        """Add a collection."""
        if collection_id not in self.collections:
            self.collections.append(collection_id)

    async def add_document(self, path: DocumentName) -> None:
        """Update the collection of a file, folder or target, and add it."""
        collection_id, report = await sync_folder(self.services, path)
        for note in report_notes(report, changes_only=True):
            self.emit(note)
        if isinstance(path, str):
            self.targets.append(path)
        else:
            self.folders.append(path)
        self.add(collection_id)
        self.updated.add(collection_id)
        self._add_unread(report)

    def unread_of(self, collections: Sequence[int]) -> tuple[UnreadFile, ...]:
        """Return what is unread of the documents named, and of those of `collections` that were not updated now."""
        stored = tuple(each for each in collections if each not in self.updated)
        kept = unread_of(self.services, stored) if stored else []
        return tuple(dict.fromkeys([*self.unread, *kept]))

    def require_readable(self, scope: Scope) -> None:
        """Raise `SourceError` if there are documents in scope, and none of them could be read."""
        unread = [each for each in self.unread_of(scope.collections or ()) if each.verdict not in _NOT_TRIED]
        if not unread:  # to count what was read may cost more
            return
        if not self.services.corpus.count_sources(scope, with_text=True):
            raise unreadable_error(unread)

    def _add_unread(self, report: AcquireReport) -> None:
        self.rejected += [(each.path, f"{each.verdict}: {each.why}") for each in report.problems]
        self.unread += report.unread

    def add_texts(self, session: Session, request: AskRequest) -> None:
        """Add the attached texts, and the local files that the question names, as sources of the session."""
        for attachment in request.attachments:
            self._add_attachment(session, attachment)
        self._add_named(session, request.question)
        if self.services.config.research.source_adapters and self.services.pages.of_files(
            (*session.collections, *self.collections)
        ):  # a model may read what these sources link to
            self.add(self.services.corpus.collection(own_collection(session.id), create=True))

    def _add_attachment(self, session: Session, attachment: Attachment) -> None:
        clean = scrub_in_place(attachment.text)
        kind = "stdin" if attachment.name == "standard input" else "text"
        uri = f"{kind}:{hashlib.sha256(clean.encode()).hexdigest()}"
        source = Source(source_id(uri), "file", uri, attachment.name)
        collection_id = self.services.corpus.collection(own_collection(session.id), create=True)
        text = without_parts(clean, marked_parts(clean))  # as of a note that is read
        if attachment.name.lower().endswith(_MARKDOWN):
            self.unread += parts_of(attachment.name, open_comment(text))
            text = without_comments(text)
        self.services.acquirer.add_text(source, Document(text, "text/plain"), collection_id)
        self.add(collection_id)

    def _add_named(self, session: Session, question: str) -> None:
        """Read the local files and folders that the question names, if they may be read."""
        self.shown = question
        if not may_name_files(self.services, self.folders, question):
            return
        named = find_named(self.services, self.folders, question)
        self.shown, self.file_names = named.shown, named.file_names
        for name in named.names:
            try:
                self._read_named(session, name, named)
            except SourceError as error:
                self.rejected.append((name, error.message))
                self.unread.append(UnreadFile(show_target(name), verdict_of(error), error.message))
                self.emit(Noted(error.message + (f" ({error.hint})" if error.hint else "")))

    def _read_named(self, session: Session, name: str, named: NamedFiles) -> None:
        if not named.adapters.handles(name):
            raise refuse_outside(name)
        services = self.services
        collection_id = services.corpus.collection(own_collection(session.id), create=True)
        counts = AcquireCounts(services.listener)
        services.target_acquirer.add(name, named.adapters, collection_id, counts)
        self.add(collection_id)
        self._add_unread(counts.report())


def may_name_files(services: Services, folders: Sequence[Path], question: str) -> bool:
    """Return whether the question has to be searched for names of local files."""
    research = services.config.research
    may_read = folders or research.local_document_roots or research.source_adapters
    return bool(may_read or _SIGNS_OF_A_PATH.intersection(question))


def names_files(services: Services, question: str) -> bool:
    """Return whether the question names a local file or the target of an adapter.

    A path counts if it may be read, `file://` and `local://` always.
    """
    if not may_name_files(services, (), question):
        return False
    named = find_named(services, (), question)
    adapters = named.adapters
    return any(uri_path(each) or adapters.runs_program(each) or adapters.roots.exists(each) for each in named.names)


@dataclass(frozen=True, slots=True)
class NamedFiles:
    """The local files that a question names, in order and each once; `shown` is the question without paths."""

    names: tuple[str, ...]
    shown: str
    adapters: SourceAdapters

    @property
    def readable(self) -> tuple[str, ...]:
        """The names for which there is a reader."""
        return tuple(name for name in self.names if self.adapters.handles(name))

    @property
    def file_names(self) -> tuple[str, ...]:
        """The names without their folders, of files only: not of what an adapter reads."""
        local = (uri_path(name) or name for name in self.names if is_local_target(name))
        return tuple(re.split(r"[/\\]", path.rstrip("/\\"))[-1] for path in local)


def find_named(services: Services, folders: Sequence[Path], question: str) -> NamedFiles:
    """Return the files that `question` names in `folders`, configured folders or adapters; nothing is read.

    Raises `UsageError` if a folder does not exist.
    """
    from asky.research.local.targets import extract_local_source_targets, redact_local_targets  # 15 ms

    adapters = services.adapters(folders)
    targets = extract_local_source_targets(question, adapters.roots, adapters.prefixes)
    names = tuple(dict.fromkeys(target.text for target in targets))
    return NamedFiles(names, redact_local_targets(question, targets), adapters)


# reports as notes


def report_notes(report: AcquireReport, *, changes_only: bool = False) -> Iterator[Noted]:
    """Yield a note for each file that cannot be searched, one that sums them up by kind, and a summary.

    With `changes_only`, the notes of a report without changes are details, except where no file can be searched.
    """
    quiet = changes_only and not report.verdicts.get("indexed") and not report.removed
    unsupported = sum(each.verdict == "unsupported" for each in report.problems)
    are_many = unsupported > _MAX_LISTED_UNSUPPORTED
    is_only_one = len(report.problems) == 1
    has_nothing = not _usable(report)
    for each in report.problems:
        is_detail = quiet and not (has_nothing and is_only_one)
        is_detail = is_detail or (each.verdict == "unsupported" and are_many)
        why = f": {each.why}" if each.why else ""
        yield Noted(f"{each.path}: {_words(each.verdict)}{why}", is_detail=is_detail)
    if report.problems and not is_only_one and (has_nothing or not quiet):
        hint = " (-v names each)" if quiet or are_many else ""
        yield Noted(sum_up_unread(report.problems) + hint)
    parts = [] if changes_only else describe_parts(report.unread)
    for number, line in enumerate(parts):
        yield Noted(line, is_detail=number >= _MAX_LISTED_PARTIAL)
    if (more := len(parts) - _MAX_LISTED_PARTIAL) > 0:
        yield Noted(f"{counted(more, 'more file was', 'more files were')} read in part (-v names each)")
    for first, reason, count in report.skipped:
        yield Noted(f"skipped {count:,}: {reason} (the first: {first})", is_detail=True)
    if not quiet:
        yield Noted(_summary(report))


def _usable(report: AcquireReport) -> int:
    return report.verdicts.get("indexed", 0) + report.verdicts.get("unchanged", 0)


def _summary(report: AcquireReport) -> str:
    usable = _usable(report)
    counts = [f"{count:,} {_words(verdict)}" for verdict, count in sorted(report.verdicts.items()) if count]
    if report.removed:
        counts.append(f"{report.removed:,} removed")
    total = sum(report.verdicts.values())
    of_all = f"{usable:,} of {counted(total, 'file')} searchable"
    return f"{of_all} ({', '.join(counts) or 'nothing found'}), {report.seconds:.1f} s"


def describe_unchanged(report: AcquireReport) -> str:
    """Return a summary of a folder in which nothing has changed."""
    usable, total = report.verdicts.get("unchanged", 0), sum(report.verdicts.values())
    if not usable:
        return f"none of its {total:,} files can be searched" if total else "no documents were found in it"
    which = f"{usable:,} document{'' if usable == 1 else 's'}" if usable == total else f"{usable:,} of {total:,} files"
    return f"{which}, nothing new"


def _words(verdict: str) -> str:
    return verdict.replace("_", " ")
