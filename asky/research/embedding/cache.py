"""Exported models on disk: one folder per model and precision, created once for a user, verified on every open.

A folder appears by a rename, complete, while a lock is held; so a killed process leaves no partial folder, and of
several processes that need the same model one exports it and the others wait. Its files are then read-only.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal

from asky.config.paths import ensure_private_dir
from asky.errors import AskyError, ConfigError, StoreFull
from asky.research.embedding.models import weight_files
from asky.research.embedding.recipe import EmbeddingModel
from asky.research.telemetry import rule_out_telemetry

Precision = Literal["fp32", "int8"]

MODEL_FILE = "model.onnx"
TOKENIZER_FILE = "tokenizer.json"
_META_FILE = "meta.json"
PROBE_TEXT = "How does a bill become a law?"
_FORMAT = 1
_EXPORT_TIMEOUT_S = 900.0


class ExportFailed(AskyError):
    """The model could not be exported; torch can still run it."""

    code = "export_failed"


class UnusableExport(AskyError):
    """The exported model is damaged, or its source files have changed since; it must be exported again."""

    code = "unusable_export"


@dataclass(frozen=True, slots=True)
class ExportedModel:
    """An exported model as described in its folder. `probe` is the vector that it produced for `PROBE_TEXT`."""

    model: EmbeddingModel
    pad_id: int
    probe: tuple[float, ...]


def hash_weights(source: Path) -> str:
    """Return the SHA-256 over the names and bytes of the weight files in `source`: 0.1 s for 90 MB."""
    digest = hashlib.sha256()
    for path in weight_files(source):
        digest.update(f"{path.relative_to(source).as_posix()}\0{_sha256(path)}\n".encode())
    return digest.hexdigest()


def known_weights_hash(source: Path, cache_dir: Path) -> str:
    """Return `hash_weights`, cached in `cache_dir` while sizes and modification times are unchanged."""
    memory = cache_dir / "weights.json"
    stamps = _stamps(source)
    try:
        known = json.loads(memory.read_text("utf-8"))
        if known["stamps"] == stamps:
            return str(known["sha256"])
    except (OSError, ValueError, KeyError, TypeError):
        pass  # no readable cache: the hash can always be computed
    sha256 = hash_weights(source)
    with suppress(OSError, ConfigError, StoreFull):
        ensure_private_dir(cache_dir)
        memory.write_text(json.dumps({"stamps": stamps, "sha256": sha256}), "utf-8")
    return sha256


def write_meta(folder: Path, source: Path, made: ExportedModel) -> None:
    """Complete an export: record its settings, its source files, and the sizes, times and hashes of its own files."""
    files = {}
    for name in (MODEL_FILE, TOKENIZER_FILE):
        stat = (folder / name).stat()
        files[name] = [stat.st_size, stat.st_mtime_ns, _sha256(folder / name)]
    meta = {"format": _FORMAT, "source": _stamps(source), "files": files, "made": asdict(made)}
    (folder / _META_FILE).write_text(json.dumps(meta), "utf-8")


def read_exported(folder: Path) -> ExportedModel | None:
    """Return the model in `folder`, `None` if there is none. Raises `UnusableExport` if its files have changed.

    Costs no more than reading the tokenizer: the weights are hashed only if their modification time differs. Damage
    that preserves size and time is detected when the model is opened and its probe is computed.
    """
    try:
        meta = json.loads((folder / _META_FILE).read_text("utf-8"))
        if meta["format"] != _FORMAT:
            raise UnusableExport("was made by another version")
        _check_source(meta["source"])
        for name, (size, mtime_ns, sha256) in meta["files"].items():
            _check_file(folder / name, size, mtime_ns, sha256)
        made = meta["made"]
        return ExportedModel(EmbeddingModel(**made["model"]), made["pad_id"], tuple(made["probe"]))
    except FileNotFoundError:
        if folder.exists():
            raise UnusableExport("is incomplete") from None
        return None
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise UnusableExport("can't be read") from error


def is_same_vector(one: tuple[float, ...], other: tuple[float, ...]) -> bool:
    """Return whether two unit vectors agree within the rounding differences between machines."""
    return len(one) == len(other) and math.fsum(a * b for a, b in zip(one, other, strict=True)) > 0.99


@contextmanager
def exported(
    folder: Path,
    source: Path,
    *,
    name: str,
    precision: Precision,
    rejected: ExportedModel | None,
    warn: Callable[[str, str | None], None],
) -> Iterator[Path]:
    """Yield a folder with the export of the model in `source`: `folder`, exported now unless another process just did.

    `rejected` is the content of `folder` that could not be opened. If `folder` can't be written, `warn` is called with
    a message and a hint, and a temporary folder is used and then removed. Raises `ExportFailed`.
    """
    import tempfile  # here and below: only when a model is exported

    try:
        _install(folder, source, name, precision, rejected)
    except (OSError, ConfigError, StoreFull) as error:
        problem = f"cannot write {folder}: {error.strerror}" if isinstance(error, OSError) else error.message
        hint = "set ASKY_MODEL_CACHE to a folder that you can write"
        warn(f"{problem}; every command has to prepare the search model again", hint)
    else:
        yield folder
        return
    with tempfile.TemporaryDirectory(prefix="asky-model-") as temporary:
        _export(source, Path(temporary), name, precision)
        yield Path(temporary)


def _install(folder: Path, source: Path, name: str, precision: Precision, rejected: ExportedModel | None) -> None:
    import shutil
    import tempfile

    from filelock import FileLock

    ensure_private_dir(folder.parent)
    with FileLock(folder.with_name(f"{folder.name}.lock"), timeout=_EXPORT_TIMEOUT_S):
        with suppress(UnusableExport):
            if read_exported(folder) not in (None, rejected):
                return
        for left_over in folder.parent.glob(f".{folder.name}-*"):
            shutil.rmtree(left_over)
        made = Path(tempfile.mkdtemp(prefix=f".{folder.name}-", dir=folder.parent))
        try:
            _export(source, made, name, precision)
            for file in made.iterdir():
                file.chmod(0o400)
            if folder.exists():
                folder.rename(made.with_name(f"{made.name}-old"))
            made.rename(folder)
        finally:
            for left_over in folder.parent.glob(f".{folder.name}-*"):
                shutil.rmtree(left_over, ignore_errors=True)


def _export(source: Path, target: Path, name: str, precision: Precision) -> None:
    """Run `asky.research.embedding.export`, with this process's import path and without a network."""
    rule_out_telemetry()
    command = [sys.executable, "-m", "asky.research.embedding.export", str(source), str(target), name, precision]
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(path for path in sys.path if path),
        "HF_HUB_OFFLINE": "1",
    }
    try:
        done = subprocess.run(command, env=environment, capture_output=True, timeout=_EXPORT_TIMEOUT_S, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise ExportFailed(f"failed ({error})") from error
    if done.returncode:
        lines = done.stderr.decode("utf-8", "replace").strip().splitlines() or [f"exit code {done.returncode}"]
        raise ExportFailed(f"failed ({lines[-1]})")


def _check_source(stamps: dict[str, list[int]]) -> None:
    """Check the source, which may be missing (the export replaces it) but must not have changed."""
    for path, stamp in stamps.items():
        with suppress(FileNotFoundError):
            stat = Path(path).stat()
            if [stat.st_size, stat.st_mtime_ns] != stamp:
                raise UnusableExport("was made of model files that have changed since")


def _check_file(path: Path, size: int, mtime_ns: int, sha256: str) -> None:
    stat = path.stat()
    if stat.st_size != size:
        raise UnusableExport(f"is damaged ({path.name} has {stat.st_size} bytes instead of {size})")
    if path.name == TOKENIZER_FILE or stat.st_mtime_ns != mtime_ns:
        if _sha256(path) != sha256:
            raise UnusableExport(f"is damaged ({path.name} was changed)")
        if stat.st_mtime_ns != mtime_ns:
            with suppress(OSError):  # a copy: spares the next process the hash
                os.utime(path, ns=(stat.st_atime_ns, mtime_ns))


def _stamps(source: Path) -> dict[str, list[int]]:
    """Return size and modification time of each file that a vector depends on."""
    paths = [*weight_files(source), *source.glob("*.json"), *source.glob("*/*.json")]
    return {str(path.absolute()): [path.stat().st_size, path.stat().st_mtime_ns] for path in sorted(paths)}


def _sha256(path: Path) -> str:
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while block := file.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()
