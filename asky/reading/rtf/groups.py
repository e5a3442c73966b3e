"""Groups of RTF and their destinations: which say something, and which are left out."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

HEADS = ("header", "headerl", "headerr", "headerf")
FEET = ("footer", "footerl", "footerr", "footerf")
FLOWS = frozenset((*HEADS, *FEET, "footnote", "annotation", "shptxt", "dptxbxtext"))
NAMES = frozenset(
    (
        *("title", "author", "subject", "sn", "sv", "fldinst", "listtext", "pntext", "atnauthor", "atrfstart"),
        *("atrfend", "atnref", "objclass"),
    )
)
"""Destinations whose text is a value that is taken when they end."""
QUIET = frozenset(
    (
        *("pict", "shp", "shpinst", "shppict", "picprop", "sp", "object", "do", "dpgroup", "info", "creatim", "revtim"),
        *("nesttableprops", "fonttbl", "stylesheet"),
    )
)
"""Destinations whose own text is not shown, with others in them that are."""
SHOWN = frozenset(("fldrslt", "field", "ud", "result"))
SKIPPED = frozenset(
    (
        *("colortbl", "nonshppict", "shprslt", "filetbl", "xe", "rxe", "tc", "tcn", "bkmkstart", "bkmkend", "txe"),
        *("nonesttables", "comment", "template", "operator", "doccomm", "keywords", "company", "category", "manager"),
        *("buptim", "printim", "ftnsep", "ftnsepc", "ftncn", "aftnsep", "aftnsepc", "aftncn", "falt", "panose", "upr"),
        *("private", "mmathPict", "mmathPr", "mctrlPr", "userprops", "atnicn", "atndate", "atntime", "atnid"),
        *("objname", "objdata"),
    )
)
MATH_PARTS: Mapping[str, str] = MappingProxyType({"mden": "/", "msup": "^", "msub": "_", "mdeg": ""})
SIGNS: Mapping[str, str] = MappingProxyType(
    {
        "tab": "\t",
        "line": "\n",
        "lbr": "\n",
        "softline": "\n",
        "emdash": "—",
        "endash": "–",
        "emspace": " ",
        "enspace": " ",
        "qmspace": " ",
        "bullet": "•",
        "lquote": "‘",
        "rquote": "’",
        "ldblquote": "“",
        "rdblquote": "”",
    }
)
PAGES = frozenset(("PAGE", "NUMPAGES", "SECTIONPAGES"))
INDEXES = frozenset(("TOC", "INDEX", "TOA"))
OF_PARAGRAPHS = frozenset(("pard", "par", "s", "outlinelevel", "ilvl", "intbl"))
_BULLETS = "•·◦▪■□●○§-–o*"


class RtfGroup:
    """The properties of characters in a group, and the destination that it belongs to."""

    __slots__ = ("deleted", "font", "hidden", "name", "own", "raised", "skips")

    def __init__(self) -> None:
        self.name = ""  # the destination; "" for text that is shown
        self.own = ""  # the destination that begins with this group
        self.font = -1
        self.hidden = self.deleted = False
        self.raised: bool | None = None
        self.skips = 1  # how many characters stand in for a \u

    def copy(self) -> RtfGroup:
        made = RtfGroup()
        made.name, made.font, made.hidden = self.name, self.font, self.hidden
        made.deleted, made.raised, made.skips = self.deleted, self.raised, self.skips
        return made


class ParagraphProperties:
    """The properties of a paragraph, which hold for those that follow it until they are reset."""

    def __init__(self) -> None:
        self.is_endnote = False
        self.reset()

    def reset(self) -> None:
        self.style = self.level = self.depth = 0
        self.in_table = False


def item_label(text: str) -> str:
    """Return the number of an item, or `-` for a bullet; "" if nothing is shown."""
    label = " ".join(text.split())
    return "-" if label and (label in _BULLETS or not label.isprintable()) else label
