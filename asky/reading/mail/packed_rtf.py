"""RTF as Outlook packs it in a message. Source: MS-OXRTFCP, 2.1 and 3.1."""

from __future__ import annotations

import struct

_BEGINNING = (
    rb"{\rtf1\ansi\mac\deff0\deftab720{\fonttbl;}{\f0\fnil \froman \fswiss \fmodern \fscript \fdecor "
    rb"MS Sans SerifSymbolArialTimes New RomanCourier{\colortbl\red0\green0\blue0"
    b"\r\n"
    rb"\par \pard\plain\f0\fs20\b\i\u\tab\tx"
)
"""What the dictionary holds before the first byte (2.1.3.1.1)."""
_HEADER = struct.Struct("<III")
_HEADER_BYTES = 16
_PACKED, _PLAIN = 0x75465A4C, 0x414C454D
_WINDOW = 4096
_MAX_BYTES = 32 * 1024 * 1024


def unpacked(data: bytes) -> bytes:
    """Return the RTF, as far as it is sound; b"" if it is packed in no known way."""
    if len(data) < _HEADER_BYTES:
        return b""
    _, size, kind = _HEADER.unpack_from(data)
    if kind == _PLAIN:
        return data[_HEADER_BYTES : _HEADER_BYTES + size]
    if kind != _PACKED:
        return b""
    window = bytearray(_WINDOW)
    window[: len(_BEGINNING)] = _BEGINNING
    at = len(_BEGINNING)
    out = bytearray()
    position = _HEADER_BYTES
    limit = min(size, _MAX_BYTES)
    while position < len(data) and len(out) < limit:
        flags = data[position]
        position += 1
        for bit in range(8):
            if flags >> bit & 1:
                if position + 2 > len(data):
                    return bytes(out)
                reference = data[position] << 8 | data[position + 1]
                position += 2
                source = reference >> 4
                if source == at:
                    return bytes(out)
                for number in range((reference & 15) + 2):
                    byte = window[(source + number) % _WINDOW]
                    out.append(byte)
                    window[at] = byte
                    at = (at + 1) % _WINDOW
            else:
                if position >= len(data):
                    return bytes(out)
                out.append(data[position])
                window[at] = data[position]
                at = (at + 1) % _WINDOW
                position += 1
    return bytes(out[:limit])
