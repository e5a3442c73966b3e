"""The modes in which a question can be answered."""

from __future__ import annotations

from typing import Literal

Mode = Literal["research", "standard", "lean"]
"""`standard` uses tools, `research` also recalls and saves findings, and `lean` makes one search and one call."""
