"""The registry of readable formats: one row per format, with its reader module."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from asky.reading.charset import has_mark
from asky.reading.unread_kinds import unread_suffix

HEAD_BYTES = 8192
SOURCE_CODE = "text/x-source"


@dataclass(frozen=True, slots=True)
class Format:
    """`module` holds `read(data: bytes, name: str) -> Document`; `magic` must occur near the start of the bytes.

    `names` are the names of files without a suffix, and `function` is the name of `read` where a module has several.
    `version` is raised when `read` gives better text, so that files that were read before are read again.
    With `any_content`, the reader tells by the content what a file is, whatever its suffix says.
    With `links`, it takes the address of the bytes as a third argument, `url: str | None`.
    """

    media_type: str
    suffixes: tuple[str, ...]
    module: str
    magic: bytes = b""
    any_content: bool = False
    links: bool = False
    names: tuple[str, ...] = ()
    function: str = "read"
    version: int = 1


_ZIP = b"PK\x03\x04"
_OLE = b"\xd0\xcf\x11\xe0"
_RTF = b"{\\rtf"
_SETTINGS = "asky.reading.settings.files"
_CODE = tuple(
    """
    .py .pyi .js .jsx .mjs .cjs .ts .tsx .mts .cts .go .rs .java .kt .kts .scala .groovy .gradle .swift .m .mm .c .h .cc
    .cpp .cxx .hh .hpp .hxx .cs .fs .vb .rb .php .pl .pm .lua .r .jl .sh .bash .zsh .fish .ps1 .bat .cmd .sql .dart .ex
    .exs .erl .hrl .hs .ml .mli .clj .cljs .elm .nim .zig .v .sv .vhd .asm .s .f90 .f .pas .vue .svelte .css .scss .less
    .graphql .proto .tf .hcl .cmake .mk .nix .sol .el .lisp .scm .awk .sed .diff .patch
    """.split()  # noqa: SIM905 - a list literal of a hundred quoted words is harder to read and to change
)

_OOXML = "application/vnd.openxmlformats-officedocument"

FORMATS = (
    Format(
        "text/plain",
        (".txt", ".text", ".log", ".properties", ".bib"),
        "asky.reading.plain_text",
        version=3,
    ),
    Format("text/markdown", (".md", ".markdown", ".mdx", ".qmd", ".rmd"), "asky.reading.markdown", version=4),
    Format("text/html", (".html", ".htm", ".xhtml"), "asky.reading.html.page", links=True, version=6),
    Format(
        "application/json",
        (".json", ".geojson", ".webmanifest", ".jsonc", ".json5"),
        "asky.reading.json_file",
        version=3,
    ),
    Format("text/calendar", (".ics",), "asky.reading.calendar_events", version=2),
    Format("text/csv", (".csv", ".tsv", ".tab"), "asky.reading.tables.csv_file", version=4),
    Format("application/pdf", (".pdf",), "asky.reading.pdf", magic=b"%PDF-", version=6),
    Format("application/epub+zip", (".epub",), "asky.reading.books.epub", magic=_ZIP, version=3),
    Format(
        SOURCE_CODE,
        _CODE,
        "asky.reading.source_code",
        names=(
            "dockerfile",
            "containerfile",
            "makefile",
            "gnumakefile",
            "rakefile",
            "gemfile",
            "procfile",
            "jenkinsfile",
        ),
        version=3,
    ),
    Format(
        "text/x-markup", (".rst", ".org", ".tex", ".adoc", ".asciidoc", ".textile"), "asky.reading.markup.markup_text"
    ),
    Format("application/yaml", (".yaml", ".yml", ".base"), _SETTINGS, function="read_yaml", version=3),
    Format("application/toml", (".toml",), _SETTINGS, function="read_toml", version=2),
    Format(
        "text/x-ini",
        (".ini", ".cfg", ".conf", ".service", ".timer", ".socket", ".desktop"),
        _SETTINGS,
        function="read_ini",
        version=2,
    ),
    Format("application/jsonl", (".jsonl", ".ndjson"), _SETTINGS, function="read_json_lines"),
    Format("application/x-ipynb+json", (".ipynb",), "asky.reading.notebook", version=3),
    Format("message/rfc822", (".eml", ".mbox", ".emlx"), "asky.reading.mail.message", version=2),
    Format("application/vnd.ms-outlook", (".msg", ".oft"), "asky.reading.mail.outlook", magic=_OLE),
    Format("text/vcard", (".vcf", ".vcard"), "asky.reading.mail.contacts"),
    Format("multipart/related", (".mhtml", ".mht"), "asky.reading.mail.saved_page"),
    Format(
        f"{_OOXML}.wordprocessingml.document",
        (".docx", ".docm", ".dotx", ".dotm"),
        "asky.reading.office.word.reader",
        magic=_ZIP,
        version=5,
    ),
    Format(
        "application/msword",
        (".doc", ".dot", ".ppt", ".pps", ".pot", ".wps"),
        "asky.reading.office.old",
        any_content=True,
    ),
    Format(
        f"{_OOXML}.presentationml.presentation",
        (".pptx", ".pptm", ".ppsx", ".ppsm", ".potx"),
        "asky.reading.office.slides",
        magic=_ZIP,
        version=4,
    ),
    Format(
        f"{_OOXML}.spreadsheetml.sheet",
        (".xlsx", ".xlsm", ".xltx", ".xltm", ".xlsb"),
        "asky.reading.office.sheets",
        magic=_ZIP,
        version=4,
    ),
    Format(
        "application/vnd.ms-excel",
        (".xls", ".xlt"),
        "asky.reading.office.sheets",
        function="read_any",
        any_content=True,
        version=2,
    ),
    Format(
        "application/vnd.oasis.opendocument",
        (".odt", ".ods", ".odp", ".odg", ".ott", ".ots", ".otp", ".odm"),
        "asky.reading.office.open_document",
        magic=_ZIP,
        version=5,
    ),
    Format(
        "application/vnd.oasis.opendocument.flat",
        (".fodt", ".fods", ".fodp", ".fodg"),
        "asky.reading.office.open_document",
        function="read_flat",
        version=2,
    ),
    Format("application/rtf", (".rtf",), "asky.reading.rtf.document", magic=_RTF, version=2),
    Format("application/rss+xml", (".rss",), "asky.reading.markup.feed", links=True, version=3),
    Format("application/atom+xml", (".atom",), "asky.reading.markup.feed", links=True, version=3),
    Format(
        "application/xml",
        (
            ".xml",
            ".opml",
            ".kml",
            ".gpx",
            ".dita",
            ".ditamap",
            ".dbk",
            ".docbook",
            ".tei",
            ".fb2",
            ".plist",
            ".xsd",
            ".wsdl",
            ".resx",
            ".xlf",
            ".xliff",
            ".ttml",
            ".dfxp",
        ),
        "asky.reading.markup.xml_file",
        links=True,
    ),
    Format("text/x-subtitles", (".srt", ".vtt", ".sbv", ".ass", ".ssa", ".lrc"), "asky.reading.timed.subtitles"),
    Format("application/x-canvas+json", (".canvas",), "asky.reading.vault.canvas"),
    Format("text/x-excalidraw", (".excalidraw.md", ".excalidraw"), "asky.reading.vault.excalidraw"),
    # As Markdown, with the links and footnotes of a text whose citations are followed.
    Format("text/x-linked-html", (), "asky.reading.linked.page"),
    Format("application/x-linked-docx", (), "asky.reading.linked.word", magic=_ZIP),
    # With what asky has written into notes.
    Format("text/x-whole-text", (), "asky.reading.plain_text", function="read_whole"),
    Format("text/x-whole-markdown", (), "asky.reading.markdown", function="read_whole"),
)

LINKED: Mapping[str, str] = MappingProxyType(
    {"text/html": "text/x-linked-html", f"{_OOXML}.wordprocessingml.document": "application/x-linked-docx"}
)
"""The types that are also read with their links and footnotes, and what they are called then."""

WHOLE: Mapping[str, str] = MappingProxyType(
    {"text/plain": "text/x-whole-text", "text/markdown": "text/x-whole-markdown"}
)
"""The types whose readers leave out what asky has written into notes, and what they are called to have it too."""

MBOX_LINE = re.compile(
    # RFC 4155: an address and the time as `asctime` writes it. Google writes a zone, Thunderbird "-" or nothing at all.
    rb"From (?:[ -]{0,3}|[^\r\n]{1,300}?[ ,](?:\d{4}-\d\d-\d\d"
    rb"|(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun),? +(?:\d{1,2} +)?[A-Z][a-z]{2} ?)[^\r\n]{0,80})"
)
"""The line that parts the messages of a mailbox, without its end."""
MAIL_FIELDS = frozenset(
    b"return-path received delivered-to message-id from date to subject mime-version sender reply-to x-gm-thrid"
    b" dkim-signature authentication-results arc-seal envelope-to x-mozilla-status x-received".split()
)
"""Header fields that a mail may begin with, in lower case."""
_ONLY_IN_MAILS = frozenset(b"return-path received message-id mime-version delivered-to x-mozilla-status".split())
_FIELDS_OF_A_MAIL = 3
_FIELD = re.compile(rb"^([!-9;-~]{1,80})[ \t]*:", re.MULTILINE)
_EMPTY_LINE = re.compile(rb"\r?\n\r?\n")

# What is read as it stands, so that the content of another kind, under such a name, would be read as its markup.
_PLAIN = (
    "text/plain",
    "text/markdown",
    "text/html",
    "text/csv",
    "application/json",
    "application/xml",
    "message/rfc822",
    "application/vnd.ms-excel",
)
# Binary files whose first bytes may look like text; `_BINARY_SHARE` finds the others.
_BINARY_STARTS = (b"%PDF-", b"PK\x03\x04", b"PK\x05\x06")
# Viewers accept as many bytes before a PDF's signature (PDF Reference 1.7, appendix H.3, implementation note 13).
_MAGIC_WITHIN = 1024
_SIGN_BYTES = 20
_PRIVATE_KEY = b"PRIVATE KEY-----"
_CONTROLS = bytes(set(range(0x20)) - set(b"\t\n\v\f\r\x1b"))
# Random bytes contain 10 % of these and text none; a few stray ones are scrubbed instead.
_BINARY_SHARE = 0.02


def format_of(name: str) -> Format | None:
    """Return the row for a file name, by its suffix in any case or by the whole name; `None` if there is none."""
    lower = name.lower()
    suffix = _suffix(lower)
    longer = _suffix(lower.removesuffix(suffix)) + suffix  # `.excalidraw.md` is more than `.md`
    for each in (longer, suffix):
        found = next((row for row in FORMATS if each in row.suffixes or lower in row.names), None)
        if found is not None:
            return found
    return None


def reader_version(media_type: str | None) -> int:
    """Return the version of the reader of a media type; 0 if there is none."""
    return next((row.version for row in FORMATS if row.media_type == media_type), 0)


def may_be_text(name: str) -> bool:
    """Return whether a file of this name may have a reader: it has one, or its content has to tell."""
    row = format_of(name)
    return unread_suffix(name) is None or (row is not None and row.any_content)


def _suffix(lower: str) -> str:
    dot = lower.rfind(".")
    return lower[dot:] if dot > 0 else ""


def media_type_of(name: str, head: bytes) -> str | None:
    """Return the media type of a file, from its name and its first bytes (`HEAD_BYTES` are enough).

    A file whose name says nothing is text if its bytes are. `None` means that there is no reader: bytes that are not
    text, or do not match the suffix (a zip named `.txt`, a web page named `.pdf`). UTF-16 and UTF-32 count as text only
    with a byte order mark. An empty `head` is consistent with any suffix.
    """
    row = format_of(name)
    if not may_be_text(name):
        return None
    if row is None:
        return _type_by_content(head)
    told = _type_by_sign(head) if row.media_type in _PLAIN else None
    if told is not None and not (row.any_content and told == "text/html"):  # a page is read as a workbook
        return told
    if not head or row.any_content:
        return row.media_type
    if row.module.startswith("asky.reading.office.") and head.startswith(_OLE):
        return row.media_type  # its reader says what is the matter
    fits = _holds_magic(row, head) if row.magic else is_text(head)
    return row.media_type if fits else None


def _type_by_content(head: bytes) -> str | None:
    if not head or not is_text(head) or _PRIVATE_KEY in head:
        return None
    if head.startswith(b"#!"):
        return SOURCE_CODE
    if _is_mail(head):
        return "message/rfc822"
    return _type_by_sign(head) or "text/plain"


def _type_by_sign(head: bytes) -> str | None:
    """Return the media type of text that says by its beginning what it is."""
    start = head[:_SIGN_BYTES].lstrip(b"\xef\xbb\xbf \t\r\n").lower()
    if start.startswith((b"<!doctype html", b"<html")) and is_text(head):
        return "text/html"
    if start.startswith(b"begin:vcalendar"):
        return "text/calendar"
    return "application/rtf" if head.startswith(_RTF) else None


def _is_mail(head: bytes) -> bool:
    """Return whether a file that begins so is a mail or a mailbox.

    It begins with header fields, several of those that every mail has and one that only programs write.
    """
    line, _, below = head.partition(b"\n")
    fields = below if MBOX_LINE.fullmatch(line.rstrip(b"\r")) else head
    first = _FIELD.match(fields)
    if first is None or not (first[1].lower() in MAIL_FIELDS or first[1].lower().startswith((b"x-", b"arc-"))):
        return False
    end = _EMPTY_LINE.search(fields)
    names = {found[1].lower() for found in _FIELD.finditer(fields, 0, end.start() if end else len(fields))}
    return len(names & MAIL_FIELDS) >= _FIELDS_OF_A_MAIL and not names.isdisjoint(_ONLY_IN_MAILS)


def _holds_magic(row: Format, head: bytes) -> bool:
    if row.media_type == "application/pdf":
        return row.magic in head[:_MAGIC_WITHIN]
    return head.startswith(row.magic)


def is_text(head: bytes) -> bool:
    """Return whether the first bytes of a file are text; UTF-16 and UTF-32 need a byte order mark."""
    if head.startswith(_BINARY_STARTS):
        return False
    if has_mark(head):
        return True
    head = head[:HEAD_BYTES]
    controls = len(head) - len(head.translate(None, _CONTROLS))
    return controls <= _BINARY_SHARE * len(head)
