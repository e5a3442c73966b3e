"""`asky models get`, `rm` and `list`: from a hub on this machine, with what a hub and a connection can do wrong."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import pytest
from filelock import FileLock

from asky.research.embedding.own_models import RECORD, OwnModels, lock_of
from asky.research.embeddings import EmbeddingClient, EmbeddingSettings
from tests.support.asky_command import run_asky
from tests.support.here import run_here
from tests.support.small_reader import NLI, WORDS, save_small_embedder, save_small_reader
from tests.support.twins.base import Reply
from tests.support.twins.hub import HubTwin, files_of, half

SCORER, JUDGE = "org/scorer", "org/judge"
GRAPHS = tuple(
    f"onnx/model{each}.onnx"
    for each in ("", "_O3", "_quantized", "_qint8_arm64", "_qint8_avx512", "_qint8_avx512_vnni", "_quint8_avx2")
)


@pytest.fixture
def hub(tmp_path: Path) -> Iterator[HubTwin]:
    judge = save_small_reader(tmp_path / "judge", NLI, WORDS, graphs=GRAPHS)
    scorer = save_small_reader(tmp_path / "scorer", graphs=["onnx/model.onnx"])
    (scorer / "README.md").write_text("not wanted")
    with HubTwin({SCORER: files_of(scorer), JUDGE: files_of(judge)}) as twin:
        yield twin
    assert twin.faults == []


def models(home: Path, *arguments: str, hub: HubTwin | None = None, **environ: str) -> CompletedProcess[str]:
    """`asky models ARGUMENTS` with that hub; a token of the user is around, and must reach nobody."""
    address = hub.base_url if hub is not None else "http://127.0.0.1:9"
    given = {"HF_ENDPOINT": address, "HF_TOKEN": "hf_canary", "HF_HOME": str(home / "hf"), **environ}
    return run_here("models", *arguments, home=home, environ=given)


def own(home: Path) -> OwnModels:
    return OwnModels(home / "asky" / "data" / "models")


def listed(home: Path, **environ: str) -> dict[str, Any]:
    done = models(home, "list", "--json", **environ)
    assert done.returncode == 0
    return {each["name"]: each for each in json.loads(done.stdout)["local"]}


def test_a_reader_is_downloaded_verified_and_used(tmp_path: Path, hub: HubTwin) -> None:
    done = models(tmp_path, "get", SCORER, "--yes", hub=hub)
    assert done.returncode == 0, done.stderr
    assert f"{SCORER} is now in {own(tmp_path).place(SCORER)}" in done.stdout
    assert f"from {hub.host}, commit 0123456789ab" in done.stderr
    assert "onnx/model.onnx" in done.stderr
    assert f"asky config set research.reader.answers {SCORER}" in done.stderr
    kept = own(tmp_path).find(SCORER)
    assert kept is not None
    kept.check(fully=True)
    assert sorted(kept.files) == ["config.json", "onnx/model.onnx", "tokenizer.json"]
    assert (kept.uses, kept.licence, kept.hub) == (("answers",), "apache-2.0", hub.host)
    assert not list(own(tmp_path).folder.glob(".parts/*/*"))

    found = listed(tmp_path, ASKY_RESEARCH__READER__ANSWERS=SCORER)
    assert found[SCORER]["source"] == "download"
    assert found[SCORER]["bytes"] == kept.bytes
    assert found["builtin"]["used_by"] == ["research.reader.verdicts"]
    again = models(tmp_path, "get", SCORER, "--json")
    assert json.loads(again.stdout)["downloaded"] is False

    removed = models(tmp_path, "rm", SCORER, "--json")
    assert json.loads(removed.stdout)["name"] == SCORER
    assert own(tmp_path).names() == []
    assert models(tmp_path, "rm", SCORER).returncode == 3


def test_only_the_file_for_this_processor_is_fetched(tmp_path: Path, hub: HubTwin) -> None:
    assert models(tmp_path, "get", JUDGE, "--yes", hub=hub).returncode == 0
    kept = own(tmp_path).find(JUDGE)
    assert kept is not None
    assert kept.uses == ("verdicts",)
    assert len([path for path in kept.files if path.endswith(".onnx")]) == 1
    assert len(hub.asked(".onnx")) == 1


def test_nothing_is_downloaded_without_consent(tmp_path: Path, hub: HubTwin) -> None:
    done = models(tmp_path, "get", SCORER, hub=hub)
    assert done.returncode == 2
    assert "confirmation needed to download" in done.stderr
    assert f"from {hub.host}" in done.stderr
    assert hub.asked(".onnx") == []


def test_a_file_that_breaks_off_is_continued(tmp_path: Path, hub: HubTwin) -> None:
    hub.on("model.onnx", half)
    assert models(tmp_path, "get", SCORER, "--yes", hub=hub).returncode == 0
    first, second = hub.asked("model.onnx")
    size = len(hub.models[SCORER]["onnx/model.onnx"])
    assert "range" not in first.headers
    assert second.headers["range"] == f"bytes={size // 2}-"


def test_a_later_command_continues_too(tmp_path: Path, hub: HubTwin) -> None:
    hub.on("model.onnx", half, *[Reply("", status=503)] * 3)
    done = models(tmp_path, "get", SCORER, "--yes", hub=hub)
    assert done.returncode == 8
    size = len(hub.models[SCORER]["onnx/model.onnx"])
    assert (own(tmp_path).parts(SCORER) / "onnx/model.onnx").stat().st_size == size // 2
    assert models(tmp_path, "get", SCORER, "--yes", hub=hub).returncode == 0
    assert hub.asked("model.onnx")[-1].headers["range"] == f"bytes={size // 2}-"
    assert len(hub.asked("tokenizer.json")) == 1


def test_a_host_without_ranges_sends_the_file_again(tmp_path: Path, hub: HubTwin) -> None:
    whole = Reply(hub.models[SCORER]["onnx/model.onnx"])
    hub.on("model.onnx", half, whole)
    assert models(tmp_path, "get", SCORER, "--yes", hub=hub).returncode == 0
    hub.on("model.onnx", half, Reply("", status=416))
    models(tmp_path, "rm", SCORER)
    assert models(tmp_path, "get", SCORER, "--yes", hub=hub).returncode == 0


def test_what_was_begun_of_another_commit_is_not_continued(tmp_path: Path, hub: HubTwin) -> None:
    hub.on("model.onnx", half, *[Reply("", status=503)] * 3)
    assert models(tmp_path, "get", SCORER, "--yes", hub=hub).returncode == 8
    hub.commit = "f" * 40
    assert models(tmp_path, "get", SCORER, "--yes", hub=hub).returncode == 0
    assert "range" not in hub.asked("model.onnx")[-1].headers


@pytest.mark.parametrize("stated", [{"lfs": {"sha256": "0" * 64, "size": 0, "pointerSize": 130}}, {}])
def test_a_file_with_another_hash_is_refused_and_not_kept(tmp_path: Path, hub: HubTwin, stated: dict[str, Any]) -> None:
    content = hub.models[SCORER]["onnx/model.onnx"]
    name = "onnx/model.onnx" if stated else "config.json"
    hub.state(name, **({"lfs": {**stated["lfs"], "size": len(content)}} if stated else {"blobId": "0" * 40}))
    done = models(tmp_path, "get", SCORER, "--yes", hub=hub)
    assert done.returncode == 8
    assert f"sent another {name} of {SCORER} than it states" in done.stderr
    assert not (own(tmp_path).parts(SCORER) / name).exists()
    assert own(tmp_path).names() == []


@pytest.mark.parametrize("difference", [-1, 1])
def test_a_file_of_another_size_is_refused(tmp_path: Path, hub: HubTwin, difference: int) -> None:
    size = len(hub.models[SCORER]["onnx/model.onnx"]) + difference
    hub.state("onnx/model.onnx", lfs={"sha256": "0" * 64, "size": size, "pointerSize": 130})
    done = models(tmp_path, "get", SCORER, "--yes", hub=hub)
    assert done.returncode in (5, 8)
    assert own(tmp_path).names() == []


def test_a_hub_that_asks_to_wait_is_obeyed_or_left(tmp_path: Path, hub: HubTwin) -> None:
    hub.on("model.onnx", Reply("", status=429, headers=(("Retry-After", "0"),)))
    assert models(tmp_path, "get", SCORER, "--yes", hub=hub).returncode == 0
    models(tmp_path, "rm", SCORER)
    hub.on(f"models/{SCORER}", Reply("", status=429, headers=(("Retry-After", "3600"),)))
    done = models(tmp_path, "get", SCORER, "--yes", hub=hub)
    assert done.returncode == 6
    assert "asks clients to wait" in done.stderr


def test_a_model_that_is_not_there_or_not_for_all_is_told_apart(tmp_path: Path, hub: HubTwin) -> None:
    done = models(tmp_path, "get", "org/absent", "--yes", hub=hub)
    assert done.returncode == 3
    assert "no public model called org/absent" in done.stderr
    hub.on(f"models/{SCORER}", Reply("", status=404))
    assert models(tmp_path, "get", SCORER, "--yes", hub=hub).returncode == 3
    hub.on("config.json", Reply("", status=403, headers=(("X-Error-Code", "GatedRepo"),)))
    done = models(tmp_path, "get", SCORER, "--yes", hub=hub)
    assert done.returncode == 4
    assert "only to those who sign in" in done.stderr


def test_a_redirect_to_another_host_is_refused_and_nothing_is_sent_there(tmp_path: Path, hub: HubTwin) -> None:
    with HubTwin(hub.models) as elsewhere:
        for place in (f"{elsewhere.base_url}/{SCORER}/x", "https://models.example/x", "https://user@cdn.hf.co/x", ""):
            hub.on("model.onnx", Reply("", status=302, headers=(("Location", place),)))
            done = models(tmp_path, "get", SCORER, "--yes", hub=hub)
            assert done.returncode == 1
            assert "redirects to" in done.stderr
        assert elsewhere.requests == []


def test_a_redirect_within_the_hub_is_followed(tmp_path: Path, hub: HubTwin) -> None:
    moved = f"/{SCORER}/resolve/{hub.commit}/onnx/model.onnx?signed=1"
    hub.on("model.onnx", Reply("", status=302, headers=(("Location", moved),)))
    assert models(tmp_path, "get", SCORER, "--yes", hub=hub).returncode == 0
    hub.on("model.onnx", *[Reply("", status=302, headers=(("Location", moved),))] * 9)
    models(tmp_path, "rm", SCORER)
    assert models(tmp_path, "get", SCORER, "--yes", hub=hub).returncode == 8


@pytest.mark.parametrize("answer", ["<<< {", "[]", '{"sha": "x", "siblings": []}', '{"sha": 1}', "null"])
def test_a_hub_that_talks_nonsense_is_told(tmp_path: Path, hub: HubTwin, answer: str) -> None:
    hub.on(f"models/{SCORER}", Reply(answer))
    done = models(tmp_path, "get", SCORER, "--yes", hub=hub)
    assert done.returncode == 8
    assert "not with the files" in done.stderr


def test_paths_that_lead_elsewhere_are_passed_over(tmp_path: Path, hub: HubTwin) -> None:
    files = {"../config.json": b"{}", "/etc/x/config.json": b"{}", "1_A/../config.json": b"{}"}
    hub.models = {SCORER: {**hub.models[SCORER], **files}}
    assert models(tmp_path, "get", SCORER, "--yes", hub=hub).returncode == 0
    assert own(tmp_path).find(SCORER) is not None
    assert all(".." not in each.path and "etc" not in each.path for each in hub.requests)


def test_models_of_no_use_are_refused_before_their_weights(tmp_path: Path, hub: HubTwin) -> None:
    config = json.loads(hub.models[JUDGE]["config.json"])
    for name, changed, said in (
        ("org/chat", {"architectures": ["LlamaForCausalLM"]}, "it does not classify texts"),
        ("org/unnamed", {"id2label": {"0": "LABEL_0", "1": "LABEL_1", "2": "LABEL_2"}}, "do not say what they mean"),
    ):
        hub.models = {name: {**hub.models[JUDGE], "config.json": json.dumps({**config, **changed}).encode()}} | dict(
            hub.models
        )
        done = models(tmp_path, "get", name, "--yes", hub=hub)
        assert done.returncode == 3
        assert said in done.stderr
    for name, without, said in (
        ("org/torch", ".onnx", "has no ONNX file"),
        ("org/slow", "tokenizer.json", "has no tokenizer.json"),
    ):
        files = {path: data for path, data in hub.models[JUDGE].items() if not path.endswith(without)}
        hub.models = {**hub.models, name: files}
        done = models(tmp_path, "get", name, "--yes", hub=hub)
        assert done.returncode == 3
        assert said in done.stderr
        assert "optimum-cli" in done.stderr
    assert hub.asked(".onnx") == []


def test_a_model_that_does_not_run_is_not_kept(tmp_path: Path, hub: HubTwin) -> None:
    hub.models = {SCORER: {**hub.models[SCORER], "onnx/model.onnx": b"\0" * 2000}}
    done = models(tmp_path, "get", SCORER, "--yes", hub=hub)
    assert done.returncode == 3
    assert f"{SCORER} does not run" in done.stderr
    assert not own(tmp_path).parts(SCORER).exists()


def test_without_a_network_the_way_out_is_said(tmp_path: Path, hub: HubTwin) -> None:
    for arguments, environ in (
        (("--offline",), {}),
        ((), {"HF_HUB_OFFLINE": "1"}),
        ((), {"ASKY_RESEARCH__EMBEDDING__LOCAL_FILES_ONLY": "true"}),
    ):
        done = models(tmp_path, "get", SCORER, "--yes", *arguments, hub=hub, **environ)
        assert done.returncode == 3
        assert "rules out a download" in done.stderr
    assert hub.requests == []
    done = models(tmp_path, "get", SCORER, "--yes", "--json")
    assert (done.returncode, done.stdout) == (5, "")
    assert json.loads(done.stderr)["code"] == "unreachable"
    assert "copy the model's folder" in json.loads(done.stderr)["hint"]


def test_a_download_that_is_damaged_later_is_found_and_replaced(tmp_path: Path, hub: HubTwin) -> None:
    assert models(tmp_path, "get", SCORER, "--yes", hub=hub).returncode == 0
    file = own(tmp_path).place(SCORER) / "onnx/model.onnx"
    data = file.read_bytes()
    for bad in (data[:-1], data[:-1] + b"?"):
        file.write_bytes(bad)
        assert "is not the file that it was" in listed(tmp_path)[SCORER]["problem"]
    (own(tmp_path).place(SCORER) / RECORD).write_text("{")
    assert "its record is not readable" in listed(tmp_path)[SCORER]["problem"]
    assert models(tmp_path, "get", SCORER, "--yes", hub=hub).returncode == 0
    assert listed(tmp_path)[SCORER]["problem"] is None


@pytest.mark.parametrize("name", ["../up", "a/b/c", "", "org/..", "https://hub.example/x"])
def test_what_is_no_name_is_refused(tmp_path: Path, hub: HubTwin, name: str) -> None:
    assert models(tmp_path, "get", name, "--yes", hub=hub).returncode in (2, 3)
    assert models(tmp_path, "rm", name).returncode in (2, 3)
    assert hub.requests == []


def test_what_is_part_of_asky_is_neither_downloaded_nor_removed(tmp_path: Path, hub: HubTwin) -> None:
    for name in ("builtin", "all-MiniLM-L6-v2", "sentence-transformers/all-MiniLM-L6-v2"):
        assert models(tmp_path, "get", name, hub=hub).returncode == 0
        assert models(tmp_path, "rm", name).returncode == 2
    assert hub.requests == []


def test_a_configured_model_that_is_missing_is_listed_with_what_to_do(tmp_path: Path) -> None:
    done = models(tmp_path, "list", ASKY_RESEARCH__READER__VERDICTS="org/absent")
    assert done.returncode == 0
    assert "org/absent (research.reader.verdicts): not on this machine: asky models get org/absent" in done.stderr


def test_an_embedding_model_is_downloaded_and_used(tmp_path: Path, hub: HubTwin) -> None:
    files = files_of(save_small_embedder(tmp_path / "embedder"))
    hub.models = {"org/embedder": files}
    done = models(tmp_path, "get", "org/embedder", "--yes", "--json", hub=hub)
    assert json.loads(done.stdout)["uses"] == ["embedding"]
    client = EmbeddingClient(
        EmbeddingSettings(model="org/embedder", local_files_only=True, own_models=str(own(tmp_path).folder))
    )
    first, second, third = client.embed(["the quay", "a ferry", "the moon"])
    assert first @ second > first @ third
    hub.models = {"org/dense": files_of(save_small_embedder(tmp_path / "d", kinds=("Transformer", "Pooling", "Dense")))}
    done = models(tmp_path, "get", "org/dense", "--yes", hub=hub)
    assert done.returncode == 3
    assert "more than a transformer" in done.stderr
    assert len(hub.asked("model.onnx")) == 1


def test_two_at_once_do_not_write_into_one_file(tmp_path: Path, hub: HubTwin) -> None:
    parts = own(tmp_path).parts(SCORER)
    parts.mkdir(parents=True)
    with FileLock(lock_of(parts)):
        done = models(tmp_path, "get", SCORER, "--yes", hub=hub)
    assert done.returncode == 1
    assert f"another process is downloading {SCORER}" in done.stderr
    assert hub.asked("model.onnx") == []


def test_names_are_completed(tmp_path: Path, hub: HubTwin) -> None:
    assert models(tmp_path, "get", SCORER, "--yes", hub=hub).returncode == 0

    def completed(*words: str) -> list[str]:
        line = {"_ASKY_COMPLETE": "bash_complete", "COMP_WORDS": " ".join(words), "COMP_CWORD": str(len(words) - 1)}
        return [each.partition(",")[2] for each in run_asky(home=tmp_path, environ=line).stdout.split()]

    assert completed("asky", "models", "rm", "org/") == [SCORER]
    assert "cross-encoder/ms-marco-MiniLM-L6-v2" in completed("asky", "models", "get", "cross-encoder/")


def test_what_the_hubs_own_program_downloaded_is_used_if_it_runs_as_it_is(tmp_path: Path, hub: HubTwin) -> None:
    root = tmp_path / "hf" / "hub" / "models--org--scorer"
    folder = root / "snapshots" / "abc123"
    save_small_reader(folder, graphs=())
    (folder / "model.safetensors").write_bytes(b"weights")
    (root / "refs").mkdir()
    (root / "refs" / "main").write_text("abc123", "ascii")
    assert json.loads(models(tmp_path, "get", SCORER, "--yes", "--json", hub=hub).stdout)["source"] == "download"
    models(tmp_path, "rm", SCORER)
    save_small_reader(folder)
    requests = len(hub.requests)
    done = models(tmp_path, "get", SCORER, "--json", hub=hub)
    assert (json.loads(done.stdout)["source"], json.loads(done.stdout)["path"]) == ("cache", str(folder))
    assert len(hub.requests) == requests
    refused = models(tmp_path, "rm", SCORER)
    assert refused.returncode == 3
    assert "which other programs share" in refused.stderr
    assert folder.exists()


def test_downloads_are_readable_by_the_user_alone(tmp_path: Path, hub: HubTwin) -> None:
    assert models(tmp_path, "get", SCORER, "--yes", hub=hub).returncode == 0
    for folder in (own(tmp_path).folder, own(tmp_path).place(SCORER), own(tmp_path).folder.parent):
        assert folder.stat().st_mode & 0o077 == 0


def test_the_doctor_checks_readers_that_are_named(tmp_path: Path, hub: HubTwin) -> None:
    assert models(tmp_path, "get", SCORER, "--yes", hub=hub).returncode == 0

    def found(**environ: str) -> list[tuple[str, str]]:
        done = run_here("doctor", "--json", home=tmp_path, environ=environ)
        checks = json.loads(done.stdout)["checks"]
        return [(each["state"], each["message"]) for each in checks if each["name"] == "reader"]

    assert found() == [("ok", "research.reader.answers: builtin")]
    right = {"ASKY_RESEARCH__READER__ANSWERS": SCORER}
    assert found(**right)[0] == ("ok", f"research.reader.answers: {SCORER}")
    assert "single output" in found(ASKY_RESEARCH__READER__VERDICTS=SCORER)[-1][1]
    assert "is not on this machine" in found(ASKY_RESEARCH__READER__VERDICTS="org/absent")[-1][1]
    (own(tmp_path).place(SCORER) / "tokenizer.json").write_text("{}")
    assert found(**right)[0][0] == "problem"
