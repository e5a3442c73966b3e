"""Names of notes: which files are notes, what a link leads to, and how a link to a note is written.

Pure functions over names: nothing here accesses the file system.
"""

from __future__ import annotations

import os
import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from urllib.parse import quote

from asky.research.local.opened import LocalFile

NOTE_SUFFIXES = (".md", ".txt", ".markdown")
"""The suffixes of notes, in lower case."""

# Source: Obsidian's help, "Accepted file formats".
_ATTACHMENTS = frozenset(
    """
    .avif .bmp .gif .jpeg .jpg .png .svg .webp .flac .m4a .mp3 .ogg .wav .3gp .mkv .mov .mp4 .ogv .webm .pdf .canvas
    .base
    """.split()  # noqa: SIM905 - names read better in lines
)
_OBSIDIAN = ".md"  # a link to a note with this suffix leaves it out
_CONFLICT = re.compile(
    r".* \(Conflicted copy .+ \d{12,14}\)"  # Obsidian Sync
    r"|.*\.sync-conflict-\d{8}-\d{6}(?:-\w+)?"  # Syncthing
    r"|.* \(.*conflicted copy.*\)",  # Dropbox and Nextcloud
    re.IGNORECASE | re.DOTALL,
)
# What ends a target, or begins code or a comment. Source of the first five: Obsidian's help, "Internal links".
_UNLINKABLE = re.compile(r"[#^\[\]|\\`]|%%|<!--")


@dataclass(frozen=True, slots=True)
class NoteFile(LocalFile):
    """A note: a file of the vault."""

    @property
    def stem(self) -> str:
        """Return its name without suffix."""
        return PurePosixPath(self.relative).stem

    @property
    def folder(self) -> str:
        """Return the path of its folder below the vault, "" for the vault itself."""
        return self.relative.rpartition("/")[0]


def reason_to_skip(relative: str) -> str | None:
    """Return why the file at `relative`, a path below the vault, is no note; `None` for a note.

    Hidden files, files in hidden folders (`.obsidian`, `.trash`) and the copies that programs keep of a note that was
    edited in two places are none.
    """
    name = PurePosixPath(relative)
    if name.suffix.lower() not in NOTE_SUFFIXES:
        return "no notes"
    if is_hidden(name.parts):
        return "hidden"
    return "copies of conflicting edits" if _CONFLICT.fullmatch(name.stem) else None


def is_attachment(target: str) -> bool:
    """Return whether a link with this target leads to a picture or another file that is no note, if to anything."""
    return PurePosixPath(target).suffix.lower() in _ATTACHMENTS


def is_hidden(parts: Iterable[str]) -> bool:
    """Return whether one of the names is that of a hidden file or folder."""
    return any(part.startswith(".") for part in parts)


class NoteNames:
    """The names of the notes of a vault at one moment."""

    def __init__(self, notes: Sequence[NoteFile]) -> None:
        self._exact = {each.relative: each for each in notes}
        self._paths: dict[str, list[NoteFile]] = {}
        self._names: dict[str, list[NoteFile]] = {}
        for each in notes:
            for path in _spellings(each.relative):
                self._paths.setdefault(folded(path), []).append(each)
                self._names.setdefault(folded(path.rpartition("/")[2]), []).append(each)

    def resolve(self, target: str, source: NoteFile | None = None) -> NoteFile | None:
        """Return the note that a link to `target` in `source` leads to, or `None`; an empty target is `source` itself.

        `target` is a link's, without heading, block and alias; the suffix of `.md` files may be left out, and case and
        the form of accents are ignored. A path below the vault comes first, then one whose last parts are `target`:
        beneath the folder of `source` before others, then the shortest, then in order of the paths. `./` and `../`
        begin at the folder of `source`.
        """
        if not target:
            return source
        folder = source.folder if source is not None else ""
        if target.startswith(("./", "../")):
            path = _joined(folder, target)
            return self._at(path) if path else None
        at = self._at(target.lstrip("/"))
        return at if at is not None or target.startswith("/") else self._ending_in(target, folder)

    def called(self, name: str) -> list[NoteFile]:
        """Return the notes that a user may mean by `name`, in order of their paths: the one at that path, or else all
        whose paths end in it.
        """
        at = self._at(name.lstrip("/"))
        return [at] if at is not None else sorted(self._all_ending_in(name), key=lambda each: each.relative)

    def linking_to(self, note: NoteFile, links: Iterable[tuple[NoteFile, str]]) -> set[NoteFile]:
        """Return the other notes among `links`, pairs of a note and a target in it, that have a link to `note`."""
        names = {folded(path.rpartition("/")[2]) for path in _spellings(note.relative)}
        return {
            source
            for source, target in links
            if folded(target.rpartition("/")[2]) in names and source != note and self.resolve(target, source) == note
        }

    def link_to(self, note: NoteFile) -> str:
        """Return a link that leads to `note` alone, wherever it is written.

        It is `[[Name]]` if no other note has that name, else `[[Folder/Name|Name]]`; a Markdown link with a
        percent-encoded path for a name that no wikilink can hold.
        """
        stem = _without_suffix(note.relative)
        name = stem.rpartition("/")[2]
        if _is_linkable(name) and self._names.get(folded(name)) == [note] and self.resolve(name) == note:
            return f"[[{name}]]"
        for path in (stem, note.relative):
            if _is_linkable(path) and self._at(path) == note:
                return f"[[{path}]]" if path == name else f"[[{path}|{name}]]"
        shown = re.sub(r"([\\\[\]`*_<>|])", r"\\\1", note.shown.rpartition("/")[2].removesuffix(_OBSIDIAN))
        return f"[{shown}]({quote(os.fsencode(note.relative), safe='/')})"

    def _at(self, path: str) -> NoteFile | None:
        """Return the note at a path below the vault."""
        exact = self._exact.get(path) or self._exact.get(path + _OBSIDIAN)
        return exact or next(iter(self._paths.get(folded(path), ())), None)

    def _ending_in(self, target: str, folder: str) -> NoteFile | None:
        beneath = f"{folder}/" if folder else ""
        return min(
            self._all_ending_in(target),
            key=lambda each: (not each.relative.startswith(beneath), len(each.relative), each.relative),
            default=None,
        )

    def _all_ending_in(self, target: str) -> list[NoteFile]:
        end = folded(target)
        return [
            each
            for each in self._names.get(end.rpartition("/")[2], ())
            if any(f"/{folded(path)}".endswith(f"/{end}") for path in _spellings(each.relative))
        ]


def _without_suffix(relative: str) -> str:
    return relative[: -len(_OBSIDIAN)] if relative.lower().endswith(_OBSIDIAN) else relative


def _spellings(relative: str) -> tuple[str, ...]:
    """Return the paths that a link to a note may have."""
    short = _without_suffix(relative)
    return (relative,) if short == relative else (relative, short)


def _is_linkable(path: str) -> bool:
    """Return whether a wikilink can hold `path` as its target, and nothing takes it for the path of another file."""
    return (
        path.isprintable()
        and path == path.strip()
        and not path.startswith(("./", "../"))
        and not is_attachment(path)
        and not _UNLINKABLE.search(path)
    )


def folded(path: str) -> str:
    """Return a name as names are compared: in composed form, and whatever its case."""
    return unicodedata.normalize("NFC", path).casefold()


def _joined(folder: str, target: str) -> str | None:
    """Return the path of `target` from `folder`, `None` if it leads out of the vault."""
    parts = folder.split("/") if folder else []
    for part in target.split("/"):
        if part == "..":
            if not parts:
                return None
            parts.pop()
        elif part not in ("", "."):
            parts.append(part)
    return "/".join(parts)
