"""The user's notes on papers: Markdown files that only the user writes, indexed beside the summaries.

The file is the truth here, not the store: it is written by `append` and by whatever the user edits it with. The store
has a copy of its text to search in, which follows the file.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from asky.errors import SourceUnreadable, UsageError
from asky.evidence.paper_names import OF_NOTES, PAPER_URI, noted_paper
from asky.evidence.unread import parts_of
from asky.reading.charset import decode
from asky.storage.scope import Scope
from asky.text.beside.hidden_comments import open_comment, without_comments
from asky.text.scrub import scrub
from asky.values import Document, Source, UnreadFile, source_id

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from asky.papers.keeping import PaperParts
    from asky.storage.papers import Paper

MAX_NOTES_BYTES = 1_000_000


def notes_source(paper: Paper, path: Path) -> Source:
    """Return the source of the notes on a paper."""
    uri = f"{PAPER_URI}{paper.id}{OF_NOTES}"
    return Source(source_id(uri), "note", uri, f"Notes on {paper.source.title}", path=str(path))


class PaperNotes:
    """Reads and writes the notes on papers, and keeps their index."""

    def __init__(self, parts: PaperParts) -> None:
        self._parts = parts

    def path(self, paper: Paper) -> Path:
        """Return the path of the notes on a paper, whether they exist or not."""
        return self._parts.files.notes(paper.id)

    def read(self, paper: Paper) -> str:
        """Return the notes on a paper, empty if there are none.

        Raises `SourceUnreadable` if their file cannot be read, or has more than 1 MB.
        """
        path = self.path(paper)
        try:
            with path.open("rb") as file:
                data = file.read(MAX_NOTES_BYTES + 1)
        except FileNotFoundError:
            return ""
        except OSError as error:
            raise SourceUnreadable(f"{path} cannot be read: {error.strerror or error}") from error
        if len(data) > MAX_NOTES_BYTES:
            raise SourceUnreadable(f"{path}: notes of more than 1 MB", verdict="too_large", hint="shorten them")
        return decode(data).replace("\r\n", "\n")

    def unread(self, paper: Paper) -> list[UnreadFile]:
        """Return what is not searched of the notes on a paper because a comment in them is never closed."""
        left_open = open_comment(scrub(self.read(paper)))
        return [] if left_open is None else parts_of(str(self.path(paper)), left_open)

    def append(self, paper: Paper, text: str) -> None:
        """Add a paragraph to the notes on a paper, which begin with its title, and index them.

        Raises `UsageError` for an empty text and for one that makes the notes longer than 1 MB, and `StorageError` if
        they cannot be written.
        """
        if not text.strip():
            raise UsageError("the note is empty", hint="`asky papers notes PAPER TEXT` adds TEXT, `-` what is piped in")
        before = self.read(paper).rstrip() or _head(paper)
        written = f"{before}\n\n{text.strip()}\n"
        if len(written.encode("utf-8", "replace")) > MAX_NOTES_BYTES:
            raise UsageError("notes of more than 1 MB", hint="shorten them")
        self._parts.files.put_notes(paper.id, written)
        self.sync([paper])

    def begin(self, paper: Paper) -> None:
        """Write a file for notes on a paper, with its title, unless there is one."""
        if not self.path(paper).exists():
            self._parts.files.put_notes(paper.id, f"{_head(paper)}\n\n")

    def sync(self, papers: list[Paper]) -> None:
        """Index the notes on these papers as their files are now; those whose file has gone are found no more.

        A file that cannot be read is left out: its notes stay as they were.
        """
        there = self._parts.files.noted()
        for paper in papers:
            source = notes_source(paper, self.path(paper))
            known = self._parts.corpus.current_document(source.id)
            if self.path(paper).name not in there:
                if known is not None:
                    self.forget([paper])
                continue
            self._index(paper, source, known)

    def sync_all(self) -> None:
        """Do as `sync` for every paper that has notes, or had some. Linear in the papers, and reads only notes."""
        files, papers = self._parts.files, {each.id: each for each in self._parts.table.papers()}
        there, held = files.noted(), self._indexed()
        self.sync([each for id_, each in papers.items() if id_ in held or files.notes(id_).name in there])

    def forget(self, papers: list[Paper]) -> None:
        """Remove the notes on papers from the index; their files stay."""
        ids = [notes_source(each, self.path(each)).id for each in papers]
        self._parts.corpus.remove_sources(self._parts.summaries(), ids)

    def _indexed(self) -> Mapping[str, Source]:
        scope = Scope((self._parts.summaries(),))
        if not self._parts.corpus.count_sources(scope, ("note",)):
            return {}
        named = ((noted_paper(each), each) for each in self._parts.corpus.sources(scope))
        return {id_: each for id_, each in named if id_ is not None}

    def _index(self, paper: Paper, source: Source, known: int | None) -> None:
        parts = self._parts
        try:
            text = without_comments(scrub(self.read(paper)))
        except SourceUnreadable:
            return
        document = Document(text, "text/markdown", source.title)
        if known is not None and parts.documents.digest(known)[0] == document.sha256:
            return
        if not text.strip():
            self.forget([paper])
            return
        cut = parts.ingester.cut(document)
        with parts.database.write():
            if parts.table.get(paper.id) is not None:  # else removed meanwhile
                parts.ingester.keep(source, document, cut, parts.summaries())


def _head(paper: Paper) -> str:
    return f"# Notes on {paper.source.title}"
