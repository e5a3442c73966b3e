"""Texts of Office Open XML sheets: runs with raised ones, readings left out, and escaped characters."""

from __future__ import annotations

import re
from collections.abc import Callable
from xml.parsers import expat

from asky.reading.raised.exponents import spelled_runs

HIDDEN_ROW = "\x01"
"""Stands in a value of a row that is hidden until the row's line is written; no text of a file contains it."""
_ESCAPED = re.compile(r"_x([0-9A-Fa-f]{4})_")
_DECLARED = re.compile(rb"""^\s*<\?xml[^>]{0,200}?encoding\s{0,10}=\s{0,10}["']([\w.-]{1,40})["']""")
_DECLARATION = re.compile(rb"^\s*<\?xml[^>]{0,300}\?>")
_ROOT_PREFIX = re.compile(rb"<(?:([\w.-]{1,60}):)?[A-Za-z]")
_WIDE_MARKS = (b"\xff\xfe", b"\xfe\xff")
_RAISED = {"superscript": True, "subscript": False}


def plain_bytes(data: bytes) -> bytes:
    """Return an XML text as UTF-8, whatever encoding it is in, without a declaration of another one."""
    if data.startswith(_WIDE_MARKS):
        return _DECLARATION.sub(b"", data.decode("utf-16").encode())
    declared = _DECLARED.match(data[:400].removeprefix(b"\xef\xbb\xbf"))
    if declared is None or declared[1].lower() in (b"utf-8", b"utf8", b"us-ascii"):
        return data
    return _DECLARATION.sub(b"", data.decode(declared[1].decode("ascii"), "replace").encode())


def prefix_of(data: bytes) -> str:
    """Return the prefix of the names of elements, with its colon, by the root of an XML text."""
    match = _ROOT_PREFIX.search(data)
    return f"{match[1].decode('ascii', 'replace')}:" if match and match[1] else ""


def unescaped(text: str) -> str:
    """Return a text with characters that XML cannot hold, `_x000D_`, as themselves; controls but white space go."""
    if "_x" in text:
        text = _ESCAPED.sub(lambda match: chr(int(match[1], 16)), text)
        text = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text.replace(HIDDEN_ROW, "") if HIDDEN_ROW in text else text


def new_parser() -> expat.XMLParserType:
    """Return a parser that refuses document types, and with them entities."""
    parser = expat.ParserCreate("UTF-8")
    parser.buffer_text = True
    parser.buffer_size = 1 << 16
    parser.StartDoctypeDeclHandler = _refuse
    return parser


def _refuse(*_: object) -> None:
    raise ValueError("a document type in a workbook")


class Runs:
    """Collects the runs of a text, `si` or `is`: start, end and characters of its elements are handed over."""

    def __init__(self, prefix: str) -> None:
        self._t, self._r, self._reading, self._shift = (f"{prefix}{name}" for name in ("t", "r", "rPh", "vertAlign"))
        self._runs: list[tuple[str, bool | None]] = []
        self._raised: bool | None = None
        self._in_reading = self._is_text = self._is_rich = False

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        """Take the start of an element."""
        if tag == self._t:
            self._is_text = not self._in_reading
        elif tag == self._r:
            self._raised = None
        elif tag == self._shift:
            self._raised = _RAISED.get(attributes.get("val", ""))
            self._is_rich = self._is_rich or self._raised is not None
        elif tag == self._reading:
            self._in_reading = True

    def end(self, tag: str) -> None:
        """Take the end of an element."""
        if tag == self._t:
            self._is_text = False
        elif tag == self._reading:
            self._in_reading = False

    def characters(self, text: str) -> None:
        """Take characters."""
        if self._is_text:
            self._runs.append((text, self._raised))

    def take(self) -> str:
        """Return the text so far, and begin the next one."""
        runs, is_rich = self._runs, self._is_rich
        self._runs, self._is_rich, self._raised = [], False, None
        if is_rich:
            return unescaped(spelled_runs(runs))
        return unescaped(runs[0][0] if len(runs) == 1 else "".join(text for text, _ in runs))


def shared_strings(data: bytes) -> list[str]:
    """Return the shared texts of a workbook."""
    data = plain_bytes(data)
    prefix = prefix_of(data)
    item = f"{prefix}si"
    found: list[str] = []
    runs = Runs(prefix)
    parser = new_parser()

    def end(tag: str) -> None:
        if tag == item:
            found.append(runs.take())
        else:
            runs.end(tag)

    parser.StartElementHandler, parser.EndElementHandler = runs.start, end
    parser.CharacterDataHandler = runs.characters
    feed(parser, data)
    return found


def feed(parser: expat.XMLParserType, data: bytes | memoryview, *, after: Callable[[], None] | None = None) -> None:
    """Parse a text in pieces, so that a parser does not copy it whole."""
    view = memoryview(data)
    for start in range(0, len(view), 1 << 18):
        parser.Parse(bytes(view[start : start + (1 << 18)]), False)
        if after is not None:
            after()
    parser.Parse(b"", True)
