"""An answer that cites a file says so where the file is not what was read."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from asky.storage.scope import Scope
from asky.values import Source, source_id
from tests.integration.chat.recorded_runs import TWO, Room, same_again
from tests.integration.chat.test_answering import TIDES, Citing


@pytest.fixture
def room(tmp_path: Path) -> Iterator[Room]:
    opened = Room(tmp_path)
    yield opened
    opened.store.close()


@pytest.fixture
def tides(room: Room, tmp_path: Path) -> Path:
    """A file that the store has read, and cites for its text."""
    path = tmp_path / "tides.md"
    path.write_text(TIDES, "utf-8")
    found = path.stat()
    uri = path.as_uri()
    source = Source(source_id(uri), "file", uri, "Tides", path=str(path))
    (stored,) = room.store.corpus.sources(Scope(sources=(source_id("file:///tides"),)))
    document_id = room.store.corpus.current_document(stored.id)
    room.store.corpus.put_source(
        source, room.store.collection, document_id=document_id, size=found.st_size, mtime_ns=found.st_mtime_ns
    )
    room.store.corpus.remove_sources(room.store.collection, [stored.id])
    return path


@pytest.mark.usefixtures("tides")
def test_a_file_that_is_as_it_was_read_is_not_spoken_of(room: Room) -> None:
    answer = room.ask(Citing(TWO))
    assert [each.source.path is not None for each in answer.citations] == [True]
    assert answer.warnings == ()


def test_a_file_that_was_modified_since_is_told_and_a_replay_tells_what_was_told(room: Room, tides: Path) -> None:
    tides.write_text("The moon raises three.", "utf-8")
    answer = room.ask(Citing(TWO))
    told = "[1] is from Tides as it was read before: the file was modified since (`asky why 1` says more)"
    assert answer.warnings == (told,)
    tides.unlink()
    same_again(room, answer)


def test_a_file_that_is_gone_is_told(room: Room, tides: Path) -> None:
    tides.unlink()
    answer = room.ask(Citing(TWO))
    told = "[1] is from Tides as it was read before: the file is not there any more (`asky why 1` says more)"
    assert answer.warnings == (told,)
