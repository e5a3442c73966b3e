"""A file within a file: an attachment, or an object in a document."""

from __future__ import annotations

from contextvars import ContextVar

from asky.errors import SourceUnreadable
from asky.reading.formats import HEAD_BYTES, media_type_of
from asky.reading.process.worker import read
from asky.reading.text_builder import TextBuilder

MAX_DEPTH = 3
"""How deep files within files are read: a mail with a forwarded mail that has an attachment."""

_MAX_CHARS = 8 * 1024 * 1024
_depth = ContextVar("_depth", default=0)


def add_file(builder: TextBuilder, data: bytes, name: str, *, level: int = 1, kind: str = "Attachment") -> None:
    """Add what a file within a file says, under a heading such as `Attachment: plan.pdf` of that level.

    What cannot be read is named by `builder.skip`. Nothing is raised for it but MemoryError.
    """
    media_type = media_type_of(name, data[:HEAD_BYTES])
    if media_type is None:
        builder.skip(name, "no reader for it")
        return
    if _depth.get() >= MAX_DEPTH:
        builder.skip(name, "too deep within other files")
        return
    token = _depth.set(_depth.get() + 1)
    try:
        document = read(data, name=name, media_type=media_type, max_chars=_MAX_CHARS)
    except SourceUnreadable as error:
        builder.skip(name, error.message.removeprefix(f"{name}: "))
        return
    except MemoryError:
        raise
    except Exception as error:  # noqa: BLE001 - a parser can fail in any way on a hostile file; it costs that part only
        builder.skip(name, f"the parser failed ({type(error).__name__})")
        return
    finally:
        _depth.reset(token)
    builder.mark_heading(f"{kind}: {name}", level)
    builder.add(f"{kind}: {name}\n\n")
    builder.add_document(document, level)
    builder.add("\n\n")
