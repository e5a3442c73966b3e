"""PDFs of papers that were never written."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from tests.support.files import column_of

TEXT = (
    "The moon raises two tides a day in every sea that is open to the ocean, and the sun raises two smaller ones that"
    " strengthen or weaken them. We measured the water at nine harbours for forty years."
)
BREAD = "Bread rises because yeast makes gas from sugar. Warm dough rises faster than cold dough does."
SUN = "The sun raises tides that are less than half as high as those of the moon."


def paper_pdf(
    title: str = "On the tides of nine harbours",
    *,
    authors: str = "Ann Marsh",
    arxiv: str = "",
    doi: str = "",
    pages: Sequence[str] = (TEXT,),
    dated: str = "3 Feb 2021",
) -> bytes:
    """A paper with its title, its authors and a text on each page; `arxiv` is a stamp such as `2101.00001v2`."""
    import pymupdf

    with pymupdf.open() as document:
        for number, text in enumerate(pages):
            page = document.new_page(width=612, height=792)
            if number == 0:
                page.insert_text((72, 90), title, fontsize=18, fontname="helv")
                page.insert_text((72, 120), authors, fontsize=11, fontname="helv")
                if arxiv:
                    stamp = f"arXiv:{arxiv}  [cs.DL]  {dated}"
                    page.insert_text((30, 500), stamp, fontsize=16, rotate=90)
                if doi:
                    page.insert_text((72, 760), f"https://doi.org/{doi}", fontsize=9)
            for x, y, line, size, font in column_of(text, 72, 180, 90):
                page.insert_text((x, y), line, fontsize=size, fontname=font)
        return bytes(document.tobytes(no_new_id=True))


def pages_with(texts: Mapping[int, str]) -> list[str]:
    """The texts of the pages of a paper: these by their numbers, and blank ones between them."""
    return [texts.get(number, "This page is intentionally left blank.") for number in range(1, max(texts) + 1)]


def shown_keys(messages: object) -> list[str]:
    """The keys of the passages in the messages of a request, in order."""
    return re.findall(r"<passage [0-9a-f]+ (P[0-9a-f]+)", str(messages))
