"""The media type of a response, decided by its content, as servers are often wrong."""

from __future__ import annotations

import re
from urllib.parse import urlsplit

from asky.reading.charset import decode, looks_wide
from asky.reading.detection import is_text

HEAD_BYTES = 8192
_PDF_WITHIN = 1024
_UNKNOWN = "application/octet-stream"

# First bytes, and their offset. Source: WHATWG MIME Sniffing, 6; the lists of formats' own specifications.
_MAGIC = (
    (0, b"\x89PNG\r\n\x1a\n", "image/png"),
    (0, b"\xff\xd8\xff", "image/jpeg"),
    (0, b"GIF8", "image/gif"),
    (8, b"WEBP", "image/webp"),
    (0, b"BM", "image/bmp"),
    (0, b"II*\x00", "image/tiff"),
    (0, b"MM\x00*", "image/tiff"),
    (4, b"ftypavif", "image/avif"),
    (4, b"ftyphei", "image/heic"),
    (4, b"ftyp", "video/mp4"),
    (0, b"\x1aE\xdf\xa3", "video/webm"),
    (0, b"OggS", "application/ogg"),
    (0, b"ID3", "audio/mpeg"),
    (8, b"WAVE", "audio/wav"),
    (0, b"fLaC", "audio/flac"),
    (0, b"\x1f\x8b", "application/gzip"),
    (0, b"BZh", "application/x-bzip2"),
    (0, b"\xfd7zXZ\x00", "application/x-xz"),
    (0, b"(\xb5/\xfd", "application/zstd"),
    (0, b"7z\xbc\xaf'\x1c", "application/x-7z-compressed"),
    (0, b"Rar!\x1a\x07", "application/vnd.rar"),
    (257, b"ustar", "application/x-tar"),
    (0, b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "application/x-ole-storage"),
    (0, b"{\\rtf", "application/rtf"),
    (0, b"%!PS", "application/postscript"),
    (0, b"\x7fELF", "application/x-executable"),
    (0, b"MZ\x90", "application/x-executable"),
    (0, b"\x00asm", "application/wasm"),
    (0, b"wOF", "font/woff"),
    (0, b"SQLite format 3\x00", "application/vnd.sqlite3"),
)
_WITH_CONTROLS = frozenset({"image/bmp"})  # their magic is two letters: text may begin the same way
_EPUB_MARKS = (b"mimetype", b"META-INF/container.xml")  # files of EPUB; OpenDocument has the first of them too
_SPACE_AND_COMMENTS = re.compile(r"(?:\s+|<!--.*?-->|<\?.*?\?>)*", re.DOTALL)
_PAGE = re.compile(r"<(?:!doctype\s+html|html|head|body)\b", re.IGNORECASE)
# Source: WHATWG MIME Sniffing, 7.1, the tags of "identifying a resource with an unknown MIME type".
_MARKUP = re.compile(
    r"<(?:script|iframe|h1|div|font|table|a|style|title|b|br|p|!--|meta|link|section|article|main|span|ul)[\s>/]",
    re.IGNORECASE,
)
_ROOT = re.compile(r"<(?:!doctype\s+)?(?:\w+:)?([A-Za-z]\w*)", re.IGNORECASE)
_XML_ROOTS = {
    "rss": "application/rss+xml",
    "rdf": "application/rss+xml",
    "feed": "application/atom+xml",
    "svg": "image/svg+xml",
    "html": "text/html",
}
_JSON = re.compile(r"\{\s*(?:\"|\}|$)|\[\s*(?:[\[{\"\]]|-?\d+(?:\.\d+)?\s*[,\]]|true\b|false\b|null\b)")
_SUFFIXES = {".md": "text/markdown", ".markdown": "text/markdown", ".csv": "text/csv", ".tsv": "text/csv"}
_KEPT = frozenset({"text/markdown", "text/csv", "text/plain"})
_HTML_TYPES = frozenset({"text/html", "application/xhtml+xml"})


def media_type_of_response(url: str, declared: str | None, charset: str | None, head: bytes) -> str:
    """Return the media type of content that begins with `head` (`HEAD_BYTES` are enough), as the readers name it.

    `declared` and `charset` are those of the header. Content comes first: a page declared as a PDF is a page, and a PDF
    declared as a page is a PDF. The declared type, then the address, decide between kinds of text. Content without a
    reader keeps its own type for the error message: an image, an archive, XML that is not a feed;
    `application/octet-stream` if nothing is known. Never raises.
    """
    declared = (declared or "").strip().lower()
    if b"%PDF-" in head[:_PDF_WITHIN]:
        return "application/pdf"
    binary = _binary_type(head, declared)
    if binary is not None:
        return binary
    if not head or is_text(head) or looks_wide(head, charset):
        return _text_type(decode(head[:HEAD_BYTES], charset), declared, _suffix(url))
    return declared if declared and not _is_textual(declared) else _UNKNOWN


def _binary_type(head: bytes, declared: str) -> str | None:
    if head.startswith((b"PK\x03\x04", b"PK\x05\x06")):
        if "openxmlformats" in declared or "opendocument" in declared:
            return declared
        is_book = any(mark in head for mark in _EPUB_MARKS) and b"opendocument" not in head
        return "application/epub+zip" if is_book else "application/zip"
    for start, magic, media_type in _MAGIC:
        if head.startswith(magic, start) and not (media_type in _WITH_CONTROLS and is_text(head)):
            return media_type
    return None


def _text_type(text: str, declared: str, suffix: str) -> str:
    start = _SPACE_AND_COMMENTS.match(text)
    body = text[start.end() :] if start else text
    if _PAGE.match(body):
        return "text/html"
    if text.lstrip().startswith("<?xml") or _is_xml(declared) or body[:5].lower() in ("<rss ", "<feed", "<rdf:"):
        return _xml_type(body)
    if _JSON.match(body) and (_is_json(declared) or declared in ("", _UNKNOWN) or body[:1] == "{"):
        return "application/json"
    if declared in ("", "text/plain", _UNKNOWN) and suffix in _SUFFIXES:
        return _SUFFIXES[suffix]
    if declared in _KEPT:
        return declared
    if _MARKUP.match(body) or (declared in _HTML_TYPES and "<" in body):
        return "text/html"
    return "application/json" if _is_json(declared) else "text/plain"


def _xml_type(body: str) -> str:
    root = _ROOT.match(body)
    return _XML_ROOTS.get(root[1].lower(), "application/xml") if root else "application/xml"


def _is_json(declared: str) -> bool:
    return declared in ("application/json", "text/json") or declared.endswith("+json")


def _is_xml(declared: str) -> bool:
    return declared in ("application/xml", "text/xml") or declared.endswith("+xml")


def _is_textual(declared: str) -> bool:
    return declared.startswith("text/") or _is_json(declared) or _is_xml(declared)


def _suffix(url: str) -> str:
    try:
        path = urlsplit(url).path
    except ValueError:
        return ""
    dot = path.rfind(".")
    return path[dot:].lower() if dot > path.rfind("/") else ""
