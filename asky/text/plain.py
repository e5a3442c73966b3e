"""Markdown inline markup as the text that a reader of the rendered page sees.

CommonMark as markdown-it parses it, with rules for what note-taking programs add: wikilinks, highlights, comments,
footnote marks and block ids.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache
from typing import TYPE_CHECKING

from asky.text.markdown import for_threads

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.rules_inline import StateInline
    from markdown_it.token import Token

# Without one of these a text is its own plain text: most headings and many sentences.
_MARKUP = re.compile(r"[*_`\[\]<>&\\^~%]|==|!\[|[ \t]\n")
# Parsed together; longer texts are parsed line by line. Brackets that never close take the square of their number:
# .02 s for as many as fit into this.
_PARSED_CHARS = 2_000
_MAX_NESTING = 20
_WIKILINK = re.compile(r"!?\[\[([^\[\]|\n]*)(?:\|([^\[\]\n]*))?\]\]")
_PICTURE = re.compile(r"!\[\[[^|#\]]*\.(?:avif|bmp|gif|jpe?g|png|svg|webp)[ \t]*[|#\]]", re.IGNORECASE)
_FOOTNOTE = re.compile(r"\[\^[^\[\]\s]+\]")
_NOTE_HEAD = re.compile(r"\[\^[^\[\]\s]+\]:[ \t]*")  # of the note itself, at the start of a line
_COMMENT = re.compile(r"%%.*?%%", re.DOTALL)
_BLOCK_ID = re.compile(r"\^[A-Za-z0-9-]+[ \t]*(?=\n|$)")
_HIGHLIGHT = re.compile(r"==(?=[^\s=])(.{0,1000}?[^\s=])==", re.DOTALL)
_LINE = re.compile(r"[^\n]*\n|[^\n]+")
_SPACES = re.compile(r"[ \t]{2,}")


def plain(markdown: str) -> str:
    """Return the text that a reader sees of inline Markdown: a heading, a title, a sentence or a paragraph.

    Links, images and wikilinks become their text: `[[Page|alias]]` is "alias", `[[Page#Part]]` is "Page > Part",
    `[[#Part]]` is "Part". Emphasis, strikethrough and `==highlight==` lose their marks, code spans their backticks,
    escapes their backslash; entities are decoded. Footnote marks, `%%comments%%`, HTML tags, embedded pictures
    (`![[icon.svg]]`) and block ids (` ^id` at the end of a line) are removed. Line ends stay; white space around the
    text is removed. Block markup (lists, quotes, tables, fences) is left as it is: pass what is inside of it. Linear in
    the length of the text, line by line.
    """
    if not _MARKUP.search(markdown):
        return markdown.strip()
    pieces = [markdown] if len(markdown) <= _PARSED_CHARS else [line[0] for line in _LINE.finditer(markdown)]
    parser = _inline_parser(_MAX_NESTING)
    return "".join(_plain(part, parser) for piece in pieces for part in _cut(piece)).strip()


def _cut(piece: str) -> Iterator[str]:
    for start in range(0, len(piece), _PARSED_CHARS):
        yield piece[start : start + _PARSED_CHARS]


def _plain(part: str, parser: MarkdownIt) -> str:
    body = part.rstrip("\n")
    if not _MARKUP.search(body):
        return part
    tokens: list[Token] = []
    parser.inline.parse(body, parser, {}, tokens)
    return _SPACES.sub(" ", "".join(_texts(tokens))) + part[len(body) :]


def _texts(tokens: Sequence[Token]) -> Iterator[str]:
    for token in tokens:
        if token.type in ("softbreak", "hardbreak"):
            yield "\n"
        elif token.type == "image":
            yield "".join(_texts(token.children or ()))
        elif token.type == "html_inline":
            yield " " if token.content[:3].lower() == "<br" else ""
        else:
            yield token.content


@cache
def _inline_parser(max_nesting: int) -> MarkdownIt:
    from markdown_it import MarkdownIt  # 0.05 s: only if there is markup

    parser = MarkdownIt("commonmark", {"html": True, "maxNesting": max_nesting}).enable(["strikethrough"])
    for name, rule in (("wikilink", _wikilink), ("note_mark", _note_mark), ("highlight", _highlight)):
        parser.inline.ruler.before("link", name, rule)
    parser.inline.ruler.at("text", _text)
    return for_threads(parser)


_TERMINATORS = re.compile(r"[\n!#$%&*+\-:<=>@\[\\\]^_`{}~]")


def _text(state: StateInline, silent: bool) -> bool:
    """Take the characters before the next one that may begin markup; markdown-it's own rule passes over `%`."""
    found = _TERMINATORS.search(state.src, state.pos)
    end = found.start() if found else state.posMax
    if end == state.pos:
        return False
    if not silent:
        state.pending += state.src[state.pos : end]
    state.pos = end
    return True


def _wikilink(state: StateInline, silent: bool) -> bool:
    link = _WIKILINK.match(state.src, state.pos)
    if link is None:
        return False
    if _PICTURE.match(link[0]):  # what would be its text is a size
        return _replace(state, link.end(), "", silent)
    target, alias = link[1].strip(), (link[2] or "").strip()
    return _replace(state, link.end(), alias or _shown_target(target), silent)


def _shown_target(target: str) -> str:
    """Return a link's target as the note-taking program shows it, without the id of a block."""
    parts = [part.strip() for part in target.split("#")]
    return " > ".join(part for part in parts if part and not part.startswith("^"))


def _note_mark(state: StateInline, silent: bool) -> bool:
    """Leave out a comment, the mark of a footnote, or the id of a block."""
    pattern = {"%": _COMMENT, "[": _FOOTNOTE, "^": _BLOCK_ID}.get(state.src[state.pos])
    if pattern is None or (pattern is _BLOCK_ID and state.src[max(0, state.pos - 1) : state.pos].strip()):
        return False
    if pattern is _FOOTNOTE and not state.src[max(0, state.pos - 1) : state.pos].strip("\n"):
        pattern = _NOTE_HEAD if _NOTE_HEAD.match(state.src, state.pos) else pattern
    found = pattern.match(state.src, state.pos)
    return found is not None and _replace(state, found.end(), "", silent)


def _highlight(state: StateInline, silent: bool) -> bool:
    if state.src[state.pos] != "=":
        return False
    found = _HIGHLIGHT.match(state.src, state.pos)
    if found is None or state.src[max(0, state.pos - 1) : state.pos] == "=":
        return False
    if not silent:
        end, state.pos, state.posMax = state.posMax, found.start(1), found.end(1)
        state.md.inline.tokenize(state)
        state.posMax = end
    state.pos = found.end()
    return True


def _replace(state: StateInline, end: int, text: str, silent: bool) -> bool:
    if not silent:
        state.pending += text
    state.pos = end
    return True
