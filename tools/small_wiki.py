"""A small encyclopedia on this machine, with the search of MediaWiki, for a recording that has no network."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, quote, unquote, urlsplit

ARTICLES: Mapping[str, tuple[str, ...]] = {
    "Penicillin": (
        "Penicillin is a group of antibiotics that come from moulds of the genus Penicillium.",
        "Alexander Fleming found it in September 1928 in London, when a mould that had got into a dish of bacteria "
        "killed the bacteria around it.",
        "Howard Florey and Ernst Chain made a medicine of it in Oxford from 1939 on. The three of them were given the "
        "Nobel Prize in Physiology or Medicine in 1945.",
    ),
    "Alexander Fleming": (
        "Alexander Fleming was a physician and bacteriologist who was born in Scotland in 1881.",
        "He found lysozyme in 1921 and penicillin in 1928, both at St Mary's Hospital in London.",
    ),
    "Antibiotic": (
        "An antibiotic is a substance that kills bacteria or keeps them from growing.",
        "Bacteria become resistant to an antibiotic that is used too often or for too short a time.",
    ),
}


class _Handler(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        parts = urlsplit(self.path)
        title = unquote(parts.path.removeprefix("/wiki/")).replace("_", " ")
        if parts.path == "/w/api.php":
            words = parse_qs(parts.query).get("srsearch", [""])[0].casefold().split()
            self._send("application/json", json.dumps({"query": {"search": list(_found(words))}}))
        elif parts.path.startswith("/wiki/") and title in ARTICLES:
            body = "".join(f"<p>{paragraph}</p>" for paragraph in ARTICLES[title])
            article = f"<article><h1>{title}</h1>{body}</article>"
            self._send("text/html; charset=utf-8", f"<title>{title}</title>{article}")
        else:
            self.send_error(404)

    def _send(self, media_type: str, text: str) -> None:
        data = text.encode()
        self.send_response(200)
        self.send_header("Content-Type", media_type)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *args: object) -> None:
        """Print nothing: the terminal is being recorded."""


def _found(words: list[str]) -> Iterator[dict[str, str]]:
    """Yield the articles that have one of the longer `words`, as MediaWiki lists them."""
    for title, paragraphs in ARTICLES.items():
        text = f"{title} {' '.join(paragraphs)}".casefold()
        if any(word.strip("?.,") in text for word in words if len(word) > 4):
            yield {"title": title, "snippet": paragraphs[0]}


@contextmanager
def small_wiki() -> Iterator[dict[str, str]]:
    """Serve the encyclopedia, and yield the variables with which asky searches it in place of Wikipedia."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    authority = f"127.0.0.1:{server.server_address[1]}"
    try:
        yield {
            "ASKY_SEARCH__WIKIPEDIA__BASE_URL": f"http://{quote(authority, safe=':')}",
            "ASKY_NETWORK__ALLOW_PRIVATE": json.dumps([authority]),
        }
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
