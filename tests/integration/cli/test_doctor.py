"""`asky doctor`: finds nothing wrong with a healthy store, names each planted fault, and repairs indexes when asked."""

from __future__ import annotations

import hashlib
import json
import os
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from filelock import FileLock

from asky.health.machine import check_disk_space, check_readers, check_sqlite
from asky.storage.pages import PageRow, PageTable
from asky.text.counting import format_bytes
from tests.support.asky_command import run_python
from tests.support.browsing import needs_browser
from tests.support.faults import FAULTS, build_index, cut, forget_rows
from tests.support.in_process import Done, InProcess
from tests.support.stores import TIDES, FilledStore
from tests.support.twins.web import Hit, SearxngTwin

QUOTE = "The moon pulls on the water"


@pytest.fixture
def asky(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> InProcess:
    """A healthy home: one embedded document, one answer that cites it, and a model that can be found."""
    home = tmp_path / "home"
    home.mkdir()
    command = InProcess(home, monkeypatch, capsys)
    model = tmp_path / "model"
    model.mkdir()
    (model / "config.json").write_text("{}")
    (model / "model.safetensors").write_bytes(b"weights")
    monkeypatch.setenv("ASKY_RESEARCH__EMBEDDING__MODEL", str(model))
    tides = tmp_path / "tides.md"
    with FilledStore(home) as store:
        document = store.add_text(tides, TIDES)
        store.add_vectors(document)
        store.answered("What pulls?", "The moon [1].", lambda run: [store.evidence(run, tides, document, QUOTE)])
    return command


def found(done: Done, state: str) -> list[dict[str, Any]]:
    return [each for each in done.json["checks"] if each["state"] == state]


def states(done: Done, name: str) -> list[str]:
    return [each["state"] for each in done.json["checks"] if each["name"] == name]


def snapshot(home: Path) -> dict[str, str]:
    """The content of every file under `home`."""
    files = (each for each in home.rglob("*") if each.is_file())
    return {str(each.relative_to(home)): hashlib.sha256(each.read_bytes()).hexdigest() for each in files}


# healthy


def test_nothing_is_wrong_with_a_healthy_store_and_nothing_is_changed(asky: InProcess) -> None:
    build_index(asky.home)
    before = snapshot(asky.home)
    done = asky("doctor", "--json")
    assert (done.code, done.err) == (0, "")
    report = done.json
    assert report["schema"] == "asky.doctor/1"
    assert report["problems"] == 0
    assert found(done, "problem") == []
    assert {each["name"] for each in found(done, "note")} <= {"SQLite", "disk", "web search"}
    assert report["notes"] == len(found(done, "note"))
    assert snapshot(asky.home) == before


@pytest.mark.extended
def test_a_full_check_looks_the_vectors_up_again(asky: InProcess) -> None:
    build_index(asky.home)
    done = asky("doctor", "--full")
    assert done.code == 0
    assert "holds the 3 vectors of the store and finds them" in done.out


def test_without_a_store_it_is_a_note_and_none_is_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    home = tmp_path / "home"
    home.mkdir()
    asky = InProcess(home, monkeypatch, capsys)
    done = asky("doctor")
    assert done.code == 0
    assert "nothing added yet" in done.out
    assert list(home.iterdir()) == []


def test_the_report_in_words_has_a_line_for_each_check(asky: InProcess) -> None:
    done = asky("doctor")
    names = [line[9:25].strip() for line in done.out.splitlines() if line[:8].strip()]
    assert names == [
        "Python",
        "SQLite",
        "readers",
        "folders",
        "configuration",
        "default model",
        "web search",
        "private networks",
        "permissions",
        "disk",
        "sizes",
        "leftovers",
        "store",
        "schema",
        "tables",
        "rows",
        "answers",
        "references",
        "texts",
        "full-text index",
        "titles",
        "runs",
        "web cache",
        "vectors",
        "vector index",
        "embedding model",
        "reader",
    ]
    assert done.err.startswith("0 problems, ")


# faults, planted one by one


@pytest.mark.parametrize("fault", FAULTS)
def test_a_planted_fault_is_named_with_a_hint(asky: InProcess, fault: str) -> None:
    plant, name, message = FAULTS[fault]
    plant(asky.home)
    before = snapshot(asky.home)
    done = asky("doctor", "--json")
    assert done.code == 1
    matching = [each for each in found(done, "problem") if each["name"] == name and message in each["message"]]
    assert matching, found(done, "problem")
    assert all(each["hint"] for each in matching)
    assert done.json["problems"] == len(found(done, "problem"))
    after = snapshot(asky.home)
    assert {each: after.get(each) for each in before if "-" not in each} == {
        each: before[each] for each in before if "-" not in each
    }
    words = asky("doctor")
    assert words.code == 1
    assert "Traceback" not in words.err
    assert any(line.startswith("problem") and message in line for line in words.out.splitlines())


def test_a_missing_model_is_a_problem_where_the_corpus_has_vectors(
    asky: InProcess, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv("ASKY_RESEARCH__EMBEDDING__MODEL")
    (asky.home / "config").mkdir(mode=0o700)
    file = asky.home / "config" / "research.toml"
    file.write_text(f"[research.embedding]\nmodel = {json.dumps(str(tmp_path / 'gone'))}\n")
    file.chmod(0o600)
    done = asky("doctor", "--json")
    assert done.code == 1
    (problem,) = found(done, "problem")
    assert problem["name"] == "embedding model"
    assert "gone" in problem["message"]
    assert "by keywords only" in problem["message"]


def test_a_model_that_cannot_be_a_name_is_a_problem(asky: InProcess, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ASKY_RESEARCH__EMBEDDING__MODEL", "no model/of/this name")
    done = asky("doctor", "--json")
    assert (done.code, states(done, "embedding model")) == (1, ["problem"])


def test_a_missing_reader_is_named(asky: InProcess, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pymupdf", None)  # what an import system that cannot find it says
    done = asky("doctor", "--json")
    assert done.code == 1
    (problem,) = found(done, "problem")
    assert problem["message"] == "PDF and EPUB files cannot be read: pymupdf is missing"
    assert [each.state for each in check_readers({"json": "JSON"})] == ["ok"]


def test_a_home_that_is_a_file_is_named(asky: InProcess, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("ASKY_HOME", str(tmp_path / "file"))
    done = asky("doctor", "--json")
    assert done.code == 1
    assert [each["name"] for each in found(done, "problem")] == ["folders"]


def test_little_room_is_noted_and_none_is_a_problem(tmp_path: Path) -> None:
    assert check_disk_space(tmp_path / "not" / "there").name == "disk"
    assert check_disk_space(tmp_path, 10 << 30).state == "ok"
    assert check_disk_space(tmp_path, 500 << 20).state == "note"
    full = check_disk_space(tmp_path, 1 << 20)
    needed = f"1.0 MB free under {tmp_path}, less than the 67.1 MB that asky may need at once"
    assert (full.state, full.message) == ("problem", needed)


@pytest.mark.parametrize(
    ("version", "state"),
    [
        ((3, 37, 2), "problem"),
        ((3, 38, 0), "note"),
        ((3, 51, 2), "note"),
        ((3, 51, 3), "ok"),
        ((4, 0, 0), "ok"),
    ],
)
def test_the_version_of_sqlite_is_judged(version: tuple[int, int, int], state: str) -> None:
    assert check_sqlite(version).state == state


def test_sizes_are_short() -> None:
    assert [format_bytes(each) for each in (0, 999, 1500, 123_456_789, 10**12, 10**16)] == [
        "0 B",
        "999 B",
        "1.5 kB",
        "123 MB",
        "1.0 TB",
        "10000.0 TB",
    ]


# notes


def test_a_run_whose_process_is_gone_is_noted_and_one_that_goes_on_is_not(asky: InProcess) -> None:
    code = (
        "import os, signal; from asky.wiring import Services; from asky.cli.context import configured\n"
        "runs = Services(configured(), os.environ).runs\n"
        "runs.start(question='Who?', mode='lean', model='m', session_id=None); os.kill(os.getpid(), signal.SIGKILL)"
    )
    assert run_python(("-c", code), home=asky.home, environ={"ASKY_HOME": str(asky.home)}).returncode == -9
    with FilledStore(asky.home) as store:
        alive = store.runs.start(question="?", mode="research", model="m", session_id=None)
        killed = next(each for each in store.runs.recent(limit=3) if each.status == "interrupted")
        done = asky("doctor", "--json")
        store.runs.finish(alive.id, "failed", None)
    assert done.code == 0
    (check,) = [each for each in done.json["checks"] if each["name"] == "runs"]
    assert (check["state"], check["message"]) == ("note", f"1 was interrupted, the oldest is {killed.id}")
    assert "runs show ID -v" in check["hint"]


def test_temporary_files_are_noted_once_they_are_old(asky: InProcess) -> None:
    file = asky.home / "data" / ".research.toml.x.new"
    file.write_text("")
    assert states(asky("doctor", "--json"), "leftovers") == ["ok"]
    os.utime(file, (1, 1))
    done = asky("doctor", "--json")
    assert (done.code, states(done, "leftovers")) == (0, ["note"])
    assert str(file) in done.out


def test_a_passage_without_a_vector_is_noted(asky: InProcess) -> None:
    with FilledStore(asky.home) as store:
        store.add_text(asky.home.parent / "mill.txt", "It burned down.")
    done = asky("doctor", "--json")
    assert (done.code, states(done, "vectors")) == (0, ["note"])
    assert "3 of 4 passages (test-4)" in done.out


def test_changes_that_the_index_has_not_followed_yet_are_no_fault(asky: InProcess) -> None:
    build_index(asky.home)
    with FilledStore(asky.home) as store:
        store.add_vectors(store.add_text(asky.home.parent / "mill.txt", "It burned down."))
        store.add_text(asky.home.parent / "tides.md", "Other words now.")
    assert states(asky("doctor", "--json"), "vector index") == ["ok"]


def test_an_index_that_is_in_use_is_left_alone(asky: InProcess) -> None:
    forget_rows(asky.home)
    with FileLock(asky.home / "data" / "chroma" / "lock"):
        done = asky("doctor", "--full", "--json")
    assert (done.code, states(done, "vector index")) == (0, ["note"])


def test_an_index_whose_process_was_killed_is_noted(asky: InProcess) -> None:
    build_index(asky.home)
    note = asky.home / "data" / "chroma" / "index.json"
    note.write_text(note.read_text().replace("true", "false"))
    done = asky("doctor", "--json")
    assert (done.code, states(done, "vector index")) == (0, ["note"])


def test_an_index_of_another_model_is_noted(asky: InProcess) -> None:
    build_index(asky.home)
    note = asky.home / "data" / "chroma" / "index.json"
    note.write_text(note.read_text().replace("test-4", "test-5"))
    assert states(asky("doctor", "--json"), "vector index") == ["note"]


def test_vectors_of_another_model_than_the_configured_one_are_noted(
    asky: InProcess, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ASKY_RESEARCH__EMBEDDING__MODEL", "all-MiniLM-L6-v2")
    done = asky("doctor", "--json")
    assert (done.code, states(done, "embedding model")) == (0, ["note"])
    assert "the stored vectors come from another model" in done.out


def test_search_models_of_an_earlier_version_are_noted_and_left_alone(
    asky: InProcess, monkeypatch: pytest.MonkeyPatch
) -> None:
    prepared = asky.home / "models"
    (prepared / "fp32").mkdir(parents=True)
    (prepared / "fp32" / "model.onnx").write_bytes(b"graph")
    monkeypatch.setenv("ASKY_MODEL_CACHE", str(prepared))
    monkeypatch.setenv("ASKY_RESEARCH__EMBEDDING__PRECISION", "int8")
    done = asky("doctor", "--json")
    assert (done.code, states(done, "leftovers")) == (0, ["note"])
    assert f"{prepared} (" in done.out
    assert "holds search models of an earlier version" in done.out
    assert (prepared / "fp32" / "model.onnx").exists()


# the web


def search_checks(done: Done) -> list[tuple[str, str]]:
    return [(each["state"], each["message"]) for each in done.json["checks"] if each["name"] == "web search"]


@pytest.fixture
def twin(monkeypatch: pytest.MonkeyPatch, asky: InProcess) -> Iterator[SearxngTwin]:
    """A search service that is set up."""
    with SearxngTwin(rows=[Hit("https://example.org/", "Example", "An example.")]) as twin:
        monkeypatch.setenv("ASKY_SEARCH__SEARXNG__BASE_URL", twin.base_url)
        monkeypatch.setenv("ASKY_SEARCH__SEARXNG__GAP_S", "0")
        yield twin


def test_without_a_search_service_the_ways_to_one_are_named(asky: InProcess) -> None:
    done = asky("doctor", "--live")
    assert done.code == 0
    assert "no search service is set up" in done.out
    assert "search.searxng.base_url" in done.out


def test_a_search_service_is_asked_only_when_that_is_wanted(asky: InProcess, twin: SearxngTwin) -> None:
    before = snapshot(asky.home)
    done = asky("doctor", "--json")
    ((state, message),) = search_checks(done)
    assert (done.code, state) == (0, "ok")
    assert message.startswith("searxng at 127.0.0.1:")
    assert "is set up" in message
    assert twin.requests == []
    assert snapshot(asky.home) == before
    live = asky("doctor", "--live", "--json")
    ((state, message),) = search_checks(live)
    assert (live.code, state) == (0, "ok")
    assert " found 1 page in " in message
    assert len(twin.requests) == 1


def test_a_search_service_that_fails_is_a_problem_and_is_known_afterwards(asky: InProcess, twin: SearxngTwin) -> None:
    twin.play("error500")
    live = asky("doctor", "--live", "--json")
    assert (live.code, [state for state, _ in search_checks(live)]) == (1, ["problem"])
    assert search_checks(live)[0][1].startswith("searxng: ")
    later = asky("doctor", "--json")
    ((state, message),) = search_checks(later)
    assert (later.code, state) == (0, "note")
    assert "it is paused" in message


def test_a_search_service_that_finds_nothing_for_any_word_is_noted(asky: InProcess, twin: SearxngTwin) -> None:
    twin.play("empty")
    live = asky("doctor", "--live", "--json")
    assert [state for state, _ in search_checks(live)] == ["note"]


def test_a_service_that_is_named_but_not_set_up_is_a_problem_beside_those_that_are(
    asky: InProcess, twin: SearxngTwin, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("BRAVE_API_KEY", raising=False)
    monkeypatch.setenv("ASKY_SEARCH__PROVIDERS", '["brave", "searxng"]')
    done = asky("doctor", "--json")
    assert (done.code, [state for state, _ in search_checks(done)]) == (1, ["problem", "ok"])
    (problem,) = found(done, "problem")
    assert "BRAVE_API_KEY is not set" in problem["message"]
    assert problem["hint"]


@pytest.mark.parametrize(
    ("variable", "value", "name", "message"),
    [
        ("ASKY_SEARCH__PROVIDERS", '["serxng"]', "configuration", "did you mean searxng?"),
        ("ASKY_SEARCH__PROVIDERS", '["unpaywall"]', "web search", "unpaywall asks its users for an e-mail address"),
        ("ASKY_SEARCH__SEARXNG__BASE_URL", "localhost:8888", "configuration", "must be a web address"),
        ("ASKY_RESEARCH__SOURCES__KINDS", '["papers"]', "configuration", "expected a list of web or paper"),
        ("ASKY_RESEARCH__SOURCES__DENY_DOMAINS", '["a b"]', "source policy", "deny_domains: 'a b' is not a domain"),
        ("ASKY_NETWORK__ALLOW_PRIVATE", '["10.0.0.1", "10.0.0.0/99"]', "private networks", "10.0.0.0/99"),
    ],
)
def test_settings_of_the_web_that_are_wrong_are_named(
    asky: InProcess, monkeypatch: pytest.MonkeyPatch, variable: str, value: str, name: str, message: str
) -> None:
    monkeypatch.setenv(variable, value)
    done = asky("doctor", "--json")
    assert done.code == 1
    (problem,) = found(done, "problem")
    assert problem["name"] == name
    assert message in problem["message"]


@pytest.mark.skipif(find_spec("ddgs") is not None, reason="the package ddgs is installed")
def test_a_service_whose_package_is_missing_is_a_problem_with_the_command_that_installs_it(
    asky: InProcess, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ASKY_SEARCH__PROVIDERS", '["ddgs"]')
    done = asky("doctor", "--json")
    (problem,) = found(done, "problem")
    assert (done.code, problem["name"]) == (1, "web search")
    assert f"{sys.executable} -m pip install 'ddgs>=9'" in problem["hint"]
    assert "needs the package ddgs, which is not installed" in problem["message"]


def test_a_finder_of_open_copies_that_is_set_up_is_told(asky: InProcess, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ASKY_SEARCH__PROVIDERS", '["wikipedia", "unpaywall"]')
    monkeypatch.setenv("ASKY_SEARCH__EMAIL", "ada.bly@soils.university.edu")
    done = asky("doctor", "--json")
    assert ("ok", "unpaywall at api.unpaywall.org is set up; it looks up open copies of papers") in search_checks(done)


def test_private_networks_that_may_be_reached_are_told(asky: InProcess, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ASKY_NETWORK__ALLOW_PRIVATE", '["wiki.lan"]')
    assert "pages of wiki.lan may be fetched" in asky("doctor").out


def test_the_browser_that_is_wanted_is_looked_for(asky: InProcess, monkeypatch: pytest.MonkeyPatch) -> None:
    assert states(asky("doctor", "--json"), "browser") == []
    monkeypatch.setenv("ASKY_NETWORK__BROWSER", "true")
    done = asky("doctor", "--json")
    assert (done.code, states(done, "browser")) == ((0, ["ok"]) if needs_browser().name == "slow" else (1, ["problem"]))


def test_a_browser_that_is_wanted_without_its_extra_is_a_problem(
    asky: InProcess, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ASKY_NETWORK__BROWSER", "true")
    monkeypatch.setitem(sys.modules, "playwright.async_api", None)
    done = asky("doctor", "--json")
    assert done.code == 1
    (problem,) = found(done, "problem")
    assert problem["name"] == "browser"
    assert problem["message"].startswith("network.browser is true, but pages that need JavaScript need the package")
    assert f"{sys.executable} -m pip install 'playwright>=" in problem["hint"]


def test_a_cache_that_holds_more_than_it_may_is_noted(asky: InProcess) -> None:
    assert states(asky("doctor", "--json"), "web cache") == ["ok"]
    with FilledStore(asky.home) as store:
        large = PageRow("https://a.example/", "https://a.example/", 1.0, 2.0, 1.0, bytes=2 << 30)
        PageTable(store.database, store.corpus).put(large)
    done = asky("doctor", "--json")
    assert (done.code, states(done, "web cache")) == (0, ["note"])
    assert "1.1 GB at most" in done.out


def test_a_place_for_states_that_cannot_be_written_is_a_problem(asky: InProcess) -> None:
    (asky.home / "state").mkdir(mode=0o700)
    (asky.home / "state" / "net").write_text("")
    done = asky("doctor", "--json")
    assert done.code == 1
    (problem,) = found(done, "problem")
    assert problem["message"] == f"{asky.home / 'state' / 'net'} cannot be written"


# repair


@pytest.mark.parametrize("fault", ["lost words", "damaged words"])
def test_repair_makes_the_full_text_index_anew(asky: InProcess, fault: str) -> None:
    FAULTS[fault][0](asky.home)
    done = asky("doctor", "--repair", "--json")
    assert done.code == 0
    (check,) = [each for each in done.json["checks"] if each["name"] == "full-text index"]
    assert "has been rebuilt" in check["message"]
    with FilledStore(asky.home) as store, store.database.read() as connection:
        hits = connection.execute("SELECT rowid FROM chunk_fts WHERE chunk_fts MATCH 'moon'").fetchall()
    assert len(hits) == 2
    assert states(asky("doctor", "--json"), "full-text index") == ["ok"]


def test_repair_makes_the_indexes_of_the_tables_anew(asky: InProcess) -> None:
    FAULTS["row that its index lacks"][0](asky.home)
    done = asky("doctor", "--repair", "--json")
    assert (done.code, states(done, "tables")) == (0, ["ok"])
    assert "have been rebuilt; rows and their indexes agree" in done.out
    assert states(asky("doctor", "--json"), "tables") == ["ok"]


@pytest.mark.few(1)
@pytest.mark.parametrize(
    "fault",
    [
        "vector index without a passage",
        "vector index without its rows",
        "vector index gone",
        "vector index without its note",
        "vector index grown",
    ],
)
def test_repair_makes_the_vector_index_anew_from_the_store(asky: InProcess, fault: str) -> None:
    FAULTS[fault][0](asky.home)
    done = asky("doctor", "--repair", "--json")
    assert done.code == 0
    (check,) = [each for each in done.json["checks"] if each["name"] == "vector index"]
    assert check["message"].endswith("rebuilt, it holds the 3 vectors of the store")
    assert states(asky("doctor", "--full", "--json"), "vector index") == ["ok"]


def test_repair_deletes_nothing_from_a_damaged_store(asky: InProcess) -> None:
    cut(asky.home)
    data = (asky.home / "data" / "asky.db").read_bytes()
    assert asky("doctor", "--repair").code == 1
    assert (asky.home / "data" / "asky.db").read_bytes() == data
