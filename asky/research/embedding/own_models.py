"""The folder in which asky keeps the models that it has downloaded, each with a record of where its files came from."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from asky.errors import NotConfigured
from asky.research.embedding.shipped import ShippedFile, check_files

RECORD = "asky.json"
PARTS = ".parts"
"""The folder of downloads that are not complete."""


def folder_name(repository: str) -> str:
    """Return the name of the folder of the model `org/name`."""
    return repository.replace("/", "--")


@dataclass(frozen=True, slots=True)
class OwnModel:
    """A model that asky has downloaded from `hub`, a host, at `commit`. `uses` are those of `ModelUse`."""

    name: str
    folder: Path
    hub: str
    commit: str
    uses: tuple[str, ...]
    licence: str | None
    bytes: int
    files: Mapping[str, ShippedFile]

    def encode(self) -> dict[str, Any]:
        """Return the record as JSON, without the folder."""
        return {
            "name": self.name,
            "hub": self.hub,
            "commit": self.commit,
            "uses": list(self.uses),
            "licence": self.licence,
            "bytes": self.bytes,
            "files": {path: asdict(each) for path, each in self.files.items()},
        }

    def check(self, *, fully: bool = False) -> None:
        """Compare the files with what was downloaded; see `check_files`."""
        check_files(self.folder, self.files, called=f"model {self.name}", hint=_hint(self.name), fully=fully)


def read_record(folder: Path) -> OwnModel | None:
    """Return the model in `folder`, `None` if asky has not downloaded it. Raises `NotConfigured` for a bad record."""
    try:
        text = (folder / RECORD).read_text("utf-8")
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        raise _unusable(folder, str(error)) from error
    try:
        data = json.loads(text)
        files = {
            str(path): ShippedFile(int(each["crc32"]), str(each["sha256"])) for path, each in data["files"].items()
        }
        return OwnModel(
            name=str(data["name"]),
            folder=folder,
            hub=str(data["hub"]),
            commit=str(data["commit"]),
            uses=tuple(map(str, data["uses"])),
            licence=data["licence"],
            bytes=int(data["bytes"]),
            files=files,
        )
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise _unusable(folder, "its record is not readable") from error


def write_record(model: OwnModel) -> None:
    """Write the record of `model` into its folder. Raises `OSError`."""
    (model.folder / RECORD).write_text(json.dumps(model.encode(), indent=1) + "\n", "utf-8")


def lock_of(parts: Path) -> Path:
    """Return the file that a process locks while it downloads to `parts`."""
    return parts.with_name(f"{parts.name}.lock")


class OwnModels:
    """The downloaded models in `folder`, which need not exist."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def place(self, repository: str) -> Path:
        """Return the folder that the model `org/name` has or would have."""
        return self.folder / folder_name(repository)

    def parts(self, repository: str) -> Path:
        """Return the folder of an incomplete download of the model `org/name`."""
        return self.folder / PARTS / folder_name(repository)

    def find(self, repository: str) -> OwnModel | None:
        """Return the model `org/name`, `None` if it is not there. Raises as `read_record` does."""
        return read_record(self.place(repository))

    def names(self) -> list[str]:
        """Return the names of the models, sorted; one whose record is damaged has the name of its folder."""
        return sorted(name for _, name in self._found())

    def all(self) -> Iterator[OwnModel]:
        """Yield the models whose record can be read, by name."""
        for folder, _ in sorted(self._found(), key=lambda each: each[1]):
            try:
                found = read_record(folder)
            except NotConfigured:
                continue
            if found is not None:
                yield found

    def remove(self, repository: str) -> int:
        """Remove the model `org/name` and what was downloaded of it, and return the bytes that were freed.

        Raises `OSError`.
        """
        freed = 0
        for folder in (self.place(repository), self.parts(repository)):
            if folder.is_dir() and not folder.is_symlink():
                freed += sum(path.lstat().st_size for path in folder.rglob("*") if path.is_file())
                shutil.rmtree(folder)
        return freed

    def _found(self) -> Iterator[tuple[Path, str]]:
        if not self.folder.is_dir():
            return
        for folder in self.folder.iterdir():
            if folder.name != PARTS and (folder / RECORD).is_file():
                yield folder, folder.name.replace("--", "/", 1)


def _unusable(folder: Path, why: str) -> NotConfigured:
    name = folder.name.replace("--", "/", 1)
    return NotConfigured(f"the model {name} is damaged: {why}", hint=_hint(name))


def _hint(name: str) -> str:
    return f"`asky models rm {name}` and `asky models get {name}` download it again"
