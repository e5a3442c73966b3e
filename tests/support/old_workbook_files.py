"""Workbooks of Excel 97 written by hand, as the records of BIFF 8 without a container around them.

Source: Microsoft, [MS-XLS], Excel Binary File Format.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence

_GLOBALS, _WORKSHEET = 0x0005, 0x0010
_STYLES_BEFORE = 16  # that a file has for itself


def record(kind: int, data: bytes) -> bytes:
    """Return a record."""
    return struct.pack("<HH", kind, len(data)) + data


def old_workbook(
    sheets: Sequence[tuple[str, int, Sequence[Sequence[tuple[str | float | bool, int] | None]]]],
    *,
    codes: Sequence[str] = (),
    merged: Sequence[tuple[int, int, int, int]] = (),
    hidden: Mapping[str, int] | None = None,
    is_protected: bool = False,
) -> bytes:
    """Return a workbook of sheets as name, state (0 shown, 1 hidden, 2 very hidden), and rows of (value, style).

    Style 0 is the general one, style n has the n-th of the `codes`, and the one after them is bold. `merged` (first and
    last row, first and last column, from 0) and `hidden` (`row`, `column`) are those of the first sheet.
    """
    font = struct.pack("<HHHHHBBBB", 200, 0, 0x7FFF, 400, 0, 0, 0, 0, 0) + b"\x05\x00Arial"
    bold = struct.pack("<HHHHHBBBB", 200, 1, 0x7FFF, 700, 0, 0, 0, 0, 0) + b"\x05\x00Arial"
    begin = (
        _begin(_GLOBALS) + (record(0x2F, b"\0" * 6) if is_protected else b"") + record(0x42, struct.pack("<H", 1200))
    )
    begin += record(0x31, font) * 4 + record(0x31, bold)
    for number, code in enumerate(codes):
        begin += record(0x41E, struct.pack("<H", 164 + number) + _text(code))
    styles = [(0, 0)] * (_STYLES_BEFORE + 1) + [(0, 164 + number) for number in range(len(codes))] + [(5, 0)]
    for number, (font_number, code_number) in enumerate(styles):
        kind = 0xFFF5 if number < _STYLES_BEFORE else 1
        begin += record(0xE0, struct.pack("<HHH", font_number, code_number, kind) + b"\0" * 14)
    parts = [
        _sheet(rows, merged if not n else (), hidden or {} if not n else {}) for n, (_, _, rows) in enumerate(sheets)
    ]
    listed = [struct.pack("<BB", state, 0) + _short(name) for name, state, _ in sheets]
    offset = len(begin) + sum(len(each) + 8 for each in listed) + 4
    for entry, part in zip(listed, parts, strict=True):
        begin += record(0x85, struct.pack("<I", offset) + entry)
        offset += len(part)
    return begin + record(0x0A, b"") + b"".join(parts)


def _begin(kind: int) -> bytes:
    return record(0x809, struct.pack("<HHHHII", 0x600, kind, 0x0DBB, 1996, 0, 6))


def _text(text: str) -> bytes:
    return struct.pack("<HB", len(text), 1) + text.encode("utf-16-le")


def _short(text: str) -> bytes:
    return struct.pack("<BB", len(text), 1) + text.encode("utf-16-le")


def _sheet(
    rows: Sequence[Sequence[tuple[str | float | bool, int] | None]],
    merged: Sequence[tuple[int, int, int, int]],
    hidden: Mapping[str, int],
) -> bytes:
    data = _begin(_WORKSHEET)
    if "column" in hidden:
        data += record(0x7D, struct.pack("<HHHHHH", hidden["column"], hidden["column"], 2_000, 15, 1, 0))
    data += record(0x200, struct.pack("<IIHHH", 0, len(rows), 0, 256, 0))
    if "row" in hidden:
        data += record(0x208, struct.pack("<HHHHHHI", hidden["row"], 0, 256, 255, 0, 0, 0x100 | 0x20))
    for number, row in enumerate(rows):
        for column, cell in enumerate(row):
            if cell is None:
                continue
            value, style = cell
            place = struct.pack("<HHH", number, column, _STYLES_BEFORE + style)
            if isinstance(value, bool):
                data += record(0x205, place + struct.pack("<BB", value, 0))
            elif isinstance(value, str):
                data += record(0x204, place + _text(value))
            else:
                data += record(0x203, place + struct.pack("<d", value))
    if merged:
        data += record(0xE5, struct.pack("<H", len(merged)) + b"".join(struct.pack("<HHHH", *each) for each in merged))
    return data + record(0x0A, b"")
