"""The embedding client on real models: a tiny one with random weights, and the default one where it is installed."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from asky.errors import AskyError, NotConfigured
from asky.events import Event, StageStarted, Warned, ignore
from asky.research.embedding.cache import ExportedModel, UnusableExport, known_weights_hash, read_exported
from asky.research.embedding.embedder import Embedder
from asky.research.embedding.models import find_model_folder, model_key
from asky.research.embedding.onnx_backend import OnnxEncoder
from asky.research.embeddings import EmbeddingClient, EmbeddingSettings
from tests.support.asky_command import run_asky
from tests.support.embedding_contract import TEXTS, EmbedderContract
from tests.support.tiny_model import save_tiny_model

ROOT = Path(__file__).parents[3]
PROMPTS = {"query": "q ", "document": "doc "}
SENTENCES = ["a cat sat", "the dog runs fast. does it?", "b", "", "a much longer text of many words " * 3]

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning:torch", "ignore::FutureWarning")


@pytest.fixture(scope="session")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_tiny_model(tmp_path_factory.mktemp("models") / "tiny", prompts=PROMPTS)


@pytest.fixture(scope="session")
def tiny_cache(tiny: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A cache that holds the export of `tiny` and no other, whichever models other processes test."""
    cache = tmp_path_factory.mktemp("tiny-cache")
    assert client(tiny, cache).dim == 32
    return cache


def client(model: Path | str, cache: Path, heard: list[Event] | None = None, **more: object) -> EmbeddingClient:
    settings = EmbeddingSettings(cache, model=str(model), local_files_only=True, **more)  # type: ignore[arg-type]  # mixed
    return EmbeddingClient(settings, listener=ignore if heard is None else heard.append)


def export_folder(cache: Path) -> Path:
    (meta,) = cache.glob("tiny-*/fp32/meta.json")
    return meta.parent


def copied(folder: Path, target: Path) -> Path:
    """A copy of a folder with exports that a test may damage."""
    shutil.copytree(folder, target)
    for file in target.rglob("*"):
        file.chmod(0o700)
    return target


def torch_vectors(model: Path, texts: list[str], *, query: bool = False) -> np.ndarray:
    from sentence_transformers import SentenceTransformer

    loaded = SentenceTransformer(str(model), device="cpu", local_files_only=True)
    encode: Callable[..., np.ndarray] = loaded.encode_query if query else loaded.encode_document
    return encode(texts, normalize_embeddings=True, show_progress_bar=False)


def run_python(code: str, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", code, *arguments],
        cwd=ROOT,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=300,
    )


EMBED = """
import sys
from pathlib import Path
from asky.research.embeddings import EmbeddingClient, EmbeddingSettings
client = EmbeddingClient(EmbeddingSettings(Path(sys.argv[1]), model=sys.argv[2], local_files_only=True))
client.embed_query("what is it?")
client.embed(["one", "two"])
print((client._folder / "model.onnx").stat().st_ino)
heavy = {"torch", "transformers", "sentence_transformers", "onnx", "huggingface_hub", "filelock"}
print(sorted(heavy & set(sys.modules)))
"""


@pytest.fixture(scope="session")
def default_client(model_cache: Path) -> EmbeddingClient:
    return client("all-MiniLM-L6-v2", model_cache)


@pytest.mark.slow
@pytest.mark.model
class TestDefaultModel(EmbedderContract):
    @pytest.fixture
    def embedder(self, default_client: EmbeddingClient) -> Embedder:
        return default_client

    def test_its_window_size_and_fingerprint(self, embedder: Embedder) -> None:
        assert (embedder.dim, embedder.max_tokens) == (384, 254)
        assert embedder.fingerprint.startswith("all-MiniLM-L6-v2:384:mean:l2:w256:fp32:")

    def test_its_vectors_are_those_of_sentence_transformers(self, embedder: Embedder) -> None:
        texts = [*TEXTS, *(f"Sentence number {i} " * i for i in range(1, 40))]
        expected = torch_vectors(find_model_folder("all-MiniLM-L6-v2", local_files_only=True), texts)
        assert float((embedder.embed(texts) * expected).sum(axis=1).min()) > 0.9999


@pytest.mark.extended
@pytest.mark.slow
@pytest.mark.model
def test_int8_vectors_are_near_those_of_fp32_and_do_not_pass_for_them(model_cache: Path) -> None:
    exact, rough = (client("all-MiniLM-L6-v2", model_cache, precision=precision) for precision in ("fp32", "int8"))
    texts = [f"The {thing} is in the house, and nobody knows why." for thing in ("cat", "moon", "tax", "engine")]
    assert float((exact.embed(texts) * rough.embed(texts)).sum(axis=1).min()) > 0.97
    assert exact.fingerprint != rough.fingerprint


@pytest.mark.extended
@pytest.mark.slow
@pytest.mark.parametrize("pooling", ["mean", "cls", "max"])
def test_every_pooling_gives_the_vectors_of_sentence_transformers(
    tiny: Path, tiny_cache: Path, tmp_path: Path, pooling: str
) -> None:
    model, cache = tiny, tiny_cache  # whose pooling is the mean
    if pooling != "mean":
        model, cache = save_tiny_model(tmp_path / "tiny", pooling=pooling, prompts=PROMPTS), tmp_path / "cache"
    embedder = client(model, cache)
    documents, questions = torch_vectors(model, SENTENCES), torch_vectors(model, SENTENCES, query=True)
    assert float((embedder.embed(SENTENCES) * documents).sum(axis=1).min()) > 0.9999
    for text, expected in zip(SENTENCES, questions, strict=True):
        assert float(embedder.embed_query(text) @ expected) > 0.9999
    assert embedder.max_tokens == 40 - 2 - 3
    assert embedder.usage.truncated == 2
    exported = bool(list(cache.glob("tiny-*/fp32/model.onnx")))
    assert exported == (pooling != "max")


@pytest.mark.slow
@pytest.mark.extended
def test_after_the_export_neither_torch_nor_its_libraries_are_imported(tiny: Path, tiny_cache: Path) -> None:
    done = run_python(EMBED, str(tiny_cache), str(tiny))
    assert done.stdout.splitlines()[1:] == ["[]"], done.stderr


COUNT = """
import sys
from pathlib import Path
from asky.research.embeddings import EmbeddingClient, EmbeddingSettings
client = EmbeddingClient(EmbeddingSettings(Path(sys.argv[1]), model=sys.argv[2], local_files_only=True))
room = client.max_tokens
print(client.count_tokens(["one", "two three"]), room > 0)
print(sorted({"onnxruntime", "numpy"} & set(sys.modules)))
client.embed(["one"])
print(client.count_tokens(["one", "two three"]), client.max_tokens == room)
"""


@pytest.mark.slow
def test_counting_tokens_does_not_open_the_model(tiny: Path, tiny_cache: Path) -> None:
    done = run_python(COUNT, str(tiny_cache), str(tiny))
    assert done.returncode == 0, done.stderr
    before, loaded, after = done.stdout.splitlines()
    assert loaded == "[]"
    assert (before, before.endswith("True")) == (after, True)


@pytest.mark.extended
@pytest.mark.slow
def test_a_tokenizer_that_went_missing_after_it_was_checked_is_made_anew(
    tiny: Path, tiny_cache: Path, tmp_path: Path
) -> None:
    cache = copied(tiny_cache, tmp_path / "cache")
    embedder = client(tiny, cache)
    expected = embedder.count_tokens(TEXTS)
    later = client(tiny, cache)
    assert later.fingerprint == embedder.fingerprint
    (export_folder(cache) / "tokenizer.json").unlink()
    assert later.count_tokens(TEXTS) == expected
    assert (export_folder(cache) / "tokenizer.json").exists()


@pytest.mark.extended
@pytest.mark.slow
def test_processes_that_start_at_once_export_once_and_the_source_is_needed_no_more(tiny: Path, tmp_path: Path) -> None:
    model = shutil.copytree(tiny, tmp_path / "tiny")
    (tmp_path / "cache" / model_key(str(model)) / ".fp32-of-a-killed-process").mkdir(parents=True)
    command = [sys.executable, "-c", EMBED, str(tmp_path / "cache"), str(model)]
    running = [subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    outputs = {process.communicate(timeout=300)[0].splitlines()[0] for process in running}
    assert len(outputs) == 1
    assert sorted(path.name for path in (tmp_path / "cache").glob("*/*")) == ["fp32", "fp32.lock"]
    shutil.rmtree(model)
    assert client(model, tmp_path / "cache").embed(SENTENCES).shape == (len(SENTENCES), 32)


@pytest.mark.extended
@pytest.mark.slow
def test_a_model_is_prepared_once_for_all_homes_of_a_user_and_is_then_read_only(tmp_path: Path) -> None:
    tiny = save_tiny_model(tmp_path / "tiny", window=128)
    (tmp_path / "tides.md").write_text("The moon raises two tides a day.", "utf-8")
    environ = {"ASKY_RESEARCH__EMBEDDING__MODEL": str(tiny), "ASKY_MODEL_CACHE": ""}
    for home, expected in (("one", True), ("two", False)):
        arguments = ("corpus", "add", "tides.md", "-v")
        done = run_asky(*arguments, home=tmp_path, environ={**environ, "ASKY_HOME": str(tmp_path / home)})
        assert (done.returncode, "preparing the search model" in done.stderr) == (0, expected), done.stderr
        assert not (tmp_path / home / "cache" / "models").exists()
    exported = export_folder(tmp_path / ".cache" / "asky" / "models")
    assert {file.stat().st_mode & 0o777 for file in exported.iterdir()} == {0o400}
    assert (tmp_path / ".cache" / "asky").stat().st_mode & 0o777 == 0o700


@pytest.mark.extended
@pytest.mark.slow
@pytest.mark.parametrize("way", ["cut", "incomplete"])
def test_a_cut_or_incomplete_cache_is_noticed_and_made_anew(
    tiny: Path, tiny_cache: Path, tmp_path: Path, way: str
) -> None:
    cache = copied(tiny_cache, tmp_path / "cache")
    before = client(tiny, cache).embed(SENTENCES)
    if way == "cut":
        file = export_folder(cache) / "model.onnx"
        file.write_bytes(file.read_bytes()[:1000])
    else:
        (export_folder(cache) / "meta.json").unlink()
    heard: list[Event] = []
    assert (client(tiny, cache, heard).embed(SENTENCES) == before).all()
    (warned, _) = [event.message for event in heard if isinstance(event, Warned)]  # the other is about a long text
    assert ("is damaged (model.onnx" if way == "cut" else "is incomplete") in warned
    assert warned.endswith(": it is prepared again")
    again: list[Event] = []
    client(tiny, cache, again).embed(["text"])
    assert not any(isinstance(event, StageStarted | Warned) for event in again)


@pytest.mark.extended
@pytest.mark.slow
def test_a_cache_that_cannot_be_written_is_said_once_and_done_without(tiny: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("no folder", "utf-8")
    heard: list[Event] = []
    embedder = client(tiny, tmp_path / "file" / "cache", heard)
    embedder.embed(SENTENCES)
    embedder.embed_query("question")
    (warned,) = [event for event in heard if isinstance(event, Warned) and "cannot write" in event.message]
    assert warned.message.endswith("not a directory; every command has to prepare the search model again")
    assert warned.hint == "set ASKY_MODEL_CACHE to a folder that you can write"


@pytest.mark.extended
@pytest.mark.slow
def test_a_model_without_usable_weights_gives_an_error_and_no_vectors(tmp_path: Path) -> None:
    model = save_tiny_model(tmp_path / "broken", weights="nan")
    heard: list[Event] = []
    embedder = client(model, tmp_path / "cache", heard)
    with pytest.raises(AskyError, match="not finite"):
        embedder.embed(["text"])
    assert any(isinstance(event, Warned) and "differs from torch" in event.message for event in heard)


@pytest.mark.slow
class TestExport:
    """What is noticed when an export is opened."""

    @pytest.fixture
    def folder(self, tiny_cache: Path, tmp_path: Path) -> Path:
        return copied(export_folder(tiny_cache), tmp_path / "fp32")

    def made(self, folder: Path) -> ExportedModel:
        made = read_exported(folder)
        assert made is not None
        return made

    def test_an_export_opens(self, folder: Path) -> None:
        assert OnnxEncoder(folder, self.made(folder), batch_size=8).dim == 32

    def test_callers_at_once_share_as_many_threads_as_there_are_processors(self, folder: Path) -> None:
        others, computing = set(threading.enumerate()), list[int]()
        encoder, together = OnnxEncoder(folder, self.made(folder), batch_size=1), threading.Barrier(4, timeout=60)
        alone = encoder.encode(TEXTS * 20, "", lambda _: None).vectors

        def embed() -> np.ndarray:
            together.wait()

            def note(_: int) -> None:
                computing.append(sum(each.name.startswith("embed") for each in set(threading.enumerate()) - others))

            return encoder.encode(TEXTS * 20, "", note).vectors

        with ThreadPoolExecutor(4) as pool:
            found = [each.result() for each in [pool.submit(embed) for _ in range(4)]]
        assert all(np.array_equal(each, alone) for each in found)
        assert max(computing) <= len(os.sched_getaffinity(0))

    def test_a_caller_that_stops_leaves_the_others_their_threads(self, folder: Path) -> None:
        encoder = OnnxEncoder(folder, self.made(folder), batch_size=1)

        def stop(_: int) -> None:
            raise AskyError("stopped")

        with pytest.raises(AskyError, match="stopped"):
            encoder.encode(TEXTS * 20, "", stop)
        assert len(encoder.encode(TEXTS, "", lambda _: None).vectors) == len(TEXTS)

    def test_no_export_is_none(self, tmp_path: Path) -> None:
        assert read_exported(tmp_path / "missing") is None

    @pytest.mark.parametrize("name", ["model.onnx", "tokenizer.json", "meta.json"])
    @pytest.mark.parametrize("damage", [lambda data: data[:-20], lambda data: b"#" + data[1:], None])
    def test_a_missing_cut_or_changed_file_is_noticed(
        self, folder: Path, name: str, damage: Callable[[bytes], bytes] | None
    ) -> None:
        file = folder / name
        if damage:
            file.write_bytes(damage(file.read_bytes()))
        else:
            file.unlink()
        with pytest.raises(UnusableExport):
            read_exported(folder)

    @pytest.mark.extended
    def test_a_change_that_keeps_size_and_time_is_noticed_by_the_vector(self, folder: Path) -> None:
        file = folder / "model.onnx"
        stat = file.stat()
        data = bytearray(file.read_bytes())
        data[len(data) // 4 : len(data) // 2] = b"\x3f" * (len(data) // 2 - len(data) // 4)
        file.write_bytes(data)
        os.utime(file, ns=(stat.st_atime_ns, stat.st_mtime_ns))
        with pytest.raises(UnusableExport):
            OnnxEncoder(folder, self.made(folder), batch_size=8)

    def test_a_copy_with_another_time_is_the_same_export(self, folder: Path) -> None:
        os.utime(folder / "model.onnx", ns=(1, 1))
        assert self.made(folder).model.dim == 32
        assert (folder / "model.onnx").stat().st_mtime_ns > 1

    def test_a_source_that_changed_since_is_noticed(self, folder: Path, tiny: Path, tmp_path: Path) -> None:
        model = shutil.copytree(tiny, tmp_path / "tiny")
        meta = (folder / "meta.json").read_text("utf-8").replace(str(tiny), str(model))
        (folder / "meta.json").write_text(meta, "utf-8")
        assert read_exported(folder) is not None
        (model / "model.safetensors").write_bytes(b"other")
        with pytest.raises(UnusableExport, match="changed since"):
            read_exported(folder)

    def test_an_export_of_another_version_is_not_used(self, folder: Path) -> None:
        meta = json.loads((folder / "meta.json").read_text("utf-8"))
        (folder / "meta.json").write_text(json.dumps({**meta, "format": 0}), "utf-8")
        with pytest.raises(UnusableExport, match="another version"):
            read_exported(folder)


@pytest.mark.slow
def test_texts_are_counted_and_what_is_cut_is_reported(tiny: Path, tiny_cache: Path) -> None:
    heard: list[Event] = []
    embedder = client(tiny, tiny_cache, heard)
    embedder.embed(["a b", "a " * 100])
    prompt = len("doc")  # a token each
    assert (embedder.usage.texts, embedder.usage.tokens, embedder.usage.truncated) == (2, prompt + 4 + 40, 1)
    assert embedder.usage.batches == 1
    assert embedder.usage.seconds > 0
    assert [event.message for event in heard if isinstance(event, Warned)] == [
        "1 of 2 texts were longer than the embedding model's window: cut"
    ]
    assert embedder.count_tokens(["a b", "a " * 100]) == [2, 100]


@pytest.mark.slow
def test_many_texts_are_embedded_in_order_in_batches_of_like_length(tiny: Path, tiny_cache: Path) -> None:
    embedder = client(tiny, tiny_cache, batch_size=7)
    texts = [f"{'word ' * (i * 7 % 23)}{i}" for i in range(1500)]
    vectors = embedder.embed(texts)
    for i in (0, 1, 700, 1023, 1024, 1499):
        assert float(embedder.embed([texts[i]])[0] @ vectors[i]) > 0.9999
    assert embedder.usage.batches >= 1500 // 7


@pytest.mark.slow
def test_a_progress_that_raises_ends_the_work(tiny: Path, tiny_cache: Path) -> None:
    embedder = client(tiny, tiny_cache, batch_size=1)
    calls = []

    def stop(done: int, total: int) -> None:
        calls.append(done)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        embedder.embed(["text"] * 500, progress=stop)
    assert calls == [1]
    assert embedder.embed(["text"]).shape == (1, 32)


@pytest.mark.slow
def test_a_device_that_torch_cannot_use_is_said_and_the_cpu_embeds(tiny: Path, tiny_cache: Path) -> None:
    import torch

    if torch.cuda.is_available():
        pytest.skip("this machine has a GPU")
    heard: list[Event] = []
    embedder = client(tiny, tiny_cache, heard, device="cuda")
    with pytest.raises(NotConfigured, match="cuda"):
        _ = embedder.device
    for _ in range(2):
        assert embedder.embed(["text"] * 400).shape == (400, 32)
    assert len([event for event in heard if isinstance(event, Warned) and "the CPU embeds" in event.message]) == 1


@pytest.mark.slow
def test_threads_share_one_client(tiny: Path, tiny_cache: Path) -> None:
    embedder = client(tiny, tiny_cache)
    expected = client(tiny, tiny_cache).embed(SENTENCES)
    with ThreadPoolExecutor(8) as pool:
        results = list(pool.map(lambda _: embedder.embed(SENTENCES), range(40)))
    assert all(np.allclose(result, expected, atol=1e-5) for result in results)
    assert embedder.usage.texts == 40 * len(SENTENCES)


@pytest.mark.slow
def test_the_hash_of_the_weights_is_remembered_until_they_change(tiny: Path, tmp_path: Path) -> None:
    model = shutil.copytree(tiny, tmp_path / "tiny")
    first = known_weights_hash(model, tmp_path / "cache")
    memory = tmp_path / "cache" / "weights.json"
    memory.write_text(memory.read_text("utf-8").replace(first, "remembered"), "utf-8")
    assert known_weights_hash(model, tmp_path / "cache") == "remembered"
    (model / "model.safetensors").write_bytes(b"other")
    assert known_weights_hash(model, tmp_path / "cache") not in (first, "remembered")
    memory.write_text("{", "utf-8")
    assert known_weights_hash(model, tmp_path / "cache") not in (first, "remembered")


def test_a_single_text_is_no_list_of_texts(tmp_path: Path) -> None:
    with pytest.raises(TypeError):
        client("any/model", tmp_path).embed("text")
