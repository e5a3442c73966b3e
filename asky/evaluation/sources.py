"""Which documents the sources of a question name."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from asky.evaluation.questions import EvalQuestion, QuestionProblem
from asky.values import Source

UNKNOWN = "unknown:"
"""What stands before a name in place of the id of a document: no document has such an id."""
_SHOWN = 3


@dataclass(frozen=True, slots=True)
class Relevant:
    """The gains of a question by the ids of documents, and the name that each was written with."""

    gains: dict[str, int]
    names: dict[str, str]


class SourceNames:
    """The documents of a corpus by all their names."""

    def __init__(self, sources: Iterable[Source]) -> None:
        self._exact: dict[str, set[str]] = defaultdict(set)
        self._paths: dict[str, set[str]] = defaultdict(set)
        self._shown: dict[str, str] = {}
        for each in sources:
            self._shown[each.id] = document_name(each)
            for name in (each.id, each.external_id, each.url, each.path, each.uri):
                if name is not None:
                    self._exact[str(name)].add(each.id)
            for name in _ends(each.path) if each.path else ():
                self._paths[name].add(each.id)
            if each.title:
                self._paths[each.title.casefold()].add(each.id)

    def find(self, name: str) -> set[str]:
        """Return the ids of the documents called `name`.

        That is an id, a URL or a whole path; or else the end of a path, with or without the suffix, or a title, in any
        case.
        """
        plain = name.removeprefix("./")
        return self._exact.get(name) or self._paths.get(plain.replace("\\", "/").casefold().strip("/")) or set()

    def resolve(self, question: EvalQuestion) -> tuple[Relevant, list[QuestionProblem]]:
        """Return the documents that `question` names, and problems of names that no document or several have.

        A name without a document keeps its gain: it counts as not found. One of several counts for each of them.
        """
        relevant, problems = Relevant({}, {}), list[QuestionProblem]()
        for name, gain in question.sources.items():
            found = self.find(name)
            if len(found) != 1:
                problems.append(self._problem(question, name, found))
            for id_ in sorted(found) or [UNKNOWN + name]:
                relevant.gains[id_] = max(gain, relevant.gains.get(id_, 0))
                relevant.names.setdefault(id_, name)
        return relevant, problems

    def _problem(self, question: EvalQuestion, name: str, found: set[str]) -> QuestionProblem:
        place = f"question {question.id}"
        if not found:
            return QuestionProblem(place, "unknown_source", f"no document is called {name!r}: it counts as not found")
        shown = sorted(self._shown[each] for each in found)
        listed = ", ".join(shown[:_SHOWN]) + (", ..." if len(shown) > _SHOWN else "")
        return QuestionProblem(place, "ambiguous_source", f"{len(found)} documents are called {name!r}: {listed}")


def document_name(source: Source) -> str:
    """Return the name of a document as a question set would have it: its external id, path, URL or title."""
    return str(source.external_id) if source.external_id is not None else source.path or source.url or source.title


def _ends(path: str) -> Iterator[str]:
    """Yield the ends of a path, casefolded, each with and without the suffix of the file."""
    parts: Sequence[str] = path.replace("\\", "/").casefold().strip("/").split("/")
    for start in range(len(parts)):
        end = "/".join(parts[start:])
        yield end
        stem, dot, _ = end.rpartition(".")
        if dot and "/" not in end[len(stem) :] and stem and not stem.endswith("/"):
            yield stem
