"""How well a reader does: on documents written for it, and on the validation parts of the public sets.

`python -m tools.reader.figures FOLDER [FOLDER ...]` prints the figures of exported readers side by side.
"""

from __future__ import annotations

import argparse
import sys
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import numpy.typing as npt

from asky.research.embedding.packaged import FOLDER, TOKENIZER_FILE
from asky.research.reader.pairs import Pair, PairEncoder
from tools.reader.records import LABELS, context_of, read_lines, read_made

Floats = npt.NDArray[np.float32]
Read = Callable[[Sequence[Pair]], tuple[Floats, Floats]]
"""Returns the logits of pairs as questions, `float32[n]`, and as claims, `float32[n, 3]`."""

Figures = Mapping[str, float]

_CERTAIN = 0.9


def answer_figures(read: Read, encoder: PairEncoder, documents: Sequence[Any]) -> Figures:
    """Return how often the best unit answers (`first`), and how well the best logit tells who has an answer (`auc`).

    `precision70` is the share of right answers among the most certain ones, when so many are given that 70 % of the
    answerable questions are among them.
    """
    asked = [(each, document["units"]) for document in documents for each in document["questions"]]
    items = [(each["q"], unit, context_of(units, at)) for each, units in asked for at, unit in enumerate(units)]
    logits, _ = read(encoder.questions(items))
    right: list[bool] = []
    best: list[float] = []
    answerable: list[bool] = []
    start = 0
    for each, units in asked:
        here = logits[start : start + len(units)]
        start += len(units)
        right.append(int(here.argmax()) in each["answers"])
        best.append(float(here.max()))
        answerable.append(bool(each["answers"]))
    are_right, are_answerable, scores = np.array(right), np.array(answerable), np.array(best)
    order = np.argsort(-scores, kind="stable")
    given = np.cumsum(are_answerable[order]) <= 0.7 * are_answerable.sum()
    return {
        "first": float(are_right[are_answerable].mean()),
        "auc": auc(scores[are_answerable], scores[~are_answerable]),
        "precision70": float(are_right[order][given].mean()),
        "questions": len(right),
    }


def claim_figures(read: Read, encoder: PairEncoder, claims: Sequence[tuple[str, str, str]]) -> Figures:
    """Return what the reader makes of claims, each with its evidence and its label.

    `recall` is the mean over the labels, `auc` tells entailed from the others; `contradicted` is the precision of the
    most certain three in ten of the contradicted, and `contradicted90` the share of them that is found where nine in
    ten are right.
    """
    _, logits = read(encoder.claims([(claim, evidence) for claim, evidence, _ in claims]))
    label = np.array([LABELS.index(each) for *_, each in claims])
    shares = np.exp(logits - logits.max(axis=1, keepdims=True))
    shares /= shares.sum(axis=1, keepdims=True)
    called = shares.argmax(axis=1)
    recalls = [float((called[label == at] == at).mean()) for at in range(len(LABELS)) if (label == at).any()]
    order = np.argsort(-shares[:, 1], kind="stable")
    hits = np.cumsum(label[order] == 1)
    precision = hits / np.arange(1, len(order) + 1)
    recall = hits / max(1, (label == 1).sum())
    sure = recall[precision >= _CERTAIN]
    return {
        "recall": float(np.mean(recalls)),
        "auc": auc(shares[label == 0, 0], shares[label != 0, 0]),
        "contradicted": float(precision[np.searchsorted(recall, 0.3)]) if (label == 1).any() else 0.0,
        "contradicted90": float(sure.max()) if sure.size else 0.0,
        "claims": len(label),
    }


def auc(above: npt.NDArray[Any], below: npt.NDArray[Any]) -> float:
    """Return how often one of `above` is greater than one of `below`; ties count half. 0.5 if either is empty."""
    if not len(above) or not len(below):
        return 0.5
    both = np.sort(below)
    less = np.searchsorted(both, above, "left")
    most = np.searchsorted(both, above, "right")
    return float((less + most).mean() / 2 / len(below))


def made_claims(documents: Sequence[Any]) -> list[tuple[str, str, str]]:
    return [
        (each["claim"], " ".join(document["units"][at] for at in sorted(each["evidence"])), each["label"])
        for document in documents
        for each in document["claims"]
    ]


def public_claims(path: Path, most: int) -> Mapping[str, list[tuple[str, str, str]]]:
    """Return the claims of each set in a file, at most `most` of one."""
    found: dict[str, list[tuple[str, str, str]]] = defaultdict(list)
    for record in read_lines(path):
        evidence = record["evidence"]
        text = evidence if isinstance(evidence, str) else " ".join(evidence)
        found[record["set"]].append((record["claim"], text, record["label"]))
    return {name: Random(1).sample(each, min(most, len(each))) for name, each in sorted(found.items())}


def onnx_reader(folder: Path) -> Read:
    """Return the exported reader of a folder."""
    from asky.research.embedding.onnx_backend import open_session, padded

    session = open_session(folder / "model.onnx")

    def read(pairs: Sequence[Pair]) -> tuple[Floats, Floats]:
        answers, verdicts = np.empty(len(pairs), np.float32), np.empty((len(pairs), len(LABELS)), np.float32)
        order = sorted(range(len(pairs)), key=lambda at: len(pairs[at].ids))
        for start in range(0, len(order), 16):
            rows = order[start : start + 16]
            ids, mask = padded([pairs[row].ids for row in rows], 0)
            types, _ = padded([pairs[row].types for row in rows], 0)
            given = {"input_ids": ids, "token_type_ids": types, "attention_mask": mask}
            answers[rows], verdicts[rows] = session.run(None, given)
        return answers, verdicts

    return read


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tools.reader.figures", description=__doc__)
    parser.add_argument("readers", type=Path, nargs="+", help="folders with model.onnx and weights.bin")
    parser.add_argument("--made", type=Path, default=Path(__file__).parents[1] / "reader_data")
    parser.add_argument("--part", default="val", help="which documents: those whose file name has this")
    given = parser.parse_args(arguments)
    encoder = PairEncoder(FOLDER / TOKENIZER_FILE)
    documents = read_made(given.made, given.part)
    for folder in given.readers:
        read = onnx_reader(folder)
        shown = {
            "questions": answer_figures(read, encoder, documents),
            "claims": claim_figures(read, encoder, made_claims(documents)),
        }
        for kind, figures in shown.items():
            print(folder, kind, {name: round(value, 3) for name, value in figures.items()})
    return 0


if __name__ == "__main__":
    sys.exit(main())
