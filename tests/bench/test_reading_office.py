"""What it costs to read 300 office files, compared with opening and walking them by the library of each format."""

from __future__ import annotations

import io
import random
import struct
import zlib
from collections.abc import Callable
from email.message import EmailMessage
from pathlib import Path

import docx
import openpyxl
import pptx
import pytest
from pptx.util import Inches

from tests.bench.measure import MIB, measure_python
from tests.bench.prose import shuffled_words

pytestmark = pytest.mark.slow

FILES_OF_A_KIND = 75
LEAST_BYTES, MOST_BYTES = 20_000, 5_000_000
MOST = 1.5
MOST_PEAK = 400 * MIB

# Each walk opens every file and takes the text of all that its library lists.
_WALKS = {
    "docx": """
import docx
def walk(path):
    document = docx.Document(path)
    for block in document.iter_inner_content():
        if hasattr(block, "rows"):
            for row in block.rows:
                for cell in row.cells: cell.text
        else:
            block.text, block.style.name
""",
    "xlsx": """
import openpyxl
def walk(path):
    book = openpyxl.load_workbook(path, read_only=True, data_only=True)
    for sheet in book.worksheets:
        for row in sheet.iter_rows():
            for cell in row:
                if cell.value is not None: str(cell.value), cell.number_format
""",
    "pptx": """
import pptx
def walk(path):
    for slide in pptx.Presentation(path).slides:
        for shape in slide.shapes:
            if shape.has_text_frame: shape.text_frame.text
            if getattr(shape, "has_table", False) and shape.has_table:
                for row in shape.table.rows:
                    for cell in row.cells: cell.text_frame.text
        if slide.has_notes_slide: slide.notes_slide.notes_text_frame.text
""",
    "eml": """
import email, email.policy
def walk(path):
    with open(path, "rb") as file:
        message = email.message_from_binary_file(file, policy=email.policy.default)
    for part in message.walk():
        if part.is_multipart(): continue
        part.get_content()
    str(message["subject"]), str(message["from"])
""",
}
_LIBRARY = "import sys\nfrom pathlib import Path\n{walk}\nfor path in sorted(Path(sys.argv[1]).iterdir()): walk(path)\n"
_OURS = """
import sys
from pathlib import Path
from asky.reading.detection import media_type_of
from asky.reading.process.worker import read
for path in sorted(Path(sys.argv[1]).iterdir()):
    data = path.read_bytes()
    read(data, name=path.name, media_type=media_type_of(path.name, data[:8192]), max_chars=1 << 25)
"""


def picture(rng: random.Random, size: int) -> bytes:
    """A PNG of about so many bytes."""
    rows = max(1, size // 3_001)
    packed = zlib.compress(b"".join(b"\0" + rng.randbytes(3_000) for _ in range(rows)), 0)

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    head = struct.pack(">IIBBBBB", 1_000, rows, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", packed) + chunk(b"IEND", b"")


def word(rng: random.Random, size: int) -> bytes:
    document = docx.Document()
    sentences = sentences_of(rng, min(size, 200_000))
    for number, sentence in enumerate(sentences):
        if number % 20 == 0:
            document.add_heading(sentence[:40], 1 + number % 3)
        document.add_paragraph(sentence, style="List Bullet" if number % 7 == 0 else None)
        if number % 40 == 39:
            table = document.add_table(rows=6, cols=4)
            for row in table._tbl.tr_lst:
                for cell in row.tc_lst:
                    cell.p_lst[0].add_r().text = str(rng.randrange(10_000))
    if size > 60_000:
        document.add_picture(io.BytesIO(picture(rng, size - min(size, 200_000) // 3)))
    return saved(document.save)


def workbook(rng: random.Random, size: int) -> bytes:
    book = openpyxl.Workbook(write_only=True)
    for number in range(3):
        sheet = book.create_sheet(f"Sheet {number}")
        sheet.append(["Item", "Amount", "Rate", "Date", "Remark", "Store"])
        for _ in range(size // 150):
            sheet.append(
                [f"item {rng.randrange(5_000)}", rng.randrange(100_000), rng.random(), 45_000 + rng.random(), "", "A"]
            )
    return saved(book.save)


def slides(rng: random.Random, size: int) -> bytes:
    presentation = pptx.Presentation()
    for number, sentence in enumerate(sentences_of(rng, min(size, 400_000) // 4)):
        slide = presentation.slides.add_slide(presentation.slide_layouts[1])
        slide.shapes.title.text = sentence[:40]
        slide.placeholders[1].text = "\n".join([sentence] * 5)
        if number % 5 == 0:
            slide.notes_slide.notes_text_frame.text = sentence
            table = slide.shapes.add_table(4, 3, Inches(1), Inches(1), Inches(4), Inches(2)).table
            for cell in table.iter_cells():
                cell.text = str(rng.randrange(1_000))
        if number >= 60:
            break
    if size > 60_000:
        presentation.slides[0].shapes.add_picture(io.BytesIO(picture(rng, size - 40_000)), 0, 0)
    return saved(presentation.save)


def mail(rng: random.Random, size: int) -> bytes:
    message = EmailMessage()
    message["From"], message["To"], message["Subject"] = "Ada <ada@example.org>", "b@example.org", "Quay"
    sentences = sentences_of(rng, min(size, 120_000) // 3)
    message.set_content("\n\n".join(sentences))
    message.add_alternative("<html><body>" + "".join(f"<p>{each}</p>" for each in sentences) + "</body></html>", "html")
    if size > 60_000:
        data = picture(rng, (size - 50_000) * 3 // 4)
        message.add_attachment(data, maintype="image", subtype="png", filename="quay.png")
    return message.as_bytes()


def sentences_of(rng: random.Random, characters: int) -> list[str]:
    return shuffled_words(characters, rng.randrange(1_000)).split(". ")


def saved(save: Callable[[io.BytesIO], object]) -> bytes:
    out = io.BytesIO()
    save(out)
    return out.getvalue()


MAKERS = {"docx": word, "xlsx": workbook, "pptx": slides, "eml": mail}


@pytest.mark.parametrize("kind", MAKERS)
def test_reading_costs_at_most_half_more_than_walking(kind: str, tmp_path: Path) -> None:
    files, home = tmp_path / "files", tmp_path / "home"
    files.mkdir()
    home.mkdir()
    rng = random.Random(7)
    for number in range(FILES_OF_A_KIND):
        share = number / (FILES_OF_A_KIND - 1)
        size = int(LEAST_BYTES * (MOST_BYTES / LEAST_BYTES) ** share)
        (files / f"{number:03}.{kind}").write_bytes(MAKERS[kind](rng, size))
    sizes = sorted(path.stat().st_size for path in files.iterdir())
    library = measure_python(("-c", _LIBRARY.format(walk=_WALKS[kind]), str(files)), home)
    ours = measure_python(("-c", _OURS, str(files)), home)
    print(
        f"\n{FILES_OF_A_KIND} {kind} of {sizes[0]:,} to {sizes[-1]:,} bytes, {sum(sizes):,} in all: "
        f"{library.cpu_s:.2f} s of CPU walked, {ours.cpu_s:.2f} s read: {ours.cpu_s / library.cpu_s:.2f} times; "
        f"peak {library.peak_bytes / MIB:.0f} and {ours.peak_bytes / MIB:.0f} MiB"
    )
    assert ours.cpu_s <= MOST * library.cpu_s
    assert ours.peak_bytes <= MOST_PEAK
