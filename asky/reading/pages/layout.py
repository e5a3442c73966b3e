"""The pages of a PDF as paragraphs in reading order."""

from __future__ import annotations

from collections.abc import Sequence

from asky.reading.pages.columns import columns_of
from asky.reading.pages.furniture import furniture
from asky.reading.pages.lines import PageLines, compose_accents
from asky.reading.pages.overleaf import join_columns
from asky.reading.pages.paragraphs import Paragraph, body_size, paragraphs_of
from asky.reading.pages.words import Words


def lay_out(pages: Sequence[PageLines]) -> list[list[Paragraph]]:
    """Return the paragraphs of each page, in the order of reading.

    Text that runs in a direction other than the page's, such as the stamp of a preprint server in the margin, and the
    first of each running head and foot are the last paragraphs of their page: they stand in no sentence.
    """
    columns: list[list[Paragraph]] = []
    numbers: list[int] = []
    aside: list[list[Paragraph]] = []
    body = body_size(line for page in pages for line in page.upright)
    for number, (page, marked) in enumerate(zip(pages, furniture(pages), strict=True)):
        flow = [line for index, line in enumerate(page.upright) if index not in marked] if marked else page.upright
        for column in columns_of(flow):
            columns.append(paragraphs_of(column))
            numbers.append(number)
        once = [page.upright[index] for index, keep in marked.items() if keep]
        aside.append([Paragraph(line.text.strip(), [line]) for line in [*once, *page.turned]])
    join_columns(columns, numbers, body)
    found: list[list[Paragraph]] = [[] for _ in pages]
    for number, paragraphs in zip(numbers, columns, strict=True):
        found[number] += paragraphs
    words = Words(paragraph.text for paragraphs in found for paragraph in paragraphs)
    for paragraphs, beside in zip(found, aside, strict=True):
        paragraphs += beside
        for paragraph in paragraphs:
            paragraph.text = compose_accents(words.join_broken(paragraph.text))
    return found
