"""Local documents: the folders that a run may read, and the only way to read a file beneath them."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from asky.errors import SourceError, SourceRefused, SourceUnreadable, UsageError
from asky.research.local.names import TargetPath, parse_target, refuse_outside, secret_rule, show_name, show_target
from asky.research.local.opened import ABSENT, LocalFile, OpenedFile, failure_of, open_regular
from asky.research.local.opening import Opener, make_opener

OWN_FILES = "asky's own files are never read as documents"


@dataclass(frozen=True, slots=True)
class _Root:
    """A granted folder, or a granted file (`only`) with its folder.

    `spellings` are the components of its path, as given and as resolved.
    """

    folder: Path
    only: str | None
    spellings: tuple[tuple[str, ...], ...]

    @classmethod
    def of(cls, given: Path) -> _Root:
        try:
            real = given.resolve(strict=True)
            mode = real.stat().st_mode
        except (OSError, RuntimeError, ValueError) as error:
            raise UsageError(f"{show_name(str(given))}: no such file or folder", hint="check the path") from error
        if not (stat.S_ISDIR(mode) or stat.S_ISREG(mode)):
            raise UsageError(f"{show_name(str(given))}: neither a file nor a folder", hint="give a folder of documents")
        spelled = tuple(dict.fromkeys((Path(os.path.abspath(given)).parts[1:], real.parts[1:])))  # noqa: PTH100 - resolve() would lose the spelling
        return cls(real, None, spelled) if stat.S_ISDIR(mode) else cls(real.parent, real.name, spelled)

    def below(self, parts: tuple[str, ...]) -> tuple[str, ...] | None:
        """Return components beneath `folder` for components beneath the root."""
        if self.only is None:
            return parts
        return None if parts else (self.only,)

    def exact(self, wanted: TargetPath) -> tuple[str, ...] | None:
        """Return the remainder of an absolute target at or beneath this root."""
        for spelled in self.spellings:
            if wanted.absolute and wanted.parts[: len(spelled)] == spelled:
                return self.below(wanted.parts[len(spelled) :])
        return None

    def tails(self, wanted: TargetPath) -> Iterator[tuple[str, ...]]:
        """Yield the rest of a target that begins with the last components of this root's path, longest match first."""
        for spelled in self.spellings:
            for count in range(min(len(spelled), len(wanted.parts)), 0, -1):
                if wanted.parts[:count] == spelled[-count:]:
                    rest = self.below(wanted.parts[count:])
                    if rest is not None:
                        yield rest


class LocalRoots:
    """The folders and files that may be read; everything else on the machine is inaccessible.

    A target (`local://relative`, `file:///absolute`, an absolute or relative path) is resolved in this order: an
    absolute path at or beneath a root; then the target beneath each root, in the order of the roots, with an absolute
    path taken as relative; then a target that begins with the last folders of a root's own path (`docs/a.md` for the
    root `/home/me/docs`). The first that exists is used. Links that stay beneath their root are followed.

    `denied` are files and folders that are never read even if a root contains them: asky's own configuration and store.
    `opener` opens files; the default is the best one for this machine.
    """

    def __init__(self, roots: Sequence[Path], *, denied: Sequence[Path] = (), opener: Opener | None = None) -> None:
        """Resolve `roots`. Raises `UsageError` for one that is missing or is neither a folder nor a regular file."""
        self._roots = tuple(dict.fromkeys(_Root.of(root) for root in roots))
        self._denied = frozenset(path.resolve() for path in denied)
        self._denied_folders = tuple(f"{path}{os.sep}" for path in self._denied)
        self._open_beneath = opener or make_opener()

    def __bool__(self) -> bool:
        return bool(self._roots)

    @property
    def paths(self) -> tuple[Path, ...]:
        """Return the real path of each root, in order."""
        return tuple(root.folder / root.only if root.only else root.folder for root in self._roots)

    @property
    def folders(self) -> tuple[LocalFile, ...]:
        """Return the roots that are folders, as `LocalFile`s (`relative` is "")."""
        return tuple(LocalFile(root.folder, "", root.folder) for root in self._roots if not root.only)

    @property
    def files(self) -> tuple[LocalFile, ...]:
        """Return the roots that are files."""
        return tuple(LocalFile(root.folder / root.only, root.only, root.folder) for root in self._roots if root.only)

    @property
    def spellings(self) -> tuple[str, ...]:
        """Return every root's path as given (made absolute) and as resolved, longest first."""
        found = {"/" + "/".join(spelled) for root in self._roots for spelled in root.spellings}
        return tuple(sorted(found, key=lambda path: (-len(path), path)))

    def open(self, target: str) -> OpenedFile:
        """Open the regular file that `target` names.

        Raises `SourceRefused`: outside the roots, a secret, one of asky's own files, or not a regular file (FIFOs and
        devices are not waited for); `SourceUnreadable` ("failed"): absent from the roots, or not permitted.
        """
        descriptor, file = self._find(target, folder=False)
        return open_regular(descriptor, file, show_target(target))

    def read(self, target: str, max_bytes: int) -> bytes:
        """Return the bytes of the file that `target` names; raises as `open` and `OpenedFile.read` do."""
        with self.open(target) as opened:
            return opened.read(max_bytes)

    def open_file(self, file: LocalFile) -> OpenedFile:
        """Open a file found by a discovery of these roots; raises as `open` does."""
        for root in self._roots:
            if root.folder == file.root and root.only in (None, file.relative):
                try:
                    descriptor, found = self._open_parts(root, tuple(file.relative.split("/")), folder=False)
                except OSError as error:
                    raise failure_of(file.shown, error) from error
                return open_regular(descriptor, found, file.shown)
        raise refuse_outside(file.relative)

    def folder(self, target: str) -> LocalFile | None:
        """Return the folder that `target` names, or `None` if it names something else; raises as `open` does."""
        descriptor, file = self._find(target, folder=True)
        try:
            return file if stat.S_ISDIR(os.fstat(descriptor).st_mode) else None
        finally:
            os.close(descriptor)

    def exists(self, target: str) -> bool:
        """Return whether `target` names a file or folder that may be read."""
        try:
            descriptor, _ = self._find(target, folder=False)
        except SourceError:
            return False
        os.close(descriptor)
        return True

    def link(self, file: LocalFile) -> str | None:
        """Return the shortest `local://` target that resolves to `file` alone, or `None` if its name allows none."""
        names = (file.relative, f"{file.root.name}/{file.relative}", str(file.path))
        for name in names:
            target = "local://" + "".join(char if char.isalnum() else _quoted(char) for char in name)
            try:
                descriptor, found = self._find(target, folder=False)
            except SourceError:
                continue
            os.close(descriptor)
            if found.path == file.path:
                return target
        return None

    def is_denied(self, path: Path) -> bool:
        """Return whether `path` (real) is one of asky's own files or lies in one of its folders."""
        return path in self._denied or str(path).startswith(self._denied_folders)

    def _find(self, target: str, *, folder: bool) -> tuple[int, LocalFile]:
        if not self._roots:
            raise SourceRefused("no folder of local documents is configured", hint="grant one with -d PATH")
        wanted = parse_target(target)
        for root, parts in self._candidates(wanted):
            try:
                return self._open_parts(root, parts, folder=folder)
            except OSError as error:
                if error.errno not in ABSENT:
                    raise failure_of(show_target(target), error) from error
        if wanted.absolute and all(root.exact(wanted) is None for root in self._roots):
            raise refuse_outside(target)
        raise SourceUnreadable(f"{show_target(target)}: no such file in the configured folders", hint="check its name")

    def _candidates(self, wanted: TargetPath) -> Iterator[tuple[_Root, tuple[str, ...]]]:
        exact = [(root, rest) for root in self._roots if (rest := root.exact(wanted)) is not None]
        if exact:
            yield from exact
            return
        yield from ((root, wanted.parts) for root in self._roots if root.only is None)
        yield from ((root, rest) for root in self._roots for rest in root.tails(wanted))

    def _open_parts(self, root: _Root, parts: tuple[str, ...], *, folder: bool) -> tuple[int, LocalFile]:
        """Open `parts` beneath the root's folder; secrets are refused by name first. Raises `OSError`."""
        self._refuse_secret(root, parts, folder=folder)
        base = os.open(root.folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC | os.O_NOFOLLOW)
        try:
            descriptor, real = self._open_beneath(base, parts)
        finally:
            os.close(base)
        try:
            if real != parts:
                self._refuse_secret(root, real, folder=folder)
        except SourceRefused:
            os.close(descriptor)
            raise
        return descriptor, LocalFile(root.folder.joinpath(*real), "/".join(real), root.folder)

    def _refuse_secret(self, root: _Root, parts: tuple[str, ...], *, folder: bool) -> None:
        shown = show_name("/".join(parts))
        rule = secret_rule(parts, folder=folder)
        if rule:
            raise SourceRefused(
                f"{shown}: {rule} may hold secrets and is never read", hint="copy it under another name"
            )
        if self.is_denied(root.folder.joinpath(*parts)):
            raise SourceRefused(f"{shown}: {OWN_FILES}")


def _quoted(char: str) -> str:
    return quote(os.fsencode(char), safe="/~")
