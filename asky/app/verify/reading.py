"""Reading of the text to verify: a file in any readable format, or text, as Markdown with its links and footnotes."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from asky.errors import SourceUnreadable, UsageError
from asky.reading.detection import HEAD_BYTES, media_type_of
from asky.reading.formats import LINKED, WHOLE
from asky.research.local.spelling import as_on_disk
from asky.values import Document

if TYPE_CHECKING:
    from asky.wiring import Services

_MIB = 1024 * 1024
_READABLE = "verify text: Markdown, HTML, Word, PDF, plain text and most other documents can be read"
_MARKED_UP = ("text/markdown", "text/x-markup", "text/plain")


@dataclass(frozen=True, slots=True)
class TextToVerify:
    """A text in Markdown, and the hashes of the forms in which the store may hold the same text."""

    name: str
    text: str
    hashes: frozenset[str]
    path: Path | None = None


def read_text(services: Services, text: str, name: str) -> TextToVerify:
    """Return Markdown or plain text. Raises `SourceUnreadable` if there is none in it."""
    if not text.strip():
        raise SourceUnreadable(f"{name}: no text to verify", verdict="empty", hint=_READABLE)
    document = services.readers.read(text.encode("utf-8", "replace"), name=name, media_type=WHOLE["text/markdown"])
    return TextToVerify(name, _as_markdown(document), frozenset({document.sha256}))


def read_file(services: Services, path: Path) -> TextToVerify:
    """Return the text of a file. Raises `UsageError` if there is none, and `SourceUnreadable` if it cannot be read."""
    path = as_on_disk(path)
    data = _bytes(path, services.config.research.reading.max_file_mb * _MIB)
    media_type = media_type_of(path.name, data[:HEAD_BYTES])
    if not data.strip():
        raise SourceUnreadable(f"{path}: the file is empty", verdict="empty", hint=_READABLE)
    if media_type is None:
        raise SourceUnreadable(f"{path}: not a text that can be read", verdict="unsupported", hint=_READABLE)
    document = _parsed(services, data, str(path), media_type)
    linked = LINKED.get(media_type) or WHOLE.get(media_type)
    shown = _parsed(services, data, str(path), linked) if linked else document
    return TextToVerify(path.name, _as_markdown(shown), frozenset({document.sha256, shown.sha256}), path.resolve())


def _parsed(services: Services, data: bytes, name: str, media_type: str) -> Document:
    try:
        return services.readers.read(data, name=name, media_type=media_type)
    except SourceUnreadable as error:
        if error.verdict == "encrypted" and error.hint is None:
            error.hint = "save it without a password"
        raise


def _bytes(path: Path, max_bytes: int) -> bytes:
    try:
        with path.open("rb") as file:
            data = file.read(max_bytes + 1)
    except IsADirectoryError:
        hint = f"name the file to verify, and this folder with -d: asky verify FILE -d {path}"
        raise UsageError(f"{path}: a folder, not a text", hint=hint) from None
    except OSError as error:
        raise UsageError(
            f"cannot read {path}: {(error.strerror or 'unknown error').lower()}", hint="check the path"
        ) from error
    if len(data) > max_bytes:
        raise SourceUnreadable(f"{path}: larger than {max_bytes // _MIB} MiB", verdict="too_large")
    return data


def _as_markdown(document: Document) -> str:
    """Return the text of a document without its front matter, and with `#` before headings, which are no statements."""
    front = max((each.end for each in document.sections if each.level == 0), default=0)
    if document.media_type in _MARKED_UP:
        return document.text[front:]
    is_titled = bool(document.title) and document.text.startswith(f"{document.title}\n")
    pieces, position = ["# "] if is_titled else [], front
    for section in document.sections:
        if section.level < 1 or section.start < position or (is_titled and not section.start):
            continue
        before = document.text[position : section.start]
        pieces += [before, "" if before.endswith("\n") or not section.start else "\n\n"]
        pieces.append(f"{'#' * min(section.level, 6)} ")
        position = section.start
    return "".join([*pieces, document.text[position:]])
