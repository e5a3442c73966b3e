"""Formulas of workbooks that no program has computed: a reader shows them, and they are no values."""

from __future__ import annotations

import re
from collections.abc import Sequence

from asky.evidence.marks import WARNING_SIGN
from asky.values import Citation

_WORKBOOKS = (".xlsx", ".xlsm", ".xltx", ".xltm", ".xls")
_NAMED = " (not computed)"  # as the reader says it
_FORMULA = re.compile(r"(?:^|[:;|-] )(=[^;|\[\n]*[^;|\[\s])", re.MULTILINE)
_MAX_NAMED = 3


def note_formulas(text: str, citations: Sequence[Citation]) -> str:
    """Return `text`, which quotes the `citations`, with a note below if it quotes formulas without a stored result."""
    if not any((each.source.path or each.source.url or "").lower().endswith(_WORKBOOKS) for each in citations):
        return text
    found = list(dict.fromkeys(each.removesuffix(_NAMED) for each in _FORMULA.findall(text)))
    if not found:
        return text
    named = ", ".join(f"`{each}`" for each in found[:_MAX_NAMED]) + (" and others" if len(found) > _MAX_NAMED else "")
    what = "are formulas" if len(found) > 1 else "is a formula"
    whose = "their results are" if len(found) > 1 else "its result is"
    return f"{text}\n\n{WARNING_SIGN} {named} {what}, no value: {whose} not stored in the workbook."
