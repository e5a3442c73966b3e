"""What is noted of a Chroma index, and whether its files can be trusted.

`index.json` names the live generation, a folder beside it; it is replaced last, so that a half-built generation is
never used. At the index's next opening its files must be those that were there when it was closed; after an unclean
end, where nobody knows what they should be, it is probed in a child process.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from asky.research.vector_index_files import file_checksums, file_sizes

COLLECTION = "content_chunks"
"""The one collection of Chroma that an index has."""

_PROBE_TIMEOUT_S = 60.0


@dataclass(frozen=True, slots=True)
class IndexState:
    """What `index.json` says. `clean` is false while a process has the index open, and after one that died.

    `sizes` (bytes) and `checksums` (CRC-32) are those of the generation's files at its last close, by path.
    """

    generation: str
    fingerprint: str
    chromadb: str
    clean: bool
    sizes: dict[str, int]
    checksums: dict[str, int]


def read_state(folder: Path) -> IndexState | None:
    """The note of the index in `folder`; `None` where there is none or it is damaged."""
    try:
        return IndexState(**json.loads((folder / "index.json").read_text("utf-8")))
    except (OSError, ValueError, TypeError):  # no index yet, or its note is damaged: both mean to make it
        return None


def write_state(folder: Path, state: IndexState) -> None:
    """Put `state` in the place of the note in `folder`."""
    temporary = folder / "index.json.new"
    temporary.write_text(json.dumps(asdict(state)), "utf-8")
    temporary.replace(folder / "index.json")


def write_clean(folder: Path, state: IndexState) -> None:
    """Note that nobody has the index open, and what its files are now."""
    generation = folder / state.generation
    sizes, checksums = file_sizes(generation), file_checksums(generation)
    write_state(folder, replace(state, clean=True, sizes=sizes, checksums=checksums))


def usable_state(folder: Path, fingerprint: str) -> IndexState | None:
    """The note of the index in `folder`; `None` unless it can be opened and belongs to this space and this Chroma."""
    from importlib.metadata import version

    state = read_state(folder)
    if state is None or state.fingerprint != fingerprint or state.chromadb != version("chromadb"):
        return None
    generation = folder / state.generation
    if not generation.is_dir() or not plausible_size(generation):
        return None
    trusted = is_unchanged(generation, state) if state.clean else probe(generation)
    return state if trusted else None


def is_unchanged(generation: Path, state: IndexState) -> bool:
    """Whether the files are those that the note of a clean close names; sizes first, for a file may have run away."""
    try:
        return file_sizes(generation) == state.sizes and file_checksums(generation) == state.checksums
    except OSError:  # a file that cannot be read is not one that Chroma could
        return False


def plausible_size(generation: Path) -> bool:
    """Whether no graph file has run away: a torn record can make `link_lists.bin` grow until the disk is full."""
    data = sum(each.stat().st_size for each in generation.rglob("data_level0.bin"))
    links = sum(each.stat().st_size for each in generation.rglob("link_lists.bin"))
    return links <= max(data, 1 << 20)


def probe(generation: Path) -> bool:
    """Open the generation in a child process, which may crash, and compare what it finds with itself.

    Chroma writes to `chroma.sqlite3` whenever it opens a store, so the note of a clean one is made to fit again.
    """
    state = read_state(generation.parent)
    if state is None or not state.clean or not is_unchanged(generation, state):
        return _finds_itself(generation)
    write_state(generation.parent, replace(state, clean=False))  # or a kill would leave a note that does not fit
    found = _finds_itself(generation)
    if found:
        write_clean(generation.parent, state)
    return found


def _finds_itself(generation: Path) -> bool:
    command = [sys.executable, "-m", "asky.research.vector_index_probe", str(generation), COLLECTION]
    try:
        environ = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
        done = subprocess.run(command, capture_output=True, timeout=_PROBE_TIMEOUT_S, check=False, env=environ)
    except subprocess.TimeoutExpired:
        return False
    return done.returncode == 0
