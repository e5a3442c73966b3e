"""Brave Search."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from asky.errors import AskyError, RateLimited
from asky.search.dates import iso_date
from asky.search.port import Candidate, SearchProvider, SearchRequest, SearchResults
from asky.search.reply import ServiceReply, bad_request, quota_used_up
from asky.search.rows import (
    Adapter,
    collect,
    error_text,
    language_of,
    page,
    passages,
    plain,
    prepare,
    results_wanted,
    table,
    within,
)
from asky.search.service import Service

_FRESHNESS = {"day": "pd", "week": "pw", "month": "pm", "year": "py"}
_LONG_WINDOW_S = 3600
"""A window of the rate limit that is longer than this is the quota."""

# It rejects a request that names any other language.
_LANGUAGES = (
    "ar bg bn ca cs da de el en es et eu fi fr gl gu he hi hr hu is it kn ko lt lv ml mr ms nb nl pa pl ro ru sk sl sr "
    "sv ta te th tr uk vi"
)
_RENAMED = {"ja": "jp", "no": "nb", "zh": "zh-hans", "pt": "pt-pt"}
_REGIONAL = {("en", "GB"): "en-gb", ("pt", "BR"): "pt-br", ("zh", "TW"): "zh-hant", ("zh", "HK"): "zh-hant"}


def make(service: Service) -> SearchProvider:
    """Return the adapter of Brave Search."""
    return Brave(service)


class Brave(Adapter):
    """See `SearchProvider`."""

    async def search(self, request: SearchRequest) -> SearchResults:
        """See `SearchProvider`."""
        query, notes = prepare(self.service, request)
        language = _language(request)
        if request.language and language is None:
            notes = (*notes, f"it does not know the language {plain(request.language, 20)}")
        overrides = {
            "q": query,
            "count": results_wanted(self.service, request),
            "freshness": _FRESHNESS[request.recency] if request.recency else None,
            "search_lang": language,
        }
        params = {"text_decorations": False, "result_filter": "web", **self.service.parameters_with(overrides)}
        headers = {"X-Subscription-Token": self.service.api_key or ""}
        answer = await self.service.get_json("/web/search", params, headers=headers, explain=self._explain)
        found = table(self.name, answer)
        if altered := within(found, "query", "altered"):
            notes = (*notes, f"it searched for {plain(altered, 200)}")
        web = found.get("web")
        rows = None if web is None else table(self.name, web).get("results")
        return collect(self.name, request, rows, self._read, notes=notes)

    def _read(self, row: Mapping[str, Any]) -> Candidate | None:
        return page(
            row.get("url"),
            row.get("title"),
            snippet=passages(row.get("description"), row.get("extra_snippets")),
            published=iso_date(row.get("page_age")) or iso_date(row.get("age"), self.service.today()),
        )

    def _explain(self, reply: ServiceReply) -> AskyError | None:
        """Explain a reply by its error code: a bad key, or none, has the status of a bad request."""
        if reply.status == 200:
            return None
        error = within(reply.json_or_none(), "error")
        if not isinstance(error, Mapping):
            return None
        code = error_text(error.get("code")).upper()
        if "TOKEN" in code or "NOT_IN_PLAN" in code or "NOT_ALLOWED" in code or _is_about_key(error):
            return self.service.key_refused()
        if "QUOTA" in code or (reply.status == 429 and _has_no_quota(reply)):
            return quota_used_up(self.name)
        if "RATE" in code and "LIMIT" in code:
            return RateLimited(f"{self.name} received too many requests", hint="wait, or search with another service")
        return bad_request(self.name, error_text(error.get("detail"), code)) if reply.status in (400, 422) else None


def _language(request: SearchRequest) -> str | None:
    language = language_of(request)
    if language is None:
        return None
    code, _ = language
    renamed = _RENAMED.get(code, code)
    return _REGIONAL.get((code, language[1] or ""), renamed if code in _RENAMED or code in _LANGUAGES.split() else None)


def _is_about_key(error: Mapping[str, Any]) -> bool:
    problems = within(error, "meta", "errors")
    if not isinstance(problems, list):
        return False
    return any("x-subscription-token" in str(within(problem, "loc")).lower() for problem in problems)


def _has_no_quota(reply: ServiceReply) -> bool:
    """Return whether nothing remains of a long window; the headers have a number for each window."""
    remaining, resets = (
        [part.strip() for part in reply.headers.get(f"x-ratelimit-{what}", "").split(",")]
        for what in ("remaining", "reset")
    )
    windows = zip(remaining, resets, strict=False)
    return any(left == "0" and reset.isdecimal() and int(reset[:12]) > _LONG_WINDOW_S for left, reset in windows)
