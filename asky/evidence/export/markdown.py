"""An answer as a Markdown document, for files and exports."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from asky.evidence.export.citing import reference
from asky.evidence.marks import WARNING_SIGN, early_end

ADDED = "Added while it was answered:"
"""Precedes a note that the user added during the run."""

# Characters that can begin markup anywhere in a line. Those that do at its start only follow other text, except in a
# quote.
_MARKUP = re.compile(r"([\\`*_{}\[\]<>&#|~!$])")
_LINKABLE = re.compile(r"https?://[^\s<>\\]+")
_BLOCK = re.compile(r"^([-+=]|\d+[.)])")


def answer_markdown(answer: Mapping[str, Any], *, level: int = 1, added: Sequence[str] = ()) -> str:
    """Render an `asky.answer/1` object: its question as a heading of that level, the answer, and the cited sources.

    The notes that the user `added` during the run follow the question. A note below the answer says if its run ended
    early. The answer is Markdown that was made harmless
    when it was checked; everything else is escaped.
    """
    hashes = "#" * level
    lines = [question_markdown(answer["question"], level=level, added=added), answer["answer"], ""]
    if ended := early_end(answer):
        lines += [f"{WARNING_SIGN} *{ended}*", ""]
    if answer["citations"]:
        lines += [f"{hashes}# Sources", ""]
    for citation in answer["citations"]:
        lines += [f"{citation['n']}. {_reference(citation)}", f"   > {as_written(citation['quote'])}", ""]
    return "\n".join(lines)


def question_markdown(question: str, *, level: int, added: Sequence[str] = ()) -> str:
    """Render a question as a heading, and the notes `added` to it, one paragraph each; ends with an empty line."""
    parts = [f"{'#' * level} {as_written(question)}", *(f"*{ADDED}* {as_written(each)}" for each in added)]
    return "\n\n".join(parts) + "\n"


def _reference(citation: Mapping[str, Any]) -> str:
    """Return the source and the location in it, with the address of a page as a link."""
    url = str(citation["url"] or "")
    if not _LINKABLE.fullmatch(url):
        return as_written(reference(citation))
    return f"{as_written(reference({**citation, 'url': None, 'path': None}))} - <{url}>"


def as_written(text: str) -> str:
    """Return `text` on one line, escaped so that Markdown shows it literally."""
    line = _MARKUP.sub(r"\\\1", " ".join(text.split()))
    return _BLOCK.sub(lambda found: f"{found[1][:-1]}\\{found[1][-1]}", line)
