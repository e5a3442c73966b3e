"""Numbering of citations: the gate that an invented citation does not pass.

Only keys shown in the run become `[1]`, `[2]`, ... in order of first use. An unknown key is struck out, and so is
anything else that looks like a citation once the Markdown is rendered: `[7]`, `&#91;7&#93;`, `【7】`, `[source 7]` and
`day⁷` all become `~~[7?]~~`, which is not mistaken for `[7]`. The sign of asky's own notes, `⚠`, becomes `(!)`. Fenced
code and code spans are unchanged, except spans that contain keys and nothing else.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Protocol

from asky.events import Event, TextDiscarded, TextStreamed
from asky.evidence.citations.key_forms import KeyForms, resolve_footnotes
from asky.evidence.citations.pieces import Piece
from asky.evidence.citations.scanner import AnswerScanner
from asky.evidence.marks import SHOWN_SIGN, WARNING_SIGN, struck
from asky.evidence.plain_text import HIDDEN
from asky.values import Evidence

_ADJOINS = re.compile(r"~|[^\W_]")
_LINE_END = re.compile(r"[ \t]*\n[ \t>]*")
_URL = re.compile(r"(?:(?:https?|ftp)://|www\.)[^\s<>\"'`{}|\\^\[\]]+", re.IGNORECASE)
_LINK_TARGET = re.compile(r"\]\([ \t]*<?((?:[a-z][a-z0-9+.-]{0,30}:|//)[^\s)>]+)", re.IGNORECASE)
_ORIGIN = re.compile(r"(?:(?:https?:|ftp:)?//)?(?:www\.)?([^/?#]*)", re.IGNORECASE)


class CitationRewriter(Protocol):
    """Writes keys in place of citations of another form, in an answer that arrives in pieces.

    `struck` holds what to strike out in place of keys that stand for citations of nothing.
    """

    @property
    def struck(self) -> Mapping[str, str]: ...
    def feed(self, delta: str) -> str: ...
    def close(self) -> str: ...


MakeRewriter = Callable[[], CitationRewriter]
"""Makes the rewriter of one answer."""


@dataclass(frozen=True, slots=True)
class Numbered:
    """An answer with `[n]` markers: `order[n - 1]` is the key of `[n]`.

    `unknown` are the keys that were struck out and `lookalikes` everything else that was, as written, one entry per
    occurrence; `unseen_urls` are the addresses in the answer that no shown passage contains, each once. All are in
    order.
    """

    text: str
    order: tuple[str, ...]
    unknown: tuple[str, ...]
    lookalikes: tuple[str, ...]
    unseen_urls: tuple[str, ...]


def number_citations(text: str, shown: Mapping[str, Evidence], rewriter: MakeRewriter | None = None) -> Numbered:
    """Return `text` with its keys numbered and everything else that could pass for a citation defused; linear time.

    `shown` maps each key that the model has seen in this run to its passage. `[P7f3a, P09c2]` becomes `[1][2]`; words
    after the keys inside a bracket follow in parentheses; a known key in running text is numbered too. Keys may be
    written in upper case, in bold, in white or doubled brackets, and after words such as "see" or "source". A
    `rewriter` turns other citations into keys first.
    """
    text = resolve_footnotes(text, shown)
    stream = CitationStream(shown, rewriter)
    body = stream.feed(text) + stream.close()
    return stream.numbered(body)


class CitationStream:
    """`number_citations` for an answer that arrives in pieces: the joined output does not depend on how it is cut."""

    def __init__(self, shown: Mapping[str, Evidence], rewriter: MakeRewriter | None = None) -> None:
        self._shown = shown
        self._rewriter = rewriter() if rewriter is not None else None
        self._forms = KeyForms(shown)
        self._scanner = AnswerScanner()
        self._numbers: dict[str, int] = {}
        self._unknown: list[str] = []
        self._lookalikes: list[str] = []
        self._source: list[str] = []
        self._after_return = False
        self._after_marker = False
        self._marker_began_line = False
        self._after_struck = False
        self._last = ""

    def feed(self, delta: str) -> str:
        """Return what may be shown after `delta`; a possible citation is held back until it is complete."""
        if delta.startswith("\n") and self._after_return:
            delta = delta[1:]
            self._after_return = False
        if delta:
            self._after_return = delta[-1] == "\r"
        if "\r" in delta:  # also a line end
            delta = delta.replace("\r\n", "\n").replace("\r", "\n")
        if self._rewriter is not None:
            delta = self._rewriter.feed(delta)
        self._source.append(delta)
        return self._render(self._scanner.feed(self._forms.feed(delta)))

    def close(self) -> str:
        """Return the rest of the answer."""
        rest = self._rewriter.close() if self._rewriter is not None else ""
        self._source.append(rest)
        rest = self._forms.feed(rest) + self._forms.close()
        return self._render(self._scanner.feed(rest)) + self._render(self._scanner.close())

    def numbered(self, text: str) -> Numbered:
        """Return the findings about everything that was fed; `text` is the joined output."""
        return Numbered(
            text,
            tuple(self._numbers),
            tuple(self._unknown),
            tuple(self._lookalikes),
            unseen_urls("".join(self._source), self._shown.values()),
        )

    def _render(self, pieces: Iterable[Piece]) -> str:
        return "".join(self._shielded(piece, self._rendered(piece)) for piece in pieces)

    def _rendered(self, piece: Piece) -> str:
        if piece.kind == "keys":
            return self._markers(piece)
        if piece.kind == "word" and piece.keys[0] in self._shown:
            return self._marker(piece.keys[0])
        if piece.kind == "number":
            self._lookalikes.append(piece.source)
            return struck(f"[{piece.seen}?]")
        shown_source = piece.seen or piece.source if piece.kind in ("text", "code", "fence") else piece.source
        return shown_source.replace(WARNING_SIGN, SHOWN_SIGN) if piece.kind == "text" else shown_source

    def _shielded(self, piece: Piece, rendered: str) -> str:
        """Return `rendered`, with a space where a marker would form a link, `[1](...)`, or its tildes a fence."""
        is_struck = rendered.startswith("~~[") and piece.kind in ("keys", "word", "number")
        joins = rendered[0] == "(" or (rendered[0] == "[" and not piece.keys)
        links = self._after_marker and (joins or (rendered[0] == ":" and self._marker_began_line))
        # Tildes next to the model's own would open a code block and hide what follows from the checks; next to a word
        # they would strike out nothing, or something else.
        strikes = (is_struck and _ADJOINS.match(self._last)) or (self._after_struck and _ADJOINS.match(rendered))
        if links or strikes:
            rendered = " " + rendered
        self._last = rendered[-1]
        self._after_struck = rendered[-1] == "~" and (is_struck or bool(piece.keys))
        self._after_marker = bool(piece.keys) and rendered[-1] == "]"
        self._marker_began_line = piece.begins_line
        return rendered

    def _markers(self, piece: Piece) -> str:
        markers = "".join(self._marker(key) for key in dict.fromkeys(piece.keys))
        if not piece.tail:
            return markers
        scanner = AnswerScanner(part=True)
        on_one_line = _LINE_END.sub(" ", piece.tail)
        tail = "".join(self._rendered(part) for part in scanner.feed(on_one_line) + scanner.close())
        return f"{markers} ({tail})"

    def _marker(self, key: str) -> str:
        if key in self._shown:
            return f"[{self._numbers.setdefault(key, len(self._numbers) + 1)}]"
        written = self._rewriter.struck.get(key) if self._rewriter is not None else None
        self._unknown.append(written or key)
        return struck(written or f"[{key}]")


class StreamedCitations:
    """Emits the events of a reply in progress, with numbered citations in its text.

    After text was discarded, numbering starts with `[1]` again.
    """

    def __init__(
        self, shown: Mapping[str, Evidence], emit: Callable[[Event], None], rewriter: MakeRewriter | None = None
    ) -> None:
        self._shown = shown
        self._rewriter = rewriter
        self._emit = emit
        self._stream = CitationStream(shown, rewriter)

    def write(self, delta: str) -> None:
        """Add `delta` to the reply, and emit the text that is complete now as `TextStreamed`."""
        self._emit_text(self._stream.feed(delta))

    def emit(self, event: Event) -> None:
        """Emit an event other than text."""
        if isinstance(event, TextDiscarded):
            self._stream = CitationStream(self._shown, self._rewriter)
        self._emit(event)

    def close(self) -> None:
        """Emit the text held back so far, at the end of the answer."""
        self._emit_text(self._stream.close())

    def _emit_text(self, text: str) -> None:
        if text:
            self._emit(TextStreamed(text))


def masked_lookalikes(text: str) -> str:
    """Return `text` with the look-alikes that `number_citations` would strike out masked as in `masked_markup`.

    Keys are kept. Linear time.
    """
    scanner = AnswerScanner()
    pieces = scanner.feed(text) + scanner.close()
    return "".join(piece.source if piece.kind != "number" else HIDDEN * len(piece.source) for piece in pieces)


def unseen_urls(text: str, evidence: Iterable[Evidence]) -> tuple[str, ...]:
    """Return the addresses in `text` that no passage contains or comes from, as written, in order, each once.

    Addresses are compared without their scheme, a leading `www.`, a final slash and a fragment. Linear time.
    """
    found = {_canonical(url): url for url in reversed(_urls(text))}
    if not found:
        return ()
    seen = {_canonical(url) for item in evidence for url in (*_urls(item.text), item.source.url or "")}
    return tuple(url for canonical, url in reversed(found.items()) if canonical not in seen)


def _urls(text: str) -> list[str]:
    if "://" not in text and "www." not in text.lower() and "](" not in text:
        return []
    found = {match.start(): match.group() for match in _URL.finditer(text)}
    found |= {match.start(1): match[1] for match in _LINK_TARGET.finditer(text) if match.start(1) not in found}
    return [_without_punctuation(found[start]) for start in sorted(found)]


def _without_punctuation(url: str) -> str:
    """Return `url` without the punctuation and unbalanced parentheses of the sentence around it."""
    url = url.rstrip(".,;:!?*_~")
    surplus = url.count(")") - url.count("(")
    closing = len(url) - len(url.rstrip(")"))
    return url[: len(url) - max(0, min(surplus, closing))].rstrip(".,;:!?*_~")


def _canonical(url: str) -> str:
    url = url.partition("#")[0]
    origin = _ORIGIN.match(url)
    assert origin is not None
    return (origin[1].lower() + url[origin.end() :]).rstrip("/")
