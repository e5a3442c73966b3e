"""Looking papers up in tests: a registry that needs no network, and what every registry does."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace

from asky.errors import AskyError
from asky.search.identifiers import Identifier
from asky.search.lookup import RETRACTING, FoundPaper, PaperLookup
from tests.support.searching import check_candidate

_DATE = re.compile(r"\d{4}(-\d{2}(-\d{2})?)?\Z")


class FakeLookup:
    """A `PaperLookup` that knows the papers it is given, by their keys, and remembers what it was asked.

    An `error` among them is raised, and `error` for everything.
    """

    def __init__(
        self,
        papers: Mapping[str, FoundPaper | AskyError] | None = None,
        *,
        name: str = "crossref",
        host: str = "registry.invalid",
        error: AskyError | None = None,
    ) -> None:
        self.name = name
        self.host = host
        self.asked: list[Identifier] = []
        self._papers, self._error = dict(papers or {}), error

    async def lookup(self, identifier: Identifier) -> FoundPaper | None:
        """See `PaperLookup`."""
        self.asked.append(identifier)
        found = self._error or self._papers.get(identifier.key)
        if isinstance(found, AskyError):
            raise found
        return found


async def check_paper_lookup(lookup: PaperLookup, known: Identifier, unknown: Identifier) -> FoundPaper:
    """Assert the port's promises with an identifier that is known and one that is not; returns the paper."""
    assert lookup.name
    assert lookup.host
    assert "://" not in lookup.host
    assert "@" not in lookup.host
    assert await lookup.lookup(unknown) is None
    found = await lookup.lookup(known)
    assert found is not None
    check_candidate(found.candidate)
    assert found.candidate.title
    assert found.candidate.kind == "paper"
    assert (found.candidate.found, found.candidate.parent) == ((), None)
    keys = [each.key for each in found.ids]
    assert known.key in keys
    assert len(set(keys)) == len(keys), "no identifier twice"
    assert not {each.key for each in found.same_as} & set(keys)
    for notice in found.notices:
        assert notice.source == lookup.name
        assert notice.date is None or _DATE.match(notice.date)
    if any(each.kind in RETRACTING for each in found.notices):
        assert found.candidate.is_retracted
    assert await lookup.lookup(replace(known)) == found, "a second lookup goes as the first one did"
    return found
