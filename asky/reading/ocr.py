"""Text in images, for scanned pages: only with the optional `ocr` extra, and only in a reader process of its own."""

from __future__ import annotations

import importlib.util
import math
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any, NamedTuple

from asky.errors import SourceUnreadable
from asky.reading.pages.lines import Line, PageLines
from asky.reading.scanned_pages import ocr_hint
from asky.text.scrub import scrub_counted

if TYPE_CHECKING:
    import pymupdf

# Source: on two dense pages of a paper in two columns 96 % of the words are right, for 7 s of CPU a page and a peak of
# 1,070 MB of address space; more pixels are no better. One thread, as a reader process may start no others.
_LONG_SIDE = 1600  # pixels
_SETTINGS = {
    "Global.log_level": "critical",
    "Global.use_cls": False,
    "Global.max_side_len": _LONG_SIDE,
    "EngineConfig.onnxruntime.intra_op_num_threads": 1,
    "EngineConfig.onnxruntime.inter_op_num_threads": 1,
    "EngineConfig.onnxruntime.enable_cpu_mem_arena": False,
    "Det.limit_type": "max",
    "Det.limit_side_len": 1280,
    "Rec.rec_batch_num": 1,
}
_FEW_CHARS = 100  # a stamp or a running foot that was put on a scan
_SCAN_SHARE, _SCAN_BEHIND_TEXT = 0.3, 0.8  # of the page, that its images cover
_READABLE_SHARE = 0.5  # of the characters: fonts that name no characters give U+FFFD
# Boxes whose middles differ by less than this share of their height stand on one line.
_SAME_LINE = 0.5
_FONT_SHARE = 0.8  # of a box's height
_BASE_SHARE = 0.3  # of a font's size: from the middle of a box down to the base line
_SIZE_STEP = 1.6  # boxes are as high as their letters, by up to a quarter more or less in one font
_TURNED = 1.5  # times as high as wide


class Box(NamedTuple):
    """A piece of text on a page, and its edges in points."""

    x0: float
    y0: float
    x1: float
    y1: float
    text: str


Recogniser = Callable[["pymupdf.Page"], PageLines]


def is_scan(page: pymupdf.Page, lines: PageLines) -> bool:
    """Return whether the text of a page is in its images or in fonts without characters; `lines` are its text layer."""
    text = "".join(line.text for line in lines.lines)
    visible = len(text) - sum(map(text.count, " \n\t"))
    readable = visible - text.count("\ufffd")
    if visible and readable <= _READABLE_SHARE * visible:
        return True
    if visible >= _FEW_CHARS:
        return False
    covered = sum(float((image & page.rect).get_area()) for image in _images(page))
    return covered >= (_SCAN_BEHIND_TEXT if visible else _SCAN_SHARE) * float(page.rect.get_area())


def _images(page: pymupdf.Page) -> list[pymupdf.Rect]:
    import pymupdf

    return [pymupdf.Rect(each["bbox"]) * page.rotation_matrix for each in page.get_image_info()]


def recogniser() -> Recogniser:
    """Return a function from a page to the lines that its image shows.

    The models are files of the package, and are named to it, so that it never looks for any elsewhere. Raises
    SourceUnreadable (no_text_layer) without the extra or its models.
    """
    models = _models()
    # Each thread of the linear algebra that nothing here needs takes address space.
    os.environ.update({"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"})
    import cv2  # 1.5 s with the next: only for scans
    import numpy as np
    import pymupdf
    from rapidocr import RapidOCR

    cv2.setNumThreads(1)
    engine: Any = RapidOCR(params={**_SETTINGS, **models})

    def recognise(page: pymupdf.Page) -> PageLines:
        width, height = page.rect.width, page.rect.height
        scale = _LONG_SIDE / max(width, height, 1.0)
        picture = page.get_pixmap(matrix=pymupdf.Matrix(scale, scale), colorspace=pymupdf.csRGB, alpha=False)
        pixels = np.frombuffer(picture.samples, np.uint8).reshape(picture.height, picture.width, 3)
        found = engine(pixels[:, :, ::-1].copy())
        boxes = []
        if found.txts is not None and found.boxes is not None:
            for corners, text in zip(found.boxes.tolist(), found.txts, strict=True):
                xs, ys = [x / scale for x, _ in corners], [y / scale for _, y in corners]
                boxes.append(Box(min(xs), min(ys), max(xs), max(ys), text))
        return lines_of(boxes, width, height)

    return recognise


def _models() -> dict[str, str]:
    spec = importlib.util.find_spec("rapidocr")
    if spec is None or spec.origin is None:
        raise SourceUnreadable("scanned pages need the `ocr` extra", verdict="no_text_layer", hint=ocr_hint())
    folder = Path(spec.origin).parent / "models"
    found = {
        "Det.model_path": next(iter(sorted(folder.glob("*_det_*.onnx"))), None),
        "Rec.model_path": next(iter(sorted(folder.glob("*_rec_*.onnx"))), None),
    }
    if None in found.values():
        raise SourceUnreadable(
            "the `ocr` extra is installed without its models", verdict="no_text_layer", hint=ocr_hint()
        )
    return {key: str(path) for key, path in found.items()}


def lines_of(boxes: Sequence[Box], width: float, height: float) -> PageLines:
    """Return what was recognised as the lines of a page, from top to bottom and, on one height, from left to right."""
    turned = [box for box in boxes if box.y1 - box.y0 > _TURNED * (box.x1 - box.x0) and len(box.text) > 2]
    rows: list[list[Box]] = []
    for box in sorted((box for box in boxes if box not in turned), key=lambda each: each.y0 + each.y1):
        first = rows[-1][0] if rows else box
        if rows and abs((box.y0 + box.y1) - (first.y0 + first.y1)) / 2 < _SAME_LINE * (first.y1 - first.y0):
            rows[-1].append(box)
        else:
            rows.append([box])
    upright = [box for row in rows for box in sorted(row, key=lambda each: each.x0)]
    usual = median(box.y1 - box.y0 for box in upright) if upright else 1.0
    invisible = 0
    found: list[Line] = []
    for number, box in enumerate([*upright, *turned]):
        text, removed = scrub_counted(box.text.replace("\n", " "))
        invisible += removed
        size = _size(box, usual)
        base = (box.y0 + box.y1) / 2 + _BASE_SHARE * size
        found.append(Line(text, box.x0, box.y0, box.x1, box.y1, base, size, False, False, number))
    shown = [line for line in found[: len(upright)] if line.text.strip()]
    aside = [line for line in found[len(upright) :] if line.text.strip()]
    return PageLines(width, height, tuple(shown), tuple(aside), invisible)


def _size(box: Box, usual: float) -> float:
    steps = round(math.log(max(0.1, box.y1 - box.y0) / max(0.1, usual), _SIZE_STEP))
    return round(_FONT_SHARE * usual * _SIZE_STEP**steps, 2)
