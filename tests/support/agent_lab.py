"""A small web, a search service and a model on loopback, with asky and its research agent over them."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import Any

import anyio

from asky.app.agent.requests import ResearchRequest
from asky.app.asky import Asky
from asky.events import Event
from asky.evidence.passages import parse_passages
from asky.values import Answer
from tests.support.endpoint import Endpoint
from tests.support.endpoint import Request as ModelRequest
from tests.support.library import open_asky
from tests.support.site import Site
from tests.support.twins.base import Reply, Request
from tests.support.twins.web import SearxngTwin

QUESTION = "What did the tidal barrage of the Rance cost, and how much electricity does it make?"
COST = "The tidal barrage of the Rance cost 620 million francs."
OUTPUT = "The barrage of the Rance makes 500 GWh of electricity a year."
OPENING = "President Charles de Gaulle opened the Rance barrage in 1966."
PAGES: Mapping[str, tuple[str, str, tuple[str, ...]]] = {
    "/cost": ("What the Rance cost", COST, ("cost", "francs")),
    "/output": ("What the Rance makes", OUTPUT, ("electric", "output")),
    "/opening": ("The opening", OPENING, ("opened", "gaulle")),
}
"""Path: title, fact, and the words of queries that find it."""


def html(title: str, *paragraphs: str) -> str:
    """A page with these paragraphs."""
    body = "".join(
        f"<p>{each} The river flows into the Channel at Saint-Malo, as every map shows.</p>" for each in paragraphs
    )
    return f"<html><head><title>{title}</title></head><body><article><h1>{title}</h1>{body}</article></body></html>"


class AgentLab:
    """A context manager; pages and what finds them can be added to `pages` before the first search."""

    def __init__(self, folder: Path, **settings: object) -> None:
        self.folder = folder
        self.heard: list[Event] = []
        self.asked: list[str] = []
        self._settings = settings
        self._open = ExitStack()
        self.pages = dict(PAGES)
        self._released = threading.Event()

    def __enter__(self) -> AgentLab:
        self.site = self._open.enter_context(Site())
        for path, (title, fact, _) in self.pages.items():
            self.site.page(path, html=html(title, fact))
        self.search = self._open.enter_context(SearxngTwin())
        self.search.play(self._results)
        self.endpoint = self._open.enter_context(Endpoint(self.play))
        self.configured = {
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
        self.asky: Asky = self._open.enter_context(open_asky(self.folder, settings=self.configured))
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._open.close()

    def reopened(self, **settings: object) -> Asky:
        """The use cases once more, as another process has them."""
        return open_asky(self.folder, settings={**self.configured, **settings})

    def elsewhere(self, **settings: object) -> Asky:
        """The use cases with the same model at an address that is not known to be this machine's."""
        address = self.endpoint.base_url.replace("127.0.0.1", "0.0.0.0")
        return self.reopened(**{"providers.lab.base_url": address, **settings})

    def environ(self) -> dict[str, str]:
        """The variables with which a process has this web, search service and model."""
        return {
            "ASKY_HOME": str(self.folder / "asky"),
            "ASKY_RESEARCH__EMBEDDING__MODEL": str(self.folder / "no model"),
            "ASKY_PROVIDERS__LAB__BASE_URL": self.endpoint.base_url,
            "ASKY_MODELS__FAR__PROVIDER": "lab",
            "ASKY_MODELS__FAR__ID": "test-model",
            "ASKY_NETWORK__ALLOW_PRIVATE": json.dumps([self.site.authority]),
            "ASKY_NETWORK__HOST_GAP_S": "0",
            "ASKY_SEARCH__SEARXNG__BASE_URL": self.search.base_url,
            "ASKY_SEARCH__SEARXNG__GAP_S": "0",
        }

    def research(self, query: str = QUESTION, *, asky: Asky | None = None, **options: Any) -> Answer:
        """The answer of a run; `options` are those of the request, and `clarify` and `approve` of the service."""
        ports = {name: options.pop(name) for name in ("clarify", "approve", "notes") if name in options}
        request = ResearchRequest(query=query, **options)

        async def main() -> Answer:
            service = (asky or self.asky).agent
            async with service.start(request, listen=self.heard.append, **ports) as run:
                return await run.result()

        return anyio.run(main)

    def queries(self) -> list[str]:
        """What the search service was asked, in order."""
        return [str(each.param("q")) for each in self.search.requests]

    def _results(self, request: Request) -> Reply:
        query = (request.param("q") or "").casefold()
        found = [(path, row) for path, row in self.pages.items() if any(word in query for word in row[2])]
        rows = [{"url": self.site.url(path), "title": title, "content": f"{title}."} for path, (title, _, _) in found]
        return Reply({"results": rows})

    # the model

    def hold(self, words: str) -> threading.Event:
        """Hold the replies to prompts with these words until `release`; the event is set when one has come."""
        came = threading.Event()

        def reply(sent: str) -> Any:
            came.set()
            self._released.wait(60)
            return _SCRIPT[words](sent) if callable(_SCRIPT[words]) else _SCRIPT[words]

        self.replies = {words: reply}
        return came

    def release(self) -> None:
        """Let the model reply again."""
        self._released.set()
        self.replies = {}

    def play(self, request: ModelRequest) -> Any:
        """Answer as a model that plans, takes every fact of the pages it is shown, and cites all in a report."""
        sent = "\n".join(str(each.get("content")) for each in request.messages)
        for name, reply in self.script.items():
            if name in sent:
                return reply(sent) if callable(reply) else reply
        raise AssertionError(f"no reply to {sent[:200]!r}")

    @property
    def script(self) -> Mapping[str, Callable[[str], Any] | str]:
        """What the model replies, by words of the prompt; a test may set `replies` to replace some."""
        return {**_SCRIPT, **self.replies}

    replies: Mapping[str, Callable[[str], Any] | str] = {}


def plan(*parts: tuple[str, Sequence[str]]) -> str:
    """The reply of a model that plans."""
    return json.dumps({"sub_questions": [{"question": text, "queries": list(queries)} for text, queries in parts]})


def extraction(sent: str) -> str:
    """The reply of a model that takes the facts of the lab from the passages it is sent."""
    facts, known = [], sent.partition("Passages:")[0]
    for passage in parse_passages(sent):
        for fact in (COST, OUTPUT, OPENING):
            if fact in passage.text and fact not in known:
                facts.append({"statement": fact, "keys": [passage.key], "contradicts": []})
    keys = [each["keys"][0] for each in facts]
    entities = [{"name": "Rance", "type": "place", "keys": keys}] if keys else []
    answered = [number for number, fact in enumerate((COST, OUTPUT), start=1) if fact in sent]
    next_queries = ["who opened the Rance barrage"] if OPENING not in sent else []
    return json.dumps({"facts": facts, "entities": entities, "answered": answered, "next_queries": next_queries})


def report(sent: str) -> str:
    """The reply of a model that writes a report with the facts it is shown."""
    lines = []
    for fact in (COST, OUTPUT, OPENING):
        key = next((each.key for each in parse_passages(sent) if fact in each.text), None)
        if key is not None:
            lines.append(f"{fact} [{key}]")
    return " ".join(lines) or "Nothing."


_SCRIPT: Mapping[str, Callable[[str], str] | str] = {
    "You plan research": plan(
        ("What did the barrage cost?", ["Rance barrage cost"]),
        ("How much electricity does it make?", ["Rance electricity"]),
    ),
    "You prepare research": json.dumps({"blocked": False, "question": "", "refined": QUESTION}),
    "You read passages": extraction,
    "Write a research report": report,
}
