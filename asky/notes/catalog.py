"""What the vault holds: its notes by name, by what they say, and by their links."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, cast, get_args
from urllib.parse import unquote

from asky.concurrency import in_thread
from asky.errors import SourceRefused, SourceUnreadable, UsageError
from asky.notes.embeds import ShownNote, expand
from asky.notes.names import NoteFile, NoteNames, folded, is_attachment, reason_to_skip
from asky.notes.vault import MAX_NOTE_BYTES, Vault
from asky.reading.detection import HEAD_BYTES, media_type_of
from asky.reading.formats import WHOLE
from asky.reading.front_matter import BETWEEN
from asky.research.corpus.files import FileSelection
from asky.research.corpus.report import OTHER_CONTENT
from asky.research.local.names import show_name, show_target
from asky.research.ranking import SearchMode, Selection
from asky.storage.scope import Scope
from asky.text.plain import plain
from asky.text.scrub import one_line
from asky.values import Document, Hit, NoteLink, source_id

if TYPE_CHECKING:
    from asky.reading.process.pool import ReaderPool
    from asky.research.corpus.acquire import Acquirer
    from asky.research.corpus.report import AcquireReport
    from asky.research.vector_store import VectorStore
    from asky.storage.corpus import CorpusStore

NOTES = FileSelection("note", reason_to_skip)
"""The files of a vault that are notes."""

_MODES = get_args(SearchMode)
_PASSAGES_PER_NOTE = 20  # ranked for each note that is asked for: a long note may have many that match
_SNIPPET_CHARACTERS = 300
_SHOWN_PATHS = 8


@dataclass(frozen=True, slots=True)
class IndexedNotes:
    """The outcome of indexing the vault: what was read, and the number of passages embedded."""

    collection: str
    report: AcquireReport
    embedded: int = 0


@dataclass(frozen=True, slots=True)
class NoteEntry:
    """A note as it is listed. `path` is relative to the vault, and printable; the others are as the index has them."""

    path: str
    title: str
    aliases: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class NoteHit:
    """A note that matches a query, with its best passage `hit`; `snippet` is the beginning of that, without markup.

    `heading` is the path of headings above it, joined with " › ", `None` if there is none.
    """

    path: str
    title: str
    heading: str | None
    snippet: str
    score: float
    hit: Hit


@dataclass(frozen=True, slots=True)
class LinkedNote:
    """Where a link of a note leads: to a note at `path`, relative to the vault, to a file that is none, or nowhere.

    Whether the file exists is not known. `target` is as it is written.
    """

    target: str
    path: str | None
    kind: Literal["note", "file", "missing"]
    is_embed: bool


class NoteCatalog:
    """Lists, finds and reads notes. Synchronous methods read tables and names only; the others are coroutines."""

    def __init__(
        self, vault: Vault, corpus: CorpusStore, store: VectorStore, acquirer: Acquirer, readers: ReaderPool
    ) -> None:
        self.vault = vault
        self._corpus = corpus
        self._store = store
        self._acquirer = acquirer
        self._readers = readers
        self._root = vault.folder.as_uri().rstrip("/") + "/"

    @property
    def collection(self) -> str:
        """Return the name of the collection with the notes of this vault."""
        return f"notes of {self.vault.folder}"

    def scope(self) -> Scope:
        """Return the notes as a scope of search. Raises `UsageError` if they were never indexed."""
        return Scope((self._collection_id(),))

    # indexing

    async def index(self, embed: bool = True) -> IndexedNotes:
        """Bring the index up to date with the vault: a note that has not changed is not opened.

        With `embed`, passages without a vector are embedded; a search embeds the first ones that it needs.
        """
        collection_id = await in_thread(lambda: self._corpus.collection(self.collection, create=True))
        report = await self._acquirer.sync(collection_id, self.vault.roots, NOTES)
        embedded = await self._acquirer.embed(Scope((collection_id,))) if embed else 0
        return IndexedNotes(self.collection, report, embedded)

    def index_unchanged(self, embed: bool = True) -> IndexedNotes | None:
        """Return what `index` would if it had nothing to do, or else `None`; needs no event loop."""
        if self.collection not in self._corpus.collections():
            return None
        collection_id = self._collection_id()
        if embed:
            coverage = self._store.coverage(Scope((collection_id,)))
            if coverage is not None and coverage.embedded < coverage.chunks:
                return None
        report = self._acquirer.sync_unchanged(collection_id, self.vault.roots, NOTES)
        return None if report is None else IndexedNotes(self.collection, report)

    # finding

    async def find_notes(self, query: str, mode: str = "hybrid", n_results: int = 5) -> list[NoteHit]:
        """Return the notes that match `query` best, best first, at most `n_results`, each with its best passage.

        `mode` is "hybrid", "semantic" (by meaning) or "keyword"; without an embedding model, words decide. The index is
        searched as it is. Raises `UsageError` for another mode, an empty query, and if nothing was indexed yet.
        """
        if mode not in _MODES:
            raise UsageError(f"Invalid mode: {mode!r}. Must be {', '.join(map(repr, _MODES))}.")
        if not query.strip():
            raise UsageError("the query is empty")
        if n_results < 1:
            raise UsageError("n_results must be at least 1")
        return await in_thread(self._find, query, Selection(mode=cast("SearchMode", mode)), n_results)

    def _find(self, query: str, selection: Selection, limit: int) -> list[NoteHit]:
        passages = limit * _PASSAGES_PER_NOTE
        found: dict[str, NoteHit] = {}
        for hit in self._store.search_content_chunks(query, self.scope(), limit=passages, selection=selection):
            path = self._path(hit.source.uri)
            if path not in found:
                snippet = one_line(plain(hit.text), _SNIPPET_CHARACTERS)
                found[path] = NoteHit(path, hit.source.title, hit.location.section, snippet, hit.score, hit)
        return list(found.values())[:limit]

    # names

    def list_notes(self, folder: str | None = None, tag: str | None = None) -> list[NoteEntry]:
        """Return the indexed notes in order of their paths, only those below `folder` and with `tag` if given.

        A tag has the tags below it too: `recipe` is also `recipe/bread`. Case does not count. Raises `UsageError` if
        nothing was indexed yet, and for a folder without notes.
        """
        found = self._entries()
        if folder is not None:
            below = f"{folder.removeprefix('./').strip('/')}/".lstrip("/")
            found = [each for each in found if each.path.startswith(below)]
            if not found:
                raise UsageError(f"{folder}: no folder with notes", hint="`asky notes list` lists the notes")
        if tag is not None:
            wanted = tag.strip().lstrip("#").strip("/").casefold()
            found = [each for each in found if _has_tag(each, wanted)]
        return found

    def note(self, name: str) -> NoteFile:
        """Return the note that a user names: by its path, also as it is listed, as a link would, or by an alias.

        Aliases are those of the index as it is. Raises as `Vault.resolve` does, and `UsageError` if several notes are
        called that.
        """
        try:
            return self.vault.resolve(name)
        except (UsageError, SourceRefused):
            notes = self.vault.notes()
            found = self._called(name, notes) or self._with_alias(name, notes)
            if not found:
                raise
        return _the_only(found, name)

    async def find_note(self, name: str) -> NoteFile:
        """Return the note that a user names as `note` does, by the aliases that notes have now.

        The index is brought up to date only if no file is called that.
        """
        if not await in_thread(self._is_file, name):
            await self.index(embed=False)
        return await in_thread(self.note, name)

    def _is_file(self, name: str) -> bool:
        try:
            self.vault.resolve(name)
        except (UsageError, SourceRefused):
            return bool(self._called(name, self.vault.notes()))
        return True

    def _called(self, name: str, notes: Sequence[NoteFile]) -> list[NoteFile]:
        return self.vault.names().called(name) or [each for each in notes if each.shown == name]

    def _with_alias(self, name: str, notes: Sequence[NoteFile]) -> list[NoteFile]:
        if self.collection not in self._corpus.collections():
            return []
        metadata, wanted = self._corpus.metadata(self._collection_id()), _squeezed(name)
        return [
            each
            for each in notes
            if wanted in map(_squeezed, _listed(metadata.get(each.uri, {}).get("aliases")))  # a new note has none yet
        ]

    # links

    def links(self, name: str) -> list[LinkedNote]:
        """Return where the links of a note lead, each once, in the order of the note, as it was indexed."""
        self._collection_id()
        note = self.note(name)
        document = self._corpus.current_document(source_id(note.uri))
        links = self._store.tables.documents.note_links(document) if document is not None else ()
        self.vault.notes()
        return list(dict.fromkeys(self._linked(each, note) for each in links if each.target))

    def _linked(self, link: NoteLink, source: NoteFile) -> LinkedNote:
        to = self.vault.resolve_link(link.target, source)
        if to is not None:
            return LinkedNote(link.target, to.shown, "note", link.is_embed)
        return LinkedNote(link.target, None, "file" if is_attachment(link.target) else "missing", link.is_embed)

    def backlinks(self, path: str) -> list[NoteEntry]:
        """Return the notes with a link to a note, in order of their paths, as they were indexed."""
        note, notes = self.note(path), {each.uri: each for each in self.vault.notes()}
        targets = self._store.tables.documents.link_targets(self._collection_id())
        links = ((notes[uri], target) for uri, target in targets if uri in notes)
        sources = {each.shown for each in self.vault.names().linking_to(note, links)}
        return [each for each in self._entries() if each.path in sources]

    # reading

    async def read_note(self, path: str) -> str:
        """Return the text of a note with what it embeds; see `show_note`."""
        return (await self.show_note(path)).text

    async def show_note(self, path: str) -> ShownNote:
        """Return a note with what it embeds, without comments: see `asky.notes.embeds.expand`.

        Raises as `find_note` does, and `SourceError` if it cannot be read.
        """
        note = await self.find_note(path)
        return await in_thread(expand, note, self.read_document, self._names_now)

    def _names_now(self) -> NoteNames:
        self.vault.notes()
        return self.vault.names()

    def read_document(self, note: NoteFile) -> Document:
        """Return a note as it is on disk now; one without text has an empty document. Raises `SourceError`."""
        return self.parse(note, self.vault.read(note, MAX_NOTE_BYTES), is_whole=True)

    def parse(self, note: NoteFile, data: bytes, *, is_whole: bool = False) -> Document:
        """Return the document of a note with these bytes; see `read_document`.

        Unless `is_whole`, it is without what research has written into the note.
        """
        media_type = media_type_of(note.path.name, data[:HEAD_BYTES])
        if media_type is None:
            raise SourceUnreadable(f"{note.shown}: {OTHER_CONTENT}", verdict="unsupported")
        try:
            wanted = WHOLE.get(media_type, media_type) if is_whole else media_type
            return self._readers.read(data, name=note.shown, media_type=wanted)
        except SourceUnreadable as error:
            if error.verdict != "empty":
                raise
            return Document("", media_type)

    def _entries(self) -> list[NoteEntry]:
        collection_id = self._collection_id()
        metadata = self._corpus.metadata(collection_id)
        entries = [
            NoteEntry(
                self._path(source.uri),
                source.title,
                _listed(metadata[source.uri].get("aliases")),
                _listed(metadata[source.uri].get("tags")),
            )
            for source in self._corpus.sources(Scope((collection_id,)))
        ]
        return sorted(entries, key=lambda entry: entry.path.encode())

    def _path(self, uri: str) -> str:
        return show_name(unquote(uri.removeprefix(self._root), errors="surrogateescape"))

    def _collection_id(self) -> int:
        if self.collection not in self._corpus.collections():
            raise UsageError("the notes are not indexed yet", hint="`asky notes index` indexes them")
        return self._corpus.collection(self.collection)


def _squeezed(alias: str) -> str:
    return folded(" ".join(alias.split()))


def _the_only(found: Sequence[NoteFile], name: str) -> NoteFile:
    if len(found) == 1:
        return found[0]
    paths = ", ".join(each.shown for each in found[:_SHOWN_PATHS])
    more = f" and {len(found) - _SHOWN_PATHS:,} more" if len(found) > _SHOWN_PATHS else ""
    raise UsageError(
        f"{len(found):,} notes are called {show_target(name)}: {paths}{more}", hint="name one by its path in the vault"
    )


def _listed(value: object) -> tuple[str, ...]:
    return tuple(str(value).split(BETWEEN)) if value else ()


def _has_tag(entry: NoteEntry, wanted: str) -> bool:
    return any(f"{each.casefold()}/".startswith(f"{wanted}/") for each in entry.tags)
