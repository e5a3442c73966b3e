"""Downloads a model into asky's own folder: whole, verified and tried, or not at all; what broke off is resumed."""

from __future__ import annotations

import hashlib
import shutil
import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

from asky.concurrency import in_thread
from asky.config.paths import ensure_private_dir
from asky.errors import AskyError, NotConfigured, ProviderError, StoreBusy, StoreFull
from asky.events import Listener, StageAdvanced, StageFinished, StageStarted, ignore
from asky.research.embedding.cross_encoder import open_cross_encoder
from asky.research.embedding.own_models import OwnModel, OwnModels, lock_of, write_record
from asky.research.embedding.processor import this_processor
from asky.research.embedding.recipe import read_recipe
from asky.research.embedding.shipped import read_sums
from asky.research.hub.repository import Hub, HubFile, HubModel, file_path, raise_explained

_MB = 1_000_000
_SPARE = 64 * _MB
"""Bytes that stay free on the disk."""

_TRIED = [("Where is the ferry?", "The ferry lies at the quay.")]


class HubModels:
    """The models of the hub at `address`, and their downloads into `own`."""

    def __init__(self, address: str, own: OwnModels) -> None:
        self._hub = Hub(address)
        self._own = own

    async def look_up(self, name: str) -> HubModel:
        """Return the model `org/name` with its files for this processor. Raises as `Hub.look_up`."""
        return await self._hub.look_up(name, processor=this_processor())

    async def get(self, model: HubModel, *, listener: Listener = ignore) -> OwnModel:
        """Download the files of `model`, and return what is kept.

        A file that was there in part is continued. Raises as `Downloads.save` does; `ProviderError` for a file of
        another size or hash than the hub states, `NotConfigured` for a model that does not run, `StoreFull` and
        `StoreBusy`.
        """
        parts = self._own.parts(model.name)
        with ExitStack() as held:
            await in_thread(_prepare, parts, model, held)
            stage = f"downloading {model.name}"
            started = time.monotonic()
            listener(StageStarted(stage, _megabytes(model.bytes)))
            done = 0

            def say(size: int) -> None:
                listener(StageAdvanced(stage, _megabytes(done + size), _megabytes(model.bytes)))

            try:
                for file in model.files:
                    await _get_file(self._hub, model, file, parts, say)
                    done += file.size
                    if file is _last_setting(model):
                        await in_thread(_check_kind, parts, model)
            finally:
                listener(StageFinished(stage, time.monotonic() - started))
            return await in_thread(_keep, parts, model, self._own)


def _megabytes(size: int) -> int:
    return -(-size // _MB)


def _prepare(parts: Path, model: HubModel, held: ExitStack) -> None:
    """Make the folder, lock it, and remove what is left of another commit."""
    from filelock import FileLock, Timeout  # 20 ms: only where something is downloaded

    ensure_private_dir(parts)
    try:
        try:
            held.enter_context(FileLock(lock_of(parts), timeout=0, mode=0o600, thread_local=False))
        except Timeout as error:
            raise StoreBusy(f"another process is downloading {model.name}", hint="wait for it") from error
        commit = parts / ".commit"
        if not commit.exists() or commit.read_text("utf-8") != model.commit:
            shutil.rmtree(parts)
            parts.mkdir(mode=0o700)
            commit.write_text(model.commit, "utf-8")
        there = sum(path.stat().st_size for path in parts.rglob("*") if path.is_file())
        free = shutil.disk_usage(parts).free
    except OSError as error:
        raise NotConfigured(f"models can't be kept in {parts.parent}: {error.strerror}") from error
    needed = model.bytes - there + _SPARE
    if needed > free:
        raise StoreFull(f"{model.name} needs {_megabytes(needed):,} MB, and {parts} has {_megabytes(free):,} MB free")


async def _get_file(hub: Hub, model: HubModel, file: HubFile, parts: Path, progress: Callable[[int], None]) -> None:
    target = parts / file.path
    await in_thread(lambda: target.parent.mkdir(parents=True, exist_ok=True))
    try:
        await hub.downloads.save(file_path(model.name, model.commit, file.path), target, file.size, progress)
    except AskyError as error:
        raise_explained(error, model.name, model.host)
    problem = await in_thread(_difference, target, file)
    if problem:
        await in_thread(target.unlink)
        raise ProviderError(
            f"{model.host} sent another {file.path} of {model.name} than it states: {problem}",
            hint="it was removed; try again later",
        )


def _difference(target: Path, file: HubFile) -> str:
    """Return in what the downloaded file differs from what the hub states, empty for nothing."""
    size = target.stat().st_size
    if size != file.size:
        return f"{size:,} bytes for {file.size:,}"
    if file.sha256 is not None and read_sums(target).sha256 != file.sha256:
        return "its SHA-256 differs"
    return "its hash differs" if file.blob is not None and _blob_id(target, size) != file.blob else ""


def _blob_id(path: Path, size: int) -> str:
    """Return git's id of the file's content: the SHA-1 of its size and bytes."""
    digest = hashlib.sha1(b"blob %d\0" % size, usedforsecurity=False)
    with path.open("rb") as file:
        while block := file.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()


def _last_setting(model: HubModel) -> HubFile:
    return [each for each in model.files if each.path.endswith(".json")][-1]


def _check_kind(parts: Path, model: HubModel) -> None:
    """Raise `NotConfigured` for an embedding model that is more than its graph, before that is downloaded."""
    recipe = read_recipe(parts) if model.uses == ("embedding",) else None
    if recipe is not None and not (recipe.plain and not recipe.transformer):
        raise NotConfigured(
            f"{model.name} is more than a transformer and its pooling, and its ONNX file lacks the rest",
            hint="name it as research.embedding.model: sentence-transformers runs it",
        )


def _keep(parts: Path, model: HubModel, own: OwnModels) -> OwnModel:
    """Try the model, write its record, and move it to its place."""
    if model.uses != ("embedding",):
        try:
            open_cross_encoder(str(parts.absolute())).read(_TRIED)
        except NotConfigured as error:
            shutil.rmtree(parts)
            raise NotConfigured(f"{model.name} does not run: {error.message}", hint="it was removed") from error
    place = own.place(model.name)
    sums = {each.path: read_sums(parts / each.path) for each in model.files}
    kept = OwnModel(model.name, parts, model.host, model.commit, model.uses, model.licence, model.bytes, sums)
    try:
        (parts / ".commit").unlink()
        write_record(kept)
        if place.exists():
            shutil.rmtree(place)
        parts.rename(place)
    except OSError as error:
        raise NotConfigured(f"models can't be kept in {own.folder}: {error.strerror}") from error
    return replace(kept, folder=place)
