"""An answer as a Markdown document, for files and exports."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import PurePath
from typing import Any

from asky.evidence.answer import contradictions_of
from asky.evidence.citations.scanner import AnswerScanner
from asky.evidence.export.citing import as_written, reference
from asky.evidence.export.contradictions import TITLE, contradiction_lines
from asky.evidence.marks import WARNING_SIGN, early_end

ADDED = "Added while it was answered:"
"""Precedes a note that the user added during the run."""

_LINKABLE = re.compile(r"https?://[^\s<>\\]+")
_AUTOLINK = re.compile(r"(?:https?|file)://[^\s<>\\]+")
_YAML_MARKUP = re.compile(r"!(?=\[)|\[(?=!)|\](?=[(:\[])|<")
_RUN_DAY = re.compile(r"(\d{4})(\d\d)(\d\d)-")


def answer_markdown(
    answer: Mapping[str, Any],
    *,
    level: int = 1,
    added: Sequence[str] = (),
    label: str = "",
    body: str | None = None,
    file_link: Callable[[str], str] = lambda path: PurePath(path).as_uri(),
) -> str:
    """Render an `asky.answer/1` object: its question as a heading of that level, the answer, and a footnote a citation.

    A document of level 1 begins with its properties as YAML. The notes that the user `added` during the run follow the
    question. A note below the answer says if its run ended early. `label` begins the names of the footnotes, which are
    unique in a document; `file_link` returns the target of a link to a local file, given its absolute path.
    Contradictions between sources follow the answer. The answer is Markdown that was made harmless when it was checked;
    everything else is escaped. A `body` stands in place of the answer and its footnotes.
    """
    head = _properties(answer, file_link) if level == 1 else ""
    lines = [head + question_markdown(answer["question"], level=level, added=added)]
    lines += [_with_footnotes(answer["answer"], label) if body is None else body.rstrip("\n"), ""]
    if ended := early_end(answer):
        lines += [f"{WARNING_SIGN} *{ended}*", ""]
    if found := contradictions_of(answer) if body is None else ():
        lines += [f"{'#' * (level + 1)} {TITLE}", ""]
        lines += [*contradiction_lines(found, lambda cited: "".join(f" [^{label}{n}]" for n in cited)), ""]
    for citation in answer["citations"] if body is None else ():
        lines += [f"[^{label}{citation['n']}]: {_reference(citation, file_link)}"]
        lines += [f"    > {as_written(citation['quote'])}", ""]
    return "\n".join(lines)


def _properties(answer: Mapping[str, Any], file_link: Callable[[str], str]) -> str:
    """Return the front matter: question, date (UTC), model, run, and the addresses of the sources."""
    run = str(answer["run"])
    sources = dict.fromkeys(filter(None, (_target(each, file_link) for each in answer["citations"])))
    lines = [f"question: {_yaml(answer['question'])}"]
    if (day := _RUN_DAY.match(run)) is not None:
        lines.append(f"date: {'-'.join(day.groups())}")
    lines += [f"model: {_yaml(answer['model'])}", f"run: {_yaml(run)}"]
    if sources:
        lines += ["sources:", *(f"  - {_yaml(each)}" for each in sources)]
    return "\n".join(["---", *lines, "---", "", ""])


def _yaml(text: str) -> str:
    """Return `text` as a YAML string on one line that no viewer of Markdown takes for an image, a link or a tag."""
    quoted = json.dumps(" ".join(str(text).split()), ensure_ascii=False)
    return _YAML_MARKUP.sub(lambda found: f"\\x{ord(found[0]):02x}", quoted)


def _with_footnotes(text: str, label: str) -> str:
    """Return a numbered answer with `[1]` as the footnote `[^1]`; code stays as it is."""
    scanner = AnswerScanner(numbered=True)
    parts: list[str] = []
    for piece in scanner.feed(text) + scanner.close():
        if piece.kind == "number":
            parts.append(f"[^{label}{piece.source[1:-1]}]")
        else:  # a colon behind a number would make it the definition of the footnote
            begins_definition = parts and parts[-1].startswith("[^") and piece.source.startswith(":")
            parts.append("\\" * bool(begins_definition) + piece.source)
    return "".join(parts)


def question_markdown(question: str, *, level: int, added: Sequence[str] = ()) -> str:
    """Render a question as a heading, and the notes `added` to it, one paragraph each; ends with an empty line."""
    parts = [f"{'#' * level} {as_written(question)}", *(f"*{ADDED}* {as_written(each)}" for each in added)]
    return "\n\n".join(parts) + "\n"


def _reference(citation: Mapping[str, Any], file_link: Callable[[str], str]) -> str:
    """Return the source and the location in it, as a link to the page or file if it has one."""
    target = _target(citation, file_link)
    if target is None:
        return as_written(reference(citation))
    place = as_written(reference({**citation, "url": None, "path": None}))
    return f"[{place}](<{target}>)"


def autolink(address: str) -> str | None:
    """Return the address of a page or a file so that Markdown shows and links it; `None` if it may be anything else."""
    return f"<{address}>" if _AUTOLINK.fullmatch(address) else None


def _target(citation: Mapping[str, Any], file_link: Callable[[str], str]) -> str | None:
    if citation["url"]:
        return str(citation["url"]) if _LINKABLE.fullmatch(str(citation["url"])) else None
    return file_link(str(citation["path"])) if str(citation["path"] or "").startswith("/") else None
