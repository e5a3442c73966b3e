"""An answer as a Markdown document, for files and exports."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from asky.evidence.citing import reference


def answer_markdown(answer: Mapping[str, Any], *, level: int = 1) -> str:
    """An `asky.answer/1` object: the question as a heading of that level, the answer, and the sources it cites."""
    hashes = "#" * level
    question = " ".join(answer["question"].split())
    lines = [f"{hashes} {question}", "", answer["answer"], ""]
    if answer["citations"]:
        lines += [f"{hashes}# Sources", ""]
    for citation in answer["citations"]:
        quote = " ".join(citation["quote"].split())
        lines += [f"{citation['n']}. {reference(citation)}", f"   > {quote}", ""]
    return "\n".join(lines)
