"""Twins of the services that search the web. Texts are invented, shapes and odd parts are those of the real ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tests.support.twins.base import Reply, Request, Twin

_PAGE = "text/html; charset=utf-8"


@dataclass(frozen=True, slots=True)
class Hit:
    """What a service knows of a page, as its twin dresses it up. `iso` is the day, `None` where it knows none."""

    url: str | None
    title: str = "A title"
    text: str = "What the page says."
    iso: str | None = None


HITS = (
    Hit("https://example.org/soil", "Soil carbon &amp; you", "How <strong>soil</strong> keeps carbon.", "2026-03-03"),
    Hit("https://example.com/peat?id=7", "Peat", "Peat is 50&#37; carbon &lt;dry&gt;.\u202e"),
    Hit("/relative/address", "Relative"),
    Hit(None, "Without an address"),
    Hit("https://duckduckgo.com/l/?uddg=https%3A%2F%2Fexample.net", "Through a counter of clicks"),
    Hit("https://example.net/a", "Café \u2713", "Naïve text", "2024-11-30"),
    Hit("https://example.org/soil", "Soil again"),
)
"""What twins find unless they are told otherwise: three pages, among rows that are none."""

FOUND = ("https://example.org/soil", "https://example.com/peat?id=7", "https://example.net/a")


class WebTwin(Twin):
    """A twin whose rows are `Hit`s. `key` is the only one that it takes."""

    def hits(self) -> Sequence[Hit]:
        return HITS if self.rows is None else self.rows

    def wrong_key(self, request: Request, header: str, prefix: str = "") -> bool:
        """Whether the request lacks the twin's key."""
        return self.key is not None and request.headers.get(header) != f"{prefix}{self.key}"


class SearxngTwin(WebTwin):
    """SearXNG with `json` among its formats. Set `formats` to `("html",)` for one that is installed and no more."""

    formats: tuple[str, ...] = ("html", "json")
    unresponsive: Sequence[Any] = ()

    def refusal(self, request: Request) -> Reply | None:
        agent = request.headers.get("user-agent", "")
        if not agent or agent.startswith(("python", "Python", "curl", "wget", "Go-http-client", "Java", "Scrapy")):
            return Reply("Too Many Requests", status=429, content_type="text/plain")
        if request.path not in ("/search", "/"):
            return Reply("<html><body>404</body></html>", status=404, content_type=_PAGE)
        query = request.param("q") or ""
        if not query.strip():
            return Reply({"error": "No query"}, status=400)
        if any(word.startswith("!!") for word in query.split()):
            return Reply("", status=302, headers=(("Location", "https://www.google.com/search?q=x"),))
        if request.param("time_range") not in (None, "day", "week", "month", "year"):
            return Reply({"error": "Invalid value for parameter time_range"}, status=400)
        return None

    def answer(self, request: Request) -> Reply:
        if request.param("format") not in self.formats:
            return Reply("<!doctype html><title>403 Forbidden</title>", status=403, content_type=_PAGE)
        return Reply(self._body(request, [self._row(rank, hit) for rank, hit in enumerate(self.hits(), start=1)]))

    def empty(self, request: Request) -> Reply:
        return Reply(self._body(request, []))

    def sparse(self, _: Request) -> Reply:
        rows = [
            {"url": "https://example.org/bare"},
            {"url": "https://example.org/null", "title": None, "content": None, "publishedDate": None, "engine": 7},
            {"url": 7, "title": "No address"},
            "no row at all",
        ]
        return Reply({"results": rows})

    def failure(self, kind: str, request: Request) -> Reply:
        texts = {"quota": "Too Many Requests", "throttle": "Too Many Requests", "bad_key": "Unauthorized"}
        status = 401 if kind == "bad_key" else 429
        return Reply(
            texts.get(kind, request.headers.get("authorization", "")), status=status, content_type="text/plain"
        )

    def _body(self, request: Request, rows: list[Any]) -> dict[str, Any]:
        return {
            "query": request.param("q"),
            "results": rows,
            "answers": [],
            "corrections": [],
            "infoboxes": [],
            "suggestions": ["soil organic matter"],
            "unresponsive_engines": list(self.unresponsive),
        }

    def _row(self, rank: int, hit: Hit) -> dict[str, Any]:
        row = {
            "url": hit.url,
            "title": hit.title,
            "content": hit.text,
            "engine": "mojeek",
            "engines": ["mojeek", "brave"],
            "parsed_url": ["https", "example.org", "/", "", "", ""],
            "template": "default.html",
            "category": "general",
            "score": 2.0 / rank,
            "positions": [rank],
            "publishedDate": f"{hit.iso}T00:00:00" if hit.iso else None,
            "thumbnail": "",
            "priority": "",
        }
        return {name: value for name, value in row.items() if name != "url" or value is not None}


class BraveTwin(WebTwin):
    """Brave Search: a bad key and a missing one have the status 422, and nothing found has no key `web`."""

    base_path = "/res/v1"
    takes_language = staticmethod(lambda code: code in ("en", "en-gb", "de", "jp", "pt-br", "pt-pt", "zh-hans"))

    def refusal(self, request: Request) -> Reply | None:
        query = request.param("q") or ""
        language = request.param("search_lang")
        if "x-subscription-token" not in request.headers:
            problem = {"type": "missing", "loc": ["header", "x-subscription-token"], "msg": "Field required"}
            return self._error(422, "VALIDATION", "Unable to validate request parameter(s)", {"errors": [problem]})
        if not query or len(query) > 400 or len(query.split()) > 50:
            problem = {"type": "string_too_long", "loc": ["query", "q"], "input": query}
            return self._error(422, "VALIDATION", "Unable to validate request parameter(s)", {"errors": [problem]})
        if not 1 <= int(request.param("count") or 20) <= 20 or (language and not self.takes_language(language)):
            return self._error(422, "VALIDATION", "Unable to validate request parameter(s)", {"errors": []})
        return None

    def answer(self, request: Request) -> Reply:
        if self.wrong_key(request, "x-subscription-token"):
            return self.failure("bad_key", request)
        rows = [self._row(hit) for hit in self.hits()][: int(request.param("count") or 20)]
        return self._found({"type": "search", "results": rows, "family_friendly": True}, request)

    def empty(self, request: Request) -> Reply:
        return self._found(None, request)

    def sparse(self, _: Request) -> Reply:
        rows = [
            {"url": "https://example.org/bare"},
            {"url": "https://example.org/null", "title": None, "description": None, "age": None, "extra_snippets": 4},
            {"title": "No address"},
            None,
        ]
        return Reply({"web": {"results": rows}})

    def failure(self, kind: str, request: Request) -> Reply:
        if kind == "bad_key":
            return self._error(422, "SUBSCRIPTION_TOKEN_INVALID", "The provided subscription token is invalid.")
        if kind == "quota":
            return self._error(429, "QUOTA_LIMITED", "Request quota limit exceeded for plan.")
        if kind == "throttle":
            return self._error(429, "RATE_LIMITED", "Request rate limit exceeded for plan.", {"rate_limit": 1})
        return self._error(400, "VALIDATION", f"bad header {request.headers.get('x-subscription-token')}")

    def _found(self, web: Mapping[str, Any] | None, request: Request) -> Reply:
        body = {"type": "search", "query": {"original": request.param("q"), "more_results_available": False}}
        limits = (("X-RateLimit-Limit", "1, 15000"), ("X-RateLimit-Remaining", "0, 14321"))
        return Reply(body | ({"web": web} if web else {}) | {"mixed": {"main": []}}, headers=limits)

    def _error(self, status: int, code: str, detail: str, meta: Mapping[str, Any] | None = None) -> Reply:
        error = {"id": "0b1c", "status": status, "code": code, "detail": detail, "meta": meta or {}}
        return Reply({"type": "ErrorResponse", "error": error, "time": 1_790_000_000}, status=status)

    def _row(self, hit: Hit) -> dict[str, Any]:
        dates = {"age": "March 3, 2026", "page_age": f"{hit.iso}T09:00:00"} if hit.iso else {}
        address = {"url": hit.url} if hit.url is not None else {}
        return {"title": hit.title, **address, "description": hit.text, "language": "en", **dates}


class TavilyTwin(WebTwin):
    """Tavily: its errors are in `detail`, and quotas have statuses of their own."""

    def refusal(self, request: Request) -> Reply | None:
        query = request.json.get("query")
        if request.method != "POST" or request.path != "/search":
            return Reply({"detail": "Not Found"}, status=404)
        if not isinstance(query, str) or not query:
            problem = {"type": "missing", "loc": ["body", "query"], "msg": "Field required"}
            return Reply({"detail": [problem]}, status=422)
        if len(query) > 400:
            text = "Query is too long. Max query length is 400 characters."
            return Reply({"detail": {"error": text}}, status=400)
        if not 0 <= request.json.get("max_results", 5) <= 20:
            return Reply({"detail": {"error": "Invalid max_results"}}, status=400)
        return None

    def answer(self, request: Request) -> Reply:
        if self.wrong_key(request, "authorization", "Bearer "):
            return self.failure("bad_key", request)
        return self._found(request, [self._row(hit) for hit in self.hits()][: request.json.get("max_results", 5)])

    def empty(self, request: Request) -> Reply:
        return self._found(request, [])

    def sparse(self, _: Request) -> Reply:
        rows = [
            {"url": "https://example.org/bare"},
            {"url": "https://example.org/null", "title": None, "content": None, "score": "0.5", "raw_content": None},
            {"content": "no address"},
            [],
        ]
        return Reply({"results": rows, "response_time": "1.2"})

    def failure(self, kind: str, request: Request) -> Reply:
        texts = {
            "bad_key": (401, "Unauthorized: missing or invalid API key."),
            "quota": (432, "This request exceeds your plan's set usage limit."),
            "throttle": (429, "Your request has been blocked due to excessive requests."),
            "echo": (400, f"unexpected {request.headers.get('authorization')}"),
        }
        status, text = texts[kind]
        return Reply({"detail": {"error": text}}, status=status)

    def _found(self, request: Request, rows: list[Any]) -> Reply:
        about = {"query": request.json["query"], "answer": None, "images": []}
        return Reply({**about, "results": rows, "response_time": 1.2, "request_id": "b1c2"})

    def _row(self, hit: Hit) -> dict[str, Any]:
        dated = {"published_date": "Tue, 03 Mar 2026 10:00:00 GMT"} if hit.iso == "2026-03-03" else {}
        dated = dated or ({"published_date": f"{hit.iso}"} if hit.iso else {})
        return {"title": hit.title, "url": hit.url, "content": hit.text, "score": 0.87, "raw_content": None, **dated}


class ExaTwin(WebTwin):
    """Exa: errors have a text and a tag, and the text alone where it was asked too often."""

    def refusal(self, request: Request) -> Reply | None:
        if request.method != "POST" or request.path != "/search":
            return Reply({"requestId": "9f", "error": "Not found", "tag": "NOT_FOUND"}, status=404)
        is_query = isinstance(request.json.get("query"), str) and request.json["query"]
        if not is_query or not 1 <= request.json.get("numResults", 10) <= 100:
            text = {"requestId": "9f", "error": "Invalid request body", "tag": "INVALID_REQUEST_BODY"}
            return Reply(text, status=400)
        return None

    def answer(self, request: Request) -> Reply:
        if self.wrong_key(request, "x-api-key"):
            return self.failure("bad_key", request)
        return self._found([self._row(hit) for hit in self.hits()][: request.json.get("numResults", 10)])

    def empty(self, _: Request) -> Reply:
        return self._found([])

    def sparse(self, _: Request) -> Reply:
        rows = [
            {"url": "https://example.org/bare", "id": "https://example.org/bare"},
            {"url": "https://example.org/null", "title": None, "author": None, "publishedDate": None, "highlights": 3},
            {"id": "no address"},
            7,
        ]
        return Reply({"results": rows})

    def failure(self, kind: str, request: Request) -> Reply:
        if kind == "throttle":
            return Reply({"error": "You've exceeded your rate limit"}, status=429)
        texts = {
            "bad_key": (401, "Invalid API key", "INVALID_API_KEY"),
            "quota": (402, "You have exceeded your credits limit", "NO_MORE_CREDITS"),
            "echo": (400, f"unexpected {request.headers.get('x-api-key')}", "INVALID_REQUEST_BODY"),
        }
        status, text, tag = texts[kind]
        return Reply({"requestId": "9f", "error": text, "tag": tag}, status=status)

    def _found(self, rows: list[Any]) -> Reply:
        about = {"requestId": "9f", "resolvedSearchType": "neural"}
        return Reply({**about, "results": rows, "searchTime": 812.4, "costDollars": {"total": 0.007}})

    def _row(self, hit: Hit) -> dict[str, Any]:
        return {
            "id": hit.url,
            "url": hit.url,
            "title": hit.title,
            "author": None,
            "publishedDate": f"{hit.iso}T00:00:00.000Z" if hit.iso else None,
            "highlights": [hit.text],
            "highlightScores": [0.7],
        }


class SerperTwin(WebTwin):
    """Serper: nothing found has no key `organic`, an empty account is a bad request, and a bad key has status 403."""

    def refusal(self, request: Request) -> Reply | None:
        if request.method != "POST" or request.path != "/search":
            return Reply({"message": "Not Found", "statusCode": 404}, status=404)
        if not request.json.get("q"):
            return Reply({"message": "Missing query parameter", "statusCode": 400}, status=400)
        if not 1 <= request.json.get("num", 10) <= 100:
            return Reply({"message": "Invalid num", "statusCode": 400}, status=400)
        return None

    def answer(self, request: Request) -> Reply:
        if self.wrong_key(request, "x-api-key"):
            return self.failure("bad_key", request)
        rows = [self._row(rank, hit) for rank, hit in enumerate(self.hits(), start=1)]
        return Reply({**self._about(request), "organic": rows[: request.json.get("num", 10)], "credits": 1})

    def empty(self, request: Request) -> Reply:
        return Reply({**self._about(request), "credits": 1})

    def sparse(self, _: Request) -> Reply:
        rows = [
            {"link": "https://example.org/bare"},
            {"link": "https://example.org/null", "title": None, "snippet": None, "date": "some day", "position": "2"},
            {"title": "No address"},
            "",
        ]
        return Reply({"organic": rows})

    def failure(self, kind: str, request: Request) -> Reply:
        texts = {
            "bad_key": (403, "Unauthorized."),
            "quota": (400, "Not enough credits"),
            "throttle": (429, "Too many requests"),
            "echo": (400, f"unexpected {request.headers.get('x-api-key')}"),
        }
        status, text = texts[kind]
        return Reply({"message": text, "statusCode": status}, status=status)

    def _about(self, request: Request) -> dict[str, Any]:
        return {"searchParameters": {"q": request.json["q"], "type": "search", "engine": "google"}}

    def _row(self, rank: int, hit: Hit) -> dict[str, Any]:
        dated = {"date": "Mar 3, 2026"} if hit.iso == "2026-03-03" else {"date": hit.iso} if hit.iso else {}
        link = {"link": hit.url} if hit.url is not None else {}
        return {"title": hit.title, **link, "snippet": hit.text, **dated, "position": rank}
