"""Access to the web for a question: its options, its plan, and the errors if nothing can be used."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timezone
from typing import TYPE_CHECKING

from asky.app.inputs import kept_documents, name_documents
from asky.errors import NotConfigured, UsageError
from asky.research.web.access import WebAccess
from asky.research.web.file_names import without_file_names
from asky.research.writing.history import contextual_query
from asky.storage.corpus import DEFAULT_COLLECTION
from asky.storage.sessions import own_collection

if TYPE_CHECKING:
    from asky.app.requests import ResolvedAsk, WebOptions
    from asky.chat.plan import WebPlan
    from asky.research.source_policy import SourcePolicy
    from asky.storage.sessions import Session
    from asky.wiring import Services
    from asky.wiring.web import WebParts

_KEYLESS = "Wikipedia, arXiv, OpenAlex, Crossref, PubMed, Semantic Scholar"
SETUP_HINT = (
    f"`asky setup` turns on those that need no key: {_KEYLESS}, and DuckDuckGo through the package ddgs; or set the key"
    " of brave, tavily, exa or serper in its environment variable, or search.searxng.base_url to the address of your"
    " own instance"
)
SET_UP_SEARCH = f"or set up a search service: {SETUP_HINT}"
"""The end of a hint where a search service is all that is missing."""
SERVER_SETUP = (
    "on the machine where asky runs, `asky setup` adds documents, and turns on the search services that need no key"
    f" ({_KEYLESS}), which are sent the questions from then on"
)
"""What is possible for somebody who asks through a server."""
WEB_LEFT_OUT = "the web is left out, as the question comes with a text of yours; allow the web to have both"
_NOTHING_CACHED = "no pages are cached, and --offline fetches none"


def named_addresses(question: str, earlier: Sequence[str] = ()) -> tuple[str, ...]:
    """Return the addresses that `question` has opened, as they are fetched: those in it, and those of its identifiers.

    Of a follow-up, they are also those in the `earlier` questions of the session that it refers to.
    """
    from asky.research.shortlist_collect import read_prompt  # imports the shortlist, which the question needs anyway

    return tuple(each.url for each in read_prompt(contextual_query(question, earlier)).candidates)


def web_access(
    services: Services, resolved: ResolvedAsk, session: Session, file_names: Sequence[str]
) -> WebAccess | None:
    """Return how a question may use the web, or `None` if it may not or no source of pages is available.

    Sources of pages are a search service, URLs in the question and, offline, cached pages. If the web is required and
    there is none, raises `NotConfigured`, or `UsageError` if it is `offline`. Also raises `UsageError` for an invalid
    site or date. `file_names` are those of the local files in the question.
    """
    options = resolved.web
    if options is None:
        return None
    web = services.web(offline=resolved.access.offline)
    named = named_addresses(resolved.request.question)
    policy = _policy(web, options)
    if not _is_usable(web, resolved, named):
        return None
    collection_id = services.corpus.collection(own_collection(session.id), create=True)
    wants_shortlist = _wants_shortlist(services, resolved)
    return WebAccess(collection_id, named, wants_shortlist, policy, options.queries, tuple(file_names))


def is_left_out(services: Services, resolved: ResolvedAsk) -> bool:
    """Return whether the web would have been searched if the question came without texts and named no files."""
    request, session = resolved.request, resolved.session
    is_open = request.web.allowed is None and (session is None or session.settings.get("web") is not False)
    if resolved.web is not None or not is_open or resolved.mode == "lean":
        return False
    if request.documents or request.collections:
        return False
    web = services.web(offline=resolved.access.offline)
    return web.searcher is not None and not web.offline


def plan_web(
    services: Services, resolved: ResolvedAsk, shown: str, *, may_choose: bool, file_names: Sequence[str]
) -> WebPlan | None:
    """Return what a question would do on the web, or `None` if it may not use it or no source of pages is available.

    Nothing is sent or stored. `shown`, the question without local paths, is what would be searched for, without the
    `file_names` of private files. `may_choose` says that the model can find its sources by itself. Raises as
    `web_access` does.
    """
    options = resolved.web
    if options is None:
        return None
    from asky.chat.plan import PlannedService, WebPlan  # for a dry run only
    from asky.research.shortlist_collect import read_prompt, search_queries

    web = services.web(offline=resolved.access.offline)
    named = named_addresses(resolved.request.question)
    wanted = _policy(web, options).words()
    if not _is_usable(web, resolved, named):
        return None
    if web.offline:
        return WebPlan(is_offline=True, wanted=wanted)
    planned = tuple(PlannedService(each.name, each.host or None) for each in web.providers)
    if may_choose and not _wants_shortlist(services, resolved):
        return WebPlan(planned, named=named, may_search=True, wanted=wanted)
    queries = (options.queries or search_queries(read_prompt(without_file_names(shown, file_names)))) if planned else ()
    max_pages = services.config.research.shortlist.max_fetch_urls
    copies = web.finder
    finder = PlannedService(copies.name, copies.host) if copies is not None else None
    return WebPlan(planned, queries, named, max_pages, may_choose, wanted=wanted, finder=finder)


def _policy(web: WebParts, options: WebOptions) -> SourcePolicy:
    """Return the source policy of the configuration, narrowed by the request."""
    return web.policy.narrowed(options.sites, options.since, today=datetime.now(timezone.utc).date())


def _is_usable(web: WebParts, resolved: ResolvedAsk, named: Sequence[str]) -> bool:
    """Return whether a source of pages is available. Raises as `web_access` does if the web is required and none is."""
    if web.searcher is not None or named or (web.offline and web.cached() is not None):
        return True
    if resolved.requires_web and web.offline:
        raise UsageError(_NOTHING_CACHED, hint="leave --offline out")
    if resolved.requires_web:
        error = NotConfigured("no search service is set up", hint=SETUP_HINT)
        error.server_hint = SERVER_SETUP
        raise error
    return False


def no_sources_error(services: Services, resolved: ResolvedAsk, *, names_documents: bool) -> UsageError:
    """Return the error for a question with neither documents nor web pages to answer from, with the remedy.

    `names_documents` says that it names documents, none of which can be read.
    """
    web = services.web(offline=resolved.access.offline)
    uses_default = resolved.request.default_documents
    lacking = "" if names_documents else why_no_documents(services, default_documents=uses_default)
    documents = documents_remedy(services, default_documents=uses_default)
    if resolved.web is not None and web.offline:
        return nothing_to_answer_from([lacking, _NOTHING_CACHED], f"{documents}, or leave --offline out")
    if resolved.web is not None:
        return nothing_to_answer_from([lacking], f"{documents}, {SET_UP_SEARCH}")
    why, remedy = _reason_without_web(resolved, names_documents=names_documents)
    if web.offline:
        has_cache = web.cached() is not None
        remedy = f", or {remedy}" if has_cache else ""
    else:
        remedy = f", or {remedy}" + ("" if web.searcher is not None else f" and set up a search service: {SETUP_HINT}")
    return nothing_to_answer_from([lacking, why], f"{documents}{remedy}")


def nothing_to_answer_from(reasons: Sequence[str], hint: str) -> UsageError:
    """Return the error that there is nothing to answer from, for these reasons; empty ones are left out."""
    why = " and ".join(filter(None, reasons))
    error = UsageError("there is nothing to answer from" + (f": {why}" if why else ""), hint=hint)
    error.server_hint = SERVER_SETUP
    return error


def documents_remedy(services: Services, *, default_documents: bool) -> str:
    """Return how documents can be answered from, on the command line."""
    kept = kept_documents(services)
    if not default_documents:
        return f"leave --no-docs out, or {name_documents(services)}"
    is_empty = kept is not None and not kept.documents
    return ("add some with `asky corpus add PATH`, or " if is_empty else "") + name_documents(services)


def why_no_documents(services: Services, *, default_documents: bool) -> str:
    """Return why no documents that are kept are used; empty if none ever were."""
    if not default_documents:
        return "the documents that are kept are left out"
    return f"the collection {DEFAULT_COLLECTION} has no documents" if kept_documents(services) is not None else ""


def _reason_without_web(resolved: ResolvedAsk, *, names_documents: bool) -> tuple[str, str]:
    """Return why a question may not use the web, and what would change that."""
    settings = resolved.session.settings if resolved.session is not None else {}
    if resolved.mode == "lean":
        return "-L turns the web off", "ask with --web and without -L" if settings else "leave -L out"
    if names_documents:
        return "the named documents have no text, and naming documents turns the web off", "add --web"
    if settings.get("web") is False:
        return "the web is off in this session", "add --web"
    return "--no-web turns the web off", "leave --no-web out"


def _wants_shortlist(services: Services, resolved: ResolvedAsk) -> bool:
    """Return whether sources are selected first: set by the request, else by the model's entry, else by the mode."""
    assert resolved.web is not None
    if resolved.web.shortlist != "auto":
        return resolved.web.shortlist == "on"
    own = services.config.model(resolved.model).model.source_shortlist_enabled
    chosen = services.config.research.shortlist
    by_mode = chosen.research if resolved.mode == "research" else chosen.standard
    return by_mode if own is None else own
