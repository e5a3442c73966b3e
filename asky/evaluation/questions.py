"""Questions with what a right answer holds, and the problems of the files that they are written in."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from asky.errors import UsageError

Fact = tuple[str, ...]
"""The forms of one fact, any of which an answer may hold."""


@dataclass(frozen=True, slots=True)
class CorpusText:
    """One document of a corpus. `title` may be empty, and so may `text`."""

    id: str
    title: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class EvalQuestion:
    """A question, the facts that a right answer holds, and the sources that it cites.

    `sources` maps a name (a path or the end of one, a file name, a title, a URL or an id) to its gain, above 0. With
    `answerable` false, the right answer is none.
    """

    id: str
    text: str
    facts: tuple[Fact, ...] = ()
    sources: Mapping[str, int] = field(default_factory=dict)
    answerable: bool = True


@dataclass(frozen=True, slots=True)
class QuestionProblem:
    """What is wrong with a line or a question. A fault keeps the set from being measured; anything else is counted.

    `place` names the file and the line, or the question. `kind` is one word or a few joined by `_`.
    """

    place: str
    kind: str
    message: str
    is_fault: bool = False

    def __str__(self) -> str:
        return f"{self.place}: {self.message}"


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionSet:
    """Questions in the order of their file, with its problems; `corpus` is `None` if the set brings no documents.

    `sha256` covers every file that was read. `format` is `jsonl`, `json`, `beir` or `squad`.
    """

    name: str
    format: str
    questions: tuple[EvalQuestion, ...]
    sha256: str
    problems: tuple[QuestionProblem, ...] = ()
    corpus: tuple[CorpusText, ...] | None = None

    @property
    def faults(self) -> tuple[QuestionProblem, ...]:
        """The problems for which nothing can be measured."""
        return tuple(each for each in self.problems if each.is_fault)

    def chosen(self, *, limit: int | None = None, sample: int | None = None) -> QuestionSet:
        """Return the set with its first `limit` questions, or with `sample` of them drawn by the hash of their text.

        The same questions are drawn everywhere, and a larger sample holds a smaller one. They keep their order.
        """
        kept: Sequence[EvalQuestion] = self.questions
        if sample is not None:
            drawn = sorted(kept, key=lambda each: hashlib.sha256(each.text.encode()).digest())[:sample]
            names = {each.id for each in drawn}
            kept = [each for each in kept if each.id in names]
        return replace(self, questions=tuple(kept[:limit]))


def require_usable(questions: QuestionSet) -> None:
    """Raise `UsageError` if the set has a fault or no question; it names the first fault and counts the others."""
    if faults := questions.faults:
        more = f" (and {len(faults) - 1:,} more in error)" if len(faults) > 1 else ""
        raise UsageError(f"{faults[0]}{more}", hint="-v names each; nothing was measured")
    if not questions.questions:
        raise UsageError(f"{questions.name}: no questions", hint='one {"question": ...} object a line is expected')


def repeated(questions: Iterable[tuple[str, EvalQuestion]]) -> Iterator[QuestionProblem]:
    """Yield the problems of ids and of texts that come twice; the first of each pair is the place of the question."""
    places: dict[str, str] = {}
    texts: dict[str, str] = {}
    for place, each in questions:
        if each.id in places:
            yield QuestionProblem(place, "duplicate_id", f"the id {each.id!r} is that of {places[each.id]} too", True)
        text = " ".join(each.text.casefold().split())
        if text in texts and each.id not in places:
            yield QuestionProblem(place, "duplicate_question", f"{texts[text]} asks the same; both count")
        places.setdefault(each.id, place)
        texts.setdefault(text, place)


def unmeasured(questions: Iterable[EvalQuestion]) -> Iterator[QuestionProblem]:
    """Yield the problems of questions that say nothing about their right answer, or contradict themselves."""
    for each in questions:
        if each.answerable and not each.facts and not each.sources:
            message = "it has neither facts nor sources: only whether it is answered, and its verdicts, are measured"
            yield QuestionProblem(f"question {each.id}", "no_positives", message)
        if not each.answerable and each.facts:
            message = "it has facts and no answer: the facts are not measured"
            yield QuestionProblem(f"question {each.id}", "facts_without_answer", message)


def hash_files(paths: Iterable[Path]) -> str:
    """Return the hex SHA-256 over the names and contents of files, in the order given."""
    digest = hashlib.sha256()
    for path in paths:
        digest.update(path.name.encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()
