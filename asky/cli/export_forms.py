"""The forms in which answers, runs and sessions are written, and the suffixes of files that say them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Literal

from asky.errors import UsageError

Form = Literal["md", "html", "json", "bibtex", "csl", "ris"]
FORMS: tuple[Form, ...] = ("md", "html", "json", "bibtex", "csl", "ris")
SAY_FORMAT = "or say how with --format"
SUFFIXES_TOLD = ".md, .html, .json, .bib, .csl.json or .ris"

_BY_SUFFIX: Mapping[str, Form] = MappingProxyType(
    {".csl.json": "csl", ".bib": "bibtex", ".ris": "ris", ".html": "html", ".md": "md", ".json": "json"}
)


def form_of(path: Path, *, hint: str | None = None) -> Form:
    """The form that the suffix of `path` says, in capitals or not. Raises `UsageError` where it says none."""
    for suffix, form in _BY_SUFFIX.items():
        if path.name.lower().endswith(suffix):
            return form
    raise UsageError(f"{path}: not {SUFFIXES_TOLD}", hint=hint)
