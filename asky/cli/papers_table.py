"""A table of papers as Markdown, CSV and JSON."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from asky.app.answers import MARKED, WARNING_SIGN, as_written
from asky.app.schemas.paper import paper_table_object
from asky.cli.saving import save_text
from asky.cli.terminal.markdown_stream import print_markdown
from asky.text.counting import counted

if TYPE_CHECKING:
    from asky.app.schemas import CellQuote, FilledTable, Paper, TableCell
    from asky.cli.terminal.terminal import Terminal
    from asky.values import UnreadFile

_EMPTY = "-"
_FORMULA = ("=", "+", "-", "@", "\t")  # what a spreadsheet would compute


def print_table(
    terminal: Terminal, table: FilledTable, output: Path | None, unread: Sequence[UnreadFile], *, as_json: bool
) -> None:
    """Print a table, or write it to `output`; rows that failed and papers left out are told on stderr.

    `unread` is what was not read of its papers.
    """
    if output is not None:
        save_text(output, table_csv(table) if output.suffix.lower() == ".csv" else table_markdown(table))
        terminal.note(f"wrote {output}")
    if as_json:
        terminal.json(paper_table_object(table, unread))
    elif output is None and terminal.out.isatty():
        print_markdown(terminal, table_markdown(table))
    elif output is None:
        terminal.out.write(table_markdown(table))
    for row in table.rows:
        if row.failure is not None:
            terminal.note(f"{row.paper.name}: {row.failure.message}")
    if table.left_out:
        terminal.note(f"{counted(table.left_out, 'more paper')} left out: name those that you want")


def table_markdown(table: FilledTable) -> str:
    """Return a table as Markdown: a cell has its words, and the pages that say so."""
    rows = [["Paper", *map(as_written, table.columns)], ["---"] * (1 + len(table.columns))]
    rows += [[_paper(row.paper), *(_cell(each, row.paper) for each in row.cells)] for row in table.rows]
    return "".join(f"| {' | '.join(row)} |\n" for row in rows)


def _paper(paper: Paper) -> str:
    return as_written(f"{paper.source.title} ({paper.name})")


def _cell(cell: TableCell, paper: Paper) -> str:
    if cell.text is None:
        return _EMPTY
    is_quotation = cell.text in [each.text for each in cell.quotes]
    text = as_written(cell.text)
    quoted = "" if is_quotation else "".join(f" “{as_written(each.text)}”" for each in cell.quotes[:1])
    pages = "".join(f" [{paper.name}, page {page}]" for page in _pages(cell.quotes))
    doubt = f" {WARNING_SIGN} {cell.verdict}" if cell.verdict in (*MARKED, "uncited") else ""
    return f"{f'“{text}”' if is_quotation else text}{doubt}{quoted}{pages}"


def _pages(quotes: Sequence[CellQuote]) -> list[str]:
    places = (each.page_label or each.page for each in quotes)
    return list(dict.fromkeys(str(each) for each in places if each is not None))


def table_csv(table: FilledTable) -> str:
    """Return a table as CSV: for each column its words, its pages, the quoted words and, from a model, its verdict."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    extra = ("page", "quote", "verdict")
    writer.writerow(
        ["paper", "title", *(_safe(f"{each}{of}") for each in table.columns for of in ("", *_named(extra)))]
    )
    for row in table.rows:
        cells = [value for each in row.cells for value in _csv_cell(each)]
        writer.writerow([_safe(value) for value in (row.paper.name, row.paper.source.title, *cells)])
    return out.getvalue()


def _named(extra: Sequence[str]) -> list[str]:
    return [f" ({each})" for each in extra]


def _csv_cell(cell: TableCell) -> list[str]:
    quotes = " / ".join(each.text for each in cell.quotes)
    return [cell.text or "", ", ".join(_pages(cell.quotes)), quotes, cell.verdict or ""]


def _safe(value: str) -> str:
    """Return a value that no spreadsheet takes for a formula."""
    return f"'{value}" if value.startswith(_FORMULA) else value
