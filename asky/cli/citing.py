"""A citation of a stored answer in words."""

from __future__ import annotations

from asky.evidence.citing import page_text, reference, section_text

__all__ = ["page_text", "reference", "section_text"]
