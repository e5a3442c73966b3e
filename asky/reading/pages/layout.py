"""The pages of a PDF as paragraphs in reading order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

from asky.reading.pages.columns import columns_of
from asky.reading.pages.furniture import furniture
from asky.reading.pages.letters import compose_accents
from asky.reading.pages.lines import PageLines
from asky.reading.pages.overleaf import join_columns
from asky.reading.pages.paragraphs import Paragraph, body_size, paragraphs_of
from asky.reading.pages.printed import PrintedTable
from asky.reading.pages.tables.drawn import with_grids
from asky.reading.pages.words import Words


def lay_out(pages: Sequence[PageLines]) -> list[list[Paragraph]]:
    """Return the paragraphs of each page, in the order of reading.

    Single lines in a direction other than the page's, such as the stamp of a preprint server in the margin, the first
    of each running head and foot, and people's remarks are last on their page: they stand in no sentence.
    The rows of a table that goes on overleaf follow each other: there is nothing between them, and one header.
    """
    columns: list[list[Paragraph]] = []
    numbers: list[int] = []
    aside: list[list[Paragraph]] = []
    body = body_size(line for page in pages for line in page.upright)
    pages = [replace(page, upright=with_grids(page.upright, page.rules)) if page.rules else page for page in pages]
    for number, (page, marked) in enumerate(zip(pages, furniture(pages), strict=True)):
        flow = [line for index, line in enumerate(page.upright) if index not in marked] if marked else page.upright
        for lines, rules in [*page.above, (flow, page.rules), *((with_grids(*each), each[1]) for each in page.frames)]:
            for column in columns_of(lines):
                columns.append(paragraphs_of(column, rules))
                numbers.append(number)
        once = [page.upright[index] for index, keep in marked.items() if keep]
        margin = [Paragraph(line.text.strip(), [line], table=line.table) for line in [*once, *page.turned]]
        aside.append([*margin, *(Paragraph(text, []) for text in page.remarks)])
    join_columns(columns, numbers, body)
    found: list[list[Paragraph]] = [[] for _ in pages]
    for number, paragraphs in zip(numbers, columns, strict=True):
        found[number] += paragraphs
    words = Words(paragraph.text for paragraphs in found for paragraph in paragraphs)
    ends = _join_tables(found)
    for paragraphs, beside, is_open in zip(found, aside, ends, strict=True):
        at = len(paragraphs) - is_open
        paragraphs[at:at] = beside
        for paragraph in paragraphs:
            paragraph.text = compose_accents(words.join_broken(paragraph.text))
    return found


def _join_tables(pages: Sequence[list[Paragraph]]) -> list[bool]:
    """Join the tables that go on overleaf; return, for each page, whether its last paragraph is one that does."""
    ends = [False] * len(pages)
    first: PrintedTable | None = None
    for number, (page, following) in enumerate(pairwise(pages)):
        last = page[-1].table if page else None
        after = following[0] if following else None
        if last is None or after is None or after.table is None:
            first = None
            continue
        first = last if first is None or len(page) > 1 else first
        if first.continue_in(after.table):
            after.text = after.table.text()
            ends[number] = True
        else:
            first = None
    return ends
