"""The examples of a training run, drawn from records of questions and claims.

Public records: `{"set", "id", "q", "units", "answers"}` and `{"set", "id", "claim", "evidence", "label"}`, one a line.
Documents written for the reader: `{"set", "doc", "units", "questions": [{"q", "answers"}], "claims": [{"claim",
"evidence": [indexes], "label"}]}`. `answers` are the indexes of the units that answer by themselves, none for a
question that the units do not answer.
"""

from __future__ import annotations

import gzip
import json
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

LABELS = ("entailed", "contradicted", "neither")
_TITLE_WORDS, _BEFORE_WORDS = 12, 18
_NO_CONTEXT = 0.15  # of the examples are read without a context, so that the unit alone has to do
_MERGED = 0.25  # of the claims are read with a neighbour of their evidence that says something else

# Records of a set in one pass over the data. Sets that counting words solves (docs/concepts/reader.md has the shares)
# and sets in which another scene counts as a contradiction are held low.
CAPS: Mapping[str, int] = {
    "squadshifts_amazon_reviews": 5000,
    "squadshifts_reddit": 5000,
    "squadshifts_new_wiki": 4000,
    "tldr": 4000,
    "boolq": 4000,
    "nl2bash": 2500,
    "qamr": 2500,
    "hybridqa": 200,
    "ottqa": 150,
    "snli_dev_test": 1500,
    "cad_nli": 3000,
    "breaking_nli": 800,
    "conjnli": 8000,
    "fever": 16000,
    "infotabs": 12000,
    "qasc": 2500,
    "help": 1500,
    "med": 2000,
    "tabfact": 5000,
    "taxinli": 0,
}


@dataclass(frozen=True, slots=True)
class Group:
    """What is read together: a question with some units of one document, or one claim with its evidence.

    `pairs` are question, unit and context, or claim and evidence; `targets` are 1 for a unit that answers, 0 for one
    that does not, or the index of the claim's label in `LABELS`.
    """

    pairs: tuple[tuple[str, ...], ...]
    targets: tuple[int, ...]
    is_claim: bool
    weight: float = 1.0


def read_lines(path: Path) -> Iterator[Any]:
    """Yield the records of a file of JSON lines, packed by gzip where its name ends in `.gz`."""
    with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as file:
        for line in file:
            if line.strip():
                yield json.loads(line)


def read_made(folder: Path, part: str) -> list[Any]:
    """Return the documents of the files `*{part}*.jsonl[.gz]` in `folder`, in the order of their names."""
    files = sorted(each for each in folder.iterdir() if re.search(rf"{part}.*\.jsonl(\.gz)?$", each.name))
    return [record for file in files for record in read_lines(file)]


def words(text: str) -> set[str]:
    return set(re.findall(r"\w+", text.casefold()))


def context_of(units: Sequence[str], at: int) -> str:
    """Return the beginning of the title and the unit before unit `at`, as far as they are other units."""
    title = " ".join(units[0].split()[:_TITLE_WORDS]) if at > 1 else ""
    before = " ".join(units[at - 1].split()[:_BEFORE_WORDS]) if at else ""
    return " | ".join(each for each in (title, before) if each)


def question_group(
    question: str, units: Sequence[str], answers: Sequence[int], random: Random, *, negatives: int, weight: float = 1.0
) -> Group:
    """Return a question with up to two units that answer it and `negatives` that do not.

    Two parts of these are the ones with the most words in common with the question or next to an answer, one part is
    drawn at random.
    """
    right = set(answers)
    chosen = random.sample(sorted(right), min(2, len(right)))
    asked = words(question)
    wrong = [at for at in range(len(units)) if at not in right]
    near = {at for each in chosen for at in (each - 1, each + 1)}
    wrong.sort(key=lambda at: (-len(asked & words(units[at])) - (at in near), random.random()))
    hard = -(-negatives * 2 // 3)
    taken = wrong[:hard] + random.sample(wrong[hard:], min(negatives - hard, len(wrong[hard:])))
    bare = random.random() < _NO_CONTEXT
    pairs = tuple((question, units[at], "" if bare else context_of(units, at)) for at in (*chosen, *taken))
    return Group(pairs, (1,) * len(chosen) + (0,) * len(taken), is_claim=False, weight=weight)


def public_groups(folder: Path, part: str, random: Random, caps: Mapping[str, int] = CAPS) -> list[Group]:
    """Return the groups of `answers_{part}.jsonl.gz` and `claims_{part}.jsonl.gz` in `folder`, capped by set."""
    groups = []
    for record in _capped(read_lines(folder / f"answers_{part}.jsonl.gz"), random, caps):
        groups.append(question_group(record["q"], record["units"], record["answers"], random, negatives=2))
    for record in _capped(read_lines(folder / f"claims_{part}.jsonl.gz"), random, caps):
        evidence = record["evidence"]
        text = evidence if isinstance(evidence, str) else " ".join(evidence)
        groups.append(Group(((record["claim"], text),), (LABELS.index(record["label"]),), is_claim=True))
    return groups


def _capped(records: Iterable[Any], random: Random, caps: Mapping[str, int]) -> list[Any]:
    by_set: dict[str, list[Any]] = defaultdict(list)
    for record in records:
        by_set[record["set"]].append(record)
    return [
        record
        for name, each in sorted(by_set.items())
        for record in random.sample(each, min(caps.get(name, len(each)), len(each)))
    ]


def made_groups(documents: Sequence[Any], random: Random, *, negatives: int = 5) -> list[Group]:
    """Return the groups of documents written for the reader."""
    groups = []
    for document in documents:
        units = document["units"]
        for each in document["questions"]:
            groups.append(question_group(each["q"], units, each["answers"], random, negatives=negatives))
        for each in document["claims"]:
            evidence = [units[at] for at in _with_neighbour(each["evidence"], len(units), random)]
            target = LABELS.index(each["label"])
            groups.append(Group(((each["claim"], " ".join(evidence)),), (target,), is_claim=True))
    return groups


def _with_neighbour(evidence: Sequence[int], units: int, random: Random) -> list[int]:
    """Return `evidence` in order, sometimes with the unit beside it: what is cited is seldom the sentence alone."""
    taken = set(evidence)
    if random.random() < _MERGED and len(taken) < 3:
        taken.add(min(max(0, random.choice((min(taken) - 1, max(taken) + 1))), units - 1))
    return sorted(taken)
