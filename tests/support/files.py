"""Files made by code: good ones of every format, broken ones, and bombs. And what every document must be like."""

from __future__ import annotations

import io
import re
import textwrap
import zipfile
import zlib
from collections.abc import Callable, Iterable, Mapping, Sequence

from asky.errors import SourceUnreadable
from asky.values import Document

MIB = 1024 * 1024
FORBIDDEN = re.compile(
    "[\x00-\x08\x0b\r\x0e-\x1f\x7f-\x9f\u00ad\u17b4\u17b5\u202a-\u202e\u2060-\u206f\u3164\ud800-\udfff\ufeff\uffa0"
    "\ufff0-\ufffb\U000e0000-\U000e00ff\U000e01f0-\U000e0fff]"
)

_CONTAINER = (
    '<container version="1.0" xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles>'
    '<rootfile full-path="book.opf" media-type="application/oebps-package+xml"/></rootfiles></container>'
)


def attempt(read: Callable[[], Document]) -> Document | SourceUnreadable:
    """The document, or the error that stands for it."""
    try:
        return read()
    except SourceUnreadable as error:
        return error


def check_outcome(outcome: Document | SourceUnreadable, *verdicts: str) -> None:
    """Assert a sound document, or a refusal of one line with one of these verdicts."""
    if isinstance(outcome, Document):
        check_document(outcome)
    else:
        assert outcome.verdict in verdicts
        assert outcome.message.isprintable()


def check_document(document: Document) -> None:
    """Assert what holds for the document of any reader, whatever the file was."""
    text = document.text
    assert text.strip()
    assert FORBIDDEN.search(text) is None
    text.encode("utf-8")
    starts = [section.start for section in document.sections]
    assert starts == sorted(starts)
    for section in document.sections:
        assert 0 <= section.start <= section.end <= len(text)
        assert section.heading == " ".join(section.heading.split()) != ""
        assert FORBIDDEN.search(section.heading) is None
        assert section.level >= 0
    assert [page.index for page in document.pages] == list(range(1, len(document.pages) + 1))
    if document.pages:
        edges = [0, *[page.end for page in document.pages]]
        assert [page.start for page in document.pages] == edges[:-1]
        assert edges[-1] == len(text)
    for value in (document.title, *document.metadata.values()):
        assert value is None or (value.strip() and FORBIDDEN.search(value) is None and "\n" not in value)


def pdf(
    pages: Sequence[str],
    *,
    title: str | None = None,
    labels: Sequence[Mapping[str, object]] = (),
    outline: Sequence[tuple[int, str, int]] = (),
    password: str | None = None,
) -> bytes:
    """A PDF with a text on each page; an empty one leaves its page blank.

    `labels` are rules such as `{"startpage": 0, "style": "r"}`; `outline` is (level, title, page from 1).
    """
    import pymupdf

    with pymupdf.open() as document:
        for text in pages:
            page = document.new_page()
            if text:
                page.insert_text((72, 72), text)
        document.set_metadata({"title": title or ""})
        if labels:
            document.set_page_labels([dict(rule) for rule in labels])
        if outline:
            document.set_toc([list(entry) for entry in outline])
        if password is None:
            return bytes(document.tobytes(no_new_id=True))
        return bytes(document.tobytes(encryption=pymupdf.PDF_ENCRYPT_AES_256, user_pw=password, owner_pw=password))


def scanned_pdf(pages: int) -> bytes:
    """A PDF whose pages hold a picture and no text."""
    import pymupdf

    picture = pymupdf.Pixmap(pymupdf.csGRAY, pymupdf.IRect(0, 0, 8, 8), False)
    picture.clear_with(200)
    with pymupdf.open() as document:
        for _ in range(pages):
            document.new_page().insert_image(pymupdf.Rect(50, 50, 500, 700), pixmap=picture)
        return bytes(document.tobytes())


def with_scan(data: bytes) -> bytes:
    """The same PDF, with a page at its end that holds a picture and no text."""
    import pymupdf

    with pymupdf.open(stream=data) as document, pymupdf.open(stream=scanned_pdf(1)) as scan:
        document.insert_pdf(scan)
        return bytes(document.tobytes())


def pdf_of_objects(objects: Iterable[bytes]) -> bytes:
    """A PDF put together by hand: object 1 is the catalogue, object 2 the page tree. The xref is right."""
    body = bytearray(b"%PDF-1.4\n")
    offsets = []
    for number, content in enumerate(objects, start=1):
        offsets.append(len(body))
        body += b"%d 0 obj\n%s\nendobj\n" % (number, content)
    start = len(body)
    body += b"xref\n0 %d\n0000000000 65535 f \n" % (len(offsets) + 1)
    body += b"".join(b"%010d 00000 n \n" % offset for offset in offsets)
    body += b"trailer\n<</Size %d/Root 1 0 R>>\nstartxref\n%d\n%%%%EOF\n" % (len(offsets) + 1, start)
    return bytes(body)


def pdf_without_pages() -> bytes:
    return pdf_of_objects([b"<</Type/Catalog/Pages 2 0 R>>", b"<</Type/Pages/Kids[]/Count 0>>"])


def pdf_with_wrong_xref(text: str) -> bytes:
    """A PDF whose table of objects points nowhere; readers rebuild it."""
    good = pdf([text])
    return re.sub(rb"startxref\s+\d+", b"startxref\n7", good)


def pdf_bomb(unpacked_mib: int) -> bytes:
    """A PDF of one page whose content stream unpacks to so many MiB of text operators."""
    packer = zlib.compressobj(9)
    block = b"(aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa)Tj " * (MIB // 52)
    stream = packer.compress(b"BT /F1 9 Tf ")
    stream += b"".join(packer.compress(block) for _ in range(unpacked_mib)) + packer.flush()
    return pdf_of_objects(
        [
            b"<</Type/Catalog/Pages 2 0 R>>",
            b"<</Type/Pages/Kids[3 0 R]/Count 1>>",
            b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Contents 4 0 R/Resources<</Font<</F1 5 0 R>>>>>>",
            b"<</Length %d/Filter/FlateDecode>>stream\n%s\nendstream" % (len(stream), stream),
            b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>",
        ]
    )


def archive(files: Mapping[str, bytes | str]) -> bytes:
    """A zip archive of the files, in their order."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as writer:
        for name, content in files.items():
            writer.writestr(name, content)
    return packed.getvalue()


def epub(
    chapters: Sequence[tuple[str, str]],
    *,
    title: str = "A Book",
    author: str = "A. Writer",
    others: Mapping[str, bytes | str] | None = None,
) -> bytes:
    """A book of (heading, XHTML below it) with a table of contents; `others` are more files of the archive."""
    numbers = range(len(chapters))
    items = "".join(f'<item id="c{n}" href="c{n}.xhtml" media-type="application/xhtml+xml"/>' for n in numbers)
    spine = "".join(f'<itemref idref="c{n}"/>' for n in numbers)
    points = "".join(
        f'<navPoint id="n{n}" playOrder="{n + 1}"><navLabel><text>{chapters[n][0]}</text></navLabel>'
        f'<content src="c{n}.xhtml"/></navPoint>'
        for n in numbers
    )
    package = (
        '<package xmlns="http://www.idpf.org/2007/opf" version="2.0"><metadata '
        f'xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title>{title}</dc:title><dc:creator>{author}</dc:creator>'
        '</metadata><manifest><item id="ncx" href="toc.ncx" media-type="application/x-dtbncx+xml"/>'
        f'{items}</manifest><spine toc="ncx">{spine}</spine></package>'
    )
    contents = f'<ncx xmlns="http://www.daisy.org/z3986/2005/ncx/" version="2005-1"><navMap>{points}</navMap></ncx>'
    files: dict[str, bytes | str] = {
        "mimetype": "application/epub+zip",
        "META-INF/container.xml": _CONTAINER,
        "book.opf": package,
        "toc.ncx": contents,
    }
    for number, (heading, body) in enumerate(chapters):
        files[f"c{number}.xhtml"] = (
            f'<html xmlns="http://www.w3.org/1999/xhtml"><head><title>{heading}</title></head>'
            f"<body><h1>{heading}</h1>{body}</body></html>"
        )
    return archive({**files, **(others or {})})


def epub_bomb(unpacked_mib: int) -> bytes:
    """A book with a chapter that unpacks to so many MiB."""
    return epub([("One", "<p>" + "a" * (unpacked_mib * MIB) + "</p>")])


def deep_html(depth: int, text: str) -> bytes:
    """A page whose only text lies below so many nested elements."""
    return b"<html><body>%s%s%s</body></html>" % (b"<div>" * depth, text.encode(), b"</div>" * depth)


def deep_json(depth: int) -> bytes:
    return b'{"a":' * depth + b"1" + b"}" * depth


def wide_json(members: int) -> bytes:
    """An array that takes some fifty times as much memory as it has bytes."""
    return b"[%s[]]" % (b"[]," * members)


PrintedLine = tuple[float, float, str, float, str]
"""A line on a page: x and y of its base line in points, its text, its size, and "helv", "hebo" (bold) or "cour"."""


def printed_pdf(pages: Sequence[Sequence[PrintedLine]], facts: Mapping[str, str] | None = None) -> bytes:
    """A PDF (612 by 792 points) with these lines on its pages, in the file's order. `facts`: title, author, subject."""
    import pymupdf

    with pymupdf.open() as document:
        for lines in pages:
            page = document.new_page(width=612, height=792)
            for x, y, text, size, font in lines:
                page.insert_text((x, y), text, fontsize=size, fontname=font)
        document.set_metadata(dict(facts or {}))
        return bytes(document.tobytes(no_new_id=True))


def column_of(text: str, x: float, y: float, chars: int, size: float = 10, font: str = "helv") -> list[PrintedLine]:
    """The lines of `text`, wrapped after `chars` characters at most, as a column that begins at `x` and `y`."""
    return [(x, y + number * 1.2 * size, line, size, font) for number, line in enumerate(textwrap.wrap(text, chars))]
