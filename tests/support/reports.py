"""Reports of made-up answers, and what a parser of HTML sees in them."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from html.parser import HTMLParser
from typing import Any

from asky.report.gathering import ReportedAnswer, report_export
from asky.report.page import render_report

STORED = (
    "# Tides\n\nThe sea is never still.\n\nThe moon raises two high tides a day. The sun helps a little.\n\n"
    "At new moon the range is largest.\n"
)
QUOTE = "The moon raises two high tides a day."
RUN = "20260314-091502-7c1e2f3a"

ATTACKS = (
    "<script>alert(1)</script>", "</script><script>alert(1)</script>", "</style><img src=x onerror=alert(1)>",
    '"><img src=x onerror=alert(1)>', "' onmouseover='alert(1)", "<svg/onload=alert(1)>", "<svg><script>alert(1)",
    "<iframe srcdoc='<script>alert(1)</script>'>", "<math><mi//xlink:href='data:x,<script>'>", "<!--><script>-->",
    "<![CDATA[<script>]]>", "<?php ?>", "<base href=//evil.example>", "<meta http-equiv=refresh content=0;url=//evil>",
    "<link rel=stylesheet href=//evil.example>", "<form action=//evil.example><input autofocus onfocus=alert(1)>",
    "<details open ontoggle=alert(1)>", "<a href='javascript:alert(1)'>x</a>", "[x](javascript:alert(1))",
    "[x](JaVaScRiPt:alert(1))", "[x](java\tscript:alert(1))", "[x](&#106;avascript:alert(1))", "[x](data:text/html,x)",
    "[x](data:image/svg+xml,x)", "[x](file:///etc/passwd)", "[x](//evil.example)", "[x](https://evil.example 'a\"b')",
    "![x](https://evil.example/?q=1)", '![x"onerror="alert(1)](x)', "<https://evil.example/\"onclick=alert(1)>",
    "<javascript:alert(1)>", "```html\"onload=x\n<script>\n```", "[1]: javascript:alert(1)\n\n[1]", "[1](javascript:x)",
    "| <script> | a |\n|---|:-:|\n| [1] | <b> |", "$<script>$", "\\(<img src=x>\\)", "`<script>`", "&lt;script&gt;",
    "\x00<scr\x00ipt>", "\u202e<script>", "\ud800", "⚠ unsupported", " ⚠ uncited", "~~[7?]~~", "\U00012470\U00012471",
    "{{constructor.constructor('alert(1)')()}}", "<noscript><p title='</noscript><script>'>",
    "1. a\n2. b\n\n> c\n- [1]",
    "<template><script>", "<a name=panel id=panel>", "</main></body></html><script>", "&#60;script&#62;", "]]>", "-->",
)  # fmt: skip
"""Strings that would be more than text in a page that is put together carelessly."""


def citation(n: int = 1, *, quote: str = QUOTE, stored: str = STORED, **changed: Any) -> dict[str, Any]:
    """The citation of the first occurrence of `quote` in `stored`."""
    start = stored.index(quote)
    return {
        "n": n,
        "source_id": f"s{n}",
        "kind": "web",
        "url": "https://tides.example/daily",
        "path": None,
        "title": "Tides",
        "page": None,
        "page_label": None,
        "section": "Tides › Daily",
        "start": start,
        "end": start + len(quote),
        "quote": quote,
        "sha256": hashlib.sha256(stored.encode("utf-8", "surrogatepass")).hexdigest(),
        "fetched_at": "2026-03-14T09:14:00.000000Z",
        **changed,
    }


def claim(text: str, answer: str, verdict: str = "supported", citations: Sequence[int] = (1,)) -> dict[str, Any]:
    """The claim that stands first in `answer` as `text`."""
    start = answer.index(text)
    return {
        "text": text,
        "start": start,
        "end": start + len(text),
        "citations": list(citations),
        "verdict": verdict,
        "score": 0.5,
        "checks": {},
    }


def answer_of(text: str, **changed: Any) -> dict[str, Any]:
    """An `asky.answer/1` object that cites one passage, unless it is `changed`."""
    return {
        "schema": "asky.answer/1",
        "run": RUN,
        "session": None,
        "mode": "standard",
        "question": "Why are there tides?",
        "model": "small",
        "answer": text,
        "citations": [citation()],
        "claims": [],
        "sources": [],
        "rejected": [],
        "usage": {
            "llm_calls": 2,
            "prompt_tokens": 100,
            "completion_tokens": 20,
            "cost_usd": None,
            "searches": 1,
            "fetches": 0,
            "cache_hits": 0,
            "seconds": 0.1,
        },
        "stopped_by": None,
        "warnings": [],
        **changed,
    }


def exported(answer: Mapping[str, Any], *texts: str) -> dict[str, Any]:
    """The `asky.run/1` object of an answer, as far as a report reads it."""
    documents = [
        {"sha256": hashlib.sha256(each.encode("utf-8", "surrogatepass")).hexdigest(), "text": each} for each in texts
    ]
    return {
        "schema": "asky.run/1",
        "run": {"id": RUN, "started_at": "2026-03-14T09:15:02.000000Z"},
        "answer": answer,
        "documents": documents,
        "ledger": [],
    }


def reported(answer: Mapping[str, Any], *texts: str) -> ReportedAnswer:
    return report_export(exported(answer, *(texts or (STORED,))))


def page_of(text: str, **changed: Any) -> Seen:
    """What is seen in the report of an answer."""
    return Seen(render_report([reported(answer_of(text, **changed))]))


class Seen(HTMLParser):
    """The elements of a page with their attributes, its text, and the text by element."""

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.html = html
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.others: list[str] = []
        self._open: list[int] = []
        self._texts: list[list[str]] = []
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        self._texts.append([])
        if tag not in ("br", "hr", "link", "meta"):
            self._open.append(len(self.elements) - 1)

    def handle_endtag(self, tag: str) -> None:
        opened = self.elements[self._open.pop()][0]
        assert opened == tag, f"{opened} is ended by {tag}"

    def handle_data(self, data: str) -> None:
        for each in self._open:
            self._texts[each].append(data)

    def handle_comment(self, data: str) -> None:
        self.others.append(data)

    def handle_pi(self, data: str) -> None:
        self.others.append(data)

    def unknown_decl(self, data: str) -> None:
        self.others.append(data)

    def all(self, tag: str, class_: str | None = None, **attributes: str) -> list[tuple[dict[str, str | None], str]]:
        """The attributes and the text of every such element."""
        return [
            (attrs, "".join(text))
            for (name, attrs), text in zip(self.elements, self._texts, strict=True)
            if name == tag
            and (class_ is None or class_ in (attrs.get("class") or "").split())
            and all(attrs.get(key) == value for key, value in attributes.items())
        ]

    def text(self, tag: str, class_: str | None = None, **attributes: str) -> str:
        """The text of the only such element."""
        ((_, text),) = self.all(tag, class_, **attributes)
        return text

    @property
    def answer(self) -> str:
        return self.text("div", "answer")
