"""How well `verify_claim` agrees with people on public sets of claims with the passages that they cite.

A claim counts as supported when its verdict is `supported`. Each reader takes the file of one set and gives the claims
in the file's order. To see every figure: `python -m tests.quality.claims FOLDER`.
"""

from __future__ import annotations

import csv
import json
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from asky.evidence.plain_text import plain_text
from asky.evidence.verification.claims import split_claims
from asky.evidence.verification.support import Passage, read_passage
from asky.evidence.verification.verify import ClaimCheck, check_claim
from asky.values import Verdict


@dataclass(frozen=True, slots=True)
class Labelled:
    """A claim, the passages that it cites, and whether people found it supported; `label` is the set's own word."""

    claim: str
    passages: tuple[str, ...]
    supported: bool
    label: str


@dataclass(frozen=True, slots=True)
class Figures:
    """`macro_f1` and `balanced_accuracy` of supported against not, and the verdicts that each label got."""

    claims: int
    macro_f1: float
    balanced_accuracy: float
    verdicts: Counter[tuple[str, Verdict]]


def read_attributionbench(file: Path) -> Iterator[Labelled]:
    for line in file.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        label = row["attribution_label"]
        yield Labelled(_statement(row["claim"]), tuple(row["references"]), label == "attributable", label)


def read_wice(file: Path) -> Iterator[Labelled]:
    for line in file.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        yield Labelled(row["claim"], ("\n".join(row["evidence"]),), row["label"] == "supported", row["label"])


def read_healthver(file: Path) -> Iterator[Labelled]:
    with file.open(encoding="utf-8", newline="") as stream:
        for row in csv.DictReader(stream):
            yield Labelled(row["claim"], (row["evidence"],), row["label"] == "Supports", row["label"])


def read_factcheck(file: Path) -> Iterator[Labelled]:
    for line in file.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        yield Labelled(row["claim"], (row["evidence"],), row["stance"] == "completely-support", row["stance"])


def read_ragtruth(file: Path) -> Iterator[Labelled]:
    """The claims of the set's answers; one is supported when people marked no hallucination in it."""
    for line in file.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        source = _source_text(row["source"])
        for answer in row["responses"]:
            faults = [(label["start"], label["end"]) for label in answer["labels"]]
            for draft in split_claims(answer["response"]):
                if draft.states == "count":  # "Three causes:" is no claim until something contradicts it
                    continue
                good = not any(start < draft.span.end and draft.span.start < end for start, end in faults)
                yield Labelled(draft.text, (source,), good, "consistent" if good else "hallucinated")


def _source_text(source: str | dict[str, Any]) -> str:
    """The passages of a question as they are; a record as JSON."""
    if isinstance(source, str):
        return source
    return str(source["passages"]) if "passages" in source else json.dumps(source, ensure_ascii=False)


def _statement(claim: str) -> str:
    return plain_text(claim).lstrip("-•* ")


def measure(cases: Sequence[Labelled]) -> Figures:
    """Check every claim and count."""
    read: dict[str, Passage] = {}
    checks = [_check(case, read) for case in cases]
    guesses = [check.verdict == "supported" for check in checks]
    truths = [case.supported for case in cases]
    verdicts = Counter((case.label, check.verdict) for case, check in zip(cases, checks, strict=True))
    return Figures(len(cases), macro_f1(truths, guesses), balanced_accuracy(truths, guesses), verdicts)


def _check(case: Labelled, read: dict[str, Passage]) -> ClaimCheck:
    for text in case.passages:
        if text not in read:
            read[text] = read_passage(text)
    return check_claim(case.claim, [read[text] for text in case.passages])


def macro_f1(truths: Sequence[bool], guesses: Sequence[bool]) -> float:
    pairs = Counter(zip(truths, guesses, strict=True))
    errors = pairs[True, False] + pairs[False, True]
    return sum(2 * pairs[c, c] / (2 * pairs[c, c] + errors) if pairs[c, c] else 0.0 for c in (True, False)) / 2


def balanced_accuracy(truths: Sequence[bool], guesses: Sequence[bool]) -> float:
    pairs = Counter(zip(truths, guesses, strict=True))
    return sum(pairs[c, c] / max(1, pairs[c, True] + pairs[c, False]) for c in (True, False)) / 2


SETS: dict[str, tuple[str, Callable[[Path], Iterator[Labelled]]]] = {
    "attributionbench": ("attributionbench/dev_all_subset_balanced.jsonl", read_attributionbench),
    "wice": ("wice/claim/dev.jsonl", read_wice),
    "ragtruth-qa": ("ragtruth_test/split/ragtruth_qa.dev.jsonl", read_ragtruth),
    "ragtruth-summary": ("ragtruth_test/split/ragtruth_summary.dev.jsonl", read_ragtruth),
    "ragtruth-data2txt": ("ragtruth_test/split/ragtruth_data2txt.dev.jsonl", read_ragtruth),
    "factcheck-gpt": ("factcheck_gpt/subtasks/subtask3_claim_evidence_stance.jsonl", read_factcheck),
    "healthver": ("healthver/healthver_dev.csv", read_healthver),
}
"""Name of a set to its file below the data folder and its reader."""


def main() -> None:
    folder = Path(sys.argv[1])
    for name, (path, reader) in SETS.items():
        figures = measure(list(reader(folder / path)))
        print(f"{name}: {figures.claims} claims, F1 {figures.macro_f1:.3f}, BAcc {figures.balanced_accuracy:.3f}")
        for (label, verdict), count in sorted(figures.verdicts.items()):
            print(f"    {label} -> {verdict}: {count}")


if __name__ == "__main__":
    main()
