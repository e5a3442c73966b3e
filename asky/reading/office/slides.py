"""Presentations: a section for each slide, with its tables and the speaker's notes."""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator
from typing import Any

from asky.reading.office.archive import UnreadableOffice, check_archive, file_facts, media_type
from asky.reading.raised.exponents import spelled_runs
from asky.reading.tables.rows import add_rows
from asky.reading.text_builder import TextBuilder
from asky.values import Document

_SLIDES = "ppt/presentation.xml"


def read(data: bytes, name: str) -> Document:
    """Return the text of a `.pptx` file: a section for each slide, with its tables and the speaker's notes."""
    check_archive(data, name, _SLIDES)
    import pptx  # 110 ms: only if there is one to read

    with UnreadableOffice(name):
        presentation = pptx.Presentation(io.BytesIO(data))
        builder = TextBuilder()
        for number, slide in enumerate(presentation.slides, start=1):
            head = slide.shapes.title
            title = " ".join(_frame_text(head.text_frame).split()) if head is not None and head.has_text_frame else ""
            builder.mark_heading(title or f"Slide {number}", 1)
            builder.start_page(None)
            if title:
                builder.add(f"{title}\n\n")
            for shape in _shapes(slide.shapes):
                if shape.has_text_frame and shape is not head and shape.shape_id != getattr(head, "shape_id", None):
                    lines = (" ".join(_slide_text(each).split()) for each in shape.text_frame.paragraphs)
                    builder.add("".join(f"- {line}\n" for line in lines if line))
                if getattr(shape, "has_table", False) and shape.has_table:
                    rows = [[_frame_text(cell.text_frame) for cell in row.cells] for row in shape.table.rows]
                    add_rows(builder, rows)
            if slide.has_notes_slide and (notes := slide.notes_slide.notes_text_frame) and notes.text.strip():
                builder.add(f"\nNotes: {_frame_text(notes).strip()}\n")
            builder.add("\n")
        facts = presentation.core_properties
        return builder.build(media_type("presentationml.presentation"), title=facts.title, metadata=file_facts(facts))


def _slide_text(paragraph: Any) -> str:
    """Return the text of a paragraph with its exponents as `^...`."""
    runs = [(run.text, int(run._r.rPr.get("baseline", 0)) if run._r.rPr is not None else 0) for run in paragraph.runs]
    if not any(baseline for _, baseline in runs):
        return str(paragraph.text)
    return spelled_runs((text, baseline > 0 if baseline else None) for text, baseline in runs)


def _frame_text(frame: Any) -> str:
    return "\n".join(_slide_text(each) for each in frame.paragraphs)


def _shapes(shapes: Iterable[Any]) -> Iterator[Any]:
    for shape in shapes:
        if hasattr(shape, "shapes"):
            yield from _shapes(shape.shapes)
        else:
            yield shape
