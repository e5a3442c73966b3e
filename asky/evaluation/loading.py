"""Reads a question set, whatever its format."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from asky.errors import UsageError
from asky.evaluation.beir import is_beir, read_beir
from asky.evaluation.jsonl import read_array, read_jsonl
from asky.evaluation.questions import QuestionSet
from asky.evaluation.squad import read_squad

_FORMATS = "a questions.jsonl, a JSON array of such objects, a file like SQuAD's, or a folder in the BEIR layout"


def read_questions(path: Path, *, split: str | None = None) -> QuestionSet:
    """Return the questions in `path` with the problems of its lines: see `require_usable`.

    `split` chooses among the judgements of a BEIR folder. Raises `UsageError` if `path` cannot be read or is none of
    the known formats.
    """
    try:
        if path.is_dir():
            return _read_folder(path, split)
        if split is not None:
            raise UsageError("--split needs a folder in the BEIR layout")
        return _read_json(path) if path.suffix.lower() == ".json" else read_jsonl(path)
    except OSError as error:
        raise UsageError(f"cannot read {path}: {(error.strerror or str(error)).lower()}") from error


def _read_folder(path: Path, split: str | None) -> QuestionSet:
    if not is_beir(path):
        raise UsageError(f"{path}: no corpus.jsonl in this folder", hint=f"QUESTIONS is {_FORMATS}")
    return read_beir(path, split)


def _read_json(path: Path) -> QuestionSet:
    try:
        value: Any = json.loads(path.read_bytes())
    except (ValueError, RecursionError) as error:
        raise UsageError(
            f"{path}: not JSON: {error}", hint="one object a line belongs in a file called .jsonl"
        ) from None
    if isinstance(value, list):
        return read_array(path, value)
    if isinstance(value, dict) and "data" in value:
        return read_squad(path, value)
    raise UsageError(f"{path}: neither a JSON array nor like SQuAD's", hint=f"QUESTIONS is {_FORMATS}")
