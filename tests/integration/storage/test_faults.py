"""The store under kills, crowds and full disks, with real processes on a real file."""

from __future__ import annotations

import json
import random
import signal
import subprocess
import sys
import textwrap
from collections.abc import Sequence
from pathlib import Path

import pytest

from asky.storage.database import Database
from asky.storage.documents import DocumentStore
from asky.storage.lexical import LexicalIndex
from asky.values import Chunk, Document, Span
from tests.support.confined import run_confined, small_disk

# Writes documents one transaction at a time and prints each number only after its commit.
_WRITER = textwrap.dedent(
    """
    import sys
    from pathlib import Path
    from asky.storage.database import Database
    from asky.storage.documents import DocumentStore
    from asky.storage.corpus import CorpusStore
    from asky.values import Chunk, Document, Source, Span, source_id

    database = Database(Path(sys.argv[1]))
    documents = DocumentStore(database)
    corpus = CorpusStore(database, documents)
    collection = corpus.collection("default", create=True)
    name, first, count = sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
    for number in range(first, first + count):
        text = f"document {name}x{number} " + "words " * 200
        chunks = [Chunk(0, Span(0, len(text)), 200)]
        with database.write():
            stored = documents.put_document(Document(text, "text/plain"), chunks, [""])
            uri = f"file:///{name}/{number}"
            corpus.put_source(Source(source_id(uri), "file", uri, uri), collection, document_id=stored.id)
        print(number, flush=True)
    """
)


def _writer(path: Path, name: str, first: int, count: int) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", _WRITER, str(path), name, str(first), str(count)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def _stored(path: Path, name: str) -> set[int]:
    database = Database(path)
    with database.read() as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone()[0] == "ok"
        rows = connection.execute("SELECT uri FROM source WHERE uri LIKE ?", (f"file:///{name}/%",)).fetchall()
    assert LexicalIndex(database).check()
    database.close()
    return {int(row["uri"].rsplit("/", 1)[1]) for row in rows}


def test_nothing_acknowledged_is_lost_when_the_process_is_killed(tmp_path: Path) -> None:
    path = tmp_path / "asky.db"
    choice = random.Random(7)
    acknowledged: set[int] = set()
    for round_number in range(6):
        process = _writer(path, "a", round_number * 1000, 1000)
        assert process.stdout is not None
        for _ in range(choice.randint(1, 60)):
            acknowledged.add(int(process.stdout.readline()))
        process.send_signal(signal.SIGKILL)
        acknowledged |= {int(line) for line in process.stdout if line.strip().isdigit()}
        process.stdout.close()
        process.wait()
    assert acknowledged <= _stored(path, "a")


@pytest.mark.few(1)
@pytest.mark.parametrize("processes", [2, 8])
def test_processes_write_to_one_store_at_once(tmp_path: Path, processes: int) -> None:
    path = tmp_path / "asky.db"
    running = [_writer(path, f"w{number}", 0, 25) for number in range(processes)]
    outputs = [process.communicate(timeout=120)[0] for process in running]
    assert [process.returncode for process in running] == [0] * processes
    assert all(len(output.split()) == 25 for output in outputs)
    for number in range(processes):
        assert _stored(path, f"w{number}") == set(range(25))


# Opens the store named by each line of its input, and answers each with a line.
_OPENER = textwrap.dedent(
    """
    import sys
    from pathlib import Path
    from asky.errors import AskyError
    from asky.storage.database import Database

    print("ready", flush=True)
    for line in sys.stdin:
        try:
            Database(Path(line.rstrip())).close()
            print("opened", flush=True)
        except AskyError as error:
            print(f"{error.message}: {error.__cause__!r}", flush=True)
    """
)


@pytest.mark.extended
def test_processes_make_a_new_store_at_the_same_moment(tmp_path: Path) -> None:
    command = [sys.executable, "-c", _OPENER]
    openers = [subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) for _ in range(3)]
    heard = [[_answer(opener)] for opener in openers]
    for number in range(100):  # each round begins when all have ended the one before
        for opener in openers:
            assert opener.stdin is not None
            opener.stdin.write(f"{tmp_path / str(number)}.db\n")
            opener.stdin.flush()
        for answers, opener in zip(heard, openers, strict=True):
            answers.append(_answer(opener))
    for opener in openers:
        opener.communicate()
    assert heard == [["ready"] + ["opened"] * 100] * 3


def _answer(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    return process.stdout.readline().rstrip()


# Fills a new store until it cannot be written, then makes room, and looks at what is left.
_FILL = textwrap.dedent(
    """
    import json, os, resource, signal, sys
    from pathlib import Path
    from asky.errors import StorageError
    from asky.storage.database import Database
    from asky.storage.documents import DocumentStore
    from asky.values import Chunk, Document, Span

    path, limit_bytes = Path(sys.argv[1]), int(sys.argv[2])
    reserve = path.with_name("reserve")
    reserve.write_bytes(bytes(300_000))
    database = Database(path)
    documents = DocumentStore(database)
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit_bytes, resource.RLIM_INFINITY))
    written = 0
    try:
        while written < 10_000:
            text = f"document {written} " + "words " * 2000
            documents.put_document(Document(text, "text/plain"), [Chunk(0, Span(0, len(text)), 1)], [""])
            written += 1
    except StorageError as error:
        said = [error.code, error.message, error.hint]
    resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    reserve.unlink()
    documents.put_document(Document("room again", "text/plain"), [], [])
    with database.read() as connection:
        kept = connection.execute("SELECT count(*) FROM document").fetchone()[0]
        sound = connection.execute("PRAGMA integrity_check").fetchone()[0]
    print(json.dumps([written, kept, sound, said]))
    """
)


def _fill(home: Path, prefix: Sequence[str], path: Path, limit_kb: int) -> tuple[str, str, str]:
    """What a store that could not be written said, after nothing of it was lost."""
    command = [sys.executable, "-c", _FILL, path, str(limit_kb * 1024)]
    written, kept, sound, said = json.loads(run_confined(prefix, command, home=home).stdout)
    assert written > 0
    assert kept == written + 1
    assert sound == "ok"
    code, message, hint = said
    return code, message, hint


def test_a_full_disk_is_said_and_loses_nothing(tmp_path: Path) -> None:
    path = tmp_path / "disk" / "asky.db"
    path.parent.mkdir()
    code, message, _ = _fill(tmp_path, small_disk(path.parent), path, 1 << 20)
    assert (code, message) == ("disk_full", f"disk full while saving to {path}; nothing was changed")


@pytest.mark.parametrize("limit_kb", [800, 900, 1500])
def test_a_limit_on_the_size_of_files_is_not_called_a_full_disk(tmp_path: Path, limit_kb: int) -> None:
    path = tmp_path / "asky.db"
    code, message, hint = _fill(tmp_path, [], path, limit_kb)
    assert code == "storage"
    assert message.startswith(f"cannot read or write {path}: disk I/O error")
    assert ("SQLITE_IOERR_WRITE" in message) == (sys.version_info >= (3, 11))
    assert "limit" in hint


# Writes to a store on a disk that lacks room, or that can hold no file more, and makes another one there.
_OPEN_ON_A_FULL_DISK = textwrap.dedent(
    """
    import sys
    from contextlib import suppress
    from pathlib import Path
    from asky.errors import StoreFull
    from asky.storage.database import Database

    path = Path(sys.argv[1])
    Database(path).close()
    with suppress(OSError):
        if sys.argv[2] == "room":
            with path.with_name("filler").open("wb", buffering=0) as file:
                while True:
                    file.write(bytes(4096))
        for number in range(100):
            path.with_name(str(number)).touch()
    for attempt in (path, path.with_name("new.db")):
        try:
            with Database(attempt).write():
                print("written")
        except StoreFull as error:
            print(error.message)
    """
)


@pytest.mark.parametrize("lacking", ["room", "inodes"])
def test_a_disk_that_is_too_full_for_writing_or_making_a_store_is_said(tmp_path: Path, lacking: str) -> None:
    path = tmp_path / "disk" / "asky.db"
    path.parent.mkdir()
    command = [sys.executable, "-c", _OPEN_ON_A_FULL_DISK, path, lacking]
    done = run_confined(small_disk(path.parent), command, home=tmp_path)
    named = [f"disk full while saving to {each}; nothing was changed" for each in (path, path.with_name("new.db"))]
    assert done.stdout.splitlines() == named


def test_words_are_checked_while_another_process_writes(tmp_path: Path) -> None:
    path = tmp_path / "asky.db"
    writer, reader = Database(path), Database(path)
    DocumentStore(writer).put_document(Document("words", "text/plain"), [Chunk(0, Span(0, 5), 1)], [""])
    with writer.write() as connection:
        connection.execute("INSERT INTO chunk_fts(chunk_fts) VALUES ('delete-all')")
        assert LexicalIndex(reader).check()
    assert not LexicalIndex(reader).check()
    writer.close()
    reader.close()


_CHECK_WORDS = textwrap.dedent(
    """
    import sys
    from pathlib import Path
    from asky.errors import StoreFull
    from asky.storage.database import Database
    from asky.storage.lexical import LexicalIndex

    try:
        print(LexicalIndex(Database(Path(sys.argv[1]))).check())
    except StoreFull as error:
        print(error.message)
    """
)


def test_words_that_cannot_be_checked_for_want_of_room_are_not_called_damaged(tmp_path: Path) -> None:
    path = tmp_path / "asky.db"
    database = Database(path)
    DocumentStore(database).put_document(Document("words " * 1_000_000, "text/plain"), [], [])
    database.close()
    room = tmp_path / "room"
    room.mkdir()
    done = run_confined(
        small_disk(room),
        [sys.executable, "-c", _CHECK_WORDS, path],
        home=tmp_path,
        environ={"SQLITE_TMPDIR": str(room)},
    )
    assert done.stdout == "the temporary folder has no space for a copy of the store\n"
