"""The vault: a folder of notes, and the only way to open one."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path, PurePosixPath

from asky.errors import SourceRefused, SourceUnreadable, UsageError
from asky.notes.names import NOTE_SUFFIXES, NoteFile, NoteNames, is_hidden, reason_to_skip
from asky.research.local.discovery import DiscoveredFile, discover
from asky.research.local.files import LocalRoots
from asky.research.local.names import OUTSIDE, parse_target, show_target
from asky.research.local.opened import LocalFile

MAX_NOTE_BYTES = 64 << 20


class Vault:
    """A folder of notes. `denied` are files and folders in it that are never read: asky's own."""

    def __init__(self, root: Path, *, denied: Sequence[Path] = ()) -> None:
        """Raises `UsageError` unless `root` is a folder."""
        self.roots = LocalRoots([root], denied=denied)
        if not self.roots.folders:
            raise UsageError(f"{root} is not a folder", hint="set notes.vault to the folder of your notes")
        self._names: NoteNames | None = None

    @property
    def folder(self) -> Path:
        """Return the real path of the vault."""
        return self.roots.paths[0]

    def resolve(self, path: str) -> NoteFile:
        """Return the note at `path`, relative to the vault or absolute.

        Raises `UsageError` for a file that is not there or is no text, and `SourceRefused` for whatever is outside the
        vault, hidden, secret or not a regular file; `SourceUnreadable` if it may not be opened. What is refused by its
        name is so whether or not it exists.
        """
        try:
            self._refuse_hidden(path)
            with self.roots.open(path) as opened:
                file = opened.file
        except SourceRefused as error:
            message = error.message
            if message.endswith(OUTSIDE):
                message = f"{show_target(path)}: outside the vault"
            raise SourceRefused(message, hint="notes are the text files in the vault, notes.vault") from error
        except SourceUnreadable as error:
            if error.__cause__ is None:  # nothing failed: there is no such file
                raise UsageError(f"{show_target(path)} not found", hint="`asky notes list` lists the notes") from error
            raise
        return self._note(file)

    def read(self, note: NoteFile, max_bytes: int = MAX_NOTE_BYTES) -> bytes:
        """Return the bytes of a note. Raises `SourceError` as `LocalRoots.open_file` and `OpenedFile.read` do."""
        with self.roots.open_file(note) as opened:
            return opened.read(max_bytes)

    def notes(self) -> list[NoteFile]:
        """Return all notes in order of their paths, as bytes, and remember their names for links.

        Left out are hidden files and folders, copies of conflicting edits, and what ignore files name.
        """
        found = [
            NoteFile(each.file.path, each.file.relative, each.file.root)
            for each in discover(self.roots, recursive=True)
            if isinstance(each, DiscoveredFile) and reason_to_skip(each.file.relative) is None
        ]
        found.sort(key=lambda note: note.relative.encode("utf-8", "surrogateescape"))
        self._names = NoteNames(found)
        return found

    def resolve_link(self, target: str, source: NoteFile | None = None) -> NoteFile | None:
        """Return the note that a link to `target` in `source` leads to: see `NoteNames.resolve`."""
        return self.names().resolve(target, source)

    def link_to(self, note: NoteFile) -> str:
        """Return a link that leads to `note` alone: see `NoteNames.link_to`."""
        return self.names().link_to(note)

    def names(self) -> NoteNames:
        """Return the names of the notes as of the last call of `notes`, or now."""
        if self._names is None:
            self.notes()
        assert self._names is not None  # set by notes()
        return self._names

    def _refuse_hidden(self, path: str) -> None:
        wanted = parse_target(path)
        parts = wanted.parts
        for spelled in self.roots.spellings:
            root = PurePosixPath(spelled).parts[1:]
            if wanted.absolute and parts[: len(root)] == root:
                parts = parts[len(root) :]
                break
        if is_hidden(parts):
            raise SourceRefused(f"{show_target(path)}: hidden files are no notes")

    def _note(self, file: LocalFile) -> NoteFile:
        suffix = PurePosixPath(file.relative).suffix
        if is_hidden(file.relative.split("/")):  # a link led there
            raise SourceRefused(f"{file.shown}: hidden files are no notes")
        if suffix.lower() not in NOTE_SUFFIXES:
            kind = f"{suffix} file" if suffix else "a file without suffix"
            raise UsageError(
                f"Cannot research {kind}. Only markdown/text files are supported.",
                hint=f"notes end in {', '.join(NOTE_SUFFIXES)}",
            )
        return NoteFile(file.path, file.relative, file.root)
