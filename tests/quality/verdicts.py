"""Verdicts by rules and with the reader, on sets of claims; and the choice of the reader's thresholds.

`python -m tests.quality.verdicts FOLDER` prints the figures of each set at the thresholds of
`asky.evidence.verification.meaning`, then what is best on all sets, and on all but each one, which is how well the
choice carries over. Run it again when the reader's weights change. `FOLDER` has the public sets; the documents that
were written for the reader are the project's. `--cache FILE` keeps what the reader returned.
"""

from __future__ import annotations

import argparse
import json
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from asky.evidence.verification import meaning
from asky.evidence.verification.claim_reader import ClaimReader
from asky.evidence.verification.meaning import Ruled, decide, found_in, windows_of
from asky.evidence.verification.rules import check_by_rules
from asky.evidence.verification.support import Passage, read_passage
from asky.research.reader.model import ShippedReader
from tests.quality.claims import SETS, Labelled, balanced_accuracy
from tools.reader.figures import auc
from tools.reader.records import read_made

Pairs = Sequence[tuple[str, str]]

MADE = Path(__file__).parents[2] / "tools" / "reader_data"
CHOSEN_ON = (*(name for name in SETS if not name.startswith("faithbench")), "faithbench", "made", "made2")
CONTRADICTED = frozenset({"contradicted", "Refutes", "refute", "completely-refute"})
_OF_WORDS = tuple(range(7))
_ENTAILED = tuple(np.arange(-3, 8, 0.25).tolist())
_CONTRADICTED = tuple(np.arange(0.3, 0.96, 0.05).tolist())
_ABOUT = tuple(np.arange(0.0, 1.0, 0.05).tolist())
_PRECISION = 0.9


@dataclass(frozen=True, slots=True)
class Read:
    """The claims of a set as the rules and the reader have them; arrays with one value for each claim.

    `odds` are those that a part of the passages entails the claim, by the reader; `contradicted` is a probability,
    `about` the share of the claim's words in the part that contradicts it most.
    """

    supported: npt.NDArray[np.bool_]
    is_contradicted: npt.NDArray[np.bool_]
    by_rules: Sequence[str]
    is_open: npt.NDArray[np.bool_]
    is_whole: npt.NDArray[np.bool_]
    support: npt.NDArray[np.float64]
    odds: npt.NDArray[np.float64]
    contradicted: npt.NDArray[np.float64]
    about: npt.NDArray[np.float64]
    now: Sequence[str]

    def are_supported(self, of_words: float, entailed_from: float) -> npt.NDArray[np.bool_]:
        """Return which claims are supported at these thresholds."""
        by_reader = self.is_open & self.is_whole & (self.odds + of_words * self.support >= entailed_from)
        decided = ~self.is_open & np.array([each == "supported" for each in self.by_rules])
        found: npt.NDArray[np.bool_] = by_reader | decided
        return found


def made_claims(part: str, *, whole: bool) -> list[Labelled]:
    """Return the claims of documents written for the reader, with their evidence or with the whole document."""
    return [
        Labelled(
            each["claim"],
            ("\n".join(document["units"] if whole else [document["units"][at] for at in sorted(each["evidence"])]),),
            each["label"] == "entailed",
            each["label"],
        )
        for document in read_made(MADE, part)
        for each in document["claims"]
    ]


def samples(folder: Path, most: int) -> Iterator[tuple[str, list[Labelled]]]:
    """Yield the name of each set and a sample of its claims, half of them supported if there are enough."""
    for name in CHOSEN_ON:
        if name in SETS:
            path, reader = SETS[name]
            claims = list(reader(folder / path))
        elif name == "faithbench":
            parts = [SETS[each] for each in SETS if each.startswith(name)]
            claims = [claim for path, reader in parts for claim in reader(folder / path)]
        else:
            claims = made_claims(f"{name}_val", whole=True)
        random.Random(1).shuffle(claims)
        yield name, [each for label in (True, False) for each in _half(claims, label, most)]


def _half(claims: Sequence[Labelled], supported: bool, most: int) -> list[Labelled]:
    return [each for each in claims if each.supported is supported][: most // 2]


class Cached:
    """A reader whose logits are kept in a file."""

    def __init__(self, file: Path | None) -> None:
        self._file = file
        self._reader = ShippedReader()
        self._known: dict[str, list[float]] = json.loads(file.read_text()) if file and file.exists() else {}

    def read(self, pairs: Pairs) -> npt.NDArray[np.float32]:
        keys = [f"{claim}\0{evidence}" for claim, evidence in pairs]
        missing = [at for at, key in enumerate(keys) if key not in self._known]
        if missing:
            for at, row in zip(missing, self._reader.verdicts([pairs[at] for at in missing]).tolist(), strict=True):
                self._known[keys[at]] = row
            if self._file:
                self._file.write_text(json.dumps(self._known))
        return np.array([self._known[key] for key in keys], dtype=np.float32).reshape(-1, 3)


def read_set(claims: Sequence[Labelled], reader: ClaimReader) -> Read:
    """Check claims by the rules, and read those that these leave open."""
    passages: dict[str, Passage] = {}
    ruled: list[Ruled] = []
    for each in claims:
        for text in each.passages:
            if text not in passages:
                passages[text] = read_passage(text)
        ruled.append(check_by_rules(each.claim, [passages[text] for text in each.passages]))
    windows = [windows_of(each.statement, each.passages) if each.is_open and each.statement else [] for each in ruled]
    pairs = [
        (" ".join(each.claim.split()), window.text)
        for each, near in zip(ruled, windows, strict=True)
        for window in near
    ]
    logits = reader.read(pairs)
    odds, contradicted, about, at = [], [], [], 0
    for each, near in zip(ruled, windows, strict=True):
        found = found_in(each.claim, near, logits[at : at + len(near)].tolist()) if near else None
        at += len(near)
        odds.append(meaning.entailed_odds(found, each.sentences) if found else 0.0)
        contradicted.append(found.contradicted if found else 0.0)
        about.append(found.contradicting.coverage if found else 0.0)
    return Read(
        np.array([each.supported for each in claims]),
        np.array([each.label in CONTRADICTED for each in claims]),
        [each.check.verdict for each in ruled],
        np.array([bool(near) for near in windows]),
        np.array([not each.check.checks.get("missing_numbers") for each in ruled]),
        np.array([each.support for each in ruled]),
        np.array(odds),
        np.array(contradicted),
        np.array(about),
        [each.verdict for each in decide(ruled, reader)],
    )


def _accuracy(read: Read, guesses: npt.NDArray[np.bool_]) -> float:
    return balanced_accuracy(read.supported.tolist(), guesses.tolist())


def print_sets(sets: Mapping[str, Read]) -> None:
    """Print the figures of each set by the rules alone, and with the reader."""
    for name, read in sets.items():
        rules = np.array([each == "supported" for each in read.by_rules])
        now = np.array([each == "supported" for each in read.now])
        decided = np.where(read.is_open, 0.0, np.where(rules, 20.0, -20.0))
        score = decided + read.is_open * (read.odds + meaning.OF_WORDS * read.support)
        said = {
            which: np.array([each == "contradicted" for each in verdicts])
            for which, verdicts in (("rules", read.by_rules), ("now", read.now))
        }
        told = "; ".join(
            f"{which}: {found.sum()} contradicted, {(found & ~read.supported).sum()} not supported, "
            f"{(found & read.is_contradicted).sum()} of {read.is_contradicted.sum()} so labelled"
            for which, found in said.items()
        )
        print(
            f"{name}: {len(now)} claims, {read.is_open.sum()} read; balanced accuracy by rules "
            f"{_accuracy(read, rules):.3f}, now {_accuracy(read, now):.3f}; AUC by words "
            f"{auc(read.support[read.supported], read.support[~read.supported]):.3f}, now "
            f"{auc(score[read.supported], score[~read.supported]):.3f}; {told}"
        )


def print_choice(sets: Mapping[str, Read]) -> None:
    """Print the best thresholds for support on all sets, for each weight of words, and on all sets but each one."""
    grid = [(of_words, least) for of_words in _OF_WORDS for least in _ENTAILED]
    reached = np.array([[_accuracy(read, read.are_supported(*each)) for each in grid] for read in sets.values()])
    for of_words in _OF_WORDS:
        among = [at for at, each in enumerate(grid) if each[0] == of_words]
        best = among[int(reached[:, among].mean(0).argmax())]
        print(f"OF_WORDS {of_words}, ENTAILED_FROM {grid[best][1]}: mean {reached[:, best].mean():.3f}")
    for at, name in enumerate(sets):
        best = int(np.delete(reached, at, 0).mean(0).argmax())
        print(f"without {name}: {grid[best]}, there {reached[at, best]:.3f}")


def print_contradicted(read: Read) -> None:
    """Print at which thresholds nine of ten contradictions are right, those that find most first."""
    unlikely = read.is_open & ~read.are_supported(meaning.OF_WORDS, meaning.ENTAILED_FROM)
    found = []
    for least in _CONTRADICTED:
        for about in _ABOUT:
            said = unlikely & (read.contradicted >= least) & (read.about >= about)
            right = int((said & read.is_contradicted).sum())
            if said.any() and right / said.sum() >= _PRECISION:
                found.append((right, int(said.sum()), least, about))
    print(f"contradicted, of {read.is_contradicted.sum()}:")
    for right, said, least, about in sorted(found, reverse=True)[:5]:
        print(f"CONTRADICTED_FROM {least:.2f}, ABOUT_FROM {about:.2f}: {right} of {said} right")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--cache", type=Path)
    parser.add_argument("--most", type=int, default=200, help="claims of a set; 200 unless told")
    parsed = parser.parse_args()
    reader = ClaimReader(Cached(parsed.cache).read)
    sets = {name: read_set(claims, reader) for name, claims in samples(parsed.folder, parsed.most)}
    print_sets(sets)
    print_choice(sets)
    print_contradicted(read_set(made_claims("val", whole=False), reader))


if __name__ == "__main__":
    main()
