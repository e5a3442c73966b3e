"""The lines of a mail's text, each with how deeply it is quoted."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import groupby
from typing import NamedTuple

from asky.reading.mail.attributions import may_begin_quote
from asky.reading.tables.cells import GridCell

_QUOTE = re.compile(r"(?:>[ \t]?)+")
_SIGNED = re.compile(r"-----BEGIN PGP SIGNED MESSAGE-----\n(?:[\w-]+: [^\n]*\n)*\n?")
_SIGNATURE = "-----BEGIN PGP SIGNATURE-----"
_SIGNATURE_END = "-----END PGP SIGNATURE-----"
_NEAR = 12  # lines in which something is said about what is below or above them
_RUN = 3 * _NEAR
_ENRICHED = re.compile(r"<<|<(/?)([A-Za-z0-9-]{1,60})>|\n+")


class MailLine(NamedTuple):
    """A line as it is shown: `depth` is 0 for the sender's own words, and `heading` the level of a heading, else 0.

    A table is one line, with its rows and no text. Lines in which nothing can begin a quote may be one.
    """

    depth: int
    text: str
    heading: int = 0
    rows: tuple[tuple[GridCell, ...], ...] = ()


def plain_lines(text: str, *, flowed: bool = False, without_space: bool = False) -> list[MailLine]:
    """Return the lines of a plain text; with `flowed`, those that a mail program broke are joined again.

    `without_space` is for `DelSp=yes`: the space at a soft break is no part of the text. Source: RFC 3676, 4.
    """
    text = _without_armour(text.replace("\r\n", "\n").replace("\r", "\n"))
    return list(_flowed(text, without_space) if flowed else _fixed(text))


def _fixed(text: str) -> Iterator[MailLine]:
    """Yield the lines of a text; of a long run of one depth, those in the middle are one if they begin no quote."""
    for depth, group in groupby(text.split("\n"), key=_depth_of):
        run = list(group)
        if depth == 1:
            run = [line[2:] if line[1:2] in (" ", "\t") else line[1:] for line in run]
        elif depth:
            yield from map(quoted_line, run)
            continue
        middle = run[_NEAR:-_NEAR] if len(run) > _RUN else []
        if middle and not any(map(may_begin_quote, middle)):
            yield from (MailLine(depth, line.rstrip()) for line in run[:_NEAR])
            yield MailLine(depth, "\n".join(middle))
            yield from (MailLine(depth, line.rstrip()) for line in run[-_NEAR:])
        else:
            yield from (MailLine(depth, line.rstrip()) for line in run)


def _depth_of(line: str) -> int:
    """Return 0, 1, or 2 for every line that is quoted more deeply."""
    if line[:1] != ">":
        return 0
    return 2 if ">" in line[1:3] else 1


def quoted_line(line: str) -> MailLine:
    """Return a line without the signs of quoting before it."""
    if not line.startswith(">"):
        return MailLine(0, line.rstrip())
    quote = _QUOTE.match(line)
    end = quote.end() if quote else 0
    return MailLine(line.count(">", 0, end), line[end:].rstrip())


def _flowed(text: str, without_space: bool) -> Iterator[MailLine]:
    run: list[str] = []
    run_depth = 0
    for line in text.split("\n"):
        rest = line.lstrip(">")
        depth = len(line) - len(rest)
        rest = rest.removeprefix(" ")  # stuffed
        if run and (depth != run_depth or rest == "-- "):
            yield MailLine(run_depth, "".join(run).rstrip())
            run = []
        run_depth = depth
        if rest.endswith(" ") and rest != "-- ":
            run.append(rest[:-1] if without_space else rest)
        else:
            yield MailLine(depth, "".join([*run, rest]).rstrip())
            run = []
    if run:
        yield MailLine(run_depth, "".join(run).rstrip())


def _without_armour(text: str) -> str:
    """Return a text that is signed with OpenPGP as it was before it was signed."""
    signed = _SIGNED.search(text) if "-----BEGIN PGP SIGNED" in text else None
    if signed is None:
        return text
    end = text.find(_SIGNATURE, signed.end())
    end = end if end >= 0 else len(text)
    after = text.find(_SIGNATURE_END, end)
    said = text[signed.end() : end].replace("\n- ", "\n").removeprefix("- ")
    return text[: signed.start()] + said + (text[after + len(_SIGNATURE_END) :] if after >= 0 else "")


def enriched_text(text: str) -> str:
    """Return text/enriched without its commands: a line end is a space, and of several one is left out (RFC 1896)."""
    pieces: list[str] = []
    at = parameters = 0
    text = text.replace("\r\n", "\n")
    for found in _ENRICHED.finditer(text):
        if not parameters:
            pieces.append(text[at : found.start()])
        at = found.end()
        if found[0] == "<<":
            pieces.append("" if parameters else "<")
        elif found[0][0] == "\n":
            pieces.append("" if parameters else "\n" * (len(found[0]) - 1) or " ")
        elif found[2].lower() == "param":
            parameters = max(0, parameters + (-1 if found[1] else 1))
    return "".join([*pieces, "" if parameters else text[at:]])
