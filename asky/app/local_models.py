"""The models that run on this machine: readers, and the model that makes vectors. List, download and remove them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from asky.config.paths import resolve_paths
from asky.errors import AskyError, NotConfigured, UsageError
from asky.events import Listener, ignore
from asky.research.embedding import packaged
from asky.research.embedding.models import find_local_model, hub_address, hub_id, is_folder, is_hub_off, onnx_file
from asky.research.embedding.own_models import OwnModel, OwnModels
from asky.research.embedding.processor import this_processor
from asky.research.reader.port import BUILT_IN

if TYPE_CHECKING:
    from asky.config.loader import Config
    from asky.research.hub.getting import HubModels
    from asky.research.hub.repository import HubModel as HubModel

Source = Literal["asky", "download", "cache", "folder", "missing"]
Names = list[str]
_KIND = "model"
_READER_FOLDER = packaged.FOLDER.parent / "reader"
_USED_BY = {
    "research.embedding.model": "embedding",
    "research.reader.answers": "answers",
    "research.reader.verdicts": "verdicts",
    "research.retrieval.cross_encoder": "answers",
}
"""The keys that name a model, and what each has it do."""

SUGGESTED = (
    "MoritzLaurer/xtremedistil-l6-h256-zeroshot-v1.1-all-33",
    "cross-encoder/ms-marco-MiniLM-L4-v2",
    "cross-encoder/ms-marco-MiniLM-L6-v2",
    "cross-encoder/nli-deberta-v3-xsmall",
)
"""The models of the guide, for completion."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LocalModel:
    """A model that runs here. `uses` is what it can do, `used_by` the keys of the configuration that name it.

    `source` says whose it is: a part of asky, a download of asky, the cache of the hub's own library, a folder of the
    user, or missing. `problem` says why it can't be used.
    """

    name: str
    uses: tuple[str, ...]
    source: Source
    path: Path | None
    bytes: int
    used_by: tuple[str, ...]
    problem: str | None = None


@dataclass(frozen=True, slots=True)
class RemovedModel:
    """A model that was removed, the bytes that this freed, and the keys that still name it."""

    name: str
    bytes: int
    used_by: tuple[str, ...]


class LocalModelService:
    """Describes, downloads and removes models that run on this machine."""

    def __init__(self, config: Config, environ: Mapping[str, str]) -> None:
        self._config = config
        self._own = OwnModels(resolve_paths(environ).models)

    @property
    def folder(self) -> Path:
        """The folder of downloaded models."""
        return self._own.folder

    def list(self) -> Sequence[LocalModel]:
        """Return what is part of asky, what it has downloaded, and what else the configuration names."""
        shipped = [
            self._shipped("all-MiniLM-L6-v2", ("embedding",), packaged.FOLDER),
            self._shipped(BUILT_IN, ("answers", "verdicts"), _READER_FOLDER),
        ]
        own = [self._kept(name) for name in self._own.names()]
        known = {each.name for each in own} | packaged.NAMES | {BUILT_IN}
        return [*shipped, *own, *(self._named(name) for name in self._chosen() if name not in known)]

    def find(self, name: str) -> LocalModel | None:
        """Return the model `name` if it is on this machine; a damaged download counts as absent.

        Raises `NotConfigured` for what is no name.
        """
        if name in packaged.NAMES or name == BUILT_IN:
            return next(each for each in self.list() if each.name == name.rsplit("/", 1)[-1])
        if is_folder(name):
            raise UsageError(f"{name} is a path", hint="a folder needs no download: name it in the configuration")
        name = hub_id(name, _KIND)
        try:
            own = self._own.find(name)
            if own is not None:
                own.check()
                return self._described(own)
        except NotConfigured:
            return None
        found = self._named(name)
        runs = found.path is not None and onnx_file(found.path, processor=this_processor()) is not None
        return found if runs else None

    async def look_up(self, name: str, *, offline: bool = False) -> HubModel:
        """Return what the hub has of the model `name`: its files for this processor, with their sizes.

        Raises `NotConfigured` if downloads are off or the hub has no such model of use, and what the network raises.
        """
        if offline or is_hub_off() or self._config.research.embedding.local_files_only:
            setting = "HF_HUB_OFFLINE" if is_hub_off() else "research.embedding.local_files_only"
            why = "--offline" if offline else setting
            raise NotConfigured(
                f"the model {name} is not on this machine, and {why} rules out a download",
                hint="copy its folder from another machine and name that in the configuration",
            )
        return await self._hub.look_up(hub_id(name, _KIND))

    async def get(self, model: HubModel, *, listener: Listener = ignore) -> LocalModel:
        """Download `model` and return it. Raises as `asky.research.hub.getting.HubModels.get`."""
        return self._described(await self._hub.get(model, listener=listener))

    def remove(self, name: str) -> RemovedModel:
        """Remove the model `name`, which asky has downloaded. Raises `NotConfigured` if it has not."""
        if name in packaged.NAMES or name == BUILT_IN:
            raise UsageError(f"{name} is part of asky", hint="name another model in the configuration to use that")
        if is_folder(name):
            raise UsageError(f"{name} is a path", hint="remove your own folders yourself")
        full = hub_id(name, _KIND)
        try:
            freed = self._own.remove(full)
        except OSError as error:
            raise NotConfigured(f"the model {full} can't be removed: {error.strerror}") from error
        if not freed:
            shared = self._named(full).path
            hint = f"it is in {shared}, which other programs share" if shared else "`asky models list` shows them"
            raise NotConfigured(f"asky has not downloaded a model called {full}", hint=hint)
        return RemovedModel(full, freed, self._users(full))

    def names(self, typed: str = "") -> Names:
        """Return the names of the downloaded models that begin with `typed`, sorted."""
        return [each for each in self._own.names() if each.startswith(typed)]

    def wanted(self, typed: str = "") -> Names:
        """Return names that could be downloaded and begin with `typed`, sorted: of the configuration and the guide."""
        named = {each for each in self._chosen() if not is_folder(each)} - packaged.NAMES - {BUILT_IN}
        return sorted(each for each in (named | set(SUGGESTED)) - set(self._own.names()) if each.startswith(typed))

    @cached_property
    def _hub(self) -> HubModels:
        from asky.research.hub.getting import HubModels  # imports numpy and ssl, which a list does not need

        return HubModels(hub_address(), self._own)

    def _chosen(self) -> Iterator[str]:
        """Yield the names and paths of models in the configuration, each once."""
        chosen = self._config.research
        named = (chosen.embedding.model, chosen.reader.answers, chosen.reader.verdicts, chosen.retrieval.cross_encoder)
        yield from dict.fromkeys(each for each in named if each)

    def _users(self, name: str) -> tuple[str, ...]:
        chosen = self._config.research
        values = (chosen.embedding.model, chosen.reader.answers, chosen.reader.verdicts, chosen.retrieval.cross_encoder)
        return tuple(key for key, value in zip(_USED_BY, values, strict=True) if value and _full(value) == _full(name))

    def _shipped(self, name: str, uses: tuple[str, ...], folder: Path) -> LocalModel:
        size = _size(folder)
        return LocalModel(
            name=name,
            uses=uses,
            source="asky",
            path=folder,
            bytes=size,
            used_by=self._users(name),
            problem=None if size else "its files are missing: install asky again",
        )

    def _kept(self, name: str) -> LocalModel:
        """Return the downloaded model of that name, with what is wrong with it."""
        try:
            own = self._own.find(name)
            assert own is not None
            described = self._described(own)
            own.check()
        except NotConfigured as error:
            folder = self._own.place(name)
            return LocalModel(
                name=name,
                uses=(),
                source="download",
                path=folder,
                bytes=_size(folder),
                used_by=self._users(name),
                problem=error.message,
            )
        return described

    def _described(self, own: OwnModel) -> LocalModel:
        return LocalModel(
            name=own.name,
            uses=own.uses,
            source="download",
            path=own.folder,
            bytes=own.bytes,
            used_by=self._users(own.name),
        )

    def _named(self, name: str) -> LocalModel:
        """Return a model that is neither part of asky nor its download, as the configuration names it."""
        used_by = self._users(name)
        try:
            folder, problem = find_local_model(name, kind=_KIND), None
        except AskyError as error:
            folder, problem = None, error.message
        uses = tuple(dict.fromkeys(_USED_BY[key] for key in used_by))
        return LocalModel(
            name=name,
            uses=uses,
            source="missing" if folder is None else "folder" if is_folder(name) else "cache",
            path=folder,
            bytes=_size(folder) if folder is not None else 0,
            used_by=used_by,
            problem=problem or (None if folder is not None else f"not on this machine: asky models get {name}"),
        )


def _full(name: str) -> str:
    """Return the full name of a model; paths and the name of the built-in reader stay as they are."""
    if name in packaged.NAMES:
        return min(packaged.NAMES)
    return name if name == BUILT_IN or is_folder(name) or "/" in name else f"sentence-transformers/{name}"


def _size(folder: Path) -> int:
    """Return the bytes of the files in `folder`, those behind links too, but not of Python's or git's."""
    files = (path for path in folder.rglob("*") if path.is_file() and not path.name.startswith("."))
    return sum(path.stat().st_size for path in files)
