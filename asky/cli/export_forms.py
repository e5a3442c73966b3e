"""The file suffixes of the export formats."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

from asky.app.answers import FORMS as FORMS
from asky.app.answers import Form as Form
from asky.errors import UsageError

FORMAT_HINT = "or choose a format with --format"
KNOWN_SUFFIXES = ".md, .html, .json, .tex, .bib, .csl.json or .ris"

_BY_SUFFIX: Mapping[str, Form] = MappingProxyType(
    {".csl.json": "csl", ".bib": "bibtex", ".ris": "ris", ".html": "html", ".md": "md", ".tex": "tex", ".json": "json"}
)


def form_of(path: Path, *, hint: str | None = None) -> Form:
    """Return the format for the suffix of `path`, in any case. Raises `UsageError` if the suffix is unknown."""
    for suffix, form in _BY_SUFFIX.items():
        if path.name.lower().endswith(suffix):
            return form
    raise UsageError(f"{path}: not {KNOWN_SUFFIXES}", hint=hint)
