"""reStructuredText, Org, LaTeX, AsciiDoc and Textile: stored unchanged, with the offsets of their headings."""

from __future__ import annotations

import re
from collections.abc import Iterator

from asky.reading.charset import decode
from asky.reading.text_builder import Heading, invisible_metadata, nest
from asky.text.scrub import one_line, scrub_counted
from asky.values import Document

_UNDERLINED = re.compile(
    r"^(?:(?P<over>[=\-~^\"'#*+.`:_])(?P=over){2,}[ \t]*\n)?(?P<text>[^\s][^\n]{0,200})\n"
    r"(?P<sign>[=\-~^\"'#*+.`:_])(?P=sign){2,}[ \t]*$",
    re.MULTILINE,
)
_STARS = re.compile(r"^(?P<level>\*{1,8})[ \t]+(?P<text>\S[^\n]{0,200})$", re.MULTILINE)
_EQUALS = re.compile(r"^(?P<level>={1,6})[ \t]+(?P<text>\S[^\n]{0,200})$", re.MULTILINE)
_LATEX = re.compile(
    r"\\(?P<name>part|chapter|section|subsection|subsubsection|paragraph)\*?(?:\[[^\]]*\])?\{(?P<text>[^{}]{1,200})\}"
)
_LATEX_LEVELS = {"part": 1, "chapter": 2, "section": 3, "subsection": 4, "subsubsection": 5, "paragraph": 6}
_TITLES = (
    re.compile(r"\\title(?:\[[^\]]*\])?\{([^{}]{1,300})\}"),
    re.compile(r"^\#\+TITLE:[ \t]*(\S[^\n]{0,300})$", re.MULTILINE | re.IGNORECASE),
)
_AUTHORS = (
    re.compile(r"\\author(?:\[[^\]]*\])?\{([^{}]{1,300})\}"),
    re.compile(r"^\#\+AUTHOR:[ \t]*(\S[^\n]{0,300})$", re.MULTILINE | re.IGNORECASE),
)


def read(data: bytes, name: str) -> Document:
    """Return the text of a file in a markup language, only scrubbed, with a section for each heading."""
    text, invisible = scrub_counted(decode(data))
    headings = sorted(_headings(text, name[name.rfind(".") :].lower()), key=lambda each: each.start)
    title = _first(_TITLES, text) or next((each.text for each in headings), None)
    author = _first(_AUTHORS, text)
    return Document(
        text=text,
        media_type="text/x-markup",
        title=(one_line(title) or None) if title else None,
        sections=nest(headings, len(text)),
        metadata={**({"author": one_line(author)} if author else {}), **invisible_metadata(invisible)},
    )


def _headings(text: str, suffix: str) -> Iterator[Heading]:
    if suffix == ".tex":
        for match in _LATEX.finditer(text):
            yield Heading(match.start(), _LATEX_LEVELS[match["name"]], match["text"])
    elif suffix == ".org":
        for match in _STARS.finditer(text):
            yield Heading(match.start(), len(match["level"]), match["text"])
    elif suffix in (".adoc", ".asciidoc"):
        for match in _EQUALS.finditer(text):
            yield Heading(match.start(), len(match["level"]), match["text"])
    else:
        signs: list[tuple[bool, str]] = []
        for match in _UNDERLINED.finditer(text):
            sign = (match["over"] is not None, match["sign"])
            if sign not in signs:
                signs.append(sign)  # reStructuredText has no fixed order of signs: the first one found is the outermost
            yield Heading(match.start(), signs.index(sign) + 1, match["text"].strip())


def _first(patterns: tuple[re.Pattern[str], ...], text: str) -> str | None:
    return next((found[1] for pattern in patterns if (found := pattern.search(text))), None)
