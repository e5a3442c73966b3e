"""Whether a question may use the web, and with what."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timezone
from typing import TYPE_CHECKING, Literal

from asky.chat.web_access import WebAccess
from asky.errors import NotConfigured, UsageError
from asky.storage.sessions import own_collection

if TYPE_CHECKING:
    from asky.chat.answering import Mode
    from asky.chat.plan import WebPlan
    from asky.research.source_policy import SourcePolicy
    from asky.storage.sessions import Session
    from asky.wiring import Services

SET_UP = (
    "`asky config set search.searxng.base_url URL` for an instance of your own, or the key of brave, tavily, exa or"
    " serper in its variable"
)

_NOTHING_CACHED = "nothing of the web was read before, and --offline fetches nothing"


@dataclass(frozen=True, slots=True)
class WebWish:
    """What the flags and the model's own entry say of the web.

    `is_demanded` makes it an error that nothing is set up for it. `shortlist` is what the flag says, `model_shortlist`
    what the entry does, `None` where it says nothing. `sites` and `since` are as `SourcePolicy.narrowed` takes them,
    `queries` as `WebAccess` has them.
    """

    is_demanded: bool
    shortlist: Literal["auto", "on", "off"]
    model_shortlist: bool | None
    sites: tuple[str, ...] = ()
    since: str | None = None
    queries: tuple[str, ...] = ()


def web_access(services: Services, wish: WebWish, session: Session, text: str, mode: Mode) -> WebAccess | None:
    """How a question may use the web, or `None` where there is nothing to use it with.

    There is something where a search service is set up, the question names an address, or, offline, pages were read
    before. Raises `NotConfigured` where the web was demanded and there is none of that, or `UsageError` where it is
    --offline that keeps from it, and for a site that is no domain and a day that is none.
    """
    from asky.research.shortlist_collect import read_prompt  # with the shortlist, which such a question needs anyhow

    named = tuple(each.url for each in read_prompt(text).candidates)
    policy = _policy(services, wish)
    if not _is_usable(services, wish, named):
        return None
    collection_id = services.corpus.collection(own_collection(session.id), create=True)
    return WebAccess(collection_id, named, _wants_shortlist(services, wish, mode), policy, wish.queries)


def plan_web(
    services: Services, wish: WebWish, text: str, shown: str, mode: Mode, *, may_choose: bool
) -> WebPlan | None:
    """What a question would do on the web, or `None` where there is nothing to use it with. Nothing is sent or kept.

    Searched for is `shown`, which is `text` as models may see it: without paths of this machine. `may_choose` says that
    the model could find its sources by itself. Raises what `web_access` does.
    """
    from asky.chat.plan import PlannedService, WebPlan  # for a dry run only
    from asky.research.shortlist_collect import read_prompt, search_queries

    named = tuple(each.url for each in read_prompt(text).candidates)
    wanted = _policy(services, wish).words()
    if not _is_usable(services, wish, named):
        return None
    if services.web.offline:
        return WebPlan(is_offline=True, wanted=wanted)
    asked = tuple(PlannedService(each.name, each.host or None) for each in services.web.providers)
    if may_choose and not _wants_shortlist(services, wish, mode):
        return WebPlan(asked, named=named, may_search=True, wanted=wanted)
    queries = (wish.queries or search_queries(read_prompt(shown))) if asked else ()
    most = services.config.research.shortlist.max_fetch_urls
    found = services.web.finder
    finder = PlannedService(found.name, found.host) if found is not None else None
    return WebPlan(asked, queries, named, most, may_choose, wanted=wanted, finder=finder)


def _policy(services: Services, wish: WebWish) -> SourcePolicy:
    """Which sources the configuration and the flags want, together."""
    today = datetime.now(timezone.utc).date()
    return services.web.policy.narrowed(wish.sites, wish.since, today=today)


def _is_usable(services: Services, wish: WebWish, named: Sequence[str]) -> bool:
    """Whether there is something to use the web with. Raises as `web_access` does where it was demanded and is not."""
    web = services.web
    if web.searcher is not None or named or (web.offline and web.cached() is not None):
        return True
    if wish.is_demanded and web.offline:
        raise UsageError(_NOTHING_CACHED, hint="leave --offline out")
    if wish.is_demanded:
        raise NotConfigured("no search service is set up", hint=SET_UP)
    return False


def nothing_to_ask(
    services: Services, wish: WebWish | None, session: Session | None, mode: Mode, *, names_documents: bool
) -> UsageError:
    """That a question has no documents, and nothing of the web: what keeps it from that, and what would help.

    It `names_documents` where they were named for it; of those nothing can be read.
    """
    web, nothing, documents = services.web, "there is nothing to answer from", "name documents with -d PATH"
    if wish is not None and web.offline:
        return UsageError(f"{nothing}: {_NOTHING_CACHED}", hint=f"{documents}, or leave --offline out")
    if wish is not None:
        return UsageError(nothing, hint=f"{documents}, or set up a search service: {SET_UP}")
    why, remedy = _kept_off(session, mode, names_documents=names_documents)
    if web.offline:
        works = web.cached() is not None
        remedy = f", or {remedy}" if works else ""
    else:
        remedy = f", or {remedy}" + ("" if web.searcher is not None else f" and set up a search service: {SET_UP}")
    return UsageError(f"{nothing}: {why}", hint=f"{documents}{remedy}")


def _kept_off(session: Session | None, mode: Mode, *, names_documents: bool) -> tuple[str, str]:
    """What keeps a question off the web, and how that is lifted."""
    said = session.settings if session is not None else {}
    if mode == "lean":
        return "-L keeps the question off the web", "ask with --web and without -L" if said else "leave -L out"
    if names_documents:
        return "no text in the documents that are named, which keep the question off the web", "add --web"
    if said.get("web") is False:
        return "the session is kept off the web", "add --web"
    return "--no-web keeps the question off the web", "leave --no-web out"


def _wants_shortlist(services: Services, wish: WebWish, mode: Mode) -> bool:
    """The flag, or else the model's own entry, or else what the mode says."""
    if wish.shortlist != "auto":
        return wish.shortlist == "on"
    chosen = services.config.research.shortlist
    by_mode = chosen.research if mode == "research" else chosen.standard
    return by_mode if wish.model_shortlist is None else wish.model_shortlist
