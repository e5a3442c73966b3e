"""The registry of readable formats: one row per format, with its reader module."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from asky.reading.unread_kinds import unread_suffix

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


ZIP = b"PK\x03\x04"
OLE = b"\xd0\xcf\x11\xe0"
RTF = b"{\\rtf"
"""How files of these kinds begin: archives, compound files of Microsoft, rich text."""
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
    Format("text/csv", (".csv", ".tsv", ".tab"), "asky.reading.tables.csv_file", version=5),
    Format("application/pdf", (".pdf",), "asky.reading.pdf", magic=b"%PDF-", version=7),
    Format("application/epub+zip", (".epub",), "asky.reading.books.epub", magic=ZIP, version=3),
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
    Format("application/x-ipynb+json", (".ipynb",), "asky.reading.notebook", version=5),
    Format("message/rfc822", (".eml", ".mbox", ".emlx"), "asky.reading.mail.message", version=5),
    Format("application/vnd.ms-outlook", (".msg", ".oft"), "asky.reading.mail.outlook", magic=OLE, version=2),
    Format("text/vcard", (".vcf", ".vcard"), "asky.reading.mail.contacts"),
    Format("multipart/related", (".mhtml", ".mht"), "asky.reading.mail.saved_page"),
    Format(
        f"{_OOXML}.wordprocessingml.document",
        (".docx", ".docm", ".dotx", ".dotm"),
        "asky.reading.office.word.reader",
        magic=ZIP,
        version=6,
    ),
    Format(
        "application/msword",
        (".doc", ".dot", ".ppt", ".pps", ".pot", ".wps"),
        "asky.reading.office.old",
        any_content=True,
        version=2,
    ),
    Format(
        f"{_OOXML}.presentationml.presentation",
        (".pptx", ".pptm", ".ppsx", ".ppsm", ".potx"),
        "asky.reading.office.slides",
        magic=ZIP,
        version=6,
    ),
    Format(
        f"{_OOXML}.spreadsheetml.sheet",
        (".xlsx", ".xlsm", ".xltx", ".xltm", ".xlsb"),
        "asky.reading.office.sheets",
        magic=ZIP,
        version=6,
    ),
    Format(
        "application/vnd.ms-excel",
        (".xls", ".xlt"),
        "asky.reading.office.sheets",
        function="read_any",
        any_content=True,
        version=4,
    ),
    Format(
        "application/vnd.oasis.opendocument",
        (".odt", ".ods", ".odp", ".odg", ".ott", ".ots", ".otp", ".odm"),
        "asky.reading.office.open_document",
        magic=ZIP,
        version=7,
    ),
    Format(
        "application/vnd.oasis.opendocument.flat",
        (".fodt", ".fods", ".fodp", ".fodg"),
        "asky.reading.office.open_document",
        function="read_flat",
        version=4,
    ),
    Format("application/rtf", (".rtf",), "asky.reading.rtf.document", magic=RTF, version=3),
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
        version=2,
    ),
    Format("text/x-subtitles", (".srt", ".vtt", ".sbv", ".ass", ".ssa", ".lrc"), "asky.reading.timed.subtitles"),
    Format("application/x-canvas+json", (".canvas",), "asky.reading.vault.canvas"),
    Format("text/x-excalidraw", (".excalidraw.md", ".excalidraw"), "asky.reading.vault.excalidraw"),
    # As Markdown, with the links and footnotes of a text whose citations are followed.
    Format("text/x-linked-html", (), "asky.reading.linked.page"),
    Format("application/x-linked-docx", (), "asky.reading.linked.word", magic=ZIP),
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
