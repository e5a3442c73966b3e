"""The recorded state of a Chroma index, and whether its files can be trusted.

`index.json` names the live generation, a folder next to it. One that is half-built lacks what is still in the outbox,
and is completed from it. When the index is next opened, its files must be the same as when it was closed; after an
unclean end, when their expected state is unknown, it is probed in a child process.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from asky.research.index.files import file_checksums, file_sizes

COLLECTION = "content_chunks"
"""The one Chroma collection of an index."""

# A store of 20,000 vectors, 41 MB, takes 1.8 s; beyond five times that a graph is taken to be broken.
_PROBE_TIMEOUT_S, _PROBE_BYTES_PER_S = 60.0, 5e6


@dataclass(frozen=True, slots=True)
class IndexState:
    """The content of `index.json`. `clean` is false while a process has the index open, and after one that crashed.

    `sizes` (bytes) and `checksums` (CRC-32) are those of the generation's files at its last close, by path.
    """

    generation: str
    fingerprint: str
    chromadb: str
    clean: bool
    sizes: dict[str, int]
    checksums: dict[str, int]


def read_state(folder: Path) -> IndexState | None:
    """Return the state of the index in `folder`; `None` if there is none or it is damaged."""
    try:
        return IndexState(**json.loads((folder / "index.json").read_text("utf-8")))
    except (OSError, ValueError, TypeError):  # no index yet, or a damaged state file: build it either way
        return None


def write_state(folder: Path, state: IndexState) -> None:
    """Replace the state file in `folder`."""
    temporary = folder / "index.json.new"
    temporary.write_text(json.dumps(asdict(state)), "utf-8")
    temporary.replace(folder / "index.json")


def write_clean(folder: Path, state: IndexState) -> None:
    """Record that no process has the index open, and the present state of its files."""
    generation = folder / state.generation
    sizes, checksums = file_sizes(generation), file_checksums(generation)
    write_state(folder, replace(state, clean=True, sizes=sizes, checksums=checksums))


def chroma_version() -> str | None:
    """Return the installed version of Chroma, `None` without the extra `chroma`."""
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("chromadb")
    except PackageNotFoundError:
        return None


def usable_state(folder: Path, fingerprint: str) -> IndexState | None:
    """Return the state of the index in `folder`; `None` unless it is usable for this space and Chroma version."""
    state = read_state(folder)
    if state is None or state.fingerprint != fingerprint or state.chromadb != chroma_version():
        return None
    generation = folder / state.generation
    if not generation.is_dir() or not plausible_size(generation):
        return None
    trusted = is_unchanged(generation, state) if state.clean else probe(generation)
    return state if trusted else None


def is_unchanged(generation: Path, state: IndexState) -> bool:
    """Return whether the files match the last clean close; sizes are compared first, as a file may have grown huge."""
    try:
        return file_sizes(generation) == state.sizes and file_checksums(generation) == state.checksums
    except OSError:  # a file that cannot be read here cannot be read by Chroma
        return False


def plausible_size(generation: Path) -> bool:
    """Return whether no graph file is oversized: a torn record can make `link_lists.bin` grow without limit."""
    data = sum(each.stat().st_size for each in generation.rglob("data_level0.bin"))
    links = sum(each.stat().st_size for each in generation.rglob("link_lists.bin"))
    return links <= max(data, 1 << 20)


def probe(generation: Path) -> bool:
    """Open the generation in a child process, which may crash, and check that its vectors find themselves.

    Chroma writes to `chroma.sqlite3` whenever it opens a store, so the state of a clean one is updated afterwards.
    """
    state = read_state(generation.parent)
    if state is None or not state.clean or not is_unchanged(generation, state):
        return _finds_itself(generation)
    write_state(generation.parent, replace(state, clean=False))  # otherwise a kill would leave a wrong state
    found = _finds_itself(generation)
    if found:
        write_clean(generation.parent, state)
    return found


def _finds_itself(generation: Path) -> bool:
    command = [sys.executable, "-m", "asky.research.index.probe", str(generation), COLLECTION]
    try:
        environ = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
        timeout_s = _PROBE_TIMEOUT_S + sum(file_sizes(generation).values()) / _PROBE_BYTES_PER_S
        done = subprocess.run(command, capture_output=True, timeout=timeout_s, check=False, env=environ)
    except subprocess.TimeoutExpired:
        return False
    return done.returncode == 0
