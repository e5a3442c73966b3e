"""Whether the shipped reader orders the first hits of search better than search does.

`python -m tests.quality.search_order FOLDER` prints nDCG@10 of each set of `FOLDER` with the first 8 hits as search
orders them and by what the reader makes of them, with a weight that was chosen on all other sets, so that the gain is
one on sets that nobody has tuned for. Run it again when the reader's weights change. Stores as in
`tests.quality.corpora`.
"""

from __future__ import annotations

import argparse
import random
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from asky.evaluation.intervals import bootstrap
from asky.evaluation.measures import first_occurrences, ndcg
from asky.research.reader.model import ShippedReader
from asky.text.sentences import iter_sentences
from asky.values import Hit
from tests.quality.corpora import Corpora, Corpus, cache_folder
from tests.quality.test_retrieval import DEPTH, FIRST, FLOORS, average_gain

READ = 8
"""Hits that are put in order; the others follow as they are."""

WEIGHTS = (0.0, 0.05, 0.1, 0.2, 0.3, 0.5, 1.0, 2.0, np.inf)
"""Of a logit, beside the search scores of the hits with mean 0 and deviation 1; infinite: the reader alone."""

_WORDS, _TITLE_WORDS, _SENTENCES = 120, 12, 3


@dataclass(frozen=True, slots=True)
class Asked:
    """A question: the documents of its hits in order, and of the first hits scores that fall, and logits by reading."""

    documents: Sequence[str]
    relevant: Mapping[str, int]
    scores: npt.NDArray[np.float64]
    logits: Mapping[str, npt.NDArray[np.float64]]

    def ndcg(self, reading: str, weight: float) -> float:
        """Return nDCG@10 where the first hits are in the order of their score plus `weight` times their logit."""
        logits = self.logits[reading]
        mixed = logits if np.isinf(weight) else self.scores + weight * logits
        order = [*np.argsort(-mixed, kind="stable").tolist(), *range(len(logits), len(self.documents))]
        return ndcg(first_occurrences([self.documents[at] for at in order]), self.relevant, FIRST)


def units_of(hit: Hit) -> dict[str, list[tuple[str, str]]]:
    """Return what is read of a hit, unit and context, by reading; of several units the best one counts."""
    title, whole = " ".join(hit.source.title.split()[:_TITLE_WORDS]), " ".join(hit.text.split()[:_WORDS])
    found = [hit.text[each.start : each.end] for each in iter_sentences(hit.text)] or [hit.text]
    parts = [" ".join(found[at : at + _SENTENCES]) for at in range(0, len(found), _SENTENCES)]
    return {"beginning": [(whole, title)], "best part": [(part, title) for part in parts]}


def ask(corpus: Corpus, most: int, spent: dict[str, list[float]]) -> Iterator[Asked]:
    """Yield at most `most` of the questions of a set; adds the reader's CPU seconds of each to `spent`, by reading."""
    reader, judged = ShippedReader(), corpus.data.judged
    for question in random.Random(1).sample(judged, min(most, len(judged))):
        hits = corpus.search(question.text, limit=DEPTH)
        if not hits:
            continue
        scores = np.minimum.accumulate([each.score for each in hits[:READ]])  # repetition is demoted, its score is not
        units = [units_of(each) for each in hits[:READ]]
        logits = {}
        for reading in units[0]:
            began = time.process_time()
            read = reader.answers([(question.text, *pair) for each in units for pair in each[reading]])
            spent.setdefault(reading, []).append(time.process_time() - began)
            ends = np.cumsum([len(each[reading]) for each in units])
            logits[reading] = np.array([part.max() for part in np.split(read, ends[:-1])], dtype=np.float64)
        documents = [str(each.source.external_id or "") for each in hits]
        scaled = (scores - scores.mean()) / max(float(scores.std()), 1e-9)
        yield Asked(documents, question.relevant, scaled, logits)


def print_gains(sets: Mapping[str, Sequence[Asked]], reading: str) -> None:
    """Print nDCG@10 of each set before and after, by one reading; and the mean gain with its 95 % interval."""
    gains, values = list[list[float]](), dict[str, npt.NDArray[np.float64]]()
    for name, asked in sets.items():
        values[name] = np.array([[each.ndcg(reading, weight) for weight in WEIGHTS] for each in asked])
    print(f"by {reading}; the gain of each weight, all sets: ", end="")
    means = np.array([each.mean(0) - each[:, 0].mean() for each in values.values()])
    print(", ".join(f"{weight} {gain:+.3f}" for weight, gain in zip(WEIGHTS, means.mean(0), strict=True)))
    for at, (name, each) in enumerate(values.items()):
        chosen = int(np.delete(means, at, 0).mean(0).argmax())
        gains.append((each[:, chosen] - each[:, 0]).tolist())
        print(
            f"  {name}: {len(each)} questions, {each[:, 0].mean():.3f}, with weight {WEIGHTS[chosen]} "
            f"{each[:, chosen].mean():.3f}, gain {bootstrap(gains[-1])}; reader alone {each[:, -1].mean():.3f}"
        )
    print(f"  mean gain {average_gain(gains)}")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--most", type=int, default=60, help="questions of a set; 60 unless told")
    parser.add_argument("--sets", nargs="+", default=[each.name for each in FLOORS])
    parsed = parser.parse_args()
    spent: dict[str, list[float]] = {}
    with tempfile.TemporaryDirectory() as folder:
        corpora = Corpora(parsed.folder, cache_folder(Path(folder)))
        sets = {name: list(ask(corpora.open(name), parsed.most, spent)) for name in parsed.sets}
        corpora.close()
    for reading, seconds in spent.items():
        print(f"{reading}: {np.median(seconds):.2f} s of CPU for {READ} hits")
        print_gains(sets, reading)


if __name__ == "__main__":
    main()
