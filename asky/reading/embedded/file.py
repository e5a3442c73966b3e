"""A file within a file: an attachment, or an object in a document."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING

from asky.errors import SourceUnreadable
from asky.reading.detection import HEAD_BYTES, media_type_of
from asky.reading.process.worker import read
from asky.reading.text_builder import TextBuilder

if TYPE_CHECKING:
    from types import FrameType

    from asky.values import Document

MAX_DEPTH = 3
"""How deep files within files are read: a mail with a forwarded mail that has an attachment."""

MAX_CHARS = 16 * 1024 * 1024
"""The most text that is kept of the files within one file."""
CPU_S = 8.0
"""CPU time for the files within one file: less than half of what its reader has, so that its own text is kept."""

_MAX_CHARS = 8 * 1024 * 1024
_depth = ContextVar("_depth", default=0)


class _NoTimeLeft(Exception):
    """The files within a file have taken the time that they have together."""


class FileReader:
    """Reads the files within one file, until they have used up what they have together."""

    def __init__(self, *, cpu_s: float = CPU_S, chars: int = MAX_CHARS) -> None:
        self._cpu_s = cpu_s
        self._chars = chars

    def read(self, data: bytes, name: str, media_type: str | None = None) -> Document | str:
        """Return the text of a file by the reader of its format, or in a few words why there is none.

        Nothing is raised for the file but MemoryError.
        """
        media_type = media_type or media_type_of(name, data[:HEAD_BYTES])
        if media_type is None:
            return "no reader for it"
        if _depth.get() >= MAX_DEPTH:
            return "too deep within other files"
        if self._cpu_s <= 0 or self._chars <= 0:
            return "the files before it took the time and space that they have together"
        token = _depth.set(_depth.get() + 1)
        began = time.process_time()
        try:
            with _limited(self._cpu_s):
                document = read(data, name=name, media_type=media_type, max_chars=min(_MAX_CHARS, self._chars))
        except SourceUnreadable as error:
            return error.message.removeprefix(f"{name}: ")
        except _NoTimeLeft:
            return "reading it takes too long"
        except MemoryError:
            raise
        except Exception as error:  # noqa: BLE001 - a parser can fail in any way on a hostile file; it costs that part only
            return f"the parser failed ({type(error).__name__})"
        finally:
            _depth.reset(token)
            self._cpu_s -= time.process_time() - began
        self._chars -= len(document.text)
        return document

    def add(
        self, builder: TextBuilder, data: bytes, name: str, *, level: int = 1, kind: str = "Attachment"
    ) -> Document | None:
        """Add what a file says, as `add_file` does; return it, or `None` if it was only named."""
        document = self.read(data, name)
        if isinstance(document, str):
            builder.skip(name, document)
            return None
        builder.mark_heading(f"{kind}: {name}", level)
        builder.add(f"{kind}: {name}\n\n")
        builder.add_document(document, level)
        builder.add("\n\n")
        return document


def add_file(builder: TextBuilder, data: bytes, name: str, *, level: int = 1, kind: str = "Attachment") -> None:
    """Add what a file within a file says, under a heading such as `Attachment: plan.pdf` of that level.

    What cannot be read is named by `builder.skip`. Nothing is raised for it but MemoryError.
    """
    FileReader().add(builder, data, name, level=level, kind=kind)


@contextmanager
def _limited(seconds: float) -> Iterator[None]:
    """Raise `_NoTimeLeft` within the block when it has used so much CPU time; not within another such block."""
    is_outermost = _depth.get() == 1 and threading.current_thread() is threading.main_thread()
    if not is_outermost:
        yield
        return
    before = signal.signal(signal.SIGPROF, _stop)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def _stop(number: int, frame: FrameType | None) -> None:  # noqa: ARG001 - the signature of a handler
    raise _NoTimeLeft
