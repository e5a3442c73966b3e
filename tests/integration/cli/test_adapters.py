"""Sources of the user's own programs, in questions, with -d and in collections. No model is needed."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from tests.e2e.test_ask_models import environ_of
from tests.support.endpoint import Answer, Call, Endpoint, Request
from tests.support.in_process import InProcess

PROGRAM = """
import pathlib, sys
folder, target = pathlib.Path(__file__).parent, sys.argv[-1]
with (folder / "calls").open("a") as calls:
    calls.write(f"{sys.argv[1]} {target}\\n")
print((folder / (target.removeprefix("wiki://") + ".json")).read_text())
"""


class Wiki:
    """Pages that a program of the user's reads; it writes down each call."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir()
        self.program = folder / "program.py"
        self.program.write_text(PROGRAM)

    def put(self, name: str, content: str | None = None, links: tuple[object, ...] = ()) -> None:
        page = {"title": name.title(), "content": content, "links": links}
        (self.folder / f"{name}.json").write_text(json.dumps(page))

    @property
    def calls(self) -> list[str]:
        file = self.folder / "calls"
        return file.read_text().split("\n")[:-1] if file.exists() else []


@pytest.fixture
def wiki(tmp_path: Path) -> Wiki:
    made = Wiki(tmp_path / "wiki")
    made.put("tides", "The moon pulls the sea.", ("wiki://bread", {"href": "https://example.org/", "text": "out"}))
    made.put("bread", "Bread rises with yeast.")
    made.put("all", None, ("wiki://tides", {"href": "wiki://bread"}))
    return made


@pytest.fixture
def asky(tmp_path: Path, wiki: Wiki, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> InProcess:
    home = tmp_path / "home"
    home.mkdir()
    command = InProcess(home, monkeypatch, capsys)
    monkeypatch.setenv("ASKY_RESEARCH__EMBEDDING__MODEL", str(tmp_path / "no model"))
    monkeypatch.setattr("sys.stdin", None)
    configure(command, f'tool = ["{sys.executable}", "-I", "-S", "{wiki.program}", "both"]')
    return command


def configure(asky: InProcess, programs: str) -> None:
    folder = asky.home / "config"
    folder.mkdir(exist_ok=True, parents=True)
    (folder / "research.toml").write_text(f'[research.source_adapters.wiki]\nprefix = "wiki://"\n{programs}\n')


def answer(asky: InProcess, question: str, *options: str) -> dict[str, object]:
    done = asky("ask", question, "--no-web", "--json", *options)
    assert done.code == 0, done.err
    found: dict[str, object] = done.json
    return found


# questions


def test_a_result_is_used_again_by_every_session_while_it_is_fresh(asky: InProcess, wiki: Wiki) -> None:
    for _ in range(2):
        assert "The moon pulls the sea." in str(answer(asky, "What pulls the sea, says wiki://tides?")["answer"])
    assert wiki.calls == ["both wiki://tides"]
    asky("cache", "rm", "wiki://tides")
    answer(asky, "What pulls the sea, says wiki://tides?")
    assert wiki.calls == ["both wiki://tides"] * 2


def test_another_command_is_not_answered_from_the_cache(asky: InProcess, wiki: Wiki) -> None:
    answer(asky, "What pulls the sea, says wiki://tides?")
    configure(asky, f'tool = ["{sys.executable}", "-I", "-S", "{wiki.program}", "new"]')
    answer(asky, "What pulls the sea, says wiki://tides?")
    assert wiki.calls == ["both wiki://tides", "new wiki://tides"]


def test_the_cache_shows_a_target_with_its_links(asky: InProcess, wiki: Wiki) -> None:
    answer(asky, "What pulls the sea, says wiki://tides?")
    assert asky("cache", "show", "wiki://tides").out.startswith("The moon pulls the sea.")
    (page,) = asky("cache", "list", "--json").json["pages"]
    assert page["url"] == "wiki://tides"
    assert wiki.calls == ["both wiki://tides"]


def test_the_sources_of_a_list_are_read_one_level_deep(asky: InProcess, wiki: Wiki) -> None:
    wiki.put("top", None, ("wiki://bread", "wiki://all", "wiki://missing", "https://example.org/"))
    found = answer(asky, "What makes bread rise, says wiki://top?")
    assert "Bread rises with yeast." in str(found["answer"])
    assert [each["url"] for each in found["rejected"] if "exit status 1" in each["reason"]] == ["wiki://missing"]  # type: ignore[attr-defined]
    assert wiki.calls == ["both wiki://top", "both wiki://bread", "both wiki://all", "both wiki://missing"]


def test_the_program_that_discovers_is_run_too(asky: InProcess, wiki: Wiki) -> None:
    python = f'"{sys.executable}", "-I", "-S", "{wiki.program}"'
    configure(asky, f'discover_tool = [{python}, "ls"]\nread_tool = [{python}, "cat"]')
    assert "Bread rises with yeast." in str(answer(asky, "What makes bread rise, says wiki://all?")["answer"])
    assert wiki.calls[:2] == ["ls wiki://all", "cat wiki://all"]
    assert sorted(wiki.calls[2:]) == ["cat wiki://bread", "cat wiki://tides", "ls wiki://bread", "ls wiki://tides"]


# -d and collections


def test_d_takes_a_target_and_follows_what_it_lists(asky: InProcess, wiki: Wiki) -> None:
    def found(query: str) -> list[str]:
        return [each["title"] for each in asky("search", "-d", "wiki://all", query, "--json").json["hits"]]

    assert found("moon") == ["Tides"]
    assert found("yeast") == ["Bread"]
    assert wiki.calls == ["both wiki://all", "both wiki://tides", "both wiki://bread"]
    assert "Bread rises with yeast." in str(answer(asky, "What makes bread rise?", "-d", "wiki://all")["answer"])
    assert len(wiki.calls) == 3
    wiki.put("all", None, ("wiki://tides",))
    asky("cache", "clear")
    assert found("yeast") == []
    assert found("moon") == ["Tides"]


def test_a_target_that_fails_later_keeps_its_text_and_that_is_reported(asky: InProcess, wiki: Wiki) -> None:
    asky("search", "-d", "wiki://tides", "moon")
    asky("cache", "clear")
    (wiki.folder / "tides.json").unlink()
    later = asky("search", "-d", "wiki://tides", "moon")
    assert "The moon pulls the sea." in later.out
    assert "the earlier text of wiki://tides is used" in later.err
    assert "exit status 1" in str(answer(asky, "What pulls the sea?", "-d", "wiki://tides")["rejected"])


@pytest.mark.parametrize(
    ("name", "code", "said"),
    [
        ("wiki://missing", 1, "adapter wiki: exit status 1"),
        ("zotero://item", 2, "not a file, a folder or the target of an adapter"),
        ("https://example.org/", 2, "`asky corpus add URL` adds web pages"),
    ],
)
def test_what_d_cannot_take_is_an_error_and_leaves_nothing(asky: InProcess, name: str, code: int, said: str) -> None:
    for command in (("search", "moon"), ("ask", "What pulls the sea?")):
        done = asky(*command, "-d", name)
        assert (done.code, said in done.err) == (code, True), done.err
        assert done.err.count("asky: ") == 1
    assert asky("corpus", "list", "--collections").out == ""


def test_targets_are_added_to_a_collection_refreshed_and_removed(asky: InProcess, wiki: Wiki) -> None:
    asky("search", "-d", "wiki://bread", "yeast")
    added = asky("corpus", "add", "wiki://all", "wiki://tides", "--json").json
    assert added["reports"][0]["verdicts"] == {"indexed": 1, "unchanged": 2}
    wiki.put("tides", "The sun pulls too.")
    assert asky("corpus", "add", "wiki://tides", "--json").json["reports"][0]["verdicts"] == {"indexed": 1}
    assert "The sun pulls too." in asky("search", "sun").out
    assert "wiki://tides" in asky("corpus", "list", "--collection", "default").out
    assert asky("corpus", "rm", "wiki://tides", "--collection", "default").code == 0
    assert asky("search", "sun").out == ""


def test_targets_that_cannot_be_added_are_reported_and_the_others_are_added(asky: InProcess) -> None:
    done = asky("corpus", "add", "wiki://missing", "wiki://tides", "wiki://gone")
    assert done.code == 1
    assert "2 of 3 could not be added" in done.err
    assert "wiki://missing: failed: adapter wiki: exit status 1" in done.err
    assert "The moon pulls the sea." in asky("search", "moon").out


def test_one_target_that_cannot_be_added_is_one_error_and_no_collection(asky: InProcess) -> None:
    done = asky("corpus", "add", "wiki://missing")
    assert done.code == 1
    assert done.err.count("\n") == 1
    assert asky("corpus", "list", "--collections").out == ""


# models


def reads(*targets: str) -> Answer:
    return Answer(calls=(Call("extract_links", {"urls": list(targets)}),))


def ask_model(asky: InProcess, patch: pytest.MonkeyPatch, endpoint: Endpoint, *arguments: str) -> dict[str, object]:
    for name, value in environ_of(
        endpoint, ASKY_MODELS__FREE__PROVIDER="lab", ASKY_MODELS__FREE__ID="test-model"
    ).items():
        patch.setenv(name, value)
    done = asky("ask", "-m", "free", "--json", *arguments)
    assert done.code == 0, done.err
    found: dict[str, object] = done.json
    return found


def results(request: Request) -> list[str]:
    return [str(each["content"]) for each in request.messages if each["role"] == "tool"]


def test_a_model_reads_what_a_source_links_to_and_nothing_else(
    asky: InProcess, wiki: Wiki, monkeypatch: pytest.MonkeyPatch
) -> None:
    wiki.put("secret", "Nobody may know.")
    steps = (
        reads("wiki://tides", "wiki://bread", "wiki://secret", "local://etc", "https://example.org/"),
        Answer(calls=(Call("get_relevant_content", {"queries": ["yeast"]}),)),
        Answer("It is yeast."),
    )
    with Endpoint(*steps) as endpoint:
        found = ask_model(asky, monkeypatch, endpoint, "-d", "wiki://tides", "What makes bread rise?")
        first, *_, last = endpoint.requests
        offered = [each["function"]["name"] for each in first.json["tools"]]
        read, passages = results(last)
    assert "extract_links" in offered
    assert "Tides (wiki://tides)" in str(first.messages[-1]["content"])
    assert "- wiki://bread: wiki://bread" in read
    assert "- out: https://example.org/" in read
    assert "wiki://secret was not offered by any source" in read
    for other in ("local://etc", "https://example.org/"):
        assert f"{other}: could not be read: {other}: no adapter is configured for it" in read
    assert "Bread rises with yeast." in passages
    assert wiki.calls == ["both wiki://tides", "both wiki://bread"]
    shown = asky("runs", "show", str(found["run"]), "--json").json
    assert [(each["data"]["url"], each["data"]["verdict"]) for each in shown["ledger"] if each["kind"] == "read"][
        :2
    ] == [("wiki://tides", "cached"), ("wiki://bread", "fetched")]


def test_a_model_follows_a_limited_number_of_links(
    asky: InProcess, wiki: Wiki, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = [f"p{number}" for number in range(15)]
    wiki.put("hub", "Many pages.", tuple(f"wiki://{name}" for name in names))
    for name in names:
        wiki.put(name, f"Page {name}.")
    steps = [reads(*(f"wiki://{name}" for name in names[start : start + 5])) for start in (0, 5, 10)]
    with Endpoint(*steps, Answer("Done.")) as endpoint:
        ask_model(asky, monkeypatch, endpoint, "-d", "wiki://hub", "What is on the pages?")
        said = results(endpoint.requests[-1])
    assert len(wiki.calls) == 1 + 10
    assert said[-1].count("10 links of your sources were followed in this run, which is the limit") == 5


@pytest.mark.parametrize("name", ["bread", "all"])
def test_no_tool_is_offered_where_nothing_can_be_followed(
    asky: InProcess, monkeypatch: pytest.MonkeyPatch, wiki: Wiki, name: str
) -> None:
    wiki.put("all", None, ("wiki://bread",))
    with Endpoint(Answer("It is yeast.")) as endpoint:
        ask_model(asky, monkeypatch, endpoint, "-d", f"wiki://{name}", "What makes bread rise?")
        offered = [each["function"]["name"] for each in endpoint.requests[0].json["tools"]]
    assert "extract_links" not in offered


def test_a_later_question_of_the_session_may_follow_the_links_too(
    asky: InProcess, wiki: Wiki, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Endpoint(Answer("The moon.")) as endpoint:
        ask_model(asky, monkeypatch, endpoint, "-s", "lab", "-d", "wiki://tides", "What pulls the sea?")
    with Endpoint(reads("wiki://bread"), Answer("It is yeast.")) as endpoint:
        ask_model(asky, monkeypatch, endpoint, "-s", "lab", "What makes bread rise?")
        (read,) = results(endpoint.requests[-1])
    assert "Bread (23 characters)" in read
