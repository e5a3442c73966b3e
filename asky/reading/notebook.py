"""Jupyter notebooks: their text and code, cell by cell, with what the code printed."""

from __future__ import annotations

import json
from typing import Any

from asky.errors import SourceUnreadable
from asky.reading.charset import decode
from asky.reading.markdown import find_headings
from asky.reading.text_builder import TextBuilder
from asky.values import Document

_OUTPUT_CHARS = 2_000  # of one cell: more is data, or a log


def read(data: bytes, name: str) -> Document:
    """Return the cells of a notebook: text as Markdown, code in fences, printed text cut at 2,000 characters a cell.

    Pictures and other rich outputs are left out. Raises SourceUnreadable (failed) if it is no notebook.
    """
    try:
        root = json.loads(decode(data))
        cells = root["cells"] if "cells" in root else root["worksheets"][0]["cells"]
        language = str(root.get("metadata", {}).get("kernelspec", {}).get("language", "python"))
        builder = TextBuilder()
        for cell in cells:
            _add_cell(builder, cell, language)
    except (ValueError, KeyError, IndexError, TypeError, AttributeError, RecursionError) as error:
        raise SourceUnreadable(f"{name}: not a notebook ({type(error).__name__})") from None
    text = builder.text()
    headings = list(find_headings(text))
    for heading in headings:
        builder.mark_heading(heading.text, heading.level, heading.start)
    return builder.build("application/x-ipynb+json", title=headings[0].text if headings else None)


def _add_cell(builder: TextBuilder, cell: dict[str, Any], language: str) -> None:
    source = _joined(cell.get("source", cell.get("input", "")))
    if not source.strip():
        return
    if cell.get("cell_type") != "code":
        builder.add(f"{source.rstrip()}\n\n")
        return
    builder.add(f"```{language}\n{source.rstrip()}\n```\n\n")
    printed = "".join(_printed(output) for output in cell.get("outputs", ()))
    if printed.strip():
        cut = printed[:_OUTPUT_CHARS].rstrip() + (" …" if len(printed) > _OUTPUT_CHARS else "")
        builder.add(f"```\n{cut}\n```\n\n")


def _printed(output: dict[str, Any]) -> str:
    if "text" in output:
        return _joined(output["text"])
    if output.get("output_type") == "error":
        return f"{output.get('ename', '')}: {output.get('evalue', '')}\n"
    return _joined(output.get("data", {}).get("text/plain", ""))


def _joined(source: Any) -> str:
    return source if isinstance(source, str) else "".join(map(str, source))
