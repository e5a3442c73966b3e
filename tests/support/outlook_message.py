"""Messages as Outlook saves them, made of their properties."""

from __future__ import annotations

import struct

from tests.support.compound_file import Folder, compound_file

Value = str | bytes | int


def properties(header_bytes: int, values: dict[int, Value], times: dict[int, int] | None = None) -> Folder:
    """Return the streams of a message, recipient or attachment: texts as Unicode, bytes, numbers, times in ticks."""
    table = b"\0" * header_bytes
    streams: Folder = {}
    for number, value in values.items():
        if isinstance(value, int):
            table += struct.pack("<HHIQ", 3, number, 6, value)
        else:
            kind, data = (0x1F, value.encode("utf-16-le")) if isinstance(value, str) else (0x102, value)
            streams[f"__substg1.0_{number:04X}{kind:04X}"] = data
            table += struct.pack("<HHIQ", kind, number, 6, len(data))
    for number, ticks in (times or {}).items():
        table += struct.pack("<HHIQ", 0x40, number, 6, ticks)
    return {**streams, "__properties_version1.0": table}


def outlook_message(
    values: dict[int, Value],
    *,
    times: dict[int, int] | None = None,
    recipients: list[dict[int, Value]] | None = None,
    attachments: list[Folder] | None = None,
) -> bytes:
    """Return a `.msg` file."""
    return compound_file(message_folder(32, values, times=times, recipients=recipients, attachments=attachments))


def message_folder(
    header_bytes: int,
    values: dict[int, Value],
    *,
    times: dict[int, int] | None = None,
    recipients: list[dict[int, Value]] | None = None,
    attachments: list[Folder] | None = None,
) -> Folder:
    """Return the folder of a message; `header_bytes` is 32 for that of a file, 24 for one that is attached."""
    folder = properties(header_bytes, values, times)
    for number, each in enumerate(recipients or []):
        folder[f"__recip_version1.0_#{number:08X}"] = properties(8, each)
    for number, attached in enumerate(attachments or []):
        folder[f"__attach_version1.0_#{number:08X}"] = attached
    return folder


def attached_file(name: str, data: bytes, **more: Value) -> Folder:
    """Return the folder of a file that is attached."""
    return properties(8, {0x3707: name, 0x3701: data, 0x3705: 1, **{int(key[1:], 16): v for key, v in more.items()}})


def attached_message(folder: Folder, name: str = "message") -> Folder:
    """Return the folder of a message that is attached."""
    return {**properties(8, {0x3001: name, 0x3705: 5}), "__substg1.0_3701000D": folder}
