"""The network of the paper library on loopback: registries, a finder of open copies, and a site with PDFs."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from asky.app.asky import Asky
from asky.config.loader import load_config
from asky.net.fetching import Fetched, Fetcher, Reached, ignore_host
from asky.papers.online import OnlinePapers
from asky.wiring import Services
from asky.wiring.web import WebParts
from tests.support.registries import TWINS
from tests.support.site import Site
from tests.support.twins.papers import Paper, UnpaywallTwin

EMAIL = "ada.bly@soils.university.edu"
ARXIV = "https://arxiv.org/"


@dataclass
class PaperWorld:
    """What answers: `twins` by the names of their services, and `site`."""

    twins: dict[str, Any]
    site: Site

    def know(self, *papers: Paper) -> None:
        """Have every service know these papers and no others."""
        for twin in self.twins.values():
            twin.rows = papers
            twin.play("normal")

    def play(self, scenario: str) -> None:
        """Have every service do this from now on."""
        for twin in self.twins.values():
            twin.play(scenario)

    @property
    def sent(self) -> int:
        """How many requests have come, to services and to the site."""
        return sum(len(twin.requests) for twin in self.twins.values()) + len(self.site.requests)

    def environ(self, folder: Path) -> dict[str, str]:
        """The variables with which asky asks these services and no others."""
        settings = {
            "RESEARCH__EMBEDDING__MODEL": str(folder / "no model"),
            "NETWORK__ALLOW_PRIVATE": json.dumps([self.site.authority]),
            "NETWORK__HOST_GAP_S": "0",
            "SEARCH__PROVIDERS": json.dumps(["unpaywall"]),
            "SEARCH__EMAIL": EMAIL,
        }
        for name, twin in self.twins.items():
            settings |= {
                f"SEARCH__{name.upper()}__BASE_URL": twin.base_url,
                f"SEARCH__{name.upper()}__GAP_S": "0",
            }
        return {f"ASKY_{name}": value for name, value in settings.items()}


@contextmanager
def paper_world() -> Iterator[PaperWorld]:
    """Start all services, which know nothing, and the site."""
    with ExitStack() as stack:
        twins = {name: stack.enter_context(kind(rows=())) for name, kind in TWINS.items()}
        twins["unpaywall"] = stack.enter_context(UnpaywallTwin(rows=()))
        yield PaperWorld(twins, stack.enter_context(Site()))


class _Mirror:
    """A `Fetcher` that finds the papers of arXiv on a site, below `/arxiv/`."""

    def __init__(self, fetcher: Fetcher, site: Site) -> None:
        self._fetcher = fetcher
        self._site = site

    async def fetch(
        self,
        url: str,
        *,
        etag: str | None = None,
        last_modified: str | None = None,
        named_by_user: bool = False,
        reached: Reached = ignore_host,
    ) -> Fetched:
        place = self._site.url(f"/arxiv/{url.removeprefix(ARXIV)}") if url.startswith(ARXIV) else url
        return await self._fetcher.fetch(
            place, etag=etag, last_modified=last_modified, named_by_user=named_by_user, reached=reached
        )


class _Web(WebParts):
    site: Site

    @cached_property
    def papers(self) -> OnlinePapers:
        assert self.registries is not None
        fetcher = _Mirror(self._fetcher(), self.site)
        return OnlinePapers(self.registries, fetcher, self.finder, self.policy, self.titles)


class _MirroredServices(Services):
    def __init__(self, environ: Mapping[str, str], folder: Path, site: Site) -> None:
        super().__init__(load_config(environ=environ, cwd=folder), environ)
        self._site = site

    def web(self, *, offline: bool = False) -> WebParts:
        if offline not in self._webs:
            made = _Web(self, self.environ, offline=offline)
            made.site = self._site
            self._webs[offline] = made
        return self._webs[offline]


class MirroredAsky(Asky):
    """The use cases over a store below `folder`, for which the site of `world` has arXiv's PDFs too."""

    def __init__(self, world: PaperWorld, folder: Path) -> None:
        environ = {
            "HOME": str(folder),
            "ASKY_HOME": str(folder / "asky"),
            "PATH": os.environ["PATH"],
            **world.environ(folder),
        }
        services = _MirroredServices(environ, folder, world.site)
        super().__init__(services.config, environ)
        self._opened = self._closing.enter_context(services)
