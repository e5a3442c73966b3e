"""The styles of an Office Open XML workbook: how a cell's number is shown, and whether it is bold."""

from __future__ import annotations

from asky.reading.office.archive import Package
from asky.reading.office.number_formats import NumberFormat, built_in, number_format


class Styles:
    """The formats by the number that a cell states for its style."""

    def __init__(self, package: Package, path: str | None, *, since_1904: bool) -> None:
        root = package.xml(path) if path else None
        self._since_1904 = since_1904
        self._codes: list[str] = []
        self.bold: set[str] = set()
        self._formats: dict[str, NumberFormat | None] = {}
        if root is None:
            return
        codes = {
            each.get("numFmtId", ""): each.get("formatCode", "General")
            for each in root.iterfind("{*}numFmts/{*}numFmt")
        }
        fonts = [
            any(each.get("val", "1") not in ("0", "false") for each in font.iterfind("{*}b"))
            for font in root.iterfind("{*}fonts/{*}font")
        ]
        for number, each in enumerate(root.iterfind("{*}cellXfs/{*}xf")):
            stated = each.get("numFmtId", "0")
            code = codes.get(stated) or built_in(int(stated) if stated.isdecimal() else 0)
            self._codes.append(code)
            font = each.get("fontId", "0")
            if font.isdecimal() and int(font) < len(fonts) and fonts[int(font)]:
                self.bold.add(str(number))

    def format(self, style: str) -> NumberFormat | None:
        """Return the format of a style; `None` if it is the general one."""
        if style not in self._formats:
            code = self._codes[int(style)] if style.isdecimal() and int(style) < len(self._codes) else "General"
            is_general = code.lower() in ("general", "standard", "@", "")
            self._formats[style] = None if is_general else number_format(code, since_1904=self._since_1904)
        return self._formats[style]
