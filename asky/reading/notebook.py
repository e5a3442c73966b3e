"""Jupyter notebooks: their text and code, cell by cell, with what the code printed and showed."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from asky.errors import SourceUnreadable
from asky.reading import plain_text
from asky.reading.charset import decode
from asky.reading.html import page
from asky.reading.markdown import find_headings
from asky.reading.text_builder import TextBuilder
from asky.text.scrub import strip_sequences
from asky.values import Document

_OUTPUT_CHARS = 2_000  # of one cell: more is data, or a log
# The names of figures, axes and lines: a picture stands there.
_OF_PICTURES = re.compile(
    r"\s*\[?<(?:Figure size|IPython\.core\.display\.|matplotlib\.|mpl_toolkits\.|Axes|seaborn\.|plotly\.|bokeh\."
    r"|altair\.|[\w.]{1,80} at 0x[0-9a-fA-F]+>|[\w.]{1,60}\.(?:Line2D|Text|AxesSubplot)\b).{0,2000}",
    re.DOTALL,
)
_WIDGET = "application/vnd.jupyter.widget-view+json"
_LEFT_OUT_TAGS = frozenset({"remove-cell", "remove_cell"})
_NO_INPUT_TAGS = frozenset({"remove-input", "remove_input"})
_NO_OUTPUT_TAGS = frozenset({"remove-output", "remove_output", "remove-stderr"})
_RETURNED = re.compile(r"[^\n]*\r(?!\n)")  # a progress bar writes its line again
_TICKS = re.compile(r"`{3,}")


def read(data: bytes, name: str) -> Document:
    """Return the cells of a notebook: text as Markdown, code in fences, and below `Output:` what it printed and showed.

    Tables are read as tables, figures left out; of a cell's output 2,000 characters are kept, and the cut is told.
    Cells tagged `remove-cell` and parts tagged `remove-input` or `remove-output` are no part of what a reader of the
    notebook sees, and are left out. Raises SourceUnreadable (failed) if it is no notebook; a file that is called
    otherwise and looked like one is then read as text.
    """
    try:
        root = json.loads(decode(data))
        cells = root["cells"] if "cells" in root else [cell for sheet in root["worksheets"] for cell in sheet["cells"]]
        language = _language(root)
        builder = TextBuilder()
        for number, cell in enumerate(cells, start=1):
            _add_cell(builder, cell, language, number)
    except (ValueError, KeyError, IndexError, TypeError, AttributeError, RecursionError) as error:
        if not name.lower().endswith(".ipynb"):
            return plain_text.read(data, name)
        raise SourceUnreadable(f"{name}: not a notebook ({type(error).__name__})") from None
    headings = list(find_headings(builder.text()))
    for heading in headings:
        builder.mark_heading(heading.text, heading.level, heading.start)
    return builder.build("application/x-ipynb+json", title=headings[0].text if headings else None)


def _language(root: Mapping[str, Any]) -> str:
    metadata = root.get("metadata", {})
    stated = metadata.get("kernelspec", {}).get("language") or metadata.get("language_info", {}).get("name")
    return str(stated or "python").split(maxsplit=1)[0].strip("`")


def _add_cell(builder: TextBuilder, cell: Mapping[str, Any], language: str, number: int) -> None:
    source = _joined(cell.get("source", cell.get("input", ""))).rstrip()
    tags = frozenset(map(str, cell.get("metadata", {}).get("tags") or ()))
    if tags & _LEFT_OUT_TAGS:
        return
    kind = cell.get("cell_type")
    if kind == "heading":  # of notebooks before version 4
        builder.add(f"{'#' * min(6, max(1, int(cell.get('level', 1))))} {' '.join(source.split())}\n\n")
    elif kind != "code":
        builder.add(f"{_named_pictures(source, cell)}\n\n" if source.strip() else "")
    else:
        if source.strip() and not tags & _NO_INPUT_TAGS:
            builder.add(_in_fence(source, cell.get("language", language)))
        if not tags & _NO_OUTPUT_TAGS:
            _add_outputs(builder, cell.get("outputs") or (), number)


def _named_pictures(source: str, cell: Mapping[str, Any]) -> str:
    """Return text in which a picture that is attached to its cell is called by its name."""
    for name in cell.get("attachments") or {}:
        source = source.replace(f"(attachment:{name})", f"({name})")
    return source


def _add_outputs(builder: TextBuilder, outputs: Sequence[Mapping[str, Any]], number: int) -> None:
    blocks = list(_blocks(outputs))
    left, cut = _OUTPUT_CHARS, 0
    is_first = True
    for is_code, text in blocks:
        kept = text[:left].rstrip() if len(text) > left else text
        cut += len(text) - len(kept)
        left -= len(kept)
        if kept:
            builder.add("Output:\n\n" if is_first else "")
            builder.add(_in_fence(kept, "") if is_code else f"{kept}\n\n")
            is_first = False
    if cut:
        builder.add(f"[{cut:,} more characters of output]\n\n")
        builder.skip(f"output of cell {number}", f"cut after {_OUTPUT_CHARS:,} characters")


def _blocks(outputs: Sequence[Mapping[str, Any]]) -> Iterator[tuple[bool, str]]:
    """Yield what a cell printed and showed, and whether it is to stand in a fence; what it printed is joined."""
    printed: list[str] = []
    for output in outputs:
        kind = output.get("output_type")
        if kind == "stream":
            printed.append(_joined(output.get("text", "")))
            continue
        if printed:
            yield from _fenced("".join(printed))
            printed = []
        if kind in ("error", "pyerr"):
            name, value = (strip_sequences(_joined(output.get(key, ""))) for key in ("ename", "evalue"))
            yield from _fenced(f"{name}: {value}")
        else:
            yield from _shown(_data(output))
    if printed:
        yield from _fenced("".join(printed))


def _fenced(text: str) -> Iterator[tuple[bool, str]]:
    plain = _RETURNED.sub("", strip_sequences(text).replace("\r\n", "\n")).rstrip()
    if plain.strip():
        yield True, plain.strip("\n")


def _in_fence(text: str, language: str) -> str:
    """Return text in a fence that is longer than any in it."""
    fence = "`" * max([3, *(len(ticks) + 1 for ticks in _TICKS.findall(text))])
    return f"{fence}{language}\n{text}\n{fence}\n\n"


def _data(output: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the forms of what is shown by their media types; before version 4 they had names of their own."""
    old = {"text": "text/plain", "html": "text/html", "latex": "text/latex", "markdown": "text/markdown"}
    return output.get("data") or {named: output[key] for key, named in old.items() if key in output}


def _shown(data: Mapping[str, Any]) -> Iterator[tuple[bool, str]]:
    """Yield the form of an output that reads best: Markdown, a table, LaTeX, else its plain text."""
    plain = _joined(data.get("text/plain", ""))
    html = _joined(data.get("text/html", ""))
    if _WIDGET in data:
        return
    if markdown := _joined(data.get("text/markdown", "")).strip():
        yield False, markdown
    elif html and (text := _page_text(html, is_table="<table" in html.lower(), plain=plain)):
        yield False, text
    elif latex := _joined(data.get("text/latex", "")).strip():
        yield False, latex
    elif plain and not _OF_PICTURES.match(plain):
        yield from _fenced(plain)


def _page_text(html: str, *, is_table: bool, plain: str) -> str:
    """Return the text of an output in HTML: of a table always, of anything else if its plain text says less."""
    if not is_table and plain and not _OF_PICTURES.match(plain):
        return ""
    try:
        return page.read(f"<html><body>{html}</body></html>".encode(), "output").text.strip()
    except SourceUnreadable:
        return ""


def _joined(source: Any) -> str:
    return source if isinstance(source, str) else "".join(map(str, source))
