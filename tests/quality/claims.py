"""How well `verify_claim` agrees with people on public sets of claims with the passages that they cite.

A claim counts as supported when its verdict is `supported`, and as marked when it is `unsupported` or `contradicted`.
Each reader takes the file of one set and gives the claims in the file's order. To see every figure, with intervals from
1,000 samples of the sources: `python -m tests.quality.claims FOLDER`.
"""

from __future__ import annotations

import csv
import json
import random
import sys
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from asky.evidence.marks import MARKED
from asky.evidence.plain_text import plain_text
from asky.evidence.verification.claims import split_claims
from asky.evidence.verification.meaning import ClaimCheck
from asky.evidence.verification.support import Passage, read_passage
from asky.evidence.verification.verify import check_claim
from asky.values import Verdict

T = TypeVar("T")


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
    macro_f1_interval: tuple[float, float] = (0.0, 1.0)

    def share_right(self, supported: Collection[str], verdicts: Collection[Verdict]) -> tuple[float, int]:
        """Return the share of these verdicts on claims whose label is not one of `supported`, and their number."""
        given = {pair: count for pair, count in self.verdicts.items() if pair[1] in verdicts}
        right = sum(count for (label, _), count in given.items() if label not in supported)
        return right / max(1, sum(given.values())), sum(given.values())


@dataclass(frozen=True, slots=True)
class AnswerFigures:
    """How well answers with a hallucination are found: an answer is flagged if one of its claims is not supported.

    `always` is the F1 of flagging every answer; the interval is that of the difference between the two.
    """

    answers: int
    f1: float
    always: float
    gain_interval: tuple[float, float]


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


def read_faithbench(file: Path) -> Iterator[Labelled]:
    """The claims of the set's summaries; one is supported when nobody found anything unwanted or questionable in it."""
    for sample in json.loads(file.read_text(encoding="utf-8"))["samples"]:
        faults = [note for note in sample["annotations"] if note.get("summary_start") is not None]
        for draft in split_claims(sample["summary"]):
            if draft.states == "count":
                continue
            span = draft.span
            found = [note for note in faults if note["summary_start"] < span.end and span.start < note["summary_end"]]
            good = not any("Unwanted" in note["label"] or "Questionable" in note["label"] for note in found)
            yield Labelled(draft.text, (sample["source"],), good, "consistent" if good else "hallucinated")


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
    found = list(zip(truths, guesses, strict=True))
    by_source = _grouped([case.passages for case in cases], found)
    interval = bootstrap(by_source, lambda pairs: macro_f1(*zip(*pairs, strict=True)))
    return Figures(len(cases), macro_f1(truths, guesses), balanced_accuracy(truths, guesses), verdicts, interval)


def measure_answers(file: Path) -> AnswerFigures:
    """Check the answers of a file of RAGTruth, each as a whole."""
    found: list[list[tuple[bool, bool]]] = []
    for line in file.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        passage = read_passage(_source_text(row["source"]))
        found.append([(bool(each["labels"]), _is_flagged(each["response"], passage)) for each in row["responses"]])
    pairs = [pair for source in found for pair in source]

    def gain(sample: Sequence[tuple[bool, bool]]) -> float:
        return f1(sample) - f1([(truth, True) for truth, _ in sample])

    return AnswerFigures(len(pairs), f1(pairs), f1([(truth, True) for truth, _ in pairs]), bootstrap(found, gain))


def _is_flagged(answer: str, passage: Passage) -> bool:
    drafts = (draft for draft in split_claims(answer) if draft.states != "count")
    return any(check_claim(draft.text, [passage]).verdict != "supported" for draft in drafts)


def share_flagged_when_swapped(file: Path, *, questions: int = 300) -> float:
    """Return the share of the claims of right answers that are not supported by the passages of another question.

    `file` has a question a line, with its passages and its answer; each gets the passages of the one half a list on.
    """
    rows = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()[:questions]]
    passages = [[read_passage(each["text"]) for each in row["passages"]] for row in rows]
    verdicts = [
        check_claim(draft.text, passages[(at + len(rows) // 2) % len(rows)]).verdict
        for at, row in enumerate(rows)
        for output in row["output"][:1]
        for draft in split_claims(output["answer"] or "")
        if draft.states is None
    ]
    return sum(verdict != "supported" for verdict in verdicts) / len(verdicts)


def _grouped(keys: Sequence[object], found: Sequence[T]) -> list[list[T]]:
    groups: dict[object, list[T]] = {}
    for key, each in zip(keys, found, strict=True):
        groups.setdefault(key, []).append(each)
    return list(groups.values())


def bootstrap(
    groups: Sequence[Sequence[T]], figure: Callable[[Sequence[T]], float], samples: int = 1_000
) -> tuple[float, float]:
    """Return the 95 % interval of a figure over samples of the groups, with replacement; the seed is fixed."""
    draw = random.Random(16)
    drawn = (draw.choices(groups, k=len(groups)) for _ in range(samples))
    figures = sorted(figure([each for group in sample for each in group]) for sample in drawn)
    return figures[samples // 40], figures[-samples // 40]


def f1(pairs: Sequence[tuple[bool, bool]]) -> float:
    """Return the F1 of finding what is true, from pairs of truth and guess."""
    counts = Counter(pairs)
    found = counts[True, True]
    return 2 * found / max(1, 2 * found + counts[True, False] + counts[False, True])


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
    **{f"faithbench-{n}": (f"faithbench/data_for_release/batch_{n}.json", read_faithbench) for n in range(1, 6)},
    "healthver": ("healthver/healthver_dev.csv", read_healthver),
}
"""Name of a set to its file below the data folder and its reader."""


SUPPORTED = frozenset({"attributable", "supported", "consistent", "completely-support", "Supports"})
"""The labels of the sets for what is supported."""
CONTRADICTED: tuple[Verdict, ...] = ("contradicted",)


def main() -> None:
    folder = Path(sys.argv[1])
    for name, (path, reader) in SETS.items():
        figures = measure(list(reader(folder / path)))
        low, high = figures.macro_f1_interval
        print(
            f"{name}: {figures.claims} claims, F1 {figures.macro_f1:.3f} ({low:.3f} to {high:.3f}), "
            f"BAcc {figures.balanced_accuracy:.3f}"
        )
        for what, verdicts in (("marked", MARKED), ("contradicted", CONTRADICTED)):
            share, count = figures.share_right(SUPPORTED, verdicts)
            print(f"    {what}: {count}, right {share:.3f}")
        for (label, verdict), count in sorted(figures.verdicts.items()):
            print(f"    {label} -> {verdict}: {count}")
        if name.startswith("ragtruth"):
            answers = measure_answers(folder / path)
            low, high = answers.gain_interval
            print(
                f"    answers: F1 {answers.f1:.3f}, always flagged {answers.always:.3f}, gain {low:.3f} to {high:.3f}"
            )
    swapped = share_flagged_when_swapped(folder / ANSWERED)
    print(f"passages of another question: {swapped:.3f} of the claims flagged")


ANSWERED = "clapnq_dev/split/answerable.dev.jsonl"
"""Answers to questions with their passages."""


if __name__ == "__main__":
    main()
