"""Finds claims of answers that are marked although their words stand in a passage of the answer.

The comparison is cruder than the check's: letters and digits in their order, whatever stands between them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from asky.evidence.plain_text import plain_text

_FAULTS = ("uncited", "unsupported", "contradicted")
_WORD = re.compile(r"[^\W_]+")


def accused_quotations(answer: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """The verdict and the text of each claim of an `asky.answer/1` object that is one."""
    passages = [_letters(each["quote"]) for each in answer["citations"]]
    for claim in answer["claims"]:
        if claim["verdict"] in _FAULTS and any(_letters(claim["text"]) in each for each in passages):
            yield claim["verdict"], claim["text"]


def _letters(text: str) -> str:
    return f" {' '.join(_WORD.findall(plain_text(text).casefold()))} "
