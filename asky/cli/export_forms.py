"""The forms in which runs and sessions are exported, and the suffixes of files that say them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Literal

from asky.errors import UsageError

Form = Literal["md", "html", "json", "bibtex", "csl", "ris"]
FORMS: tuple[Form, ...] = ("md", "html", "json", "bibtex", "csl", "ris")
SUFFIXES_TOLD = ".md, .html, .json, .bib, .csl.json or .ris"

_BY_SUFFIX: Mapping[str, Form] = MappingProxyType(
    {".csl.json": "csl", ".bib": "bibtex", ".ris": "ris", ".html": "html", ".md": "md", ".json": "json"}
)


def form_of(path: Path, *, otherwise: Form | None = None) -> Form:
    """The form that the suffix of `path` says, in capitals or not; `otherwise` where it says none.

    Raises `UsageError` where there is no `otherwise`.
    """
    for suffix, form in _BY_SUFFIX.items():
        if path.name.lower().endswith(suffix):
            return form
    if otherwise is None:
        raise UsageError(f"{path}: not {SUFFIXES_TOLD}")
    return otherwise
