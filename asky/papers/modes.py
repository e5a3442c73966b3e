"""The mode of the library's runs."""

from __future__ import annotations

PAPERS = "papers"
