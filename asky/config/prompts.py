"""Validation of `[prompts]`: saved texts under short names."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from asky.config.keys import KeyPath

MAX_QUESTION_CHARS = 20_000
"""The maximum length of a question, and so of the text of a prompt."""

FILE_PREFIX = "file://"

_NAME = re.compile(r"[a-z0-9_-]{1,64}")


def find_prompt_faults(prompts: Mapping[str, Any]) -> Iterator[tuple[KeyPath, str]]:
    """Yield the key at fault and the problem, for each fault of the saved prompts."""
    path = ("prompts",)
    for name, text in prompts.items():
        shown = name if len(name) <= 64 else f"{name[:64]}..."
        if not _NAME.fullmatch(name):
            yield (
                path,
                f"{shown!r} cannot be typed as /NAME: a name has at most 64 characters, all of them a-z, 0-9, _ or -",
            )
        elif not isinstance(text, str) or not text.strip():
            yield path, f"{shown} is not text"
        elif len(text) > MAX_QUESTION_CHARS:
            yield path, f"{shown} has {len(text):,} characters; the limit is {MAX_QUESTION_CHARS:,}"
        elif text.startswith(FILE_PREFIX) and not text.startswith((f"{FILE_PREFIX}/", f"{FILE_PREFIX}~/")):
            yield path, f"{shown} must name its file by an absolute path, or one that starts with ~/"
