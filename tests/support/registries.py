"""All registries of papers, each with its twin."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any

import anyio

from asky.search.catalog import make_lookups
from asky.search.identifiers import Identifier
from asky.search.lookup import FoundPaper, LookedUp, PaperLookup, PaperRegistries
from tests.support.searching import FakeTime, search_context, search_settings
from tests.support.twins.papers import CrossrefTwin, OpenAlexTwin, Paper, PaperTwin, SemanticScholarTwin
from tests.support.twins.papers_xml import ArxivTwin, PubMedTwin

KEY = "key/with+odd=characters-0123456789"
EMAIL = "ada.bly+asky@soils.university.edu"
TWINS: dict[str, type[PaperTwin]] = {
    "arxiv": ArxivTwin,
    "crossref": CrossrefTwin,
    "pubmed": PubMedTwin,
    "openalex": OpenAlexTwin,
    "semantic_scholar": SemanticScholarTwin,
}


@dataclass
class RegistryWorld:
    """The registries, their twins, and the time that they share."""

    twins: dict[str, Any]
    lookups: dict[str, PaperLookup]
    time: FakeTime

    def look_up(self, identifier: Identifier) -> LookedUp:
        """What all registries have of a paper."""
        return anyio.run(PaperRegistries(self.lookups.values()).look_up, identifier)

    def find(self, name: str, identifier: Identifier) -> FoundPaper:
        """What a registry has of a paper that it knows."""
        found = anyio.run(self.lookups[name].lookup, identifier)
        assert found is not None
        return found

    def know(self, *papers: Paper) -> None:
        """Have every registry know these papers and no others."""
        for twin in self.twins.values():
            twin.rows = papers
            twin.play("normal")

    def sent(self) -> dict[str, int]:
        """How many requests came to each registry that was asked."""
        return {name: len(twin.requests) for name, twin in self.twins.items() if twin.requests}

    def faults(self) -> list[str]:
        """What the real registries would have refused."""
        return [fault for twin in self.twins.values() for fault in twin.faults]


@contextmanager
def registry_world(**service: object) -> Iterator[RegistryWorld]:
    """Start the twins and make the lookups, whose services have these settings."""
    environ = {"SEMANTIC_SCHOLAR_API_KEY": KEY, "NCBI_API_KEY": KEY, "OPENALEX_API_KEY": KEY}
    with ExitStack() as stack:
        twins = {name: stack.enter_context(kind(key=KEY)) for name, kind in TWINS.items()}
        time = FakeTime()
        context = search_context(environ, waiting=time.waiting)
        lookups = {}
        for name, twin in twins.items():
            settings = search_settings(name, twin.base_url, email=EMAIL, **service)
            lookups[name] = next(each for each in make_lookups(settings, context) if each.name == name)
        yield RegistryWorld(twins, lookups, time)
