"""Locating the files of a model that is named: a folder, asky's own downloads, the Hugging Face cache, or a download.

Only the download uses the network, and only if the model is nowhere else.
"""

from __future__ import annotations

import hashlib
import os
import re
import threading
import time
from collections.abc import Iterator
from pathlib import Path

from asky.errors import NotConfigured
from asky.events import Listener, StageFinished, StageStarted, ignore
from asky.net.reach import is_local_only
from asky.research.embedding.own_models import OwnModels
from asky.research.embedding.processor import best_graph
from asky.research.embedding.recipe import read_recipe
from asky.research.telemetry import rule_out_telemetry

EMBEDDING_MODEL = "embedding model"
"""What errors call a model unless told otherwise; the name follows "an"."""

_HUB_NAME = re.compile(r"[A-Za-z0-9][\w.-]*(/[A-Za-z0-9][\w.-]*)?")
_CONFIGURATION = ["*.json", "*.txt", "*.model"]
_LEFT_OUT = ["onnx/*", "openvino/*"]
_CONNECT_TIMEOUT_S = 5.0
_REACHABLE_TIMEOUT_S = 8.0  # including the name lookup, which has no timeout of its own
_HINT = "download it once while online, or give the path of its folder"
_ONNX_FILES = ("model.onnx", "onnx/model.onnx")


def is_folder(model: str) -> bool:
    """Return whether `model` is written as a path. A bare `name` or `org/name` is never a path."""
    return model in (".", "..") or model.startswith(("/", "./", "../", "~")) or Path(model).is_absolute()


def hub_id(model: str, kind: str = EMBEDDING_MODEL) -> str:
    """Return the full name of a model: a name without an organisation belongs to sentence-transformers.

    Raises `NotConfigured` for anything that can be neither a path nor a name.
    """
    if _HUB_NAME.fullmatch(model) is None or ".." in model:
        raise NotConfigured(f"{model!r} is not the name of an {kind}", hint="give a name or the path of a folder")
    return model if "/" in model else f"sentence-transformers/{model}"


def model_name(model: str) -> str:
    """Return the short name of a model: the last part of its name or path."""
    return Path(model).expanduser().resolve().name if is_folder(model) else hub_id(model).rsplit("/", 1)[-1]


def find_model_folder(
    model: str,
    *,
    local_files_only: bool,
    own: Path | None = None,
    listener: Listener = ignore,
    kind: str = EMBEDDING_MODEL,
) -> Path:
    """Return the folder of `model`: that of `find_local_model`, or else a download.

    Raises `NotConfigured`, with what was tried and what to do, if there is none; an unresponsive network is detected
    within 10 s. `local_files_only`, `reach(local_only=True)` around the caller, or `HF_HUB_OFFLINE=1` in the
    environment rules out the download; `listener` is notified of one. Errors call the model by its `kind`.
    """
    if (found := find_local_model(model, own=own, kind=kind)) is not None:
        return found
    repository = hub_id(model, kind)
    if local_files_only or is_hub_off() or is_local_only():
        raise NotConfigured(f"the {kind} {model} is not on this machine and downloads are off", hint=_HINT)
    problem = _unreachable()
    if problem:
        raise NotConfigured(f"the {kind} {model} is not here and can't be downloaded: {problem}", hint=_HINT)
    called = "search model" if kind == EMBEDDING_MODEL else kind
    stage = f"downloading the {called} {model_name(model)} from {hub_address()}"
    started = time.monotonic()
    listener(StageStarted(stage))
    try:
        return _download(repository, kind)
    finally:
        listener(StageFinished(stage, time.monotonic() - started))


def find_local_model(model: str, *, own: Path | None = None, kind: str = EMBEDDING_MODEL) -> Path | None:
    """Return the folder of `model` on this machine, `None` if it is not here.

    It is the first of: the path itself, the models that asky downloaded to `own`, the Hugging Face cache. Raises
    `NotConfigured` for a path without a model, for what is no name, and for a damaged record of a download.
    """
    if is_folder(model):
        folder = Path(model).expanduser()
        if not _is_model(folder):
            raise NotConfigured(f"the folder {folder} contains no {kind}", hint="it needs config.json and weights")
        return folder
    repository = hub_id(model, kind)
    if own is not None and (kept := OwnModels(own).find(repository)) is not None:
        return kept.folder
    return next((folder for folder in _cached(repository) if _is_model(folder)), None)


def is_hub_off() -> bool:
    """Return whether the environment rules out downloads, by the variable that the hub's own library reads."""
    return os.environ.get("HF_HUB_OFFLINE", "").upper() in ("1", "TRUE", "YES", "ON")


def onnx_file(folder: Path, *, processor: str | None = None) -> Path | None:
    """Return the graph of the model in `folder` in the ONNX format, if it has one and a tokenizer beside it.

    It is the one that suits `processor`; without that, the one in full precision, or else the only one.
    """
    if not (folder / "tokenizer.json").is_file():
        return None
    paths = [path.relative_to(folder).as_posix() for part in ("", "onnx") for path in (folder / part).glob("*.onnx")]
    is_all = len(paths) == 1 and (processor is not None or not _weight_files(folder))
    chosen = best_graph(paths, processor) or (paths[0] if is_all else None)
    return folder / chosen if chosen is not None else None


def hash_weights(folder: Path) -> str:
    """Return the SHA-256 over the names and bytes of the weight files in `folder`: 0.1 s for 90 MB."""
    digest = hashlib.sha256()
    for path in _weight_files(folder) or sorted(folder.rglob("*.onnx*")):
        with path.open("rb") as file:
            sha256 = hashlib.sha256()
            while block := file.read(1 << 20):
                sha256.update(block)
        digest.update(f"{path.relative_to(folder).as_posix()}\0{sha256.hexdigest()}\n".encode())
    return digest.hexdigest()


def _weight_files(folder: Path) -> list[Path]:
    """Return the weight files of the model in `folder`, sorted: safetensors if there are any."""
    for pattern in ("*.safetensors", "pytorch_model*.bin"):
        found = sorted(path for path in folder.rglob(pattern) if "onnx" not in path.relative_to(folder).parts)
        if found:
            return found
    return []


def _is_model(folder: Path) -> bool:
    has_config = (folder / "config.json").is_file() or (folder / "modules.json").is_file()
    return has_config and bool(onnx_file(folder) or _weight_files(folder))


def _cached(repository: str) -> Iterator[Path]:
    for cache in _hub_caches():
        root = cache / f"models--{repository.replace('/', '--')}"
        try:
            commit = (root / "refs" / "main").read_text("ascii").strip()
        except (OSError, UnicodeDecodeError):
            continue
        if re.fullmatch(r"\w+", commit):
            yield root / "snapshots" / commit


def _hub_caches() -> Iterator[Path]:
    """Yield the model caches of the Hugging Face libraries, from the variables that they read."""
    for variable in ("SENTENCE_TRANSFORMERS_HOME", "HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE"):
        if os.environ.get(variable):
            yield Path(os.environ[variable]).expanduser()
    cache_home = Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache")
    yield Path(os.environ.get("HF_HOME") or cache_home / "huggingface").expanduser() / "hub"


def _download(repository: str, kind: str) -> Path:
    os.environ.setdefault("HF_HUB_DISABLE_PROGRESS_BARS", "1")
    rule_out_telemetry()
    from huggingface_hub import snapshot_download  # 0.4 s, and it reads the environment above: only for a download

    try:
        folder = Path(snapshot_download(repository, allow_patterns=[*_CONFIGURATION, *_ONNX_FILES, "*.onnx_data"]))
        if onnx_file(folder) is None or (kind == EMBEDDING_MODEL and not read_recipe(folder).plain):
            folder = Path(snapshot_download(repository, allow_patterns=["*.safetensors"], ignore_patterns=_LEFT_OUT))
            if not _weight_files(folder):
                folder = Path(snapshot_download(repository, allow_patterns=["pytorch_model*.bin"]))
    except (OSError, ValueError, RuntimeError) as error:  # base classes of the library's errors
        reason = str(error).strip().split("\n", 1)[0]
        raise NotConfigured(f"the {kind} {repository} can't be downloaded: {reason}", hint=_HINT) from error
    if not _is_model(folder):
        raise NotConfigured(f"{repository} contains no usable {kind}", hint=_HINT)
    return folder


def hub_address() -> str:
    """Return the address of the hub, from the variable that its own library reads."""
    return os.environ.get("HF_ENDPOINT") or "https://huggingface.co"


def _unreachable() -> str | None:
    """Return why the model hub can't be reached, or `None`. Its own library would retry for more than a minute."""
    import urllib.request

    endpoint = hub_address()
    outcome = [f"{endpoint} does not answer"]

    def connect() -> None:
        request = urllib.request.Request(endpoint, method="HEAD")  # noqa: S310 - the user's own setting or https
        try:
            with urllib.request.urlopen(request, timeout=_CONNECT_TIMEOUT_S):  # noqa: S310 - likewise
                outcome.clear()
        except urllib.error.HTTPError:
            outcome.clear()  # it answered
        except (OSError, ValueError) as error:
            outcome[:] = [f"{endpoint}: {getattr(error, 'reason', error)}"]

    thread = threading.Thread(target=connect, daemon=True)
    thread.start()
    thread.join(_REACHABLE_TIMEOUT_S)
    return outcome[0] if outcome else None
