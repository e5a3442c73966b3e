"""The file suffixes of the export formats, and what they are written to."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

from asky.app.answers import FORMS as FORMS
from asky.app.answers import Form as Form
from asky.errors import UsageError

if TYPE_CHECKING:
    from asky.app.answers import ExportedDocument
    from asky.cli.terminal.terminal import Terminal

FORMAT_HINT = "or choose a format with --format"
KNOWN_SUFFIXES = ".md, .html, .pdf, .json, .tex, .bib, .csl.json or .ris"

_BY_SUFFIX: Mapping[str, Form] = MappingProxyType(
    {
        ".csl.json": "csl",
        ".bib": "bibtex",
        ".ris": "ris",
        ".html": "html",
        ".pdf": "pdf",
        ".md": "md",
        ".tex": "tex",
        ".json": "json",
    }
)


def require_destination(form: Form, output: Path | None) -> None:
    """Raise `UsageError` if a document in this format would be printed on a terminal that cannot show it."""
    if form == "pdf" and output is None and sys.stdout.isatty():
        raise UsageError("a PDF cannot be shown on a terminal", hint="write it to a file: -o answer.pdf")


def print_exported(terminal: Terminal, exported: ExportedDocument, form: Form) -> None:
    """Write a document to standard output, a PDF byte by byte."""
    if form == "pdf":
        terminal.out.flush()
        terminal.out.buffer.write(exported.data)
        terminal.out.buffer.flush()
    else:
        terminal.out.write(exported.text)


def form_of(path: Path, *, hint: str | None = None) -> Form:
    """Return the format for the suffix of `path`, in any case. Raises `UsageError` if the suffix is unknown."""
    for suffix, form in _BY_SUFFIX.items():
        if path.name.lower().endswith(suffix):
            return form
    raise UsageError(f"{path}: not {KNOWN_SUFFIXES}", hint=hint)
