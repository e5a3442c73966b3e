"""The check of the default model: it is named, and the state of its key told, without reaching anything."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from asky.config.loader import load_config
from asky.health.check import Check
from asky.health.configuration import check_answering

CANARY = "sk-canary-0123456789abcdef"


def checked(home: Path, environ: Mapping[str, str]) -> Check:
    environment = {"HOME": str(home), "ASKY_HOME": str(home), **environ}
    return check_answering(load_config(environ=environment, cwd=home), environment)


def test_the_extractive_model_needs_nothing(tmp_path: Path) -> None:
    found = checked(tmp_path, {})
    assert (found.state, found.name) == ("ok", "default model")
    assert "extractive" in found.message


def test_a_model_that_needs_no_key_is_named_with_its_address(tmp_path: Path) -> None:
    found = checked(tmp_path, {"ASKY_MODEL": "ollama:qwen3:8b"})
    assert found.state == "ok"
    assert "ollama:qwen3:8b at http://localhost:11434/v1, no key needed" in found.message


def test_a_key_that_is_set_is_named_by_its_variable(tmp_path: Path) -> None:
    found = checked(tmp_path, {"ASKY_MODEL": "openai:gpt", "OPENAI_API_KEY": CANARY})
    assert found.state == "ok"
    assert "OPENAI_API_KEY is set" in found.message
    assert CANARY not in repr(found)


@pytest.mark.parametrize("key", ["", " ", f"{CANARY} {CANARY}"])
def test_a_key_that_is_missing_or_cannot_be_one_is_a_problem(tmp_path: Path, key: str) -> None:
    found = checked(tmp_path, {"ASKY_MODEL": "openai:gpt", "OPENAI_API_KEY": key})
    assert found.state == "problem"
    assert "OPENAI_API_KEY" in found.message
    assert found.hint
    assert CANARY not in repr(found)


@pytest.mark.parametrize(
    ("address", "state"),
    [
        ("http://llm.example/v1", "note"),
        ("https://llm.example/v1", "ok"),
        ("http://localhost:8000/v1", "ok"),
        ("http://[::1]:8000/v1", "ok"),
        ("http://127.0.0.2/v1", "ok"),
        ("http://127.0.0.1.example/v1", "note"),
    ],
)
def test_a_key_that_travels_in_the_open_is_noted(tmp_path: Path, address: str, state: str) -> None:
    environ = {"ASKY_MODEL": "openai:gpt", "OPENAI_API_KEY": CANARY, "OPENAI_BASE_URL": address}
    assert checked(tmp_path, environ).state == state
