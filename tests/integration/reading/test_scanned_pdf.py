"""PDFs whose text is in images: named without the `ocr` extra, read with it."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path

import pymupdf
import pytest

from asky.errors import SourceUnreadable
from asky.events import Event, Noted
from asky.reading import ocr
from asky.reading.limits import MIB, ReadLimits
from asky.reading.pdf import read
from asky.reading.process.pool import ReaderPool
from asky.reading.scanned_pages import ocr_hint
from asky.values import Document
from tests.support.files import check_document, pdf, scanned_pdf

PDF = "application/pdf"
TIDES = "The moon raises two high tides a day."
HARBOUR = "A ship waits for the flood before the bar."
OFFLINE = """
import socket, sys
def refuse(*arguments, **options):
    raise AssertionError("a connection was asked for")
socket.getaddrinfo = socket.create_connection = socket.socket.connect = refuse
from pathlib import Path
from asky.reading.pdf import read
print(read(Path(sys.argv[1]).read_bytes(), "a.pdf", recognise=True).text)
"""


def scan_of(*texts: str, dpi: int = 150, typed: tuple[str, ...] = ()) -> bytes:
    """A PDF with a page for each text that holds only its picture, and pages with a text layer after them."""
    with pymupdf.open() as document:
        for text in texts:
            with pymupdf.open() as source:
                page = source.new_page()
                page.insert_text((72, 100), text.split("\n"), fontsize=12)
                picture = page.get_pixmap(dpi=dpi)
            new = document.new_page()
            new.insert_image(new.rect, pixmap=picture)
        for text in typed:
            document.new_page().insert_text((72, 100), text, fontsize=12)
        return bytes(document.tobytes(deflate=True))


def pages_of(document: Document) -> list[str]:
    return [document.text[page.start : page.end].strip() for page in document.pages]


def without_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    find = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name, package=None: None if name == "rapidocr" else find(name, package)
    )


def test_boxes_are_put_in_lines_from_left_to_right() -> None:
    boxes = [
        ocr.Box(300, 52, 360, 62, "7 metres"),
        ocr.Box(72, 10, 130, 30, "Tides"),
        ocr.Box(72, 50, 130, 60, "Brest\u200b"),
        ocr.Box(72, 70, 130, 80.5, "Dover"),
        ocr.Box(20, 200, 32, 400, "stamp"),
    ]
    page = ocr.lines_of(boxes, 595, 842)
    assert [line.text for line in page.upright] == ["Tides", "Brest", "7 metres", "Dover"]
    assert [line.text for line in page.turned] == ["stamp"]
    assert [round(line.size, 1) for line in page.upright] == [13.1, 8.2, 8.2, 8.2]
    assert (page.width, page.height, page.invisible) == (595, 842, 1)
    assert ocr.lines_of([], 595, 842).upright == ()


@pytest.mark.parametrize(
    ("typed", "share", "is_scan"),
    [
        ("", 1.0, True),
        ("", 0.6, True),
        ("", 0.2, False),
        ("", 0.0, False),
        ("stamp", 1.0, True),
        ("stamp", 0.6, False),
        ("word " * 40, 1.0, False),
        ("\ufffd" * 200, 0.0, True),
    ],
)
def test_a_page_is_a_scan_if_its_text_is_in_its_image(typed: str, share: float, is_scan: bool) -> None:
    with pymupdf.open() as document:
        page = document.new_page()
        picture = pymupdf.Pixmap(pymupdf.csGRAY, pymupdf.IRect(0, 0, 8, 8), False)
        picture.clear_with(200)
        if share:
            area = pymupdf.Rect(0, 0, page.rect.width, share * page.rect.height)
            page.insert_image(area, pixmap=picture, keep_proportion=False)
        boxes = [ocr.Box(72, 72, 500, 84, typed)] if typed else []
        assert ocr.is_scan(page, ocr.lines_of(boxes, page.rect.width, page.rect.height)) is is_scan


def test_without_the_extra_a_scan_is_named_and_the_hint_says_how_to_read_it(monkeypatch: pytest.MonkeyPatch) -> None:
    without_the_extra(monkeypatch)
    with ReaderPool(workers=1) as pool, pytest.raises(SourceUnreadable) as caught:
        pool.read(scanned_pdf(2), name="a.pdf", media_type=PDF)
    error = caught.value
    assert (error.verdict, error.message, error.scanned_pages) == ("no_text_layer", "a.pdf: 2 pages, no text layer", 2)
    assert ocr_hint() in str(error.hint)
    with pytest.raises(SourceUnreadable, match="`ocr` extra"):
        ocr.recogniser()


def test_without_the_extra_the_other_pages_are_read_and_scans_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    without_the_extra(monkeypatch)
    with ReaderPool(workers=1) as pool:
        document = pool.read(scan_of(TIDES, dpi=50, typed=(HARBOUR,)), name="a.pdf", media_type=PDF)
    assert pages_of(document) == ["", HARBOUR]
    assert document.metadata == {"pages_without_text": "1 of 2", "pages_scanned": "1"}


def test_blank_pages_are_not_scans() -> None:
    assert "pages_scanned" not in read(pdf(["a", "", ""]), "a.pdf").metadata


def test_a_file_with_text_loads_no_recogniser() -> None:
    program = (
        "import sys\n"
        "from asky.reading.pdf import read\n"
        "read(sys.stdin.buffer.read(), 'a.pdf', recognise=True)\n"
        "print(sorted({name.partition('.')[0] for name in sys.modules}))\n"
    )
    done = subprocess.run([sys.executable, "-c", program], input=pdf(["x" * 50]), capture_output=True, check=True)
    for heavy in (b"rapidocr", b"onnxruntime", b"cv2", b"numpy"):
        assert b"'%s'" % heavy not in done.stdout


# with the extra


@pytest.mark.slow
def test_scanned_pages_are_read_in_a_process_and_keep_their_numbers() -> None:
    pytest.importorskip("rapidocr")
    told: list[Event] = []
    data = scan_of(f"{TIDES}\n{HARBOUR}", HARBOUR, typed=("The quay is closed on Sundays for good.",))
    with ReaderPool(ReadLimits(timeout_s=20), workers=1, listener=told.append) as pool:
        document = pool.read(data, name="a.pdf", media_type=PDF)
        assert pool.read(b"next", name="b.txt", media_type="text/plain").text == "next"
    check_document(document)
    assert pages_of(document) == [f"{TIDES} {HARBOUR}", HARBOUR, "The quay is closed on Sundays for good."]
    assert document.metadata == {"pages_recognised": "2 of 3"}
    assert told == [Noted("a.pdf: recognising the text of 2 scanned pages")]


@pytest.mark.slow
def test_a_scan_that_shows_no_text_is_named() -> None:
    pytest.importorskip("rapidocr")
    with ReaderPool(workers=1) as pool, pytest.raises(SourceUnreadable) as caught:
        pool.read(scanned_pdf(1), name="a.pdf", media_type=PDF)
    assert (caught.value.verdict, caught.value.scanned_pages, caught.value.hint) == ("no_text_layer", 0, None)
    assert caught.value.message == "a.pdf: 1 page, no text layer, and none was recognised"


@pytest.mark.slow
def test_what_needs_too_much_is_left_out_where_there_is_other_text() -> None:
    pytest.importorskip("rapidocr")
    limits = ReadLimits(memory_bytes=300 * MIB, scan_memory_bytes=300 * MIB)
    told: list[Event] = []
    with ReaderPool(limits, workers=1, listener=told.append) as pool:
        document = pool.read(scan_of(TIDES, typed=(HARBOUR,)), name="a.pdf", media_type=PDF)
        assert pages_of(document) == ["", HARBOUR]
        assert document.metadata == {"pages_without_text": "1 of 2"}
        assert "1 scanned page left out" in str(told[-1])
        with pytest.raises(SourceUnreadable):
            pool.read(scan_of(TIDES), name="a.pdf", media_type=PDF)


@pytest.mark.slow
def test_recognition_asks_for_no_connection(tmp_path: Path) -> None:
    pytest.importorskip("rapidocr")
    file = tmp_path / "a.pdf"
    file.write_bytes(scan_of(TIDES))
    done = subprocess.run([sys.executable, "-c", OFFLINE, str(file)], capture_output=True, text=True, check=True)
    assert done.stdout == f"{TIDES}\n"
    assert "connection" not in done.stderr
