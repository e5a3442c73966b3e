"""Server-sent events from bytes, however the network splits them.

Source: WHATWG HTML Living Standard, section 9.2 (parsing an event stream).
"""

from __future__ import annotations

import re

_NEWLINE = re.compile(rb"\r\n|\n|\r")
_BOM = b"\xef\xbb\xbf"
_REPLACEMENT = "\N{REPLACEMENT CHARACTER}"


class SseDecoder:
    """Decodes the bytes of a stream into the data of its events.

    `feed` takes bytes as they arrive, `end` marks their end. Data lines of one event are joined with `\\n`; other
    fields and comments are dropped. Bytes that are not UTF-8 become U+FFFD, counted in `replaced`. As soon as one line
    or the data of one event is longer than `max_event_bytes`, `overflowed` is set and nothing more is read.
    """

    def __init__(self, *, max_event_bytes: int = 1 << 20) -> None:
        self.replaced = 0
        self.overflowed = False
        self._max_event_bytes = max_event_bytes
        self._line: list[bytes] = []  # the pieces of an unfinished line
        self._line_bytes = 0
        self._data: list[bytes] = []
        self._data_bytes = 0
        self._after_cr = False
        self._at_start = True

    def feed(self, data: bytes) -> list[str]:
        """Return the data of the events that `data` completes, in order."""
        if self._after_cr and data.startswith(b"\n"):
            data = data[1:]
            self._after_cr = False
        if not data or self.overflowed:
            return []
        self._after_cr = data.endswith(b"\r")
        *lines, rest = _NEWLINE.split(data)
        events: list[str] = []
        for line in lines:
            self._extend_line(line)
            if not self._end_line(events):
                return events
        self._extend_line(rest)
        self.overflowed = self._line_bytes > self._max_event_bytes
        return events

    def end(self) -> list[str]:
        """Return the data of an event that lacks its last empty line or newline."""
        events: list[str] = []
        if not self.overflowed and self._end_line(events):
            self._dispatch(events)
        return events

    def _extend_line(self, piece: bytes) -> None:
        if piece:
            self._line.append(piece)
            self._line_bytes += len(piece)

    def _end_line(self, events: list[str]) -> bool:
        """Process a complete line; return `False` if it exceeded the limit."""
        line = b"".join(self._line)
        self._line.clear()
        self._line_bytes = 0
        self.overflowed = len(line) > self._max_event_bytes
        if self._at_start:
            line = line.removeprefix(_BOM)
            self._at_start = False
        if not line:
            self._dispatch(events)
        elif line == b"data" or line.startswith(b"data:"):
            self._data.append(line[5:].removeprefix(b" "))
            self._data_bytes += len(line)
            self.overflowed = self.overflowed or self._data_bytes > self._max_event_bytes
        return not self.overflowed

    def _dispatch(self, events: list[str]) -> None:
        if not self._data:
            return
        events.append(self._decode(b"\n".join(self._data)))
        self._data.clear()
        self._data_bytes = 0

    def _decode(self, data: bytes) -> str:
        try:
            return data.decode("utf-8")
        except UnicodeDecodeError:
            text = data.decode("utf-8", "replace")
            self.replaced += text.count(_REPLACEMENT) - data.count(_REPLACEMENT.encode())
            return text
