"""Rendering of an answer's Markdown as HTML: citations link to their passages, doubtful claims are marked.

No text is lost: HTML is shown verbatim, an image as its description, a formula as its source.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from asky.evidence.marks import WARNING_SIGN
from asky.report.links import AllowedLinks, answer_link
from asky.report.marking import Marked
from asky.report.markup import Html, escape, join, tag
from asky.report.parsing import parse_answer
from asky.report.verdicts import chip

if TYPE_CHECKING:
    from markdown_it.token import Token

_NARROW = "\u202f"  # keeps a citation on the line of the text before it
_ELEMENTS: Mapping[str, str] = MappingProxyType(
    {
        "paragraph_open": "p",
        "blockquote_open": "blockquote",
        "bullet_list_open": "ul",
        "ordered_list_open": "ol",
        "list_item_open": "li",
        "table_open": "table",
        "thead_open": "thead",
        "tbody_open": "tbody",
        "tr_open": "tr",
        "th_open": "th",
        "td_open": "td",
        "em_open": "em",
        "strong_open": "strong",
        "s_open": "s",
    }
)
_READ_BY_ITSELF = frozenset({"p", "blockquote", "li", "th", "td"})  # may have a text direction of their own
_MAX_DEPTH = 40  # of elements in each other; viewers lose what lies deeper
_ALIGNED: Mapping[str, str] = MappingProxyType({"text-align:center": "center", "text-align:right": "right"})


def render_prose(answer: Mapping[str, Any], allowed: AllowedLinks, *, prefix: str, level: int) -> Html:
    """Render the text of an `asky.answer/1` object; linear time.

    `[n]` links to the element `{prefix}-c{n}`, and its first occurrence has the id `{prefix}-r{n}`; a doubtful claim
    links to `{prefix}-k{number}`, counted from 1. The highest headings become those of `level`.
    """
    claims = answer["claims"]
    tokens, marked = parse_answer(answer["answer"], claims)
    levels = [int(token.tag[1]) for token in tokens if token.type == "heading_open"]
    numbers = frozenset(citation["n"] for citation in answer["citations"])
    return _Writer(marked, claims, numbers, allowed, prefix, level - min(levels, default=1)).write(tokens)


class _Writer:
    """Writes the tokens of one answer, keeping track of the current claim."""

    def __init__(
        self,
        marked: Marked,
        claims: Sequence[Mapping[str, Any]],
        numbers: frozenset[int],
        allowed: AllowedLinks,
        prefix: str,
        shift: int,
    ) -> None:
        self._marked = marked
        self._claims = claims
        self._numbers = numbers
        self._allowed = allowed
        self._prefix = prefix
        self._shift = shift
        sign = f"[{marked.begin}{marked.end}]" if marked.claims else "(?!)"
        self._sign = re.compile(sign)
        self._pieces = re.compile(rf"({sign})|\[(\d{{1,9}})\]| {WARNING_SIGN} (uncited|unsupported|contradicted)\b")
        self._pending = iter(marked.claims)
        self._claim: int | None = None
        self._has_chip = False
        self._cited: set[int] = set()
        self._open: list[Token] = []

    def write(self, tokens: Sequence[Token]) -> Html:
        """Return the HTML of block or inline tokens."""
        parts: list[list[Html]] = [[]]
        texts: list[str] = [""]
        for token in tokens:
            if token.nesting > 0:
                self._open.append(token)
                parts.append([])
                texts.append("")
            elif token.nesting < 0:
                html, words = join(parts.pop()), texts.pop()
                parts[-1].append(self._element(self._open.pop(), html, words))
                texts[-1] += words
            else:
                parts[-1].append(self._leaf(token))
                texts[-1] += self._marked.plain(token.content)
        return join(parts[0])

    def _element(self, token: Token, content: Html, text: str) -> Html:
        if token.hidden:  # a paragraph in a list without blank lines
            return content
        if token.type == "heading_open":
            level = min(6, int(token.tag[1]) + self._shift)
            return tag(f"h{level}", content, dir="auto")
        if token.type == "link_open":
            return answer_link(str(token.attrs.get("href", "")), content, text, self._allowed)
        if len(self._open) >= _MAX_DEPTH:
            return join([content, *([tag("br")] if token.block else [])])
        name = _ELEMENTS[token.type]
        written = tag(
            name,
            content,
            class_=_ALIGNED.get(str(token.attrs.get("style"))),
            start=_start(token),
            dir="auto" if name in _READ_BY_ITSELF else None,
        )
        return tag("div", written, class_="wide", tabindex=0) if name == "table" else written

    def _leaf(self, token: Token) -> Html:
        if token.type == "inline":
            return self.write(token.children or ())
        if token.type == "text":
            return self._text(token.content)
        if token.type in ("softbreak", "hardbreak", "hr"):
            return escape("\n") if token.type == "softbreak" else tag(token.tag)
        content = self._marked.plain(token.content)
        if token.type == "image":
            shown = tag("span", f"[image: {content}]", class_="image")
        elif token.type in ("fence", "code_block"):
            code = tag("pre", tag("code", content), tabindex=0)
            return join([code, *self._cross_signs(token.info + token.content)])
        elif token.type == "math":
            shown = tag("span", content, class_="math")
        else:
            shown = tag("code", content)
        return join([shown, *self._cross_signs(token.content)])

    def _text(self, text: str) -> Html:
        return join(self._runs(text))

    def _runs(self, text: str) -> Iterator[Html]:
        position = 0
        for found in self._pieces.finditer(text):
            sign, number, verdict = found.groups()
            before = text[position : found.start()]
            glued = bool(number) and before.endswith(" ")
            yield from self._prose(before[:-1] if glued else before)
            if glued:
                yield escape(_NARROW)
            if sign:
                yield from self._cross_signs(sign)
            elif number:
                yield self._citation(found.group(), int(number))
            elif not self._has_chip:
                yield join([" ", chip(verdict, target=f"{self._prefix}-checks")])
            position = found.end()
        yield from self._prose(text[position:])

    def _prose(self, text: str) -> Iterator[Html]:
        if not text:
            return
        self._has_chip = False
        if self._claim is None or not any(map(str.isalnum, text)):
            yield escape(text)
        else:
            yield tag("span", text, class_=f"claim {self._claims[self._claim]['verdict']}")

    def _cross_signs(self, text: str) -> Iterator[Html]:
        """Process the marks in `text`, and yield what follows a claim that ends there."""
        for sign in self._sign.findall(text):
            if sign == self._marked.begin:
                self._claim = next(self._pending, None)
            elif self._claim is not None:
                yield join([" ", chip(self._claims[self._claim]["verdict"], target=self._check_id(self._claim))])
                self._claim, self._has_chip = None, True

    def _check_id(self, claim: int) -> str | None:
        inside = any(token.type == "link_open" for token in self._open)
        return None if inside else f"{self._prefix}-k{claim + 1}"

    def _citation(self, written: str, number: int) -> Html:
        self._has_chip = False
        if number not in self._numbers or any(token.type == "link_open" for token in self._open):
            return escape(written)
        first = number not in self._cited
        self._cited.add(number)
        return tag(
            "a",
            written,
            class_="cite",
            href=f"#{self._prefix}-c{number}",
            id=f"{self._prefix}-r{number}" if first else None,
        )


def _start(token: Token) -> int | None:
    start = token.attrs.get("start")
    return int(start) if start is not None and token.type == "ordered_list_open" else None
