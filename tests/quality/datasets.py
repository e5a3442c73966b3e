"""Readers of the folders that retrieval quality is measured on: a corpus, its questions, and what answers them.

A folder in the BEIR layout holds `corpus.jsonl`, `queries*.jsonl` and `qrels*.tsv`. Two others (reference spans in
whole files; one gold passage a question) are told apart by what the folder holds. Sets that name answers or paragraphs
also yield gold spans: characters `[start, end)` of a document's text.
"""

from __future__ import annotations

import csv
import hashlib
import json
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from asky.evaluation.beir import read_qrels
from asky.evaluation.questions import CorpusText, QuestionProblem, hash_files
from asky.values import Span


@dataclass(frozen=True, slots=True)
class GoldSpan:
    """Characters of the document with the id `document` that answer a question."""

    document: str
    span: Span


@dataclass(frozen=True, slots=True)
class Question:
    """A question and its judgements: `relevant` maps a document's id to its gain, always above 0.

    `answerable` is false only where the set says so. A question that is answerable and has no judgement (some sets hold
    a few) belongs in no average: see `RetrievalSet.judged`.
    """

    id: str
    text: str
    relevant: Mapping[str, int]
    gold: tuple[GoldSpan, ...] = ()
    answerable: bool = True


@dataclass(frozen=True, slots=True)
class RetrievalSet:
    """A corpus with questions. `sha256` covers every file that was read, so that a pinned figure names its data."""

    name: str
    documents: tuple[CorpusText, ...]
    questions: tuple[Question, ...]
    sha256: str

    @property
    def judged(self) -> tuple[Question, ...]:
        """The questions that ranking metrics are averaged over, in the order of the file."""
        return tuple(question for question in self.questions if question.relevant)


def load_set(folder: Path) -> RetrievalSet:
    """The set in `folder`, whatever its layout; named after the folder.

    Raises:
        FileNotFoundError: `folder` holds none of the known layouts.
        ValueError: a judgement or a gold span points at nothing.
    """
    if (folder / "corpus.jsonl").is_file():
        return _load_beir(folder)
    if (folder / "corpora").is_dir():
        return _load_spans(folder)
    passages = _files(folder, "*answerable*.jsonl")
    if passages:
        return _load_passages(folder, passages)
    raise FileNotFoundError(f"no retrieval set in {folder}")


def subset(whole: RetrievalSet, n_documents: int) -> RetrievalSet:
    """`whole` with every document that a question needs and, up to `n_documents` in all, others in order of their hash.

    The order by hash keeps the choice the same everywhere without the bias of the file's own order.
    """
    needed = {document for question in whole.questions for document in question.relevant}
    others = sorted(
        (document.id for document in whole.documents if document.id not in needed),
        key=lambda name: hashlib.sha256(name.encode()).digest(),
    )
    kept = needed | set(others[: max(0, n_documents - len(needed))])
    documents = tuple(document for document in whole.documents if document.id in kept)
    return RetrievalSet(whole.name, documents, whole.questions, whole.sha256)


def _load_beir(folder: Path) -> RetrievalSet:
    corpus = folder / "corpus.jsonl"
    queries = _files(folder, "queries*.jsonl")
    qrels = [path for path in _files(folder, "*.tsv") if "graded" not in path.name]
    documents = tuple(CorpusText(row["_id"], row.get("title", ""), row["text"]) for row in _rows(corpus))
    texts = {document.id: document.text for document in documents}
    judgements = _judgements(qrels, {_unpadded(name): name for name in texts})
    _check_known((name for relevant in judgements.values() for name in relevant), texts, folder)
    questions = {row["_id"]: _beir_question(row, judgements, texts) for path in queries for row in _rows(path)}
    return RetrievalSet(folder.name, documents, tuple(questions.values()), hash_files([corpus, *queries, *qrels]))


def _beir_question(
    row: Mapping[str, Any], judgements: Mapping[str, dict[str, int]], texts: Mapping[str, str]
) -> Question:
    relevant = judgements.get(row["_id"], {})
    answerable = not row.get("is_impossible", False) and row.get("type") != "null_query"
    gold = tuple(_gold(row, texts)) if answerable else ()
    return Question(row["_id"], row["text"], relevant, gold, answerable)


def _gold(row: Mapping[str, Any], texts: Mapping[str, str]) -> Iterator[GoldSpan]:
    document = row.get("doc")
    passage = row.get("gold_paragraph") or (row.get("answer") if "answer_start" in row else None)
    if document is None or not passage:
        return
    start = _locate(passage.strip(), texts[document], row.get("answer_start"))
    if start is not None:
        yield GoldSpan(document, Span(start, start + len(passage.strip())))


def _locate(passage: str, text: str, hint: int | None) -> int | None:
    """Where `passage` starts: the occurrence nearest to `hint`, since some published offsets are a little off."""
    starts = []
    start = text.find(passage)
    while start >= 0:
        starts.append(start)
        start = text.find(passage, start + 1)
    return min(starts, key=lambda at: abs(at - (hint or 0)), default=None)


def _judgements(paths: Iterable[Path], names: Mapping[str, str]) -> dict[str, dict[str, int]]:
    """Gains by question and document. Rows of gain 0 say "judged and not relevant": they are left out.

    `names` finds the corpus's own name of a document: one set pads the numbers in its corpus and not in its judgements.
    """
    found: dict[str, dict[str, int]] = defaultdict(dict)
    for path in paths:
        problems: list[QuestionProblem] = []
        for question, judged in read_qrels(path, problems).items():
            relevant = {names.get(_unpadded(name), name): gain for name, gain in judged.items() if gain > 0}
            if relevant:
                found[question] |= relevant
        if faults := [str(each) for each in problems if each.is_fault]:
            raise ValueError(faults[0])
    return found


def _unpadded(name: str) -> str:
    return re.sub(r"-0+(?=\d)", "-", name)


def _load_spans(folder: Path) -> RetrievalSet:
    """Whole files under `corpora` and a table of questions whose references are spans of them."""
    corpora = sorted((folder / "corpora").glob("*.md"))
    tables = _files(folder, "questions*.csv")
    documents = tuple(CorpusText(path.stem, "", path.read_bytes().decode("utf-8")) for path in corpora)
    texts = {document.id: document.text for document in documents}
    questions = []
    for table in tables:
        with table.open(encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
        _check_known((row["corpus_id"] for row in rows), texts, folder)
        questions += [_span_question(f"{table.stem}-{n}", row, texts) for n, row in enumerate(rows)]
    return RetrievalSet(folder.name, documents, tuple(questions), hash_files([*corpora, *tables]))


def _span_question(name: str, row: Mapping[str, str], texts: Mapping[str, str]) -> Question:
    document = row["corpus_id"]
    gold = []
    for reference in json.loads(row["references"]):
        span = Span(reference["start_index"], reference["end_index"])
        if texts[document][span.start : span.end] != reference["content"]:
            raise ValueError(f"{name}: the reference at {span.start} of {document} is not what the file holds there")
        gold.append(GoldSpan(document, span))
    return Question(name, row["question"], {document: 1}, tuple(gold))


def _load_passages(folder: Path, paths: list[Path]) -> RetrievalSet:
    """One gold passage a question, with the sentences that answer it; passages of all questions make the corpus."""
    documents: dict[str, CorpusText] = {}
    ids: dict[tuple[str, str], str] = {}
    questions = []
    for path in paths:
        for row in _rows(path):
            relevant = {}
            for passage in row["passages"]:
                key = (passage["title"], passage["text"])
                name = ids.setdefault(key, f"p{len(ids)}")
                documents[name] = CorpusText(name, *key)
                relevant[name] = 1
            answers = [output for output in row["output"] if output.get("answer")]
            gold = {
                span for output in answers for span in _sentences(output["selected_sentences"], relevant, documents)
            }
            ordered = sorted(gold, key=lambda g: (g.document, g.span.start, g.span.end))
            questions.append(
                Question(row["id"], row["input"], relevant if answers else {}, tuple(ordered), bool(answers))
            )
    return RetrievalSet(folder.name, tuple(documents.values()), tuple(questions), hash_files(paths))


def _sentences(
    selected: Iterable[str], names: Iterable[str], documents: Mapping[str, CorpusText]
) -> Iterator[GoldSpan]:
    for sentence in selected:
        for name in names:
            start = documents[name].text.find(sentence)
            if start >= 0:
                yield GoldSpan(name, Span(start, start + len(sentence)))


def _check_known(names: Iterable[str], texts: Mapping[str, str], folder: Path) -> None:
    unknown = sorted(set(names) - set(texts))
    if unknown:
        raise ValueError(f"{folder.name}: judged documents that the corpus lacks: {', '.join(unknown[:3])}")


def _files(folder: Path, pattern: str) -> list[Path]:
    return sorted(path for path in folder.rglob(pattern) if path.is_file() and "raw" not in path.parts)


def _rows(path: Path) -> Iterator[Any]:
    with path.open(encoding="utf-8") as file:
        for line in file:
            if line.strip():
                yield json.loads(line)
