"""The mode of runs over notes, their depths, and the messages that other interfaces rely on."""

from __future__ import annotations

from typing import Literal, get_args

NOTES = "notes"
"""The mode of runs that research a note."""

Depth = Literal["shallow", "deep"]
"""`shallow` uses what search services say of each result; `deep` also reads pages."""

DEPTHS: tuple[Depth, ...] = get_args(Depth)

NO_CONTENT = "File has no content to research"
NO_TOPICS = "Could not extract any research topics from note"
NO_SYNTHESIS = "Research synthesis failed — LLM returned empty result"
NOT_WRITTEN = "Failed to write research section"
