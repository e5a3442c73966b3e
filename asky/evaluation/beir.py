"""Folders in the BEIR layout: `corpus.jsonl`, `queries*.jsonl`, and judgements in `qrels`.

Judgements are tables with a header (`query-id`, `corpus-id`, `score`, split by tabs) in `qrels/SPLIT.tsv`, or beside
the queries as `qrels.SPLIT.tsv`. A query may also have `facts` or `answers`, and `answerable` or `is_impossible`.

Source: Thakur et al. 2021, BEIR.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from asky.errors import UsageError
from asky.evaluation.jsonl import FaultyLine, facts_of, question_text, read_object
from asky.evaluation.questions import (
    CorpusText,
    EvalQuestion,
    Fact,
    QuestionProblem,
    QuestionSet,
    hash_files,
    repeated,
)

CORPUS = "corpus.jsonl"
_DEFAULT_SPLIT = "test"
_COLUMNS = ("query-id", "corpus-id", "score")


@dataclass(frozen=True, slots=True)
class BeirFiles:
    """The files of one split of a folder."""

    corpus: Path
    queries: tuple[Path, ...]
    qrels: Path


def is_beir(folder: Path) -> bool:
    """Return whether `folder` holds a corpus in this layout."""
    return (folder / CORPUS).is_file()


def read_beir(folder: Path, split: str | None = None) -> QuestionSet:
    """Return the judged questions of a split with their corpus, and what is wrong with the lines.

    Raises `UsageError` if files are missing or the split is not clear, and `OSError` for one that cannot be read.
    """
    files = find_files(folder, split)
    problems: list[QuestionProblem] = []
    corpus = tuple(_corpus(files.corpus, problems))
    qrels = read_qrels(files.qrels, problems)
    known = {each.id for each in corpus}
    placed = [each for path in files.queries for each in _queries(path, qrels, problems)]
    problems += repeated(placed)
    problems += _unjudged(placed, qrels, known, files.qrels.name)
    kept = tuple(each for _, each in placed if each.sources or not each.answerable)
    return QuestionSet(
        name=folder.resolve().name,
        format="beir",
        questions=kept,
        sha256=hash_files([files.corpus, *files.queries, files.qrels]),
        problems=tuple(problems),
        corpus=corpus,
    )


def find_files(folder: Path, split: str | None = None) -> BeirFiles:
    """Return the files of `split`: by default the only one, else the one called `test`. Raises `UsageError`."""
    tables = {_split_of(path): path for path in _files(folder, "qrels", ".tsv")}
    queries = _files(folder, "queries", ".jsonl")
    for kind, found in (("qrels/test.tsv", tables), ("queries.jsonl", queries)):
        if not found:
            raise UsageError(f"{folder}: no {kind}", hint="a BEIR folder has corpus.jsonl, queries.jsonl and qrels/")
    chosen = split or (next(iter(tables)) if len(tables) == 1 else _DEFAULT_SPLIT)
    if chosen not in tables:
        names = ", ".join(sorted(tables))
        what = f"no split {chosen!r}" if split else "several splits"
        raise UsageError(f"{folder}: {what}", hint=f"choose one with --split: {names}")
    own = tuple(path for path in queries if _split_of(path) == chosen)
    return BeirFiles(folder / CORPUS, own or tuple(queries), tables[chosen])


def _files(folder: Path, name: str, suffix: str) -> list[Path]:
    """Return the files called `NAME*` in the folder and its folder `split`, and those in its folder `NAME`."""
    patterns = (f"{name}*{suffix}", f"split/{name}*{suffix}", f"{name}/*{suffix}")
    return sorted(path for pattern in patterns for path in folder.glob(pattern) if path.is_file())


def _split_of(path: Path) -> str:
    """Return `dev` for `qrels.dev.tsv` and `qrels/dev.tsv`, and `""` for `queries.jsonl`."""
    stem = path.name.removesuffix(path.suffix)
    for name in ("qrels", "queries"):
        if stem == name or stem.startswith(f"{name}."):
            return stem[len(name) :].lstrip(".")
    return stem


def _lines(path: Path) -> Iterator[tuple[str, bytes]]:
    with path.open("rb") as file:
        for number, line in enumerate(file, start=1):
            if line.strip():
                yield f"{path.name}, line {number}", line.removeprefix(b"\xef\xbb\xbf") if number == 1 else line


def _corpus(path: Path, problems: list[QuestionProblem]) -> Iterator[CorpusText]:
    seen: set[str] = set()
    for place, line in _lines(path):
        try:
            each = corpus_text(read_object(line))
        except FaultyLine as fault:
            problems.append(QuestionProblem(place, fault.kind, str(fault), is_fault=True))
            continue
        if each.id in seen:
            problems.append(QuestionProblem(place, "duplicate_id", f"the id {each.id!r} comes twice", is_fault=True))
        seen.add(each.id)
        yield each


def corpus_text(row: Mapping[str, Any]) -> CorpusText:
    """Return the document in a row of a corpus. Raises `FaultyLine`."""
    id_, title, text = row.get("_id"), row.get("title") or "", row.get("text")
    if not isinstance(id_, str) or not id_ or not isinstance(title, str) or not isinstance(text, str):
        raise FaultyLine("wrong_type", 'a document has "_id", "title" and "text", all strings')
    return CorpusText(id_, title, text)


def _queries(
    path: Path, qrels: Mapping[str, Mapping[str, int]], problems: list[QuestionProblem]
) -> Iterator[tuple[str, EvalQuestion]]:
    for place, line in _lines(path):
        try:
            yield place, _query(read_object(line), qrels)
        except FaultyLine as fault:
            problems.append(QuestionProblem(place, fault.kind, str(fault), is_fault=True))


def _query(row: Mapping[str, Any], qrels: Mapping[str, Mapping[str, int]]) -> EvalQuestion:
    id_ = row.get("_id")
    if not isinstance(id_, str) or not id_:
        raise FaultyLine("wrong_type", 'a query has "_id" and "text", both strings')
    if not isinstance(row.get("text"), str):
        raise FaultyLine("no_question", '"text" must be a string')
    impossible = row.get("is_impossible") is True or row.get("answerable") is False
    return EvalQuestion(
        id=id_,
        text=question_text(row["text"]),
        facts=_facts(row) if not impossible else (),
        sources={name: gain for name, gain in qrels.get(id_, {}).items() if gain > 0},
        answerable=not impossible,
    )


def _facts(row: Mapping[str, Any]) -> tuple[Fact, ...]:
    """Return the facts of a query, or its `answers`, or its `answer` and `aliases`, as the forms of one fact.

    Answers of yes and no are in no text, and are left out.
    """
    if row.get("facts") is not None:
        return facts_of(row["facts"])
    answers, aliases = row.get("answers"), row.get("aliases")
    named = (
        answers if isinstance(answers, list) else [row.get("answer"), *(aliases if isinstance(aliases, list) else ())]
    )
    forms = [each for each in named if isinstance(each, str) and each.strip().casefold() not in ("", "yes", "no")]
    return (tuple(dict.fromkeys(forms)),) if forms else ()


def read_qrels(path: Path, problems: list[QuestionProblem]) -> dict[str, dict[str, int]]:
    """Return the judgements of a table by query and document, with those of 0; `problems` receives its faults."""
    found: dict[str, dict[str, int]] = {}
    with path.open(encoding="utf-8-sig", newline="") as file:
        rows = csv.reader(file, delimiter="\t", quoting=csv.QUOTE_NONE)
        if (header := next(rows, None)) is None or tuple(header[:3]) != _COLUMNS:
            message = f"the header must be {', '.join(_COLUMNS)}, split by tabs"
            problems.append(QuestionProblem(f"{path.name}, line 1", "no_header", message, is_fault=True))
            return {}
        for row in rows:
            if row:
                add_judgement(found, row, f"{path.name}, line {rows.line_num}", problems)
    return found


def add_judgement(
    found: dict[str, dict[str, int]], row: Sequence[str], place: str, problems: list[QuestionProblem]
) -> None:
    """Add a row of query, document and gain to `found`, or its fault to `problems`."""
    try:
        query, document, gain = row[0], row[1], int(row[2])
    except (IndexError, ValueError):
        message = "a judgement has a query, a document and a whole number"
        problems.append(QuestionProblem(place, "wrong_type", message, is_fault=True))
        return
    judged = found.setdefault(query, {})
    if document in judged:
        conflict = judged[document] != gain
        message = f"{document!r} is judged twice for {query!r}" + (", differently" if conflict else "")
        problems.append(QuestionProblem(place, "duplicate_judgement", message, is_fault=conflict))
    judged[document] = gain


def _unjudged(
    placed: Sequence[tuple[str, EvalQuestion]], qrels: Mapping[str, Mapping[str, int]], known: set[str], table: str
) -> Iterator[QuestionProblem]:
    """Yield what queries and judgements lack of each other; a query without judgements is not measured."""
    queries = {each.id: each for _, each in placed}
    for each in queries.values():
        if each.answerable and not each.sources:
            kind, why = ("no_positives", "no document is relevant") if each.id in qrels else ("unjudged", "not judged")
            yield QuestionProblem(f"question {each.id}", kind, f"{why} in {table}: it is left out")
        for name in each.sources:
            if name not in known:
                message = f"no document has the id {name!r}: it counts as not found"
                yield QuestionProblem(f"question {each.id}", "unknown_source", message)
    for id_ in qrels:
        if id_ not in queries:
            yield QuestionProblem(table, "unknown_question", f"judgements of {id_!r}, which is no query")
