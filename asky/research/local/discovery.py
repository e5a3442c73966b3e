"""Discovery of the documents in a folder: every entry is yielded to be read, reported with a reason, or counted."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from asky.errors import SourceError, SourceRefused
from asky.research.local.files import OWN_FILES, LocalRoots
from asky.research.local.ignore_rules import IgnoreRule, IgnoreRules, parse_rules
from asky.research.local.names import secret_rule, show_name, show_target
from asky.research.local.opened import FileStat, LocalFile, stat_of

SKIPPED_FOLDERS = frozenset({".git", ".hg", ".svn", "node_modules", "__pycache__", ".venv"})
IGNORE_FILES = (".git/info/exclude", ".gitignore", ".askyignore")  # later ones come first, as in git
READ_THOUGH_HIDDEN = frozenset(
    """
    .github .gitlab .gitea .forgejo .circleci .gitlab-ci.yml .travis.yml .pre-commit-config.yaml .mergify.yml
    .readthedocs.yaml .readthedocs.yml .editorconfig .dockerignore .eslintrc.json .prettierrc
    """.split()  # noqa: SIM905 - easier to read and to change than quoted names
)
"""Hidden entries that describe how a project is built and run."""
_PAGES = (".html", ".htm", ".xhtml")
# What browsers add to the name of a page for the folder with its pictures, scripts and frames: Chrome and Firefox in
# English, Internet Explorer and Word in every language, others by the language of the browser or of the system.
_PAGE_FOLDERS = tuple(
    """
    _files .files _fichiers -dateien _dateien _archivos _ficheiros _arquivos _file _bestanden -filer _filer
    _tiedostot _pliki _soubory _elemei _dosyalar _datoteke _fitxategiak _fitxers _failid _bylos
    """.split()  # noqa: SIM905 - as above
)
MAX_IGNORE_BYTES = 256 << 10  # larger ones are truncated: each rule is tried on each name

_KINDS = {
    stat.S_IFIFO: "a FIFO",
    stat.S_IFSOCK: "a socket",
    stat.S_IFBLK: "a device",
    stat.S_IFCHR: "a device",
}


@dataclass(frozen=True, slots=True)
class DiscoveredFile:
    """A regular file to read, and its state when it was found."""

    file: LocalFile
    stat: FileStat


@dataclass(frozen=True, slots=True)
class Unread:
    """An entry that will not be read, and why.

    `relative` is its name below the root (as in `LocalFile`), "" for the root itself. "refused" (policy) and "failed"
    (could not be inspected; the contents of a folder are then unknown) name one entry each. "skipped" entries are
    counted: one value for each reason, at the end, that names the first of `count` entries.
    """

    path: Path
    relative: str
    verdict: Literal["refused", "failed", "skipped"]
    reason: str
    count: int = 1

    @property
    def name(self) -> str:
        """Return `relative`, safe to print."""
        return show_name(self.relative) or "."


def discover(roots: LocalRoots, target: str | None = None, *, recursive: bool) -> Iterator[DiscoveredFile | Unread]:
    """Yield the entries to read in the folder `target`, or in every root.

    Depth first, in byte order of the names; no file is yielded twice. `.gitignore`, `.askyignore` and
    `.git/info/exclude` files are honoured as git does, but only those inside the folder; secrets are refused by name;
    other hidden entries (but `READ_THOUGH_HIDDEN`), caches and version control are counted. Links to folders are never
    followed. A link to a file beneath the root stands for that file and comes last, unless the file itself was found.
    The folder that a browser saved beside a page (`page_files` beside `page.html`) belongs to the page, and is counted.
    `recursive=False` covers only files directly in the folder.

    Raises, before the first item, `SourceError` if `target` is not a folder beneath the roots. Later failures are
    yielded: an unreadable folder or a file that vanishes does not end the walk.
    """
    walk = _Walk(roots, recursive=recursive)
    if target is not None:
        folder = roots.folder(target)
        if folder is None:
            raise SourceRefused(f"{show_target(target)}: a file, not a folder", hint="read it instead")
        return walk.run([folder], [])
    return walk.run(roots.folders, roots.files)


@dataclass(slots=True)
class _Level:
    """One folder on the path of the walk: its remaining entries, its components below the root, and its rules.

    `pages` are the names of the web pages in it, in lower case and without suffix.
    """

    root: Path
    parts: tuple[str, ...]
    rules: IgnoreRules
    entries: Iterator[os.DirEntry[str]]
    pages: frozenset[str]


class _Walk:
    """One discovery: the files yielded, the links deferred, and the counts of skipped entries."""

    def __init__(self, roots: LocalRoots, *, recursive: bool) -> None:
        self._roots = roots
        self._recursive = recursive
        self._seen: set[str] = set()
        self._links: list[LocalFile] = []
        self._skipped: dict[str, Unread] = {}

    def run(self, folders: Sequence[LocalFile], files: Sequence[LocalFile]) -> Iterator[DiscoveredFile | Unread]:
        self._links.extend(files)
        for folder in folders:
            yield from self._folder(folder)
        yield from self._follow_links()
        yield from self._skipped.values()

    def _folder(self, start: LocalFile) -> Iterator[DiscoveredFile | Unread]:
        parts = tuple(part for part in start.relative.split("/") if part)
        rules = IgnoreRules()
        for depth in range(len(parts)):  # ignore files between the root and this folder apply too
            rules = rules.below(_read_rules(start.root.joinpath(*parts[:depth])), depth)
        levels: list[_Level] = []
        outcome: DiscoveredFile | Unread | _Level | None = self._descend(start.root, start.path, parts, rules)
        while outcome is not None or levels:
            if isinstance(outcome, _Level):
                levels.append(outcome)
            elif outcome is not None:
                yield outcome
            outcome = None
            if levels:
                entry = next(levels[-1].entries, None)
                if entry is None:
                    levels.pop()
                else:
                    outcome = self._visit(levels[-1], entry)

    def _descend(self, root: Path, path: Path, parts: tuple[str, ...], rules: IgnoreRules) -> _Level | Unread:
        if self._roots.is_denied(path):
            return Unread(path, "/".join(parts), "refused", OWN_FILES)
        try:
            with os.scandir(path) as found:
                entries = sorted(found, key=lambda entry: os.fsencode(entry.name))
        except OSError as error:
            return Unread(path, "/".join(parts), "failed", _reason(error))
        pages = frozenset(_stem(entry.name) for entry in entries if entry.name.lower().endswith(_PAGES))
        return _Level(root, parts, rules.below(_read_rules(path), len(parts)), iter(entries), pages)

    def _visit(self, level: _Level, entry: os.DirEntry[str]) -> DiscoveredFile | Unread | _Level | None:
        """Return the result for one entry; `None` if it is counted or left for later."""
        parts = (*level.parts, entry.name)
        try:
            folder = entry.is_dir(follow_symlinks=False)
            rule = secret_rule((entry.name,), folder=folder)
            if rule and entry.name not in SKIPPED_FOLDERS:
                return Unread(Path(entry.path), "/".join(parts), "refused", f"{rule} may hold secrets")
            skipped = self._reason_to_skip(level, entry.name, parts, folder=folder)
            if skipped:
                self._skip(Path(entry.path), "/".join(parts), skipped)
                return None
            if folder:
                return self._descend(level.root, Path(entry.path), parts, level.rules)
            return self._visit_file(level.root, entry, parts)
        except OSError as error:
            return Unread(Path(entry.path), "/".join(parts), "failed", _reason(error))

    def _reason_to_skip(self, level: _Level, name: str, parts: tuple[str, ...], *, folder: bool) -> str | None:
        if folder and name in SKIPPED_FOLDERS:
            return "caches and version control"
        if name.startswith(".") and name.lower() not in READ_THOUGH_HIDDEN:
            return "hidden"
        if level.rules.excludes(parts, folder=folder):
            return "ignored by .gitignore or .askyignore"
        if folder and not self._recursive:
            return "folders below this one"
        return "belongs to a saved web page" if folder and level.pages and _page_of(name) in level.pages else None

    def _visit_file(
        self, root: Path, entry: os.DirEntry[str], parts: tuple[str, ...]
    ) -> DiscoveredFile | Unread | None:
        file = LocalFile(Path(entry.path), "/".join(parts), root)
        if entry.is_symlink():
            if entry.is_dir():
                return Unread(file.path, file.relative, "skipped", "a link to a folder, which is not followed")
            self._links.append(file)
            return None
        status = entry.stat(follow_symlinks=False)
        if not stat.S_ISREG(status.st_mode):
            kind = _KINDS.get(stat.S_IFMT(status.st_mode), "something else")
            return Unread(file.path, file.relative, "refused", f"not a regular file: {kind}")
        if self._roots.is_denied(file.path):
            return Unread(file.path, file.relative, "refused", OWN_FILES)
        if entry.path in self._seen:
            self._skip(file.path, file.relative, "found in another root")
            return None
        self._seen.add(entry.path)
        return DiscoveredFile(file, stat_of(status))

    def _follow_links(self) -> Iterator[DiscoveredFile | Unread]:
        """Yield the targets of links (and roots that are files), unless they were found themselves."""
        for link in self._links:
            try:
                with self._roots.open_file(link) as opened:
                    file, state = opened.file, opened.stat
            except SourceError as error:
                verdict: Literal["refused", "failed"] = "refused" if isinstance(error, SourceRefused) else "failed"
                yield Unread(link.path, link.relative, verdict, error.message.removeprefix(f"{link.shown}: "))
            else:
                if str(file.path) in self._seen:
                    self._skip(link.path, link.relative, "links to files that were found themselves")
                else:
                    self._seen.add(str(file.path))
                    yield DiscoveredFile(file, state)

    def _skip(self, path: Path, relative: str, reason: str) -> None:
        first = self._skipped.get(reason)
        self._skipped[reason] = (
            replace(first, count=first.count + 1) if first else Unread(path, relative, "skipped", reason)
        )


def _stem(name: str) -> str:
    return name.lower().rpartition(".")[0]


def _page_of(folder: str) -> str | None:
    """Return the name of the page that a folder of this name may have been saved with; `None` if it says nothing."""
    name = folder.lower()
    return next((name[: -len(end)] for end in _PAGE_FOLDERS if name.endswith(end)), None)


def _read_rules(folder: Path) -> tuple[IgnoreRule, ...]:
    """Return the rules of a folder's ignore files; one that is not a regular file or cannot be read has none."""
    rules: list[IgnoreRule] = []
    for name in IGNORE_FILES:
        rules.extend(parse_rules(_read_ignore_file(folder / name).split("\n")))
    return tuple(rules)


def _read_ignore_file(path: Path) -> str:
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:
        return ""
    try:
        return os.read(descriptor, MAX_IGNORE_BYTES).decode("utf-8", "surrogateescape").removeprefix("\ufeff")
    except OSError:  # a folder, or a FIFO with a writer
        return ""
    finally:
        os.close(descriptor)


def _reason(error: OSError) -> str:
    if error.errno in (errno.EACCES, errno.EPERM):
        return "permission denied"
    return error.strerror or "cannot be read"
