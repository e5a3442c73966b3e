"""Whether scanned pages can be read, known without loading what reads them, `asky.reading.ocr`."""

from __future__ import annotations

import importlib.util

SCANNED = "pages_scanned"
"""The metadata key with the number of pages that were not read because their text is in images."""
OCR_HINT = "`pip install 'asky[ocr]'` reads scanned pages"


def is_ocr_available() -> bool:
    """Return whether the extra is installed, without importing it."""
    return importlib.util.find_spec("rapidocr") is not None
