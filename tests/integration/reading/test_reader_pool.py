from __future__ import annotations

import math
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

import psutil
import pytest

from asky.errors import AskyError, Interrupted, SourceUnreadable
from asky.reading.limits import MIB, ReadLimits
from asky.reading.process.pool import ReaderPool
from asky.values import Document
from tests.support.files import pdf, pdf_bomb, wide_json

PLAIN, PDF, EPUB, JSON = "text/plain", "application/pdf", "application/epub+zip", "application/json"
ROOT = Path(__file__).parents[3]


@pytest.fixture(scope="module")
def bomb() -> bytes:
    """A PDF that takes far longer than any limit of these tests."""
    return pdf_bomb(200)


def refusal(
    pool: ReaderPool, data: bytes, media_type: str, name: str = "a.file", *, wait_s: float = math.inf
) -> SourceUnreadable:
    with pytest.raises(SourceUnreadable) as caught:
        pool.read(data, name=name, media_type=media_type, wait_s=wait_s)
    return caught.value


EARLIER: set[int] = set()
"""Processes that other tests of this worker keep, such as the two of `multiprocessing`, or of shared fixtures."""


@pytest.fixture(autouse=True)
def _of_this_test_alone() -> None:
    EARLIER.clear()
    EARLIER.update(each.pid for each in psutil.Process().children())


def children() -> list[psutil.Process]:
    return [each for each in psutil.Process().children() if each.pid not in EARLIER]


def the_child() -> psutil.Process:
    """The one child of this process, as soon as there is one."""
    until(lambda: bool(children()))
    (child,) = children()
    return child


def until(happened: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 120
    while not happened():
        assert time.monotonic() < deadline


def read_in_thread(pool: ReaderPool, data: bytes, media_type: str, *, wait_s: float = math.inf) -> Future[Document]:
    answer: Future[Document] = Future()

    def read() -> None:
        try:
            answer.set_result(pool.read(data, name="a.file", media_type=media_type, wait_s=wait_s))
        except AskyError as error:
            answer.set_exception(error)

    threading.Thread(target=read, daemon=True).start()
    return answer


def test_files_above_the_limits_are_refused() -> None:
    with ReaderPool(ReadLimits(max_bytes=100, max_chars=50)) as pool:
        assert refusal(pool, b"x" * 101, PLAIN).message == "a.file: 101 bytes, the limit is 100"
        assert not children()
        error = refusal(pool, b"x" * 51, PLAIN)
        assert (error.verdict, error.message) == ("too_large", "a.file: 51 characters of text, the limit is 50")
        assert len(pool.read("😀".encode() * 25, name="a", media_type=PLAIN).text) == 25


@pytest.mark.extended
def test_a_file_that_takes_too_long_costs_itself_only(bomb: bytes) -> None:
    limits = ReadLimits(timeout_s=5.0, memory_bytes=8192 * MIB)  # the next one's process starts within them, too
    with ReaderPool(limits, workers=1) as pool:
        error = refusal(pool, bomb, PDF, "report.pdf")
        assert (error.verdict, error.message) == ("timed_out", "report.pdf: parser stopped after 5 s")
        assert pool.read(b"next", name="b", media_type=PLAIN).text == "next"


def test_who_waits_no_longer_takes_no_turn_from_the_others(bomb: bytes) -> None:
    with ReaderPool(workers=1) as pool:
        first = read_in_thread(pool, bomb, PDF)
        child = the_child()
        others = [read_in_thread(pool, bomb, PDF, wait_s=0.5) for _ in range(3)]
        assert [str(other.exception()) for other in others] == ["a.file: other files took all the available time"] * 3
        child.kill()
        assert "parser was killed" in str(first.exception())
        assert pool.read(b"next", name="b", media_type=PLAIN).text == "next"


@pytest.mark.extended
def test_a_file_that_takes_too_much_cpu_costs_itself_only(bomb: bytes) -> None:
    with ReaderPool(ReadLimits(cpu_s=1, timeout_s=60), workers=1) as pool:
        pool.read(b"first", name="a", media_type=PLAIN)
        error = refusal(pool, bomb, PDF, "report.pdf")
        assert (error.verdict, error.message) == ("timed_out", "report.pdf: parser stopped after 1 s of CPU time")
        assert pool.read(b"next", name="b", media_type=PLAIN).text == "next"


def test_a_child_that_hangs_without_using_cpu_is_killed() -> None:
    with ReaderPool(workers=1) as pool:
        pool.read(b"first", name="a", media_type=PLAIN)
        stopped = the_child()
        stopped.suspend()
        assert refusal(pool, b"second", PLAIN, wait_s=1.0).verdict == "timed_out"
        assert not stopped.is_running()
        assert pool.read(b"third", name="c", media_type=PLAIN).text == "third"


def test_a_file_that_takes_too_much_memory_costs_itself_only() -> None:
    with ReaderPool(ReadLimits(memory_bytes=160 * MIB), workers=1) as pool:
        error = refusal(pool, wide_json(2_000_000), JSON, "wide.json")
        assert (error.verdict, error.message) == ("failed", "wide.json: reading it needs more than 160 MiB of memory")
        assert pool.read(b"next", name="b", media_type=PLAIN).text == "next"


@pytest.mark.extended
def test_memory_that_runs_out_within_a_library_is_named_too(bomb: bytes) -> None:
    with ReaderPool(ReadLimits(memory_bytes=300 * MIB), workers=1) as pool:
        assert "memory" in refusal(pool, bomb, PDF).message


def test_a_crash_costs_the_file_only(bomb: bytes) -> None:
    with ReaderPool(workers=1) as pool:
        answer = read_in_thread(pool, bomb, PDF)
        the_child().send_signal(signal.SIGSEGV)
        with pytest.raises(SourceUnreadable, match=r"a\.file: parser crashed \(SIGSEGV\)") as caught:
            answer.result(timeout=120)
        assert caught.value.verdict == "failed"
        assert pool.read(b"next", name="b", media_type=PLAIN).text == "next"


def test_a_child_that_dies_while_idle_costs_no_file() -> None:
    with ReaderPool(workers=1) as pool:
        pool.read(b"first", name="a", media_type=PLAIN)
        idle = the_child()
        idle.kill()
        until(lambda: idle.status() == psutil.STATUS_ZOMBIE)
        assert pool.read(b"second", name="b", media_type=PLAIN).text == "second"


def test_reading_from_many_threads_uses_as_many_children_as_workers() -> None:
    with ReaderPool(workers=2) as pool, ThreadPoolExecutor(8) as threads:
        texts = [f"file {number} " * (number + 1) for number in range(200)]
        read = threads.map(lambda text: pool.read(text.encode(), name="a", media_type=PLAIN).text, texts)
        assert list(read) == texts
        assert len(children()) <= 2


def test_one_caller_needs_one_child_however_many_workers_there_are() -> None:
    with ReaderPool(workers=4) as pool:
        assert not children()
        for _ in range(5):
            pool.read(b"x", name="a", media_type=PLAIN)
        assert len(children()) == 1


@pytest.mark.extended
def test_a_child_is_replaced_after_many_files_and_after_a_big_one() -> None:
    with ReaderPool(workers=1) as pool:
        pool.read(b"x", name="a", media_type=PLAIN)
        first = the_child().pid
        for _ in range(499):
            pool.read(b"x", name="a", media_type=PLAIN)
        pool.read(b"x", name="a", media_type=PLAIN)
        second = the_child().pid
        assert second != first
        pool.read("😀".encode() * (15 * MIB) + b"\r", name="big", media_type=PLAIN)
        pool.read(b"x", name="a", media_type=PLAIN)
        assert the_child().pid != second


def test_a_child_is_kept_however_large_its_parent_is() -> None:
    ballast = b"x" * (400 * MIB)  # a child starts with its parent's peak in some of the system's figures
    with ReaderPool(workers=1) as pool:
        pool.read(b"x", name="a", media_type=PLAIN)
        first = the_child()
        pool.read(b"x", name="a", media_type=PLAIN)
        assert the_child() == first
    assert len(ballast) == 400 * MIB


def test_closing_stops_a_file_that_is_being_read(bomb: bytes) -> None:
    pool = ReaderPool(workers=1)
    answer = read_in_thread(pool, bomb, PDF)
    the_child()
    pool.close()
    with pytest.raises(Interrupted):
        answer.result(timeout=120)
    assert not children()
    pool.close()
    with pytest.raises(Interrupted):
        pool.read(b"x", name="a", media_type=PLAIN)


@pytest.mark.extended
def test_no_process_and_no_descriptor_is_left_behind(bomb: bytes) -> None:
    def use() -> None:
        with ReaderPool(workers=2) as pool:
            pool.read(b"x", name="a", media_type=PLAIN)
            refusal(pool, b" ", PLAIN)
            refusal(pool, bomb, PDF, wait_s=1.0)

    use()
    before = psutil.Process().num_fds()
    for _ in range(3):
        use()
    assert psutil.Process().num_fds() == before
    assert not children()


def test_children_end_when_their_parent_is_gone() -> None:
    program = (
        "import os, psutil\n"
        "from asky.reading.process.pool import ReaderPool\n"
        "pool = ReaderPool()\n"
        "pool.read(b'x', name='a', media_type='text/plain')\n"
        "print(psutil.Process().children()[0].pid, flush=True)\n"
        "os._exit(0)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, cwd=ROOT)
    orphan = int(done.stdout)
    if psutil.pid_exists(orphan):
        psutil.Process(orphan).wait(timeout=120)
    assert not psutil.pid_exists(orphan)


def test_a_child_knows_nothing_of_the_environment_and_runs_no_code_of_the_current_folder(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "pymupdf.py").write_text("raise SystemExit('taken over')")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    with ReaderPool() as fresh:
        assert fresh.read(pdf(["x"]), name="a.pdf", media_type=PDF).text == "x"
        child = the_child()
        assert "sk-secret" not in str(child.environ())
        assert child.cwd() == "/"


@pytest.mark.skipif(not hasattr(psutil.Process, "rlimit"), reason="only Linux tells the limits of another process")
def test_a_child_is_confined() -> None:
    with ReaderPool(ReadLimits(memory_bytes=512 * MIB)) as pool:
        pool.read(b"x", name="a", media_type=PLAIN)
        child = the_child()
        assert child.rlimit(psutil.RLIMIT_AS) == (512 * MIB, 512 * MIB)
        assert child.rlimit(psutil.RLIMIT_FSIZE) == (0, 0)
        assert child.rlimit(psutil.RLIMIT_CORE) == (0, 0)
        assert child.rlimit(psutil.RLIMIT_NPROC) == (0, 0)
        assert child.rlimit(psutil.RLIMIT_CPU)[0] <= 30
        assert os.getpgid(child.pid) == child.pid


@pytest.mark.extended
def test_the_cpu_limit_is_of_each_file_and_not_of_all() -> None:
    rows = b"[%s1]" % (b"1," * 300_000)
    with ReaderPool(ReadLimits(cpu_s=1), workers=1) as pool:
        pool.read(rows, name="a.json", media_type=JSON)
        child = the_child()
        while sum(child.cpu_times()[:2]) < 2.5:
            pool.read(rows, name="a.json", media_type=JSON)
        assert the_child() == child


@pytest.mark.extended
def test_the_same_bytes_give_the_same_document_in_every_child() -> None:
    rows = "".join(f"<tr><td>{n}</td><td>value {n}</td></tr>" for n in range(50))
    page = f"<body><h1>A</h1><p>{'Some words of it. ' * 20}</p><table>{rows}</table></body>".encode()
    texts = set()
    for _ in range(3):
        with ReaderPool() as pool:
            texts.add(pool.read(page, name="a.html", media_type="text/html").sha256)
    assert len(texts) == 1


def test_a_prepared_pool_reads_in_the_child_that_was_started(tmp_path: Path) -> None:
    with ReaderPool(workers=1) as pool:
        pool.prepare("text/html")
        page = b"<html><body><article><p>The tide rises twice a day at the harbour.</p></article></body></html>"
        assert "twice a day" in pool.read(page, name="page", media_type="text/html").text
