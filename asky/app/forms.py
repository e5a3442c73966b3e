"""File formats for answers, runs and sessions."""

from __future__ import annotations

from typing import Literal

BibliographyForm = Literal["bibtex", "csl", "ris"]
Form = Literal["md", "html", "json", "bibtex", "csl", "ris"]
FORMS: tuple[Form, ...] = ("md", "html", "json", "bibtex", "csl", "ris")
