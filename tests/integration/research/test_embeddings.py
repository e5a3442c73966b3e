"""The embedding client on real models: the one inside asky, and a tiny one with random weights that is named."""

from __future__ import annotations

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
from asky.events import Event, Warned, ignore
from asky.research.embedding import packaged
from asky.research.embedding.embedder import Embedder
from asky.research.embedding.models import hash_weights
from asky.research.embeddings import EmbeddingClient, EmbeddingSettings
from tests.support.embedding_contract import TEXTS, EmbedderContract
from tests.support.tiny_model import published_model, save_tiny_model

ROOT = Path(__file__).parents[3]
PROMPTS = {"query": "q ", "document": "doc "}
SENTENCES = ["a cat sat", "the dog runs fast. does it?", "b", "", "a much longer text of many words " * 3]

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning:torch", "ignore::FutureWarning")


@pytest.fixture(scope="session")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_tiny_model(tmp_path_factory.mktemp("models") / "tiny", prompts=PROMPTS, with_onnx=True)


def client(model: Path | str, heard: list[Event] | None = None, **more: object) -> EmbeddingClient:
    settings = EmbeddingSettings(model=str(model), local_files_only=True, **more)  # type: ignore[arg-type]  # mixed
    return EmbeddingClient(settings, listener=ignore if heard is None else heard.append)


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
from asky.research.embeddings import EmbeddingClient, EmbeddingSettings
client = EmbeddingClient(EmbeddingSettings(model=sys.argv[1], local_files_only=True))
client.embed_query("what is it?")
client.embed(["one", "two"])
heavy = {"torch", "transformers", "sentence_transformers", "onnx", "huggingface_hub", "filelock"}
print(sorted(heavy & set(sys.modules)))
"""

COUNT = """
import sys
from asky.research.embeddings import EmbeddingClient, EmbeddingSettings
client = EmbeddingClient(EmbeddingSettings(model=sys.argv[1], local_files_only=True))
room = client.max_tokens
print(client.count_tokens(["one", "two three"]), room > 0, client.fingerprint)
print(sorted({"onnxruntime", "numpy"} & set(sys.modules)))
client.embed(["one"])
print(client.count_tokens(["one", "two three"]), client.max_tokens == room, client.fingerprint)
"""


@pytest.fixture(scope="session")
def default_client() -> EmbeddingClient:
    return EmbeddingClient(EmbeddingSettings())


class TestModelInsideAsky(EmbedderContract):
    @pytest.fixture
    def embedder(self, default_client: EmbeddingClient) -> Embedder:
        return default_client

    def test_its_window_size_and_fingerprint(self, embedder: Embedder) -> None:
        assert (embedder.dim, embedder.max_tokens) == (384, 254)
        assert embedder.fingerprint.startswith("all-MiniLM-L6-v2:384:mean:l2:w256:int8:")

    def test_a_vector_does_not_depend_on_its_batch(self, embedder: Embedder) -> None:
        texts = [*TEXTS, *(f"Sentence number {i} " * i for i in range(1, 20))]
        together = embedder.embed(texts)
        alone = np.concatenate([embedder.embed([text]) for text in texts])
        assert float(np.abs(together - alone).max()) < 1e-5

    @pytest.mark.slow
    def test_its_vectors_are_near_those_of_sentence_transformers(self, embedder: Embedder) -> None:
        texts = [*TEXTS, *(f"Sentence number {i} " * i for i in range(1, 40))]
        cosines = (embedder.embed(texts) * torch_vectors(published_model(), texts)).sum(axis=1)
        assert float(cosines.min()) > 0.995
        assert float(cosines.mean()) > 0.999

    def test_its_full_name_is_the_same_model(self, embedder: Embedder) -> None:
        full = EmbeddingClient(EmbeddingSettings(model="sentence-transformers/all-MiniLM-L6-v2", device="cuda"))
        assert (full.fingerprint, full.device) == (embedder.fingerprint, "cpu")


@pytest.mark.parametrize("name", list(packaged.FILES))
@pytest.mark.parametrize("damage", [lambda data: data[:-20], lambda data: data[:-1] + b"#", None])
def test_a_missing_cut_or_exchanged_file_of_the_model_is_noticed(
    tmp_path: Path, name: str, damage: Callable[[bytes], bytes] | None
) -> None:
    folder = shutil.copytree(packaged.FOLDER, tmp_path / "model")
    for fully in (False, True):
        packaged.check_files(folder, fully=fully)
    if damage:
        (folder / name).write_bytes(damage((folder / name).read_bytes()))
    else:
        (folder / name).unlink()
    with pytest.raises(NotConfigured, match=f"the embedding model is damaged: .*{name}") as caught:
        packaged.check_files(folder)
    assert caught.value.hint == "install asky again"


@pytest.mark.slow
def test_the_model_is_made_anew_from_the_published_weights_byte_for_byte(tmp_path: Path) -> None:
    from tools.embedding_model import write_model

    write_model(published_model(), tmp_path)
    packaged.check_files(tmp_path, fully=True)


@pytest.mark.extended
@pytest.mark.slow
@pytest.mark.parametrize("pooling", ["mean", "cls", "max"])
def test_every_pooling_gives_the_vectors_of_sentence_transformers(tiny: Path, tmp_path: Path, pooling: str) -> None:
    model = tiny  # whose pooling is the mean
    if pooling != "mean":
        model = save_tiny_model(tmp_path / "tiny", pooling=pooling, prompts=PROMPTS, with_onnx=pooling == "cls")
    embedder = client(model)
    documents, questions = torch_vectors(model, SENTENCES), torch_vectors(model, SENTENCES, query=True)
    assert float((embedder.embed(SENTENCES) * documents).sum(axis=1).min()) > 0.9999
    for text, expected in zip(SENTENCES, questions, strict=True):
        assert float(embedder.embed_query(text) @ expected) > 0.9999
    assert embedder.max_tokens == 40 - 2 - 3
    assert embedder.usage.truncated == 2


@pytest.mark.slow
@pytest.mark.parametrize("model", ["all-MiniLM-L6-v2", "tiny"])
def test_what_has_an_onnx_graph_needs_neither_torch_nor_its_libraries(tiny: Path, model: str) -> None:
    done = run_python(EMBED, str(tiny) if model == "tiny" else model)
    assert done.stdout.splitlines() == ["[]"], done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("model", ["all-MiniLM-L6-v2", "tiny"])
def test_counting_tokens_does_not_open_the_model(tiny: Path, model: str) -> None:
    done = run_python(COUNT, str(tiny) if model == "tiny" else model)
    assert done.returncode == 0, done.stderr
    before, loaded, after = done.stdout.splitlines()
    assert loaded == "[]"
    assert before == after
    assert "True" in before


@pytest.mark.slow
def test_with_and_without_a_graph_a_model_makes_vectors_of_one_space(tiny: Path, tmp_path: Path) -> None:
    plain = shutil.copytree(tiny, tmp_path / "tiny", ignore=shutil.ignore_patterns("onnx"))
    with_graph, without = client(tiny), client(plain)
    assert with_graph.fingerprint == without.fingerprint
    assert float((with_graph.embed(SENTENCES) * without.embed(SENTENCES)).sum(axis=1).min()) > 0.9999


@pytest.mark.slow
def test_a_graph_that_cannot_be_opened_is_named(tiny: Path, tmp_path: Path) -> None:
    model = shutil.copytree(tiny, tmp_path / "tiny")
    (model / "onnx" / "model.onnx").write_bytes(b"no graph")
    with pytest.raises(NotConfigured, match=r"model\.onnx can't be opened"):
        client(model).embed(["text"])


@pytest.mark.extended
@pytest.mark.slow
@pytest.mark.parametrize("with_onnx", [True, False])
def test_a_model_without_usable_weights_gives_an_error_and_no_vectors(tmp_path: Path, with_onnx: bool) -> None:
    with pytest.raises(AskyError, match="not finite"):
        client(save_tiny_model(tmp_path / "broken", weights="nan", with_onnx=with_onnx)).embed(["text"])


@pytest.mark.slow
def test_the_weights_have_one_hash_until_they_change(tiny: Path, tmp_path: Path) -> None:
    model = shutil.copytree(tiny, tmp_path / "tiny")
    first = hash_weights(model)
    assert first == hash_weights(tiny)
    (model / "model.safetensors").write_bytes(b"other")
    assert hash_weights(model) != first
    (model / "model.safetensors").unlink()
    assert hash_weights(model) not in (first, hash_weights(tmp_path))


@pytest.mark.slow
def test_callers_at_once_share_as_many_threads_as_there_are_processors(tiny: Path) -> None:
    others, computing = set(threading.enumerate()), list[int]()
    embedder, together = client(tiny, batch_size=1), threading.Barrier(4, timeout=60)
    alone = embedder.embed(TEXTS * 20)

    def embed() -> np.ndarray:
        together.wait()

        def note(*_: int) -> None:
            computing.append(sum(each.name.startswith("embed") for each in set(threading.enumerate()) - others))

        return embedder.embed(TEXTS * 20, progress=note)

    with ThreadPoolExecutor(4) as pool:
        found = [each.result() for each in [pool.submit(embed) for _ in range(4)]]
    assert all(np.array_equal(each, alone) for each in found)
    assert max(computing) <= len(os.sched_getaffinity(0))


@pytest.mark.slow
def test_texts_are_counted_and_what_is_cut_is_reported(tiny: Path) -> None:
    heard: list[Event] = []
    embedder = client(tiny, heard)
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
def test_many_texts_are_embedded_in_order_in_batches_of_like_length(tiny: Path) -> None:
    embedder = client(tiny, batch_size=7)
    texts = [f"{'word ' * (i * 7 % 23)}{i}" for i in range(1500)]
    vectors = embedder.embed(texts)
    for i in (0, 1, 700, 1023, 1024, 1499):
        assert float(embedder.embed([texts[i]])[0] @ vectors[i]) > 0.9999
    assert embedder.usage.batches >= 1500 // 7


@pytest.mark.slow
def test_a_progress_that_raises_ends_the_work(tiny: Path) -> None:
    embedder = client(tiny, batch_size=1)
    calls = []

    def stop(done: int, total: int) -> None:
        calls.append(done)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        embedder.embed(["text"] * 500, progress=stop)
    assert calls == [1]
    assert embedder.embed(["text"]).shape == (1, 32)


@pytest.mark.slow
def test_a_device_that_torch_cannot_use_is_said_and_the_cpu_embeds(tiny: Path) -> None:
    import torch

    if torch.cuda.is_available():
        pytest.skip("this machine has a GPU")
    heard: list[Event] = []
    embedder = client(tiny, heard, device="cuda")
    with pytest.raises(NotConfigured, match="cuda"):
        _ = embedder.device
    for _ in range(2):
        assert embedder.embed(["text"] * 400).shape == (400, 32)
    assert len([event for event in heard if isinstance(event, Warned) and "the CPU embeds" in event.message]) == 1


@pytest.mark.slow
def test_threads_share_one_client(tiny: Path) -> None:
    embedder = client(tiny)
    expected = client(tiny).embed(SENTENCES)
    with ThreadPoolExecutor(8) as pool:
        results = list(pool.map(lambda _: embedder.embed(SENTENCES), range(40)))
    assert all(np.allclose(result, expected, atol=1e-5) for result in results)
    assert embedder.usage.texts == 40 * len(SENTENCES)


def test_a_single_text_is_no_list_of_texts() -> None:
    with pytest.raises(TypeError):
        client("any/model").embed("text")
