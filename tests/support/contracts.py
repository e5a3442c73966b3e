"""Compares what a command printed with a golden file that was written when the same command printed it before.

    contracts = Contracts(folder, {tmp_path: "<tmp>"})
    contracts.check("search", "asky search moon --json", code=0, out=..., err=..., read=as_json)

A golden file is one JSON object: the command line, its exit code, what it printed on stdout and on stderr. What must
differ from run to run (ids, moments, durations, temporary paths, ports, keys of passages) is replaced by a word in
angle brackets, numbered in the order of appearance: two times `<run 1>` is the same run.

A field or an entry that is missing or changed is a difference; a field that was added to an object is none. Numbers
with a fraction may differ by a thousandth, as processors round differently.

    WRITE_CONTRACTS=1 pytest ...     writes the golden files anew instead of comparing; look at the diff afterwards
"""

from __future__ import annotations

import json
import math
import os
import re
from collections.abc import Callable, Iterator, Mapping
from itertools import groupby
from pathlib import Path
from typing import Any

WRITING = bool(os.environ.get("WRITE_CONTRACTS"))

_ISO = r"\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:\d\d)?(?: UTC)?"
_NUMBERED = (  # the first pattern that fits at a place takes it
    ("time", rf"{_ISO}|\b\d{{1,2}} [A-Z][a-z]+ \d{{4}}, \d\d:\d\d UTC"),
    ("run", r"\b\d{8}-\d{6}-[0-9a-f]{8}\b"),
    ("session", r"\b\d{4}-\d\d-\d\d-[0-9a-f]{8}\b"),
    ("source", r"\bs[0-9a-f]{12}\b"),
    ("id", r"\b(?=[0-9a-f]*[a-f])[0-9a-f]{12}\b"),
    ("passage", r"\bP[0-9a-f]{4,8}\b"),
    ("marker", r"(?<=passage )[0-9a-f]{16}\b"),
)
_PLAIN = (
    (re.compile(r"(127\.0\.0\.1|localhost):\d{5}\b"), r"\1:<port>"),
    (re.compile(r"\b\d{4}(\\?-|/)\d\d\1\d\d\b"), "<date>"),
    (re.compile(r"\basky \d+\.\d+\.\d+\b"), "asky <version>"),
    (re.compile(r"\b\d+(?:\.\d+)? s\b"), "<seconds> s"),
)
_ANY = re.compile("|".join(f"(?P<{kind}>{pattern})" for kind, pattern in _NUMBERED))
_UNNUMBERED = ("time",)  # which moments are the same depends on how quick the machine is
_VARYING = ("seconds", "digest", "date-parts")  # fields whose values vary: durations, a hash over moments, days


class Contracts:
    """The golden files of a folder. `places` are folders that lie elsewhere each time, with what to call them."""

    def __init__(self, folder: Path, places: Mapping[Path, str]) -> None:
        self.folder = folder
        self._places = sorted(((str(path), name) for path, name in places.items()), key=lambda each: -len(each[0]))

    def check(self, name: str, command: str, *, code: int, out: Any, err: str, files: Mapping[str, Any]) -> None:
        """Fail where this differs from the golden file `name`, naming each difference."""
        printed = {"command": command, "exit": code, "stdout": out, "stderr": diagnostics(err), **files}
        golden = self.folder / f"{name}.json"
        if WRITING:
            self.folder.mkdir(exist_ok=True)
            text = json.dumps(Normalised(self._places).value(printed), indent=1, ensure_ascii=False)
            golden.write_text(text + "\n", "utf-8")
            return
        expected = json.loads(golden.read_text("utf-8"))
        actual = Normalised(self._places).value(without_additions(printed, expected))
        found = list(differences(expected, actual))
        assert not found, f"{golden.name} is not what was printed:\n" + "\n".join(found)


class Normalised:
    """Replaces what varies. The ids of all that it is given are numbered together."""

    def __init__(self, places: list[tuple[str, str]]) -> None:
        self._places = places
        self._names: dict[str, str] = {}
        self._counts: dict[str, int] = {}

    def value(self, value: Any) -> Any:
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, dict):
            return {
                self.text(name): f"<{name}>" if name in _VARYING and item is not None else self.value(item)
                for name, item in value.items()
            }
        return [self.value(each) for each in value] if isinstance(value, list) else value

    def text(self, text: str) -> str:
        for path, name in self._places:
            text = text.replace(path, name).replace(path.replace("_", r"\_"), name)  # as Markdown and TeX have it
        text = _ANY.sub(self._name, text)
        for pattern, word in _PLAIN:
            text = pattern.sub(word, text)
        return text

    def _name(self, match: re.Match[str]) -> str:
        kind, found = str(match.lastgroup), match[0]
        if kind in _UNNUMBERED:
            return f"<{kind}>"
        if found not in self._names:
            self._counts[kind] = self._counts.get(kind, 0) + 1
            self._names[found] = f"<{kind} {self._counts[kind]}>"
        return self._names[found]


def without_additions(actual: Any, expected: Any) -> Any:
    """`actual` without the fields and types of lines that `expected` does not have, and its fields in that order."""
    if isinstance(actual, dict) and isinstance(expected, dict):
        return {name: without_additions(actual[name], expected[name]) for name in expected if name in actual}
    if isinstance(actual, list) and isinstance(expected, list):
        if expected and all(isinstance(each, dict) and "type" in each for each in expected):  # the lines of a stream
            known = {each["type"] for each in expected}
            actual = [each for each in actual if not isinstance(each, dict) or each.get("type") in known | {None}]
        paired = [without_additions(*each) for each in zip(actual, expected, strict=False)]
        return paired + actual[len(expected) :]
    return actual


def differences(expected: Any, actual: Any, at: str = "") -> Iterator[str]:
    """What is missing or changed, a line each, with the way to it."""
    if isinstance(expected, dict) and isinstance(actual, dict):
        for name, item in expected.items():
            if name not in actual:
                yield f"{at}.{name} is missing; it was {item!r}"
            else:
                yield from differences(item, actual[name], f"{at}.{name}")
    elif isinstance(expected, list) and isinstance(actual, list):
        for number, (before, now) in enumerate(zip(expected, actual, strict=False)):
            yield from differences(before, now, f"{at}[{number}]")
        for each in expected[len(actual) :]:
            yield f"{at} lacks {each!r}"
        for each in actual[len(expected) :]:
            yield f"{at} has one more: {each!r}"
    elif not _same(expected, actual):
        yield f"{at} was {expected!r} and is {actual!r}"


def _same(expected: Any, actual: Any) -> bool:
    if isinstance(expected, float) and isinstance(actual, float):
        return math.isclose(expected, actual, rel_tol=1e-3, abs_tol=1e-3)
    return type(expected) is type(actual) and bool(expected == actual)


# how a command's output is read

Read = Callable[[str], Any]


def as_text(text: str) -> Any:
    """Its lines."""
    return text.split("\n")


def as_html(text: str) -> Any:
    """A line for each element and each line of its text."""
    return re.split(r"\n|(?<=>)(?=<)", text)


def as_json(text: str) -> Any:
    """The one object that it is; nothing where nothing was printed."""
    return json.loads(text) if text.strip() else None


def as_json_lines(text: str) -> Any:
    """The object of each line."""
    return [json.loads(line) for line in text.splitlines()]


def as_events(text: str) -> Any:
    """The events of a run, without what only chance decides.

    How a text was cut into pieces, and in which order files were read and tools that ran together came to an end.
    """
    events: list[Any] = []
    for kind, group in groupby(as_json_lines(text), key=lambda each: each["type"]):
        together = list(group)
        if kind == "text_streamed":
            together = [together[0] | {"text": "".join(each["text"] for each in together)}]
        elif kind in ("file_read", "tool_returned", "page_read"):
            numbers = [each["seq"] for each in together]
            together.sort(key=lambda each: json.dumps({**each, "seq": 0, "at": ""}, sort_keys=True))
            together = [{**each, "seq": seq} for each, seq in zip(together, numbers, strict=True)]
        events += together
    return events


def as_evidence(text: str) -> Any:
    """The one object that it is, with what stands in the order of random keys in another one."""
    value = json.loads(text)
    for answer in (value.get("answer"), *value.get("answers", ())):
        if answer:
            answer["sources"].sort(key=lambda each: (-each["score"], each["title"]))
    value.get("passages", []).sort(key=lambda each: (each["path"], each["start"]))
    value.get("documents", []).sort(key=lambda each: each["sha256"])
    return value


def by(name: str, *fields: str) -> Read:
    """Reads one object whose lists `fields` hold objects that are told apart by `name`: more of them may come."""

    def read(text: str) -> Any:
        value = json.loads(text)
        return value | {field: {each[name]: each for each in value[field]} for field in fields}

    return read


def diagnostics(text: str) -> Any:
    """The lines on stderr; objects among them are read, so that they may grow."""
    return [json.loads(line) if line.startswith("{") else line for line in text.splitlines()]
