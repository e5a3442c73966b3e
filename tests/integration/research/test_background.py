"""Embedding in the background: real processes over a real store, with a tiny model."""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import psutil
import pytest

from asky.app.asky import Asky
from asky.config.loader import load_config
from asky.research.index.background import BackgroundEmbedding, BackgroundState, Job, StoreGone
from tests.support.asky_command import clean_environment, run_asky
from tests.support.confined import run_confined, small_disk
from tests.support.indexing import Indexing, indexing_environment, kill, until
from tests.support.tiny_model import save_tiny_model

pytestmark = pytest.mark.slow
PASSAGES = 40
ASKED = "What does the moon raise?"
NOT_YET = "are not embedded yet"


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_tiny_model(tmp_path_factory.mktemp("models") / "tiny", window=128)


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    """A folder of forty passages."""
    folder = tmp_path / "docs"
    folder.mkdir()
    for number in range(PASSAGES):
        (folder / f"{number:02}.txt").write_text(f"Note {number}: the moon raises tide number {number} a day.", "utf-8")
    return folder


@pytest.fixture
def indexing(tmp_path: Path) -> Iterator[Indexing]:
    found = Indexing(tmp_path / "asky" / "data")
    yield found
    found.end()


def asky(tiny: Path, tmp_path: Path, *arguments: str, **environ: str) -> tuple[str, str]:
    """What a command printed on both streams."""
    done = run_asky(*arguments, home=tmp_path, environ=indexing_environment(tiny, **environ))
    assert done.returncode in (0, 11), done.stderr  # random weights may find that there is too little
    return done.stdout, done.stderr


def begin(tiny: Path, tmp_path: Path, docs: Path) -> None:
    """Have a question embed its four passages, and leave the others."""
    off = {"ASKY_RESEARCH__RETRIEVAL__EMBED_IN_BACKGROUND": "false"}
    asky(tiny, tmp_path, "search", "-d", str(docs), ASKED, **off)
    assert Indexing(tmp_path / "asky" / "data").embedded() == (PASSAGES, 4, 4)


def environment(tiny: Path, tmp_path: Path, **more: str) -> dict[str, str]:
    return {**clean_environment(tmp_path), **indexing_environment(tiny), **more}


@contextmanager
def opened(tiny: Path, tmp_path: Path, **more: str) -> Iterator[BackgroundEmbedding]:
    """The background process of a program that goes on."""
    environ = environment(tiny, tmp_path, **more)
    with Asky.open(load_config(environ=environ, cwd=tmp_path), environ=environ) as here:
        yield here.services.background


def status(tiny: Path, tmp_path: Path, docs: Path) -> dict[str, object]:
    out, _ = asky(tiny, tmp_path, "corpus", "status", "--json", "--collection", f"folder {docs}")
    found: dict[str, object] = json.loads(out)["indexing"]
    return found


def embedding_processes() -> list[psutil.Process]:
    """The processes of this kind that this one has started."""
    return [each for each in psutil.Process().children() if "asky.wiring.embedding_process" in each.cmdline()]


def test_a_folder_is_embedded_without_a_second_command_and_that_is_said_once(
    tiny: Path, tmp_path: Path, docs: Path, indexing: Indexing
) -> None:
    relative = {"ASKY_RESEARCH__EMBEDDING__MODEL": os.path.relpath(tiny, tmp_path)}  # the process works elsewhere
    _, told = asky(tiny, tmp_path, "-r", "-d", str(docs), "-s", "sea", ASKED, **relative)
    assert f"36 of 40 passages {NOT_YET}" in told
    assert "(that goes on in the background; `asky corpus status` shows how far it is)" in told
    indexing.wait()
    assert indexing.embedded() == (PASSAGES, PASSAGES, PASSAGES)
    _, told_next = asky(tiny, tmp_path, "-r", "-s", "sea", "And what is note 7?")
    assert set(told.splitlines()) & set(told_next.splitlines()) <= {""}  # no message is printed twice
    assert status(tiny, tmp_path, docs) == {"state": "done", "passages_left": 0, "pid": None, "problem": None}
    assert "indexing     done\n" in asky(tiny, tmp_path, "corpus", "status")[0]


@pytest.mark.extended
def test_the_process_holds_no_terminal_gives_way_and_is_told_of(
    tiny: Path, tmp_path: Path, docs: Path, indexing: Indexing, monkeypatch: pytest.MonkeyPatch
) -> None:
    begin(tiny, tmp_path, docs)
    monkeypatch.setenv("SOME_API_KEY", "sk-secret")
    with opened(tiny, tmp_path) as background, indexing.held_up():
        assert background.start()
        process = indexing.process()
        until(lambda: process.nice() == 19)
        assert os.getsid(process.pid) == process.pid != os.getsid(0)
        assert (process.terminal(), process.cwd(), process.net_connections()) == (None, "/", [])
        assert "SOME_API_KEY" not in process.environ()
        if Path("/proc").exists():
            standard = {Path(f"/proc/{process.pid}/fd/{number}").readlink() for number in range(3)}
            assert standard == {Path(os.devnull)}
        told = status(tiny, tmp_path, docs)
        assert told == {"state": "running", "passages_left": 36, "pid": process.pid, "problem": None}
        line = f"indexing     running in the background, process {process.pid}: 36 passages left to embed"
        assert line in asky(tiny, tmp_path, "corpus", "status")[0]
    until(lambda: not psutil.pid_exists(process.pid))  # it was waited for: no zombie of a program that goes on
    assert indexing.embedded() == (PASSAGES, PASSAGES, PASSAGES)


@pytest.mark.extended
def test_while_it_is_at_work_other_commands_say_nothing_of_it(
    tiny: Path, tmp_path: Path, docs: Path, indexing: Indexing
) -> None:
    begin(tiny, tmp_path, docs)
    with opened(tiny, tmp_path) as background:
        with indexing.held_up():  # so that it is not stopped in the middle of a transaction
            assert background.start()
            process = indexing.process()
            process.suspend()
        assert NOT_YET not in asky(tiny, tmp_path, "search", "-d", str(docs), "note 7")[1]
        out, _ = asky(tiny, tmp_path, "-r", "-d", str(docs), "What is note 7?", "--json")
        process.resume()
    assert any(NOT_YET in each for each in json.loads(out)["warnings"]), "a program is told"


@pytest.mark.extended
def test_of_two_that_start_at_once_one_works_and_when_it_is_killed_the_next_goes_on(
    tiny: Path, tmp_path: Path, docs: Path, indexing: Indexing
) -> None:
    begin(tiny, tmp_path, docs)
    with opened(tiny, tmp_path) as one, opened(tiny, tmp_path) as other:
        with indexing.held_up():
            with ThreadPoolExecutor(2) as pool:
                assert all(pool.map(lambda each: each.start(), (one, other)))
            process = indexing.process()
            assert embedding_processes() == [process]
            kill(process)
        told = status(tiny, tmp_path, docs)
        assert told == {"state": "stopped", "passages_left": 36, "pid": None, "problem": None}
        line = "indexing     stopped: 36 passages left to embed; the next question or `asky corpus sync --all` goes on"
        assert line in asky(tiny, tmp_path, "corpus", "status")[0]
    asky(tiny, tmp_path, "search", "-d", str(docs), ASKED)
    indexing.wait()
    assert indexing.embedded() == (PASSAGES, PASSAGES, PASSAGES)


@pytest.mark.extended
def test_a_command_that_embeds_too_loses_and_doubles_nothing(
    tiny: Path, tmp_path: Path, docs: Path, indexing: Indexing
) -> None:
    for number in range(PASSAGES, 10 * PASSAGES):
        (docs / f"{number}.txt").write_text(f"Note {number}: the moon raises tide number {number} a day.", "utf-8")
    asky(tiny, tmp_path, "search", "-d", str(docs), ASKED)
    asky(tiny, tmp_path, "corpus", "sync", "--all")
    assert indexing.embedded() == (10 * PASSAGES, 10 * PASSAGES, 10 * PASSAGES)
    indexing.wait()
    assert indexing.embedded() == (10 * PASSAGES, 10 * PASSAGES, 10 * PASSAGES)


def test_a_store_has_one_process_however_it_is_named(
    tiny: Path, tmp_path: Path, docs: Path, indexing: Indexing
) -> None:
    begin(tiny, tmp_path, docs)
    (tmp_path / "link").symlink_to(tmp_path / "asky")
    with opened(tiny, tmp_path) as one, opened(tiny, tmp_path, ASKY_HOME=str(tmp_path / "link")) as other:
        with indexing.held_up():
            assert one.start()
            assert other.start()
            assert other.state() == one.state()
            assert embedding_processes() == [indexing.process()]
        indexing.wait()
    assert indexing.embedded() == (PASSAGES, PASSAGES, PASSAGES)


@pytest.mark.extended
def test_a_process_that_is_killed_between_two_batches_loses_none(
    tiny: Path, tmp_path: Path, docs: Path, indexing: Indexing
) -> None:
    for number in range(PASSAGES, 10 * PASSAGES):
        (docs / f"{number}.txt").write_text(f"Note {number}: the moon raises tide number {number} a day.", "utf-8")
    asky(tiny, tmp_path, "search", "-d", str(docs), ASKED)
    until(lambda: indexing.embedded()[1] > 64)
    indexing.end()
    assert indexing.embedded()[1] < 10 * PASSAGES
    asky(tiny, tmp_path, "search", "-d", str(docs), "What is note 399?")
    indexing.wait()
    assert indexing.embedded() == (10 * PASSAGES, 10 * PASSAGES, 10 * PASSAGES)


@pytest.mark.extended
@pytest.mark.parametrize("way", ["moved", "deleted"])
def test_the_process_of_a_store_that_is_moved_or_deleted_ends_and_leaves_nothing_behind(
    tiny: Path, tmp_path: Path, docs: Path, indexing: Indexing, way: str
) -> None:
    begin(tiny, tmp_path, docs)
    home = tmp_path / "asky"
    with opened(tiny, tmp_path) as background, indexing.held_up():
        assert background.start()
        process = indexing.process()
        if way == "moved":
            home.rename(tmp_path / "elsewhere")
        else:
            shutil.rmtree(home)
    until(lambda: not psutil.pid_exists(process.pid))
    assert not home.exists()
    if way == "moved":
        there = Indexing(tmp_path / "elsewhere" / "data")
        asky(tiny, tmp_path, "search", "-d", str(docs), ASKED, ASKY_HOME=str(tmp_path / "elsewhere"))
        there.wait()
        assert there.embedded() == (PASSAGES, PASSAGES, PASSAGES)


@pytest.mark.extended
def test_what_keeps_the_process_from_embedding_is_named(
    tiny: Path, tmp_path: Path, docs: Path, indexing: Indexing
) -> None:
    begin(tiny, tmp_path, docs)
    absent = {"ASKY_RESEARCH__EMBEDDING__MODEL": "nobody/has-this-model"}
    with opened(tiny, tmp_path, **absent) as background:
        assert background.start()
        indexing.wait()
    problem = "the embedding model nobody/has-this-model is not on this machine and downloads are off"
    assert status(tiny, tmp_path, docs) == {"state": "failed", "passages_left": 36, "pid": None, "problem": problem}
    assert f"indexing     failed ({problem}): 36 passages left" in asky(tiny, tmp_path, "corpus", "status")[0]


@pytest.mark.extended
def test_the_configuration_turns_it_off_and_a_conversation_is_told_once(
    tiny: Path, tmp_path: Path, docs: Path, indexing: Indexing
) -> None:
    off = {"ASKY_RESEARCH__RETRIEVAL__EMBED_IN_BACKGROUND": "false"}
    _, told = asky(tiny, tmp_path, "-r", "-d", str(docs), "-s", "sea", ASKED, **off)
    assert f"36 of 40 passages {NOT_YET} and are found by keywords only (`asky corpus sync --all` embeds them)" in told
    out, told = asky(tiny, tmp_path, "-r", "-s", "sea", "--json", "What is note 7?", **off)
    assert any(NOT_YET in each for each in json.loads(out)["warnings"])
    _, told = asky(tiny, tmp_path, "-r", "-s", "sea", "What is note 8?", **off)
    assert NOT_YET not in told
    _, told = asky(tiny, tmp_path, "-r", "-d", str(docs), "What is note 9?", **off)  # another conversation
    assert NOT_YET in told
    assert indexing.state == BackgroundState()
    out, _ = asky(tiny, tmp_path, "corpus", "status", **off)
    assert "indexing     not in the background: " in out


@pytest.mark.extended
def test_a_collection_of_which_nothing_is_embedded_is_left_alone(
    tiny: Path, tmp_path: Path, docs: Path, indexing: Indexing
) -> None:
    (tmp_path / "later").mkdir()
    (tmp_path / "later" / "a.txt").write_text("It is only wanted by words.", "utf-8")
    asky(tiny, tmp_path, "corpus", "add", "--no-embed", "later")
    asky(tiny, tmp_path, "search", "-d", str(docs), ASKED)
    indexing.wait()
    assert indexing.embedded() == (PASSAGES + 1, PASSAGES, PASSAGES)


def test_the_file_of_a_store_that_is_gone_or_damaged_says_nothing(tmp_path: Path) -> None:
    store = tmp_path / "asky.db"
    background = BackgroundEmbedding(store, lambda: ("-c", ""))
    assert background.state() == BackgroundState()
    file = store.with_name("indexing.json")
    file.write_text("{", "utf-8")
    assert background.state() == BackgroundState()
    descriptor = os.open(file, os.O_RDWR)
    job = Job(store, descriptor)
    assert job.resume()
    job.fail("x" * 10_000)
    assert background.state() == BackgroundState(is_running=True, pid=os.getpid())
    assert background.start()  # there is one
    job.pause()
    assert background.state() == BackgroundState(problem="x" * 300)
    os.close(descriptor)
    with pytest.raises(StoreGone):
        job.require_store()


# Puts a store on a small disk, fills the disk once the first four passages are embedded, and has the rest embedded.
_ON_A_FULL_DISK = """
import contextlib, io, json, os, sys
from pathlib import Path
from asky.__main__ import run
from asky.app.asky import Asky
from tests.support.indexing import Indexing

disk, docs = Path(sys.argv[1]), sys.argv[2]
with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
    run(["search", "-d", docs, "moon"])
del os.environ["ASKY_RESEARCH__RETRIEVAL__EMBED_IN_BACKGROUND"]
with Asky.open() as here:
    background = here.services.background
    with Indexing(disk).held_up():
        assert background.start()
        with contextlib.suppress(OSError), (disk / "filler").open("wb", buffering=0) as file:
            while file.write(bytes(4096)):
                pass
    Indexing(disk).wait()
run(["corpus", "status", "--json", "--collection", f"folder {docs}"])
"""


@pytest.mark.extended
def test_a_full_disk_ends_the_process_and_is_named(tiny: Path, tmp_path: Path, docs: Path) -> None:
    data = tmp_path / "asky" / "data"
    data.mkdir(parents=True)
    off = {"ASKY_RESEARCH__RETRIEVAL__EMBED_IN_BACKGROUND": "false"}
    command = [sys.executable, "-c", _ON_A_FULL_DISK, data, docs]
    done = run_confined(small_disk(data), command, home=tmp_path, environ=indexing_environment(tiny, **off))
    told = json.loads(done.stdout)["indexing"]
    assert (told["passages_left"], told["problem"]) == (
        36,
        f"disk full while saving to {data / 'asky.db'}; nothing was changed",
    )
