"""The store under kills, crowds and full disks, with real processes on a real file."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from asky.storage.database import Database
from asky.storage.documents import DocumentStore
from asky.storage.lexical import LexicalIndex
from asky.values import Document

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


# RLIMIT_FSIZE makes writes beyond a size fail as a full disk does.
_FULL = textwrap.dedent(
    """
    import resource, signal, sys
    from pathlib import Path
    from asky.errors import StoreFull
    from asky.storage.database import Database
    from asky.storage.documents import DocumentStore
    from asky.values import Chunk, Document, Span

    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    database = Database(Path(sys.argv[1]))
    documents = DocumentStore(database)
    resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[2]), resource.RLIM_INFINITY))
    written = 0
    try:
        while written < 10_000:
            text = f"document {written} " + "words " * 2000
            documents.put_document(Document(text, "text/plain"), [Chunk(0, Span(0, len(text)), 1)], [""])
            written += 1
    except StoreFull as error:
        print(written, error.message, sep="|")
    """
)


@pytest.mark.parametrize("limit_kb", [600, 900, 1500])
def test_a_full_disk_is_said_and_loses_nothing(tmp_path: Path, limit_kb: int) -> None:
    path = tmp_path / "asky.db"
    done = subprocess.run(
        [sys.executable, "-c", _FULL, str(path), str(limit_kb * 1024)],
        capture_output=True,
        text=True,
        timeout=120,
        env=dict(os.environ),
        check=True,
    )
    written, message = done.stdout.strip().split("|")
    assert "disk full" in message
    assert "nothing was changed" in message
    database = Database(path)
    with database.read() as connection:
        assert connection.execute("SELECT count(*) FROM document").fetchone()[0] == int(written)
        assert connection.execute("PRAGMA integrity_check").fetchone()[0] == "ok"
    DocumentStore(database).put_document(Document("room again", "text/plain"), [], [])
    database.close()
