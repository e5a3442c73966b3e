"""What the hub says of a model, and which of its files this machine needs.

Source: `GET /api/models/NAME?blobs=true` of the Hugging Face hub states commit, size and hash of each file: the SHA-256
of large ones, the id of git's blob of small ones. Files are at `/NAME/resolve/COMMIT/PATH`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn
from urllib.parse import quote

from asky.errors import AskyError, AuthenticationFailed, NotConfigured, ProviderError, TimedOut, Unreachable
from asky.net.downloads import Downloads, NotServed
from asky.net.retry import Waiting
from asky.research.embedding.labels import uses_of
from asky.research.embedding.processor import best_graph

_MAX_LIST_BYTES = 5_000_000
_MAX_CONFIG_BYTES = 1_000_000
_MAX_FILE_BYTES = 4 << 30
_NEEDED = ("config.json", "tokenizer.json")
_SETTINGS = re.compile(
    r"config\.json|tokenizer\.json|tokenizer_config\.json|special_tokens_map\.json|modules\.json"
    r"|config_sentence_transformers\.json|sentence_\w+_config\.json|\d_\w+/config\.json"
)
_MISSING = (401, 403, 404)
"""What the hub answers for a model that is not there, or not for everybody: it does not say which."""


def is_storage(host: str) -> bool:
    """Return whether the Hugging Face hub keeps files at `host`.

    Source: `huggingface.co/.well-known/meta.json` lists the hosts of its storage; all of them are below `hf.co`.
    """
    return host == "hf.co" or host.endswith(".hf.co")


@dataclass(frozen=True, slots=True)
class HubFile:
    """A file of a repository. At most one hash is stated: `sha256` of the content, or `blob`, git's id of it."""

    path: str
    size: int
    sha256: str | None = None
    blob: str | None = None


@dataclass(frozen=True, slots=True)
class HubModel:
    """A model on the hub `host`, and the `files` that this machine needs of it. `uses` are those of `ModelUse`."""

    name: str
    host: str
    commit: str
    licence: str | None
    uses: tuple[str, ...]
    files: tuple[HubFile, ...]

    @property
    def bytes(self) -> int:
        """The size of all files together."""
        return sum(each.size for each in self.files)


class Hub:
    """The hub at `address`. Asks for public models only, and sends nothing that tells who asks."""

    def __init__(self, address: str, *, waiting: Waiting | None = None) -> None:
        self.downloads = Downloads(address, trusts=is_storage, waiting=waiting)

    async def look_up(self, name: str, *, processor: str) -> HubModel:
        """Return the model `org/name` with the files that suit `processor`.

        Raises `NotConfigured` if there is no such public model, or asky has no use of it, `AuthenticationFailed` if it
        is given only to those who sign in, and as `Downloads.save` does.
        """
        listed = await self._read(name, f"api/models/{quote(name)}?blobs=true", _MAX_LIST_BYTES)
        try:
            data = json.loads(listed)
            commit, files = _commit(data), _files(data["siblings"])
        except (ValueError, TypeError, KeyError, RecursionError) as error:
            raise ProviderError(f"{self.downloads.host} answers, but not with the files of {name}") from error
        lacking = [each for each in _NEEDED if each not in files]
        if lacking:
            raise NotConfigured(f"{name} has no {' and no '.join(lacking)}", hint=_CONVERT)
        config = await self._read(name, file_path(name, commit, "config.json"), _MAX_CONFIG_BYTES)
        try:
            uses = uses_of(json.loads(config), has_modules="modules.json" in files)
        except (ValueError, RecursionError) as error:
            raise NotConfigured(f"asky has no use of {name}: {error}", hint="name another model") from error
        graph = best_graph(files, None if uses == ("embedding",) else processor)
        if graph is None:
            raise NotConfigured(f"{name} has no ONNX file", hint=_CONVERT)
        chosen = [each for path, each in files.items() if _SETTINGS.fullmatch(path) or _belongs(path, graph)]
        return HubModel(name, self.downloads.host, commit, _licence(data), uses, tuple(sorted(chosen, key=_order)))

    async def _read(self, name: str, path: str, max_bytes: int) -> bytes:
        try:
            return await self.downloads.read(path, max_bytes=max_bytes)
        except AskyError as error:
            raise_explained(error, name, self.downloads.host)


_CONVERT = "convert it with `optimum-cli export onnx`, and name the folder"


def raise_explained(error: AskyError, name: str, host: str) -> NoReturn:
    """Raise `error`, which ended a request for the model `name`, as what it means there, with what to do."""
    if isinstance(error, NotServed) and error.status in _MISSING:
        if "gated" in error.headers.get("x-error-code", "").lower():
            raise AuthenticationFailed(
                f"{host} gives {name} only to those who sign in",
                hint="download it with the hub's own program: asky finds it in its cache",
            ) from error
        raise NotConfigured(
            f"{host} has no public model called {name}", hint="the name is ORGANISATION/MODEL"
        ) from error
    if isinstance(error, Unreachable | TimedOut) and error.hint is None:
        error.hint = "try again: what was downloaded is kept; or copy the model's folder here and name that"
    raise error


def file_path(name: str, commit: str, path: str) -> str:
    """Return where a file of a repository is on its hub."""
    return f"{quote(name)}/resolve/{commit}/{quote(path)}"


def _commit(data: Mapping[str, Any]) -> str:
    commit = str(data["sha"])
    if not re.fullmatch(r"[0-9a-f]{40}", commit):
        raise ValueError("no commit")
    return commit


def _files(siblings: Sequence[Mapping[str, Any]]) -> dict[str, HubFile]:
    """Return the files by path, without those whose path leads elsewhere or whose size is not stated."""
    found: dict[str, HubFile] = {}
    for each in siblings:
        path, large = str(each["rfilename"]), each.get("lfs") or {}
        size = large.get("size", each.get("size"))
        if not isinstance(size, int) or isinstance(size, bool) or not 0 < size <= _MAX_FILE_BYTES:
            continue
        if re.fullmatch(r"[\w.-]+(/[\w.-]+)*", path) and ".." not in path:
            sha256, blob = large.get("sha256"), None if large else each.get("blobId")
            found[path] = HubFile(path, size, _hash(sha256, 64), _hash(blob, 40))
    return found


def _hash(value: Any, digits: int) -> str | None:
    text = str(value).lower()
    return text if re.fullmatch(rf"[0-9a-f]{{{digits}}}", text) else None


def _belongs(path: str, graph: str) -> bool:
    """Return whether `path` is the graph, or holds weights that do not fit into it."""
    return path == graph or re.fullmatch(rf"{re.escape(graph)}[._]data(_\d+)?", path) is not None


def _order(file: HubFile) -> tuple[bool, str]:
    """Settings before weights: what is wrong with a model shows in them."""
    return not file.path.endswith(".json"), file.path


def _licence(data: Mapping[str, Any]) -> str | None:
    card = data.get("cardData")
    licence = card.get("license") if isinstance(card, Mapping) else None
    return licence[:60] if isinstance(licence, str) and licence.isprintable() else None
