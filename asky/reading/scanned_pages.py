"""Whether scanned pages can be read, known without loading what reads them, `asky.reading.ocr`."""

from __future__ import annotations

import importlib.util

from asky.installation import install_hint

SCANNED = "pages_scanned"
"""The metadata key with the number of pages that were not read because their text is in images."""


def ocr_hint() -> str:
    """Return how to have scanned pages read."""
    return install_hint("has scanned pages read", extra="ocr")


def is_ocr_available() -> bool:
    """Return whether the extra is installed, without importing it."""
    return importlib.util.find_spec("rapidocr") is not None
