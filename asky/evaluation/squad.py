"""Files in the layout of SQuAD 2.0: articles with paragraphs, each with its questions.

Source: Rajpurkar et al. 2018.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from asky.evaluation.jsonl import FaultyLine, question_text
from asky.evaluation.questions import CorpusText, EvalQuestion, QuestionProblem, QuestionSet, hash_files, repeated


def read_squad(path: Path, data: Mapping[str, Any]) -> QuestionSet:
    """Return the questions of `data`, which was read from `path`; the documents are its paragraphs.

    A question is answered by any of its answers and by its paragraph. Its faults are listed.
    """
    corpus: list[CorpusText] = []
    placed: list[tuple[str, EvalQuestion]] = []
    problems: list[QuestionProblem] = []
    for place, title, paragraph in _paragraphs(data):
        try:
            document = CorpusText(f"{title}-{len(corpus)}", title, _text(paragraph, "context"))
            found = [(f"{path.name}, {place}", _question(each, document.id)) for each in paragraph.get("qas") or ()]
        except FaultyLine as fault:
            problems.append(QuestionProblem(f"{path.name}, {place}", fault.kind, str(fault), is_fault=True))
            continue
        corpus.append(document)
        placed += found
    return QuestionSet(
        name=path.name,
        format="squad",
        questions=tuple(each for _, each in placed),
        sha256=hash_files([path]),
        problems=(*problems, *repeated(placed)),
        corpus=tuple(corpus),
    )


def _paragraphs(data: Mapping[str, Any]) -> Iterator[tuple[str, str, Mapping[str, Any]]]:
    articles = data["data"] if isinstance(data["data"], list) else []
    for at, article in enumerate(articles, start=1):
        entry = article if isinstance(article, dict) else {}
        title = str(entry.get("title") or f"article {at}").replace("_", " ")
        paragraphs = entry.get("paragraphs")
        for number, paragraph in enumerate(paragraphs if isinstance(paragraphs, list) else [None], start=1):
            place = f"article {at}, paragraph {number}"
            yield place, title, paragraph if isinstance(paragraph, dict) else {}


def _question(row: Any, document: str) -> EvalQuestion:
    if not isinstance(row, dict) or not isinstance(row.get("id"), (str, int)):
        raise FaultyLine("wrong_type", 'a question has "id", "question" and "answers"')
    impossible = row.get("is_impossible") is True
    answers = [each.get("text") for each in row.get("answers") or () if isinstance(each, dict)]
    forms = tuple(dict.fromkeys(each for each in answers if isinstance(each, str) and each.strip()))
    return EvalQuestion(
        id=str(row["id"]),
        text=question_text(row.get("question")),
        facts=(forms,) if forms and not impossible else (),
        sources={} if impossible else {document: 1},
        answerable=not impossible,
    )


def _text(row: Mapping[str, Any], key: str) -> str:
    value = row.get(key)
    if not isinstance(value, str):
        raise FaultyLine("wrong_type", f'a paragraph has a "{key}", a string')
    return value
