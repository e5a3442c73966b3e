"""Passages as the built-in model reads them: without what a question is not about, and without the marks of callouts.

Remarks of others, names of pictures and entries of bibliographies are read only for a question about such.

What is left out is spaces, so that offsets stay those of the passage.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, cast

from asky.llm.extractive.asides import without_asides
from asky.llm.extractive.units import PassageText
from asky.text.beside.remarks import is_about_remarks, without_remarks

_MARK = "[!"
# The first line of a callout of Obsidian or GitHub, and the quoted lines below it.
_CALLOUT = re.compile(
    r"^(?P<head>[ \t]*(?:>[ \t]?)+\[![\w-]{1,30}(?:\|[^\]\n]{0,60})?\][+-]?)(?P<title>[^\n]*)"
    r"(?P<body>(?:\n[ \t]*>[^\n]*)*)",
    re.MULTILINE,
)
_QUOTE = re.compile(r"^[ \t]*(?:>[ \t]?)+", re.MULTILINE)
_NOT_LINE_END = re.compile(r"[^\n]")


def presented(passages: Sequence[PassageText], question: str) -> list[PassageText]:
    """Return the passages as they are read for a question."""
    remarks = is_about_remarks(question)
    return [_presented(each, question, remarks=remarks) for each in passages]


def _presented(passage: PassageText, question: str, *, remarks: bool) -> PassageText:
    text = passage.text if remarks else without_remarks(passage.text)
    text = without_asides(text, question, passage.file or passage.title)
    text = _CALLOUT.sub(_without_marks, text) if _MARK in text else text
    presented: PassageText = replace(cast(Any, passage), text=text)
    return presented


def _without_marks(callout: re.Match[str]) -> str:
    """Return a callout as paragraphs: its title, if it has one, and its text."""
    body = _QUOTE.sub(_blank, callout["body"])
    if callout["title"].strip() and body.startswith("\n "):
        body = "\n\n" + body[2:]  # the space of a mark ends the paragraph
    return _blank_text(callout["head"]) + callout["title"] + body


def _blank(found: re.Match[str]) -> str:
    return _blank_text(found[0])


def _blank_text(text: str) -> str:
    return _NOT_LINE_END.sub(" ", text)
