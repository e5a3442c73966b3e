"""`asky setup` on a terminal, and the offer to search without a key."""

from __future__ import annotations

import socket
from contextlib import closing
from importlib.util import find_spec
from pathlib import Path

import pytest

from asky.config.documents import parse_toml
from tests.support.asky_command import run_asky
from tests.support.dialogue import Dialogue
from tests.support.endpoint import OLLAMA, Endpoint, Rules

PROMPTS = ("model:", "path:", "names, or all:", "y/n:")


def toml_of(home: Path, name: str) -> dict[str, object]:
    file = home / "asky" / "config" / name
    return parse_toml(file.read_text()) if file.is_file() else {}


def test_every_question_may_be_skipped_and_then_only_the_model_that_is_kept_is_written(tmp_path: Path) -> None:
    with Dialogue("setup", home=tmp_path) as setup:
        for prompt in PROMPTS:
            setup.answer(prompt, "")
        assert setup.end() == 0
    assert "keep extractive" in setup.screen
    assert 'Now ask: asky -d PATH "your question"' in setup.screen
    assert "no model is configured" not in run_asky("--web", "What?", home=tmp_path).stderr
    assert (toml_of(tmp_path, "models.toml"), toml_of(tmp_path, "research.toml")) == ({"default": "extractive"}, {})


def test_four_answers_set_up_a_model_documents_and_services(tmp_path: Path) -> None:
    folder = tmp_path / "papers"
    folder.mkdir()
    (folder / "tides.md").write_text("# Tides\n\nThe moon raises the tides twice a day.\n")
    rules = Rules(models=("qwen3:8b", "nomic-embed-text"))
    with Endpoint("Yes.", dialect=OLLAMA, rules=rules) as server:
        config = tmp_path / "asky" / "config"
        config.mkdir(parents=True, mode=0o700)
        (config / "models.toml").write_text(f'[providers.ollama]\nbase_url = "{server.base_url}"\n')
        with Dialogue("setup", home=tmp_path) as setup:
            setup.answer("model:", "1")
            setup.wait_for("ollama:qwen3:8b answers from now on")
            setup.answer("path:", str(tmp_path / "missing"))
            setup.answer("path:", str(folder))
            setup.answer("names, or all:", "wikipedia, nonesuch")
            if find_spec("ddgs") is None:
                setup.answer("names, or all:", "ddgs")
            setup.answer("names, or all:", "wikipedia, arxiv")
            setup.answer("y/n:", "n")
            assert setup.end() == 0
    assert toml_of(tmp_path, "models.toml")["default"] == "ollama:qwen3:8b"
    assert toml_of(tmp_path, "research.toml")["search"] == {"providers": ["wikipedia", "arxiv"]}
    assert "1 of 1 file searchable" in setup.screen
    assert "no such file or folder" in setup.screen


def test_a_second_setup_shows_what_there_is_and_enter_keeps_it(tmp_path: Path) -> None:
    (tmp_path / "tides.md").write_text("# Tides\n\nThe moon raises the tides twice a day.\n")
    run_asky("corpus", "add", "tides.md", home=tmp_path)
    run_asky("config", "set", "search.providers", '["wikipedia", "arxiv"]', home=tmp_path)
    run_asky("models", "default", "extractive", home=tmp_path)
    with Dialogue("setup", home=tmp_path) as setup:
        for prompt in PROMPTS:
            setup.answer(prompt, "")
        assert setup.end() == 0
    assert f"keep 1 document in {tmp_path / 'tides.md'}, and add none" in " ".join(setup.screen.split())
    assert "keep wikipedia, arxiv" in setup.screen
    assert 'Now ask: asky "your question" or, with the web, asky -r "your question"' in " ".join(setup.screen.split())


@pytest.mark.few(1)
@pytest.mark.parametrize("stopped_at", range(len(PROMPTS)))
def test_an_interrupted_setup_keeps_what_was_answered(tmp_path: Path, stopped_at: int) -> None:
    with Dialogue("setup", home=tmp_path, environ={"OPENAI_API_KEY": "sk-test"}) as setup:
        replies = ("openai:gpt-x", "", "wikipedia", "")
        for prompt, reply in zip(PROMPTS[:stopped_at], replies, strict=False):
            setup.answer(prompt, reply)
        setup.interrupt(PROMPTS[stopped_at])
        assert setup.end() == 130
    assert ("default" in toml_of(tmp_path, "models.toml")) is (stopped_at > 0)
    assert ("search" in toml_of(tmp_path, "research.toml")) is (stopped_at > 2)


def test_a_pipe_is_asked_nothing(tmp_path: Path) -> None:
    done = run_asky("setup", home=tmp_path, stdin="openai\n")
    assert (done.returncode, done.stdout) == (2, "")
    assert "there is no terminal" in done.stderr
    assert "asky models default MODEL" in done.stderr


@pytest.mark.extended
def test_a_key_that_is_set_is_named_beside_an_answer_of_the_built_in_model(tmp_path: Path) -> None:
    (tmp_path / "tides.md").write_text("# Tides\n\nThe moon raises the tides twice a day.\n")
    asked = ("-d", "tides.md", "What raises the tides?")
    done = run_asky(*asked, home=tmp_path, environ={"OPENAI_API_KEY": "sk-test"})
    assert "OPENAI_API_KEY is set: `asky models default openai:MODEL_ID`" in done.stderr
    assert "sk-test" not in done.stderr
    assert "is set" not in run_asky(*asked, home=tmp_path).stderr


@pytest.mark.extended
@pytest.mark.parametrize("reply", ["y", "n"])
def test_a_question_with_nothing_to_answer_from_offers_the_services_that_need_no_key(
    tmp_path: Path, reply: str
) -> None:
    with Dialogue("-r", "Who found penicillin?", home=tmp_path, environ={"NO_PROXY": "*"}) as asked:
        asked.answer("[y/N]:", reply)
        code = asked.end()
    assert asked.screen.count("no model is configured") == 1
    searched = toml_of(tmp_path, "research.toml").get("search")
    if reply == "y":
        assert isinstance(searched, dict)
        assert {"wikipedia", "arxiv", "openalex", "crossref", "pubmed", "semantic_scholar"} <= set(
            searched["providers"]
        )
    else:
        assert (code, searched) == (2, None)
        assert "asky setup" in asked.screen


@pytest.mark.extended
def test_in_a_pipe_the_services_are_only_named(tmp_path: Path) -> None:
    done = run_asky("-r", "Who found penicillin?", home=tmp_path)
    assert done.returncode == 2
    assert "Crossref, PubMed, Semantic Scholar, and DuckDuckGo through the package ddgs;" in done.stderr


@pytest.mark.extended
def test_an_error_names_the_reason_of_a_failed_search_and_its_hint_is_said_once(tmp_path: Path) -> None:
    (tmp_path / "loud").mkdir()
    (tmp_path / "quiet").mkdir()
    with closing(socket.socket()) as listener:
        listener.bind(("127.0.0.1", 0))
        address = f"http://127.0.0.1:{listener.getsockname()[1]}"
        environ = {"ASKY_SEARCH__PROVIDERS": "searxng", "ASKY_SEARCH__SEARXNG__BASE_URL": address}
        asked = ("-r", "--web", "Who found penicillin?")
        loud = run_asky(*asked, home=tmp_path / "loud", environ=environ)
        quiet = run_asky(*asked, "-q", home=tmp_path / "quiet", environ=environ)
    assert (loud.returncode, loud.stderr.count("hint: check the network")) == (5, 0)
    assert loud.stderr.endswith("does not answer: the connection was refused\n")
    assert (quiet.returncode, quiet.stderr.count("the connection was refused")) == (5, 1)
    assert "hint: check the network" in quiet.stderr
