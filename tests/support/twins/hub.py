"""The twin of the hub of models: it states sizes and hashes of files, and sends them whole or from a byte on.

with HubTwin({"org/reader": files_of(folder)}) as hub:
    hub.on("model.onnx", Reply(b"", status=500))     # what the next request for such a path gets, once
    run_here("models", "get", "org/reader", "--yes", home=home, environ={"HF_ENDPOINT": hub.base_url})
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from tests.support.endpoint_script import Wire
from tests.support.twins.base import Reply, Request, Twin

COMMIT = "0123456789abcdef0123456789abcdef01234567"
_LARGE_FROM = 1000
"""Bytes from which the twin states a SHA-256, as the hub does of what is in its storage; git's id of smaller files."""

_BINARY = "application/octet-stream"
_PRIVATE = ("authorization", "cookie", "referer")


def files_of(folder: Path) -> dict[str, bytes]:
    """The files of a folder by their path within it."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()
    }


def half(reply: Reply) -> Reply:
    """The reply as a connection that breaks in its middle leaves it."""
    return replace(reply, wire=Wire(cut_after=len(reply.body) // 2))


class HubTwin(Twin):
    """A hub with these models, each with its files; `rows` are not used."""

    def __init__(self, models: Mapping[str, Mapping[str, bytes]], *, commit: str = COMMIT) -> None:
        super().__init__()
        self.models = models
        self.commit = commit
        self.stated: dict[str, Mapping[str, Any]] = {}
        self._once: list[tuple[str, Reply | Callable[[Reply], Reply]]] = []

    def on(self, path_end: str, *replies: Reply | Callable[[Reply], Reply]) -> None:
        """Answer the next requests for such a path with these replies, or with what they make of the normal one."""
        self._once += [(path_end, reply) for reply in replies]

    def state(self, path: str, **fields: Any) -> None:
        """State these fields of the file at `path` in place of the true ones."""
        self.stated[path] = fields

    def asked(self, path_end: str) -> list[Request]:
        """The requests for such a path."""
        return [each for each in self.requests if each.path.endswith(path_end)]

    def refusal(self, request: Request) -> Reply | None:
        """What tells who asks has no place here."""
        private = [name for name in request.headers if name.lower() in _PRIVATE]
        return Reply(f"sent {private}", status=400) if private else None

    def answer(self, request: Request) -> Reply:
        """What the script of `on` has for it, or the normal reply."""
        normal = self._normal(request)
        for at, (path_end, reply) in enumerate(self._once):
            if request.path.endswith(path_end):
                del self._once[at]
                return reply if isinstance(reply, Reply) else reply(normal)
        return normal

    def _normal(self, request: Request) -> Reply:
        name = next((each for each in self.models if each in request.path), None)
        if name is None:
            missing = (("X-Error-Code", "RepoNotFound"),)  # the hub does not say whether it is private
            return Reply({"error": "Invalid username or password."}, status=401, headers=missing)
        if request.path == f"/api/models/{name}":
            return Reply(self._listing(name))
        content = self.models[name].get(request.path.partition(f"/{name}/resolve/{self.commit}/")[2])
        if content is None:
            return Reply("Entry not found", status=404, headers=(("X-Error-Code", "EntryNotFound"),))
        asked = {key.lower(): value for key, value in request.headers.items()}.get("range", "")
        start = int(asked.removeprefix("bytes=").removesuffix("-") or 0)
        if not start:
            return Reply(content, content_type=_BINARY)
        if start >= len(content):
            return Reply("", status=416)
        place = (("Content-Range", f"bytes {start}-{len(content) - 1}/{len(content)}"),)
        return Reply(content[start:], status=206, content_type=_BINARY, headers=place)

    def _listing(self, name: str) -> dict[str, Any]:
        siblings = [self._sibling(path, content) for path, content in self.models[name].items()]
        return {"id": name, "sha": self.commit, "siblings": siblings, "cardData": {"license": "apache-2.0"}}

    def _sibling(self, path: str, content: bytes) -> dict[str, Any]:
        blob = hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest()
        found: dict[str, Any] = {"rfilename": path, "size": len(content), "blobId": blob}
        if len(content) >= _LARGE_FROM or path.endswith(".onnx"):
            sha256 = hashlib.sha256(content).hexdigest()
            found["lfs"] = {"sha256": sha256, "size": len(content), "pointerSize": 130}
        return found | self.stated.get(path, {})
