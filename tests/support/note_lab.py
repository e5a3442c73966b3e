"""A vault, a search service, a site and a model on loopback, with asky over them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Any

import anyio

from asky.app.asky import Asky
from asky.events import Event
from asky.evidence.passages import parse_passages
from asky.notes.service import NoteResult
from asky.values import FileChange, OutgoingQueries
from tests.support.endpoint import Endpoint
from tests.support.library import open_asky
from tests.support.site import Site
from tests.support.twins.base import Reply, Request
from tests.support.twins.web import SearxngTwin

TIDAL = """---
title: Tidal power
tags: [energy]
---

# Tidal power

A tidal barrage turns the tidal range into electricity. The spring tide comes twice a month.

See [[Harbour]] and %%my secret plan%% the rest.
"""
HARBOUR = "# Harbour\n\nThe harbour wall of granite keeps the spring tide out.\n"
NEAP = "# Neap\n\nA neap tide has a small tidal range, and a tidal barrage makes little electricity then.\n"
BARRAGE = "A tidal barrage at the Rance makes 500 GWh of electricity a year."
SPRING = "The spring tide follows the full moon and the new moon by two days."
PAGE = (
    "<html><head><title>The Rance</title></head><body><article><h1>The Rance</h1>"
    f"<p>{BARRAGE} It opened in 1966 and has twenty four turbines, which run in both directions of the flow.</p>"
    "</article></body></html>"
)


def topics(*labels: str) -> str:
    """The reply of a model that has chosen these topics."""
    return json.dumps([{"topic": each, "context": f"the note mentions {each}", "type": "concept"} for each in labels])


class NoteLab:
    """A context manager. `found` maps words of a query to `(path, title, snippet)` of results on the site."""

    def __init__(self, folder: Path, **settings: object) -> None:
        self.folder = folder
        self.vault = folder / "vault"
        self.vault.mkdir()
        for name, text in (("Tidal power.md", TIDAL), ("Harbour.md", HARBOUR), ("ideas/Neap.md", NEAP)):
            self.put(name, text)
        self.found: dict[str, Sequence[tuple[str, str, str]]] = {
            "barrage": [("/rance", "The Rance", BARRAGE)],
            "spring": [("/moon", "Moon & tide", SPRING)],
        }
        self.heard: list[Event] = []
        self.asked: list[OutgoingQueries] = []
        self.changes: list[FileChange] = []
        self._settings = settings
        self._open = ExitStack()

    def __enter__(self) -> NoteLab:
        self.site = self._open.enter_context(Site())
        self.site.page("/rance", html=PAGE)
        self.search = self._open.enter_context(SearxngTwin())
        self.search.play(self._results)
        self.endpoint = self._open.enter_context(Endpoint("Nothing."))
        settings = {
            "notes.vault": str(self.vault),
            "providers.lab.base_url": self.endpoint.base_url,
            "models.far.provider": "lab",
            "models.far.id": "test-model",
            "models.far.max_output_tokens": 500,
            "network.allow_private": [self.site.authority],
            "network.host_gap_s": 0.0,
            "search.searxng.base_url": self.search.base_url,
            "search.searxng.gap_s": 0.0,
            **self._settings,
        }
        self._configured = settings
        self.asky: Asky = self._open.enter_context(open_asky(self.folder, settings=settings))
        return self

    def reopened(self, **settings: object) -> Asky:
        """The use cases once more, with further settings."""
        return open_asky(self.folder, settings={**self._configured, **settings})

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._open.close()

    def environ(self) -> dict[str, str]:
        """The variables with which a process has this vault, search service, site and model."""
        return {
            "ASKY_HOME": str(self.folder / "asky"),
            "ASKY_NOTES__VAULT": str(self.vault),
            "ASKY_RESEARCH__EMBEDDING__MODEL": str(self.folder / "no model"),
            "ASKY_PROVIDERS__LAB__BASE_URL": self.endpoint.base_url,
            "ASKY_MODELS__FAR__PROVIDER": "lab",
            "ASKY_MODELS__FAR__ID": "test-model",
            "ASKY_NETWORK__ALLOW_PRIVATE": json.dumps([self.site.authority]),
            "ASKY_NETWORK__HOST_GAP_S": "0",
            "ASKY_SEARCH__SEARXNG__BASE_URL": self.search.base_url,
            "ASKY_SEARCH__SEARXNG__GAP_S": "0",
        }

    def put(self, name: str, text: str) -> Path:
        """Write a note."""
        path = self.vault / name
        path.parent.mkdir(exist_ok=True, parents=True)
        path.write_bytes(text.encode())
        return path

    def note(self, name: str = "Tidal power.md") -> str:
        """The text of a note on disk."""
        return (self.vault / name).read_bytes().decode()

    def queries(self) -> list[str]:
        """What the search service was asked."""
        return sorted(str(each.param("q")) for each in self.search.requests)

    def research(
        self,
        name: str = "Tidal power.md",
        depth: str = "shallow",
        focus: str | None = None,
        *,
        asky: Asky | None = None,
        **options: Any,
    ) -> NoteResult:
        """Research a note; the queries are approved unless `approve` is given."""
        options = {"approve": self.approve, "listen": self.heard.append, **options}
        return anyio.run(partial((asky or self.asky).notes.research_note, name, depth, focus, **options))

    async def approve(self, asked: OutgoingQueries | FileChange) -> bool:
        """Approve everything, and note that."""
        self._note(asked)
        return True

    async def refuse(self, asked: OutgoingQueries | FileChange) -> bool:
        """Refuse everything, and note that."""
        self._note(asked)
        return False

    def _note(self, asked: OutgoingQueries | FileChange) -> None:
        if isinstance(asked, FileChange):
            self.changes.append(asked)
        else:
            self.asked.append(asked)

    def ledger(self, run: str, kind: str) -> list[dict[str, Any]]:
        """The entries of a kind in the ledger of a run."""
        return [dict(each.data) for each in self.asky.services.runs.ledger(run) if each.kind == kind]

    def _results(self, request: Request) -> Reply:
        query = request.param("q") or ""
        rows = next((rows for word, rows in self.found.items() if word in query), ())
        return Reply(
            {"results": [{"url": self.site.url(path), "title": title, "content": text} for path, title, text in rows]}
        )


def key_of(request: Any, words: str) -> str:
    """The key of the passage with these words in what a model was sent."""
    sent = "\n".join(str(each.get("content")) for each in request.messages)
    return next(each.key for each in parse_passages(sent) if words in each.text)
