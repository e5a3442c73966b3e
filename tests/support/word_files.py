"""Word files made of their XML, for what no library writes."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Mapping

NAMESPACES = {
    "w": "http://schemas.openxmlformats.org/wordprocessingml/2006/main",
    "r": "http://schemas.openxmlformats.org/officeDocument/2006/relationships",
    "mc": "http://schemas.openxmlformats.org/markup-compatibility/2006",
    "wp": "http://schemas.openxmlformats.org/drawingml/2006/wordprocessingDrawing",
    "a": "http://schemas.openxmlformats.org/drawingml/2006/main",
    "pic": "http://schemas.openxmlformats.org/drawingml/2006/picture",
    "wps": "http://schemas.microsoft.com/office/word/2010/wordprocessingShape",
    "wpg": "http://schemas.microsoft.com/office/word/2010/wordprocessingGroup",
    "wpc": "http://schemas.microsoft.com/office/word/2010/wordprocessingCanvas",
    "c": "http://schemas.openxmlformats.org/drawingml/2006/chart",
    "dgm": "http://schemas.openxmlformats.org/drawingml/2006/diagram",
    "m": "http://schemas.openxmlformats.org/officeDocument/2006/math",
    "v": "urn:schemas-microsoft-com:vml",
    "o": "urn:schemas-microsoft-com:office:office",
    "w14": "http://schemas.microsoft.com/office/word/2010/wordml",
    "w15": "http://schemas.microsoft.com/office/word/2012/wordml",
}
DECLARED = " ".join(f'xmlns:{prefix}="{address}"' for prefix, address in NAMESPACES.items())
_TYPES = "http://schemas.openxmlformats.org/package/2006/content-types"
_RELATIONS = "http://schemas.openxmlformats.org/package/2006/relationships"
_WORD = "application/vnd.openxmlformats-officedocument.wordprocessingml"
_KIND = NAMESPACES["r"]


def p(*runs: str, style: str = "", properties: str = "") -> str:
    """A paragraph; what does not begin with "<" is the text of a run."""
    named = f'<w:pStyle w:val="{style}"/>' if style else ""
    stated = f"<w:pPr>{named}{properties}</w:pPr>" if named or properties else ""
    return f"<w:p>{stated}{''.join(each if each.startswith('<') else r(each) for each in runs)}</w:p>"


def r(text: str, properties: str = "") -> str:
    """A run of text."""
    stated = f"<w:rPr>{properties}</w:rPr>" if properties else ""
    return f'<w:r>{stated}<w:t xml:space="preserve">{text}</w:t></w:r>'


def ins(*runs: str) -> str:
    """A tracked insertion."""
    inner = "".join(each if each.startswith("<") else r(each) for each in runs)
    return f'<w:ins w:id="1" w:author="Ada" w:date="2026-01-01T00:00:00Z">{inner}</w:ins>'


def deleted(text: str) -> str:
    """A tracked deletion."""
    run = f'<w:r><w:delText xml:space="preserve">{text}</w:delText></w:r>'
    return f'<w:del w:id="1" w:author="Ada" w:date="2026-01-01T00:00:00Z">{run}</w:del>'


def sdt(content: str, properties: str = "") -> str:
    """A content control."""
    return f"<w:sdt><w:sdtPr>{properties}</w:sdtPr><w:sdtContent>{content}</w:sdtContent></w:sdt>"


def field(instruction: str, result: str, begin: str = "") -> str:
    """The runs of a complex field."""
    shown = result if result.startswith("<") else r(result)
    return (
        f'<w:r><w:fldChar w:fldCharType="begin">{begin}</w:fldChar></w:r>'
        f'<w:r><w:instrText xml:space="preserve"> {instruction} </w:instrText></w:r>'
        f'<w:r><w:fldChar w:fldCharType="separate"/></w:r>{shown}<w:r><w:fldChar w:fldCharType="end"/></w:r>'
    )


def tc(content: str, properties: str = "") -> str:
    """A cell; what is no XML becomes a paragraph."""
    stated = f"<w:tcPr>{properties}</w:tcPr>" if properties else ""
    return f"<w:tc>{stated}{content if content.startswith('<') else p(content)}</w:tc>"


def tr(*cells: str, properties: str = "") -> str:
    """A row of a table."""
    stated = f"<w:trPr>{properties}</w:trPr>" if properties else ""
    return f"<w:tr>{stated}{''.join(each if each.startswith('<') else tc(each) for each in cells)}</w:tr>"


def tbl(*rows: str, properties: str = "") -> str:
    """A table."""
    return f"<w:tbl><w:tblPr>{properties}</w:tblPr>{''.join(rows)}</w:tbl>"


def drawing(graphic: str, *, uri: str = "", shown: str = "") -> str:
    """A run with a drawing; `shown` are attributes of its `docPr`, such as its alternative text."""
    inner = f'<a:graphic><a:graphicData uri="{uri}">{graphic}</a:graphicData></a:graphic>'
    return f'<w:r><w:drawing><wp:inline><wp:docPr id="1" name="x" {shown}/>{inner}</wp:inline></w:drawing></w:r>'


def box(content: str) -> str:
    """A run with a text box, as Word writes it: once for itself and once for programs that know only VML."""
    inner = f"<w:txbxContent>{content}</w:txbxContent>"
    shape = drawing(f"<wps:wsp><wps:txbx>{inner}</wps:txbx></wps:wsp>").removeprefix("<w:r>").removesuffix("</w:r>")
    old = f"<w:pict><v:shape><v:textbox>{inner}</v:textbox></v:shape></w:pict>"
    return (
        f'<w:r><mc:AlternateContent><mc:Choice Requires="wps">{shape}</mc:Choice>'
        f"<mc:Fallback>{old}</mc:Fallback></mc:AlternateContent></w:r>"
    )


def part(root: str, content: str) -> str:
    """The XML of a part whose root is, for instance, `w:footnotes`."""
    return f"<{root} {DECLARED}>{content}</{root}>"


def heading_styles() -> str:
    """The styles of headings as Word has them in German, and a title."""
    levels = "".join(
        f'<w:style w:type="paragraph" w:styleId="berschrift{n}"><w:name w:val="heading {n}"/>'
        f'<w:pPr><w:outlineLvl w:val="{n - 1}"/></w:pPr></w:style>'
        for n in range(1, 4)
    )
    return f'{levels}<w:style w:type="paragraph" w:styleId="Titel"><w:name w:val="Title"/></w:style>'


def word_file(
    body: str,
    parts: Mapping[str, tuple[str, str | bytes]] | None = None,
    *,
    external: Mapping[str, tuple[str, str]] | None = None,
    main: str = "word/document.xml",
    of_parts: Mapping[str, Mapping[str, tuple[str, str]]] | None = None,
    whole: Mapping[str, str | bytes] | None = None,
) -> bytes:
    """The bytes of a file with this body.

    `parts` are the kind of the relation and the content by path below `word/`, and the id of the relation is the name
    of the file without its suffix; `external` are kind and address by id. `of_parts` are the relations of other parts.
    `whole` are further entries of the archive as they are.
    """
    parts, external = parts or {}, external or {}
    related = [(_id(path), kind, path, "") for path, (kind, _) in parts.items() if kind]
    related += [(id_, kind, address, 'TargetMode="External"') for id_, (kind, address) in external.items()]
    folder, _, file = main.rpartition("/")
    entries: dict[str, str | bytes] = {
        "[Content_Types].xml": _content_types(
            {main: "document.main"} | {f"{folder}/{k}": v for k, (v, _) in parts.items()}
        ),
        "_rels/.rels": _relations([("rId1", "officeDocument", main, "")]),
        main: body if body.startswith("<?xml") else part("w:document", f"<w:body>{body}</w:body>"),
        f"{folder}/_rels/{file}.rels": _relations(related),
    }
    entries |= {f"{folder}/{path}": content for path, (_, content) in parts.items()}
    for path, targets in (of_parts or {}).items():
        inner, _, name = f"{folder}/{path}".rpartition("/")
        entries[f"{inner}/_rels/{name}.rels"] = _relations(
            [(id_, kind, target, "") for id_, (kind, target) in targets.items()]
        )
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as made:
        for path, content in (entries | dict(whole or {})).items():
            made.writestr(path, content)
    return out.getvalue()


def _content_types(kinds: Mapping[str, str]) -> str:
    named = "".join(
        f'<Override PartName="/{path}" ContentType="{_WORD}.{kind}+xml"/>'
        for path, kind in kinds.items()
        if path.endswith(".xml")
    )
    defaults = "".join(
        f'<Default Extension="{suffix}" ContentType="{type_}"/>'
        for suffix, type_ in (
            ("rels", "application/vnd.openxmlformats-package.relationships+xml"),
            ("xml", "application/xml"),
            ("html", "text/html"),
        )
    )
    return f'<Types xmlns="{_TYPES}">{defaults}{named}</Types>'


def _id(path: str) -> str:
    return path.rpartition("/")[2].partition(".")[0]


def _relations(related: list[tuple[str, str, str, str]]) -> str:
    listed = "".join(
        f'<Relationship Id="{id_}" Type="{_KIND}/{kind}" Target="{target}" {mode}/>'
        for id_, kind, target, mode in related
    )
    return f'<Relationships xmlns="{_RELATIONS}">{listed}</Relationships>'
