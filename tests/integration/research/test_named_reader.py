"""Readers by name: models of others, made small, with their labels in any order, and with files that do not fit."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from asky.config.schema import ReaderSettings
from asky.errors import NotConfigured
from asky.research.embedding.cross_encoder import open_cross_encoder
from asky.research.embedding.processor import this_processor
from asky.research.reader.named import Calibration, NamedReader
from asky.wiring.readers import ReaderParts
from tests.support.small_reader import ANSWERING, NLI, SPECIAL, WORDS, save_small_reader, save_tokenizer

CLAIMS = [("The ferry runs.", "it agrees"), ("The ferry runs.", "it denies"), ("The ferry runs.", "the moon")]


def reader(folder: Path, calibration: Calibration | None = None) -> NamedReader:
    return NamedReader(str(folder), lambda: open_cross_encoder(str(folder)), calibration)


def test_a_cross_encoder_answers_with_its_logit_calibrated(tmp_path: Path) -> None:
    folder = save_small_reader(tmp_path / "m")
    items = [("Where?", "at the quay", ""), ("Where?", "on the moon", ""), ("Where?", "there", "quay")]
    assert reader(folder).answers(items).tolist() == [5, -5, 5]
    assert reader(folder, Calibration(0.5, -1)).answers(items).tolist() == [1.5, -3.5, 1.5]
    assert reader(folder).answers([]).shape == (0,)


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 0, 1), (1, 2, 0)])
def test_verdicts_are_the_same_whatever_the_order_of_the_labels(tmp_path: Path, order: tuple[int, ...]) -> None:
    words = {word: [values[at] for at in order] for word, values in WORDS.items()}
    folder = save_small_reader(tmp_path / "m", [NLI[at] for at in order], words)
    assert reader(folder).verdicts(CLAIMS).tolist() == [[6, 0, 0], [0, 6, 0], [0, 0, 4]]
    assert reader(folder).verdicts([]).shape == (0, 3)


def test_a_model_of_two_labels_contradicts_nothing(tmp_path: Path) -> None:
    words = {"agrees": (4, 0), "denies": (0, 4), "moon": (0, 4)}
    folder = save_small_reader(tmp_path / "m", ("entailment", "not_entailment"), words)
    logits = reader(folder).verdicts(CLAIMS)
    shares = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    assert shares.argmax(axis=1).tolist() == [0, 2, 2]
    assert (shares[:, 1] < 1e-9).all()


def test_a_label_answers_by_its_odds_against_all_others(tmp_path: Path) -> None:
    folder = save_small_reader(tmp_path / "m", ("no", "yes"), {"quay": (1, 4), "moon": (3, 0)})
    assert reader(folder).answers([("Where?", "quay", ""), ("Where?", "moon", "")]).tolist() == [3, -3]


def test_a_model_of_another_kind_is_refused(tmp_path: Path) -> None:
    scoring, judging = save_small_reader(tmp_path / "a"), save_small_reader(tmp_path / "b", NLI, WORDS)
    unnamed = save_small_reader(tmp_path / "c", ("LABEL_0", "LABEL_1", "LABEL_2"), WORDS)
    with pytest.raises(NotConfigured, match="no model that gives verdicts on claims: it has a single output"):
        reader(scoring).verdicts(CLAIMS)
    with pytest.raises(NotConfigured, match="says whether a text answers a question: it judges claims"):
        reader(judging).answers([("Where?", "quay", "")])
    with pytest.raises(NotConfigured, match="label_0, label_1, label_2 do not say what they mean"):
        reader(unnamed).verdicts(CLAIMS)


def test_a_graph_with_other_outputs_than_the_configuration_names_is_refused(tmp_path: Path) -> None:
    folder = save_small_reader(tmp_path / "m", NLI, {"agrees": (1,)})
    with pytest.raises(NotConfigured, match=r"it has 1 outputs, and config\.json names 3"):
        reader(folder).verdicts(CLAIMS)


def test_a_tokenizer_of_another_model_is_refused(tmp_path: Path) -> None:
    folder = save_small_reader(tmp_path / "m")
    save_tokenizer(folder, {word: at for at, word in enumerate([*SPECIAL, *"abcdefgh", *ANSWERING])})
    with pytest.raises(NotConfigured, match="its tokenizer is that of another model"):
        reader(folder).answers([("Where?", "quay", "")])
    config = json.loads((folder / "config.json").read_text("utf-8"))
    (folder / "config.json").write_text(json.dumps({**config, "vocab_size": None}), "utf-8")
    with pytest.raises(NotConfigured, match="can't be used"):
        reader(folder).answers([("Where?", "quay", "")])


def test_numbers_that_are_not_finite_are_refused(tmp_path: Path) -> None:
    folder = save_small_reader(tmp_path / "m", words={"quay": (float("nan"),)})
    with pytest.raises(NotConfigured, match="not finite"):
        reader(folder).answers([("Where?", "quay", "")])


@pytest.mark.parametrize("name", ["onnx/model.onnx", "tokenizer.json", "config.json"])
@pytest.mark.parametrize("damage", ["cut", "missing", "exchanged"])
def test_damaged_files_are_named_and_never_guessed_at(tmp_path: Path, name: str, damage: str) -> None:
    folder = save_small_reader(tmp_path / "m")
    file = folder / name
    data = file.read_bytes()
    file.unlink()
    if damage != "missing":
        file.write_bytes(data[: len(data) // 2] if damage == "cut" else b"\x00\xff something else")
    with pytest.raises(NotConfigured, match=str(folder)):
        reader(folder).answers([("Where?", "quay", "")])


def test_odd_texts_are_read(tmp_path: Path) -> None:
    answers = reader(save_small_reader(tmp_path / "m")).answers
    odd = ["", "\ud800", "🦆", "[SEP] [CLS]", "word " * 5000, "Wo liegt die Fähre?", "渡轮在哪里?", "\0"]
    assert answers([(text, other, "") for text in odd for other in odd]).shape == (64,)
    assert answers([("Where?", "moon " + "word " * 5000, "")]).tolist() == [-5]


def test_the_file_for_this_processor_is_run(tmp_path: Path) -> None:
    folder = save_small_reader(tmp_path / "m")
    tag = {"avx512_vnni": "qint8_avx512_vnni", "avx512": "qint8_avx512", "avx2": "quint8_avx2", "arm64": "qint8_arm64"}
    own = tag.get(this_processor(), "quantized")
    save_small_reader(tmp_path / "other", words={"quay": (3,), "moon": (0,)})
    (tmp_path / "other/onnx/model.onnx").rename(folder / f"onnx/model_{own}.onnx")
    assert reader(folder).answers([("Where?", "quay", "")]).tolist() == [3]


def test_the_configuration_names_both_readers(tmp_path: Path) -> None:
    scoring, judging = save_small_reader(tmp_path / "a"), save_small_reader(tmp_path / "b", NLI, WORDS)
    settings = ReaderSettings(answers=str(scoring), verdicts=str(judging), answer_offset=-2)
    parts = ReaderParts(settings, tmp_path / "own")
    chosen = parts.reader
    assert chosen.answers([("Where?", "quay", "")]).tolist() == [3]
    assert chosen.verdicts(CLAIMS).argmax(axis=1).tolist() == [0, 1, 2]
    scores = parts.reranker(str(scoring)).scores("where", ["quay", "moon"])
    assert scores[0] > 0.9 > 0.1 > scores[1]


def test_a_name_that_is_not_here_says_how_to_get_it(tmp_path: Path) -> None:
    chosen = ReaderParts(ReaderSettings(answers="org/absent"), tmp_path / "own").reader
    with pytest.raises(NotConfigured, match="org/absent is not on this machine") as caught:
        chosen.answers([("Where?", "quay", "")])
    assert caught.value.hint == "`asky models get org/absent` downloads it"
