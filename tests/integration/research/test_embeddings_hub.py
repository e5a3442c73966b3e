"""A model that is not on this machine: a hub that answers, one that refuses, and one that keeps silent."""

from __future__ import annotations

import hashlib
import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest

ROOT = Path(__file__).parents[3]
COMMIT = "0123456789abcdef0123456789abcdef01234567"
WEIGHTS_ALONE = {
    "config.json": b'{"model_type": "bert"}',
    "model.safetensors": b"weights" * 100,
    "onnx/other.onnx": b"not wanted",
    "README.md": b"not wanted either",
}
WITH_A_GRAPH = WEIGHTS_ALONE | {"onnx/model.onnx": b"graph", "tokenizer.json": b"{}"}
REPOSITORIES = {"org/m": WEIGHTS_ALONE, "org/graph": WITH_A_GRAPH}

FIND = """
import sys
from asky.errors import NotConfigured
from asky.research.embedding.models import find_model_folder
try:
    folder = find_model_folder(sys.argv[1], local_files_only=False)
    print(sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()))
except NotConfigured as error:
    print(f"NotConfigured: {error} ({error.hint})")
"""


class _Hub(BaseHTTPRequestHandler):
    """As much of the Hugging Face hub as a download needs."""

    def do_HEAD(self) -> None:
        self._answer(with_body=False)

    def do_GET(self) -> None:
        self._answer(with_body=True)

    def _answer(self, *, with_body: bool) -> None:
        path = self.path.split("?")[0]
        name = path.split(f"/{COMMIT}/")[-1]
        repository, files = next(((each, files) for each, files in REPOSITORIES.items() if each in path), ("", {}))
        if path == "/":
            body = b"hub"
        elif repository and path.startswith(f"/api/models/{repository}/tree/"):
            body = json.dumps(
                [{"type": "file", "path": file, "size": len(data), "oid": "0"} for file, data in files.items()]
            ).encode()
        elif repository and path.startswith(f"/api/models/{repository}"):
            siblings = [{"rfilename": file} for file in files]
            body = json.dumps({"id": repository, "sha": COMMIT, "siblings": siblings}).encode()
        elif repository and path.startswith(f"/{repository}/resolve/") and name in files:
            body = files[name]
        else:
            self.send_response(404)
            self.send_header("X-Error-Code", "RepoNotFound")
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Content-Type", "application/json")
        self.send_header("ETag", f'"{hashlib.sha256(body).hexdigest()}"')
        self.send_header("X-Repo-Commit", COMMIT)
        self.end_headers()
        if with_body:
            self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        pass


@contextmanager
def hub() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Hub)
    thread = Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def find(model: str, home: Path, endpoint: str) -> str:
    """What a fresh process says, since the hub's library reads its environment when it is imported."""
    names = (
        "HF_HUB_OFFLINE",
        "HF_HUB_CACHE",
        "SENTENCE_TRANSFORMERS_HOME",
        "http_proxy",
        "HTTP_PROXY",
        "all_proxy",
        "ALL_PROXY",
    )
    environment = {name: value for name, value in os.environ.items() if name not in names}
    done = subprocess.run(
        [sys.executable, "-c", FIND, model],
        cwd=ROOT,
        env={**environment, "HF_HOME": str(home), "HF_ENDPOINT": endpoint, "no_proxy": "127.0.0.1"},
        capture_output=True,
        text=True,
        timeout=300,
    )
    return done.stdout + done.stderr


@pytest.mark.slow
def test_a_model_is_downloaded_once_without_what_it_does_not_need(tmp_path: Path) -> None:
    for model, files in (
        ("org/m", "['config.json', 'model.safetensors']"),
        ("org/graph", "['config.json', 'onnx/model.onnx', 'tokenizer.json']"),
    ):
        with hub() as endpoint:
            assert files in find(model, tmp_path, endpoint)
        assert files in find(model, tmp_path, "http://127.0.0.1:9")


@pytest.mark.slow
def test_a_model_that_the_hub_does_not_have_is_named(tmp_path: Path) -> None:
    with hub() as endpoint:
        said = find("org/other", tmp_path, endpoint)
    assert said.startswith("NotConfigured: the embedding model org/other can't be downloaded")
    assert "download it once while online" in said


@pytest.mark.few(1)
@pytest.mark.slow
@pytest.mark.parametrize("kind", ["refused", "silent"])
def test_a_hub_that_does_not_answer_is_given_up_soon(tmp_path: Path, kind: str) -> None:
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        port = bound.getsockname()[1]
        if kind == "silent":
            bound.listen()
        started = time.monotonic()
        said = find("org/m", tmp_path, f"http://127.0.0.1:{port}")
    assert time.monotonic() - started < 40  # 5 s and the process; the hub's own library would try for over a minute
    assert said.startswith("NotConfigured: the embedding model org/m is not here and can't be downloaded")
    assert "download it once while online" in said
