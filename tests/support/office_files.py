"""Office files made by hand: archives of XML parts, and files of a library with parts replaced or added."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Mapping
from typing import Any

NAMES = (
    " ".join(
        f'xmlns:{prefix}="urn:oasis:names:tc:opendocument:xmlns:{name}:1.0"'
        for prefix, name in {
            "office": "office",
            "text": "text",
            "table": "table",
            "draw": "drawing",
            "style": "style",
            "presentation": "presentation",
            "chart": "chart",
            "meta": "meta",
            "form": "form",
            "manifest": "manifest",
            "fo": "xsl-fo-compatible",
            "svg": "svg-compatible",
            "number": "datastyle",
        }.items()
    )
    + ' xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:xlink="http://www.w3.org/1999/xlink"'
)


def saved(document: Any) -> bytes:
    """Return the bytes of a document of python-docx, python-pptx or openpyxl."""
    out = io.BytesIO()
    document.save(out)
    return out.getvalue()


def archive(parts: Mapping[str, str | bytes]) -> bytes:
    """Return a zip archive of parts."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as made:
        for path, content in parts.items():
            made.writestr(path, content)
    return out.getvalue()


def with_parts(data: bytes, parts: Mapping[str, str | bytes]) -> bytes:
    """Return an archive with parts added, or others in their place."""
    with zipfile.ZipFile(io.BytesIO(data)) as old:
        return archive({**{name: old.read(name) for name in old.namelist()}, **parts})


def part(data: bytes, path: str) -> str:
    """Return a part of an archive as text."""
    with zipfile.ZipFile(io.BytesIO(data)) as old:
        return old.read(path).decode()


def with_relation(data: bytes, source: str, kind: str, target: str, content: str | bytes, number: str) -> bytes:
    """Return an archive with a part `target` that `source` refers to as `number`, by a relation of type `kind`."""
    folder, _, file = source.rpartition("/")
    relations = f"{folder}/_rels/{file}.rels"
    one = f'<Relationship Id="{number}" Type="{kind}" Target="/{target}"/></Relationships>'
    return with_parts(data, {target: content, relations: part(data, relations).replace("</Relationships>", one)})


def open_document(body: str, styles: str = "", kind: str = "text", **parts: str | bytes) -> bytes:
    """Return a file of OpenDocument whose body has this content, and whose content has these automatic styles.

    `parts` are further parts by name, with `__` for a dot.
    """
    content = (
        f"<office:document-content {NAMES}><office:automatic-styles>{styles}</office:automatic-styles>"
        f"<office:body><office:{kind}>{body}</office:{kind}></office:body></office:document-content>"
    )
    others = {name.replace("__", "."): each for name, each in parts.items()}
    return archive({"mimetype": f"application/vnd.oasis.opendocument.{kind}", "content.xml": content, **others})
