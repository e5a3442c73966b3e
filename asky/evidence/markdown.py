"""An answer as a Markdown document, for files and exports."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from asky.evidence.citing import reference

ADDED = "Added while it was answered:"
"""What stands before a note that the user typed to a run under way."""

# What can begin markup anywhere in a line. What begins it at the start alone follows text of ours, except in a quote.
_MARKUP = re.compile(r"([\\`*_{}\[\]<>&#|~!$])")
_LINKABLE = re.compile(r"https?://[^\s<>\\]+")
_BLOCK = re.compile(r"^([-+=]|\d+[.)])")


def answer_markdown(answer: Mapping[str, Any], *, level: int = 1, added: Sequence[str] = ()) -> str:
    """An `asky.answer/1` object: the question as a heading of that level, the answer, and the sources it cites.

    What the user `added` while it was answered stands below the question. The answer is Markdown that was made harmless
    when it was checked; all else is shown as it is written.
    """
    hashes = "#" * level
    lines = [question_markdown(answer["question"], level=level, added=added), answer["answer"], ""]
    if answer["citations"]:
        lines += [f"{hashes}# Sources", ""]
    for citation in answer["citations"]:
        lines += [f"{citation['n']}. {_reference(citation)}", f"   > {as_written(citation['quote'])}", ""]
    return "\n".join(lines)


def question_markdown(question: str, *, level: int, added: Sequence[str] = ()) -> str:
    """The heading of a question, and what was `added` to it, a paragraph each; an empty line at the end."""
    parts = [f"{'#' * level} {as_written(question)}", *(f"*{ADDED}* {as_written(each)}" for each in added)]
    return "\n\n".join(parts) + "\n"


def _reference(citation: Mapping[str, Any]) -> str:
    """The source and where in it, with the address of a page as a link."""
    url = str(citation["url"] or "")
    if not _LINKABLE.fullmatch(url):
        return as_written(reference(citation))
    return f"{as_written(reference({**citation, 'url': None, 'path': None}))} - <{url}>"


def as_written(text: str) -> str:
    """`text` on one line, escaped so that Markdown shows it and does nothing else with it."""
    line = _MARKUP.sub(r"\\\1", " ".join(text.split()))
    return _BLOCK.sub(lambda found: f"{found[1][:-1]}\\{found[1][-1]}", line)
