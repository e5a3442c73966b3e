"""Sources of the user's own programs, in questions, with -d and in collections. No model is needed."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

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
