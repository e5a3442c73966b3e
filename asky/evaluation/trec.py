"""Judgements and rankings in the formats of trec_eval.

Judgements have lines `QUERY ITERATION DOCUMENT GAIN`, rankings `QUERY Q0 DOCUMENT RANK SCORE TAG`, split by blanks.

Source: trec_eval 9, `get_qrels` and `get_trec_results`.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from asky.errors import UsageError
from asky.evaluation.beir import add_judgement
from asky.evaluation.questions import QuestionProblem

Qrels = Mapping[str, Mapping[str, int]]
Run = Mapping[str, tuple[str, ...]]
"""Documents by query, best first."""


def read_trec_qrels(path: Path, problems: list[QuestionProblem]) -> dict[str, dict[str, int]]:
    """Return the judgements in `path`. Raises `UsageError` for a malformed line or a document judged differently."""
    found: dict[str, dict[str, int]] = {}
    for place, fields in _lines(path, 4):
        add_judgement(found, (fields[0], fields[2], fields[3]), place, problems)
    if fault := next((each for each in problems if each.is_fault), None):
        raise UsageError(str(fault), hint="a judgement is QUERY ITERATION DOCUMENT GAIN")
    if not found:
        raise UsageError(f"{path}: no judgements")
    return found


def read_trec_run(path: Path) -> dict[str, tuple[str, ...]]:
    """Return the ranking in `path` for each query, in trec_eval's order. Raises `UsageError` for a malformed line."""
    scores: dict[str, dict[str, float]] = {}
    for place, fields in _lines(path, 6):
        scored = scores.setdefault(fields[0], {})
        if fields[2] in scored:
            raise UsageError(f"{place}: {fields[2]!r} is ranked twice for {fields[0]!r}")
        try:
            scored[fields[2]] = float(fields[4])
        except ValueError:
            raise UsageError(f"{place}: the score is no number", hint="QUERY Q0 DOCUMENT RANK SCORE TAG") from None
    if not scores:
        raise UsageError(f"{path}: no rankings")
    return {query: ordered(scored) for query, scored in scores.items()}


def ordered(scores: Mapping[str, float]) -> tuple[str, ...]:
    """Return the documents by descending score; among equal scores the name that sorts last comes first.

    As in trec_eval, scores are compared in single precision, names byte by byte, and the file's ranks are ignored.
    """
    return tuple(sorted(scores, key=lambda name: (_single(scores[name]), name.encode()), reverse=True))


def _single(score: float) -> float:
    try:
        return float(struct.unpack("f", struct.pack("f", score))[0])
    except OverflowError:
        return float("inf") if score > 0 else float("-inf")


def run_lines(query: str, ranking: Sequence[str], tag: str) -> Iterator[str]:
    """Yield a ranking in the format of a run, with scores that keep its order."""
    for rank, name in enumerate(ranking, start=1):
        yield f"{_word(query)} Q0 {_word(name)} {rank} {len(ranking) - rank + 1} {_word(tag)}\n"


def _word(text: str) -> str:
    """Return `text` without blanks, which would split it."""
    return "_".join(text.split()) or "_"


def _lines(path: Path, columns: int) -> Iterator[tuple[str, list[str]]]:
    try:
        lines: Iterable[str] = path.read_text("utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"cannot read {path}: {getattr(error, 'strerror', None) or 'not UTF-8'}") from error
    for number, line in enumerate(lines, start=1):
        if fields := line.split():
            if len(fields) < columns:
                raise UsageError(f"{path.name}, line {number}: {len(fields)} columns instead of {columns}")
            yield f"{path.name}, line {number}", fields
