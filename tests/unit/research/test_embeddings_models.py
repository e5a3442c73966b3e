"""Where the files of a model are looked for."""

from __future__ import annotations

from pathlib import Path

import pytest

from asky.errors import ConfigError, NotConfigured
from asky.research.embedding.models import find_model_folder, hub_id, is_folder, model_name
from asky.research.embeddings import EmbeddingClient, EmbeddingSettings


@pytest.fixture
def no_models(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An environment whose Hugging Face cache is empty."""
    for variable in ("SENTENCE_TRANSFORMERS_HOME", "HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE", "HF_HUB_OFFLINE"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv("HF_HOME", str(tmp_path / "hf"))
    return tmp_path / "hf" / "hub"


def model_files(folder: Path) -> Path:
    folder.mkdir(parents=True)
    (folder / "config.json").write_text("{}", "utf-8")
    (folder / "model.safetensors").write_bytes(b"weights")
    return folder


def test_a_path_is_what_looks_like_one() -> None:
    assert [is_folder(model) for model in ("/a/b", "./a", "../a", "~/a", ".", "a", "a/b")] == [True] * 5 + [False] * 2


def test_a_name_without_an_organisation_is_one_of_sentence_transformers() -> None:
    assert hub_id("all-MiniLM-L6-v2") == "sentence-transformers/all-MiniLM-L6-v2"
    assert hub_id("BAAI/bge-small-en-v1.5") == "BAAI/bge-small-en-v1.5"


@pytest.mark.parametrize("model", ["", "a b", "a/b/c", "a/../b", "..x/..", "https://example.org/m", "a\n"])
def test_what_is_neither_a_name_nor_a_path_is_refused(model: str) -> None:
    with pytest.raises(NotConfigured):
        hub_id(model)


def test_a_model_is_called_by_the_last_part_of_its_name_or_path() -> None:
    assert (model_name("BAAI/bge"), model_name("./x/m")) == ("bge", "m")


def test_a_folder_is_taken_as_it_is(tmp_path: Path) -> None:
    folder = model_files(tmp_path / "m")
    assert find_model_folder(str(folder), local_files_only=True) == folder


def test_a_folder_without_a_model_is_named(tmp_path: Path) -> None:
    with pytest.raises(NotConfigured, match=str(tmp_path)):
        find_model_folder(str(tmp_path), local_files_only=False)


def test_a_folder_in_the_working_directory_does_not_pass_for_a_name(
    no_models: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model_files(tmp_path / "planted")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(NotConfigured):
        find_model_folder("planted", local_files_only=True)


def test_the_hugging_face_cache_is_used_without_a_network(no_models: Path) -> None:
    root = no_models / "models--org--m"
    folder = model_files(root / "snapshots" / "abc123")
    (root / "refs").mkdir()
    (root / "refs" / "main").write_text("abc123", "ascii")
    assert find_model_folder("org/m", local_files_only=False) == folder


def test_a_cache_whose_weights_are_missing_is_passed_over(no_models: Path) -> None:
    root = no_models / "models--org--m"
    (model_files(root / "snapshots" / "abc123") / "model.safetensors").unlink()
    (root / "refs").mkdir()
    (root / "refs" / "main").write_text("abc123", "ascii")
    with pytest.raises(NotConfigured):
        find_model_folder("org/m", local_files_only=True)


def test_a_model_that_is_nowhere_names_what_to_install(no_models: Path, tmp_path: Path) -> None:
    client = EmbeddingClient(EmbeddingSettings(model="org/nowhere", local_files_only=True))
    with pytest.raises(NotConfigured, match="org/nowhere") as caught:
        client.embed(["text"])
    assert "while online" in str(caught.value.hint)
    with pytest.raises(NotConfigured):
        _ = client.fingerprint


def test_the_hub_is_left_alone_when_the_environment_says_so(no_models: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    with pytest.raises(NotConfigured, match="downloads are off"):
        find_model_folder("org/nowhere", local_files_only=False)


@pytest.mark.parametrize("bad", [{"device": "tpu"}, {"batch_size": 0}])
def test_settings_that_make_no_sense_are_refused(bad: dict[str, object]) -> None:
    with pytest.raises(ConfigError):
        EmbeddingSettings(**bad)  # type: ignore[arg-type]  # the point of the test
