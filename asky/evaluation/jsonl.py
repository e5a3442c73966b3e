"""The user's own questions: JSON lines, or one JSON array of the same objects."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from asky.config.prompts import MAX_QUESTION_CHARS
from asky.evaluation.questions import EvalQuestion, Fact, QuestionProblem, QuestionSet, hash_files, repeated, unmeasured
from asky.text.scrub import scrub

_KEYS = ("id", "question", "facts", "sources", "answerable")
_CLOSE = 0.75  # so that "fact" and "source" are mistakes, and "category" and "tags" the user's own
_BOM = b"\xef\xbb\xbf"


class FaultyLine(Exception):
    """A line cannot be used; its `str()` says why."""

    def __init__(self, kind: str, message: str) -> None:
        super().__init__(message)
        self.kind = kind


def read_jsonl(path: Path) -> QuestionSet:
    """Return the questions in `path`, one object a line, with the problems of its lines. Raises `OSError`."""
    data = path.read_bytes().removeprefix(_BOM)
    lines = ((f"{path.name}, line {number}", line) for number, line in enumerate(data.split(b"\n"), start=1))
    return _read(path, "jsonl", ((place, line, index) for index, (place, line) in enumerate(lines) if line.strip()))


def read_array(path: Path, rows: list[Any]) -> QuestionSet:
    """Return the questions in `rows`, a JSON array that was read from `path`."""
    return _read(path, "json", ((f"{path.name}, item {at + 1}", row, at) for at, row in enumerate(rows)))


def _read(path: Path, form: str, rows: Iterator[tuple[str, Any, int]]) -> QuestionSet:
    placed: list[tuple[str, EvalQuestion]] = []
    problems: list[QuestionProblem] = []
    for place, row, index in rows:
        try:
            record = read_object(row) if isinstance(row, bytes) else row
            placed.append((place, question_of(record, str(index + 1))))
        except FaultyLine as fault:
            problems.append(QuestionProblem(place, fault.kind, str(fault), is_fault=True))
    questions = tuple(each for _, each in placed)
    problems += [*repeated(placed), *unmeasured(questions)]
    return QuestionSet(
        name=path.name, format=form, questions=questions, sha256=hash_files([path]), problems=tuple(problems)
    )


def read_object(line: bytes) -> Mapping[str, Any]:
    """Return the JSON object in `line`. Raises `FaultyLine`."""
    try:
        record = json.loads(line.decode("utf-8"))
    except UnicodeDecodeError:
        raise FaultyLine("not_utf8", "not UTF-8") from None
    except RecursionError:
        raise FaultyLine("not_json", "not JSON: nested too deeply") from None
    except ValueError as error:
        raise FaultyLine("not_json", f"not JSON: {error}") from None
    if not isinstance(record, dict):
        raise FaultyLine("not_an_object", "not a JSON object")
    return record


def question_of(record: Any, default_id: str) -> EvalQuestion:
    """Return the question in a JSON object; without an id, it has `default_id`. Raises `FaultyLine`.

    A key that is nearly one of ours is a mistake; any other one is the user's own and is ignored.
    """
    if not isinstance(record, dict):
        raise FaultyLine("not_an_object", "not a JSON object")
    for key in record:
        if key not in _KEYS and (close := get_close_matches(key, _KEYS, n=1, cutoff=_CLOSE)):
            raise FaultyLine("unknown_key", f"unknown key {key[:40]!r}; did you mean {close[0]!r}?")
    answerable = record.get("answerable", True)
    if not isinstance(answerable, bool):
        raise FaultyLine("wrong_type", '"answerable" must be true or false')
    return EvalQuestion(
        id=_id(record.get("id"), default_id),
        text=question_text(record.get("question")),
        facts=facts_of(record.get("facts") or ()),
        sources=_sources(record.get("sources") or ()),
        answerable=answerable,
    )


def question_text(value: object) -> str:
    """Return a question without invisible characters. Raises `FaultyLine` if it is missing, empty or too long."""
    if not isinstance(value, str):
        raise FaultyLine("no_question", '"question" must be a string')
    text = scrub(value).strip()
    if not text:
        raise FaultyLine("no_question", "the question is empty")
    if len(text) > MAX_QUESTION_CHARS:
        raise FaultyLine("too_long", f"the question has {len(text):,} characters; the limit is {MAX_QUESTION_CHARS:,}")
    return text


def facts_of(value: object) -> tuple[Fact, ...]:
    """Return facts: each a string, or a list of strings any of which is enough. Raises `FaultyLine`."""
    if isinstance(value, str) or not isinstance(value, (list, tuple)):
        raise FaultyLine("wrong_type", '"facts" must be a list of strings, or of lists of alternatives')
    facts = tuple((each,) if isinstance(each, str) else tuple(each) if isinstance(each, list) else () for each in value)
    for fact in facts:
        if not fact or not all(isinstance(form, str) and form.strip() for form in fact):
            raise FaultyLine("wrong_type", '"facts" must hold strings that are not empty, or lists of them')
    return facts


def _id(value: object, default: str) -> str:
    if value is None:
        return default
    if isinstance(value, bool) or not isinstance(value, (str, int)) or not str(value).strip():
        raise FaultyLine("wrong_type", '"id" must be a string or a whole number')
    return str(value).strip()


def _sources(value: object) -> dict[str, int]:
    """Return gains by name: 1 for each name of a list, or as a JSON object has them. Raises `FaultyLine`."""
    gains = value if isinstance(value, dict) else dict.fromkeys(_names(value), 1)
    if not all(isinstance(gain, int) and not isinstance(gain, bool) and gain >= 0 for gain in gains.values()):
        raise FaultyLine("wrong_type", 'the gains of "sources" must be whole numbers from 0')
    found = {str(name).strip(): gain for name, gain in gains.items() if gain > 0}
    if "" in found:
        raise FaultyLine("wrong_type", '"sources" must hold names that are not empty')
    return found


def _names(value: object) -> list[str | int]:
    """Return the names in a list; one that comes twice is one source."""
    if not isinstance(value, (list, tuple)) or not all(
        isinstance(name, (str, int)) and not isinstance(name, bool) for name in value
    ):
        raise FaultyLine("wrong_type", '"sources" must be a list of paths, names or ids')
    return list(value)
