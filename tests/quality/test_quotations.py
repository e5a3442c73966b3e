"""What the built-in model quotes of everyday documents is never marked: it stands word for word where it is cited."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.here import run_here
from tests.support.quotations import accused_quotations

pytestmark = [pytest.mark.slow, pytest.mark.model]

_SET = "desk_questions"
_ANSWERED, _NOT_ENOUGH = 0, 11


def questions(folder: Path) -> Iterator[tuple[tuple[str, ...], str]]:
    """The documents and the question of each line, in order."""
    for line in (folder / "questions.jsonl").read_text("utf-8").splitlines():
        each = json.loads(line)
        yield tuple(each["docs"]), each["question"]


def gathered(documents: tuple[str, ...], data: Path, target: Path) -> Path:
    """A folder with copies of the documents, which are named below the set's own folder or the data folder."""
    if not target.exists():
        target.mkdir(parents=True)
        for name in documents:
            path = (data / _SET if name.startswith("files/") else data) / name
            if path.is_dir():
                shutil.copytree(path, target / path.name)
            else:
                shutil.copyfile(path, target / path.name)
    return target


def test_nothing_that_is_quoted_is_marked(data_folder: Path, tmp_path: Path) -> None:
    asked, claims, quoted, found = 0, 0, 0, []
    folders: dict[tuple[str, ...], Path] = {}
    for documents, question in questions(data_folder / _SET):
        folder = folders.setdefault(documents, tmp_path / "documents" / str(len(folders)))
        gathered(documents, data_folder, folder)
        done = run_here("-r", "-q", "--json", "-d", str(folder), question, home=tmp_path)
        assert done.returncode in (_ANSWERED, _NOT_ENOUGH), (question, done.stderr)
        answer = json.loads(done.stdout)
        asked, claims = asked + 1, claims + len(answer["claims"])
        quoted += sum(bool(claim["checks"].get("quotation")) for claim in answer["claims"])
        found += [(question, *each) for each in accused_quotations(answer)]
    print(f"\n{asked} questions, {claims} claims, {quoted} of them quotations, {len(found)} marked: {found}")
    assert not found
