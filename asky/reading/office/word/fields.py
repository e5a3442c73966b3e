"""Fields of Word: of an instruction and its result, only the result is seen, and of some fields nothing."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from asky.reading.office.page_numbers import PAGE_SIGN
from asky.reading.office.word.names import W, is_on, local, number, value

if TYPE_CHECKING:
    from lxml.etree import _Element as Element


_PAGES = frozenset({"PAGE", "NUMPAGES", "SECTIONPAGES"})
# No program shows these (ECMA-376, part 1, 17.16.5): they mark places, set names, or hold data of an add-in.
_UNSEEN = frozenset({"ASK", "SET", "XE", "TC", "TA", "RD", "PRIVATE"})
_ADDRESS = re.compile(r'\s*HYPERLINK\s+(?:\\[a-z]\s+)*(?:"([^"]*)"|([^\s"\\]\S*))', re.IGNORECASE)
_OPTION = re.compile(r'\\\*\s*(?:"[^"]*"|\w+)\s*')
_SOUNDS = re.compile(
    r"\\o\s?(?:\\a[a-z]\s?)?\(\\s\s?\\up\s?\d{0,3}\s?\(([^()]{1,200})\)[,;]([^()]{1,200})\)", re.IGNORECASE
)
_FRACTION = re.compile(r"\\f\s?\(([^()]{1,200})[,;]([^()]{1,200})\)", re.IGNORECASE)
_COMMAND = re.compile(r"\\\w{1,9}\s?\d{0,3}|[()]")
_CHECKED, _UNCHECKED = "[x]", "[ ]"
_MAX_INSTRUCTION = 4_000


@dataclass(slots=True)
class _Field:
    instruction: list[str] = field(default_factory=list)
    size: int = 0
    is_result: bool = False
    is_seen: bool = False
    is_form: bool = False
    link: str = ""


class WordFields:
    """The fields around a place in a text. `is_seen` says whether text there is seen, `link` where it leads.

    `pages` says whether the numbers of pages are to be replaced by a sign.
    """

    def __init__(self, *, pages: bool) -> None:
        self._open: list[_Field] = []
        self._pages = pages
        self.is_seen = True
        self.link = ""

    def begin(self, element: Element | None = None) -> str:
        """Begin a field; return what its place shows at once: the state of a form's box or list."""
        shown = _form(element)
        self._open.append(_Field(is_form=shown is not None))
        self._update()
        return (shown or "") if all(each.is_result and each.is_seen for each in self._open[:-1]) else ""

    def instruct(self, text: str) -> None:
        """Add to the instruction of the innermost field."""
        if self._open and not self._open[-1].is_result and self._open[-1].size < _MAX_INSTRUCTION:
            self._open[-1].instruction.append(text)
            self._open[-1].size += len(text)

    def separate(self) -> str:
        """Begin the result of the innermost field; return what stands in its place."""
        if not self._open:
            return ""
        innermost = self._open[-1]
        written = "".join(innermost.instruction)
        name = written.split(maxsplit=1)[0].upper() if written.strip() else ""
        is_page = self._pages and name in _PAGES
        innermost.is_result = True
        innermost.is_seen = not (innermost.is_form or is_page or name in _UNSEEN or name == "TOC")
        found = _ADDRESS.match(written) if name == "HYPERLINK" else None
        innermost.link = (found[1] or found[2] or "").replace("\\\\", "\\") if found else ""
        is_within = all(each.is_seen for each in self._open[:-1])
        self._update()
        return PAGE_SIGN if is_page and is_within else ""

    def end(self) -> str:
        """End the innermost field; return what an instruction that has no result shows by itself."""
        if not self._open:
            return ""
        ended = self._open.pop()
        self._update()
        written = "".join(ended.instruction).strip()
        return _equation(written) if written[:3].upper() == "EQ " and not ended.is_result and self.is_seen else ""

    def _update(self) -> None:
        self.is_seen = all(each.is_seen for each in self._open)
        self.link = next((each.link for each in reversed(self._open) if each.link), "")


def _equation(written: str) -> str:
    """Return what an `EQ` field shows: words with their sounds, as Japanese Word writes them, or a fraction."""
    shown = _OPTION.sub("", written[3:])
    shown = _FRACTION.sub(r"\1/\2", _SOUNDS.sub(r"\2(\1)", shown))
    return shown.strip() if shown != written[3:] and "\\" not in shown else _COMMAND.sub("", shown).strip()


def _form(element: Element | None) -> str | None:
    """Return what a box or a list of a form shows; None for any other field."""
    data = element.find(f"{W}ffData") if element is not None else None
    for each in data if data is not None else ():
        kind = local(each)
        if kind == "checkBox":
            stated = each.find(f"{W}checked")
            stated = each.find(f"{W}default") if stated is None else stated
            return _CHECKED if stated is not None and is_on(stated) else _UNCHECKED
        if kind == "ddList":
            entries = [entry.get(f"{W}val", "") for entry in each.iterchildren(f"{W}listEntry")]
            chosen = number(value(each, "result") or value(each, "default"))
            return entries[chosen] if 0 <= chosen < len(entries) else ""
    return None


def begun(root: Element) -> frozenset[Element]:
    """Return the elements that begin a field which also ends: one without an end would swallow the rest of the text."""
    waiting: list[Element] = []
    found: list[Element] = []
    for each in root.iter(f"{W}fldChar"):
        kind = each.get(f"{W}fldCharType")
        if kind not in ("begin", "end") or _is_deleted(each):
            continue
        if kind == "begin":
            waiting.append(each)
        elif waiting:
            found.append(waiting.pop())
    return frozenset(found)


def _is_deleted(element: Element) -> bool:
    for _ in range(4):  # its run, and links or insertions around that
        parent = element.getparent()
        if parent is None:
            return False
        if parent.tag in (f"{W}del", f"{W}moveFrom"):
            return True
        element = parent
    return False
