"""The choice between two readings of a page, measured with limits that were chosen on the pages of other sites."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from urllib.parse import urlsplit

import trafilatura

from asky.reading.charset import decode
from asky.reading.html.choice import CHOICE_LIMITS, ChoiceLimits, TextCandidate, is_framed_better
from asky.reading.html.head import is_about_one_item
from asky.reading.html.page import read_both
from asky.reading.html.selection import WEB, select
from asky.reading.html.survey import survey_page
from asky.text.scrub import scrub_counted
from tests.quality.pages import LabelledPage, page_f1

# Each limit with two others, the rest as they are.
OTHER_LIMITS = {
    "found": (0.5, 0.8),
    "far_shorter": (0.1, 0.5),
    "small": (0.2, 0.4),
    "no_prose": (0.0, 0.3),
}


@dataclass(frozen=True, slots=True)
class TwoReadings:
    """A page of a set as both readings have it, with the F1 of each, and that of the extractor's own text.

    `main_f1` is that of the blocks that are selected with the extractor's text.
    """

    set_name: str
    site: str
    main: TextCandidate
    framed: TextCandidate
    page: str
    is_single_item: bool
    main_f1: float
    framed_f1: float
    extractor_f1: float

    def f1(self, limits: ChoiceLimits) -> float:
        """Return the F1 of the reading that is chosen with `limits`."""
        is_framed = is_framed_better(
            self.main, self.framed, self.page, is_single_item=self.is_single_item, limits=limits
        )
        return self.framed_f1 if is_framed else self.main_f1


def all_limits() -> Iterator[ChoiceLimits]:
    """Yield today's limits, and then others that differ in one."""
    yield CHOICE_LIMITS
    for name, values in OTHER_LIMITS.items():
        yield from (replace(CHOICE_LIMITS, **{name: value}) for value in values)


def read_twice(name: str, pages: Sequence[LabelledPage]) -> Iterator[TwoReadings]:
    """Yield the readings of the pages of a set, without obstacles and those that make no tree."""
    for number, page in enumerate(pages):
        html, _ = scrub_counted(decode(page.data).replace("\r\n", "\n"))
        survey = survey_page(html)
        readings = read_both(html, survey)
        if readings is None:
            continue
        main, framed = (reading.text() for reading in readings)
        selected = select(main, readings[1], WEB)
        yield TwoReadings(
            name,
            _site(page.url) or f"{name} {number}",
            TextCandidate.of(main),
            TextCandidate.of(framed),
            survey.text,
            is_about_one_item(survey),
            page_f1(page, selected.builder.text() if selected else main),
            page_f1(page, framed),
            page_f1(page, trafilatura.extract(html) or ""),
        )


def _site(url: str) -> str:
    host = urlsplit(url).hostname or ""
    return "" if host.endswith(".example") else host.removeprefix("www.")
