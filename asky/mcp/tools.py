"""The tools: each is a name, a description, its arguments and results, and a function over the use cases.

To add one, write its function and an entry in `TOOLS`.
"""

from __future__ import annotations

import math
from collections.abc import Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

import anyio.to_thread

from asky.app.requests import AskRequest, WebOptions
from asky.app.schemas.cache import page_object
from asky.app.schemas.memory import finding_object, scored_findings_object
from asky.app.schemas.note import note_failure_object, note_hits_object, note_object, note_text_object, notes_object
from asky.app.schemas.paper import research_object
from asky.app.schemas.run import answer_object, why_object
from asky.app.schemas.search import hits_object
from asky.mcp.paging import page_of, shortened, text_page
from asky.mcp.schemas import (
    ANSWER,
    FINDING,
    FINDINGS,
    FLAG,
    HITS,
    INTEGER,
    NOTE,
    NOTE_HITS,
    NOTE_TEXT,
    NOTES,
    PAGE,
    RUN_STATUS,
    TEXT,
    TEXTS,
    WHY,
    Schema,
    arguments,
    described,
)

if TYPE_CHECKING:
    from asky.app.asky import Asky
    from asky.app.runs import RunHandle
    from asky.errors import AskyError
    from asky.values import Answer, Approve

Value = TypeVar("Value")
_ORIGIN = "mcp"
_LISTED_NOTES = 200
_NOTE_S = 300.0
_ANSWER_LISTS = ("rejected", "unread", "sources", "claims", "citations", "warnings")


@dataclass(frozen=True, slots=True)
class McpCall:
    """One call of a tool: its arguments, with `None` for nothing, and `approve`, which asks the user."""

    asky: Asky
    arguments: Mapping[str, Any]
    approve: Approve

    def get(self, name: str, otherwise: Any = None) -> Any:
        """Return an argument."""
        return self.arguments.get(name, otherwise)


def _always(asky: Asky) -> bool:  # noqa: ARG001 - the signature of `is_offered`
    return True


@dataclass(frozen=True, slots=True, kw_only=True)
class McpTool:
    """A tool of the server.

    A tool without a run has a `call`. One with a run has `start`, which opens it, and `result`, which makes the result
    of its answer; `prepare` runs before it and may ask the user. A run may take `run_s` seconds. `failure` makes the
    result of an error, for a tool whose contract has one of its own. `writes` says that it is off unless the
    configuration allows it; `is_offered` may depend on the store.
    """

    name: str
    description: str
    arguments: Schema
    returns: Schema
    call: Callable[[McpCall], Awaitable[Mapping[str, Any]]] | None = None
    prepare: Callable[[McpCall], Awaitable[None]] | None = None
    start: Callable[[McpCall], AbstractAsyncContextManager[RunHandle]] | None = None
    result: Callable[[Asky, Answer], Mapping[str, Any]] | None = None
    run_s: float = math.inf
    failure: Callable[[Mapping[str, Any], AskyError], Mapping[str, Any]] | None = None
    writes: bool = False
    is_open_world: bool = False
    is_read_only: bool = True
    is_destructive: bool = False
    is_idempotent: bool = False
    is_offered: Callable[[Asky], bool] = _always


async def in_worker(function: Callable[[], Value]) -> Value:
    """Return the value of a function that reads the store, called in a thread."""
    return await anyio.to_thread.run_sync(function, abandon_on_cancel=True)


async def _search_corpus(call: McpCall) -> Mapping[str, Any]:
    query, offset, limit = call.get("query"), call.get("offset", 0), call.get("limit", 10)
    search = call.asky.search

    def find() -> dict[str, Any]:
        scope = search.resolve_collection(call.get("collection"))
        hits = search.search_in(scope, query, limit=offset + limit + 1)
        return hits_object(query, hits[offset:], scope.unread)

    return page_of(await in_worker(find), "hits", offset=offset, limit=limit)


async def _approve_addresses(call: McpCall) -> None:
    if call.get("web") is not False and not call.get("offline"):
        chat, question, session = call.asky.chat, call.get("question"), call.get("session")
        urls = await in_worker(lambda: chat.named_addresses(question, session))
        await call.asky.cache.require_approved(urls, call.approve)


def _start_question(call: McpCall) -> AbstractAsyncContextManager[RunHandle]:
    request = AskRequest(
        question=call.get("question"),
        mode=call.get("mode"),
        session=call.get("session"),
        collections=tuple(call.get("collections", ())),
        default_documents=call.get("default_documents", True),
        web=WebOptions(allowed=call.get("web")),
        offline=call.get("offline", False),
    )
    return call.asky.chat.start(request, approve=call.approve)


def _answer(asky: Asky, answer: Answer) -> Mapping[str, Any]:  # noqa: ARG001 - the signature of `result`
    return shortened(answer_object(answer), _ANSWER_LISTS)


def _start_papers(call: McpCall) -> AbstractAsyncContextManager[RunHandle]:
    session = call.get("session", "papers")
    return call.asky.papers.start(call.get("question"), session=session, offline=call.get("offline", False))


def _papers_answer(asky: Asky, answer: Answer) -> Mapping[str, Any]:
    return shortened(research_object(answer, asky.papers.result(answer)), _ANSWER_LISTS)


def _has_papers(asky: Asky) -> bool:
    return bool(asky.papers.papers())


async def _fetch_page(call: McpCall) -> Mapping[str, Any]:
    cache, offset = call.asky.cache, call.get("offset", 0)
    page = await cache.fetch(call.get("url"), approve=call.approve)
    made = await in_worker(lambda: page_object(page, cache.read_text(page), cache.unread(page)))
    return shortened(text_page(made, "text", offset=offset), ("links", "unread"))


async def _why(call: McpCall) -> Mapping[str, Any]:
    runs = call.asky.runs

    def look_up() -> dict[str, Any]:
        run, _ = runs.find_citing(call.get("run"))
        n = runs.cited_numbers(run, str(call.get("citation")))[0]
        return why_object(run, runs.open_citation(run, n))

    return await in_worker(look_up)


async def _query_memory(call: McpCall) -> Mapping[str, Any]:
    query, offset, limit = call.get("query"), call.get("offset", 0), call.get("limit", 10)
    found = await call.asky.memory.search(query, session=call.get("session"), limit=offset + limit + 1)
    return page_of(scored_findings_object(query, found[offset:]), "findings", offset=offset, limit=limit)


async def _save_finding(call: McpCall) -> Mapping[str, Any]:
    tags = [*call.get("tags", ()), _ORIGIN]
    memory = call.asky.memory
    added = await in_worker(lambda: memory.add(call.get("text"), session=call.get("session"), tags=tags, trust="local"))
    return finding_object(added.finding)


async def _find_notes(call: McpCall) -> Mapping[str, Any]:
    query, mode = call.get("query"), call.get("mode", "hybrid")
    notes = call.asky.notes
    indexed = await notes.index(embed=False)
    hits = await notes.find_notes(query, mode, call.get("n_results", 5))
    return shortened(note_hits_object(query, mode, hits, indexed), ("unread", "hits"))


async def _read_note(call: McpCall) -> Mapping[str, Any]:
    notes, path = call.asky.notes, call.get("path")
    note = await notes.show_note(path)
    return shortened(text_page(note_text_object(note), "text", offset=call.get("offset", 0)), ("unread",))


async def _list_notes(call: McpCall) -> Mapping[str, Any]:
    notes, offset, limit = call.asky.notes, call.get("offset", 0), call.get("limit", _LISTED_NOTES)
    indexed = await notes.index(embed=False)
    listed = await in_worker(lambda: notes.list_notes(call.get("folder"), call.get("tag")))
    return page_of(notes_object(listed[offset:], indexed), "notes", offset=offset, limit=limit)


def _start_note(call: McpCall) -> AbstractAsyncContextManager[RunHandle]:
    return call.asky.notes.start(
        call.get("path"),
        call.get("depth", "shallow"),
        call.get("focus"),
        vault_only=call.get("vault_only", False),
        dry_run=call.get("dry_run", False),
        approve=call.approve,
    )


def _note(asky: Asky, answer: Answer) -> Mapping[str, Any]:
    return note_object(asky.notes.result(answer))


def _note_failure(given: Mapping[str, Any], error: AskyError) -> Mapping[str, Any]:
    return note_failure_object(str(given.get("path", "")), error)


def _has_vault(asky: Asky) -> bool:
    return asky.config.notes.vault is not None


_OFFSET = described(INTEGER, "next_offset of the page before", minimum=0, maximum=10_000)
_CHARACTER = described(INTEGER, "next_offset of the part before", minimum=0)
_LIMIT = described(INTEGER, "Default 10", minimum=1, maximum=50)
_SESSION = described(TEXT, "Name of a conversation to continue or start")
_OFFLINE = described(FLAG, "Use this machine only")
_QUESTION = described(TEXT, "In full sentences", minLength=1)

TOOLS: tuple[McpTool, ...] = (
    McpTool(
        name="search_corpus",
        description="Find passages in the documents that the user keeps in asky, by meaning and by words. Fast; no"
        " model is called and nothing leaves the machine.",
        arguments=arguments(
            "query",
            query=described(TEXT, "What to look for", minLength=1),
            collection=described(TEXT, "Default: the user's default collection"),
            limit=_LIMIT,
            offset=_OFFSET,
        ),
        returns=HITS,
        call=_search_corpus,
        is_idempotent=True,
    ),
    McpTool(
        name="ask",
        description="Answer a question from the user's documents and the web, with numbered citations; every sentence"
        " is checked against its sources. Takes from seconds to minutes. After 50 seconds it returns with status"
        " running, and the run goes on: follow it with run_status. Pass on which claims are not supported.",
        arguments=arguments(
            "question",
            question=_QUESTION,
            mode=described(
                TEXT,
                "research reads more; lean stays with the documents. Default: standard",
                enum=["standard", "research", "lean"],
            ),
            session=_SESSION,
            collections=described(TEXTS, "Collections of documents to use; turns the web off unless web is true"),
            default_documents=described(
                FLAG, "False leaves out the documents that the user keeps, which are used if no collection is named"
            ),
            web=described(FLAG, "Whether the web may be searched"),
            offline=_OFFLINE,
        ),
        returns=ANSWER,
        prepare=_approve_addresses,
        start=_start_question,
        result=_answer,
        is_read_only=False,
        is_open_world=True,
    ),
    McpTool(
        name="papers_research",
        description="Answer a question from the user's library of papers, with citations by page. Takes minutes;"
        " returns after 50 seconds as ask does.",
        arguments=arguments("question", question=_QUESTION, session=_SESSION, offline=_OFFLINE),
        returns=ANSWER,
        start=_start_papers,
        result=_papers_answer,
        is_read_only=False,
        is_open_world=True,
        is_offered=_has_papers,
    ),
    McpTool(
        name="run_status",
        description="Say how far a run is: its status, its events after a number, and its answer once there is one."
        " Works for every run, also of other programs.",
        arguments=arguments(
            "run",
            run=described(TEXT, "Id of the run", minLength=1),
            after=described(INTEGER, "next of the status before; default 0", minimum=0),
            wait_s=described(INTEGER, "Seconds to wait for the end; default 0", minimum=0, maximum=50),
        ),
        returns=RUN_STATUS,
        is_idempotent=True,
    ),
    McpTool(
        name="why",
        description="Show the stored passage behind a citation, in its context, and whether it is still what the"
        " answer quotes.",
        arguments=arguments(
            "citation",
            citation={
                "type": ["integer", "string"],
                "description": "A number, or a paper's page: 2509.10446v1, page 5",
            },
            run=described(TEXT, "Id of the run; default: the last"),
        ),
        returns=WHY,
        call=_why,
        is_idempotent=True,
    ),
    McpTool(
        name="fetch_page",
        description="Read a public web page or PDF as text. If private documents are kept, the user is asked before"
        " an address is opened that asky has not read before.",
        arguments=arguments("url", url=described(TEXT, "http or https", minLength=1), offset=_CHARACTER),
        returns=PAGE,
        call=_fetch_page,
        is_open_world=True,
        is_idempotent=True,
    ),
    McpTool(
        name="research_note",
        description="Research the topics of a note on the web and in the vault, and write what is found, with"
        " citations, into the note as its section Research. Slow: up to 5 minutes; returns after 50 seconds as ask"
        " does. The note is already written when this returns: do not write it again. Pass the preview on to the user.",
        arguments=arguments(
            "path",
            path=described(TEXT, "Of the note, in the vault or absolute", minLength=1),
            depth=described(TEXT, "shallow, the default, or deep, which reads pages"),
            focus=described(TEXT, "What the topics should be about"),
            vault_only=described(FLAG, "Search nothing but the vault"),
            dry_run=described(FLAG, "Write nothing, and return what would change"),
        ),
        returns=NOTE,
        start=_start_note,
        result=_note,
        failure=_note_failure,
        run_s=_NOTE_S,
        writes=True,
        is_read_only=False,
        is_destructive=True,
        is_open_world=True,
        is_offered=_has_vault,
    ),
    McpTool(
        name="find_notes",
        description="Find notes of the user's vault, each with its best passage. Fast; no model is called.",
        arguments=arguments(
            "query",
            query=described(TEXT, "What to look for", minLength=1),
            mode=described(TEXT, "By meaning, by words, or both: the default", enum=["hybrid", "semantic", "keyword"]),
            n_results=described(INTEGER, "Default 5", minimum=1, maximum=50),
        ),
        returns=NOTE_HITS,
        call=_find_notes,
        is_idempotent=True,
        is_offered=_has_vault,
    ),
    McpTool(
        name="read_note",
        description="Read a note of the user's vault as text, with the notes that it embeds.",
        arguments=arguments(
            "path",
            path=described(TEXT, "In the vault, what a [[link]] says, or an alias", minLength=1),
            offset=_CHARACTER,
        ),
        returns=NOTE_TEXT,
        call=_read_note,
        is_idempotent=True,
        is_offered=_has_vault,
    ),
    McpTool(
        name="list_notes",
        description="List the notes of the user's vault by path, with titles and tags.",
        arguments=arguments(
            folder=described(TEXT, "Only below this folder"),
            tag=described(TEXT, "Only with this tag, or one below it"),
            limit=described(INTEGER, f"Default {_LISTED_NOTES}", minimum=1, maximum=1000),
            offset=described(INTEGER, "next_offset of the page before", minimum=0),
        ),
        returns=NOTES,
        call=_list_notes,
        is_idempotent=True,
        is_offered=_has_vault,
    ),
    McpTool(
        name="query_research_memory",
        description="Find findings that were saved in earlier research.",
        arguments=arguments(
            "query",
            query=described(TEXT, "What to look for", minLength=1),
            session=described(TEXT, "Default: all sessions"),
            limit=_LIMIT,
            offset=_OFFSET,
        ),
        returns=FINDINGS,
        call=_query_memory,
        is_idempotent=True,
    ),
    McpTool(
        name="save_finding",
        description="Save a finding for later questions: one statement, in a sentence or two. It is marked as not"
        " written by the user.",
        arguments=arguments(
            "text",
            text=described(TEXT, "The statement", minLength=1),
            tags=TEXTS,
            session=described(TEXT, "The session that recalls it"),
        ),
        returns=FINDING,
        call=_save_finding,
        writes=True,
        is_read_only=False,
        is_idempotent=True,
    ),
)
