"""The Markdown of an answer as tokens, with signs in them for where its doubtful claims stand."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from asky.report.formulas import keep_math
from asky.report.marking import Marked, mark_claims
from asky.report.verdicts import is_doubtful

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.rules_core import StateCore
    from markdown_it.token import Token

_LONGEST = 20_000  # characters of a paragraph that are worth the time; a longer one is no prose
_MOST_OPENED = 400  # brackets, dollars and backslashes of one: for each, the parser may look through all that follows
_MAX_NESTING = 100


def parse_answer(text: str, claims: Sequence[Mapping[str, Any]]) -> tuple[list[Token], Marked]:
    """The tokens of `text`, and the text with its signs; without any where they would change how it is read."""
    parser = _parser()
    tokens = parser.parse(text)
    marked = mark_claims(text, claims, [number for number, claim in enumerate(claims) if is_doubtful(claim)])
    if marked.claims:
        with_signs = parser.parse(marked.text)
        if list(_shape(with_signs, marked)) == list(_shape(tokens, marked)):
            return with_signs, marked
    return tokens, Marked(text)


def _parser() -> MarkdownIt:
    from markdown_it import MarkdownIt  # 0.05 s: only where a report is made

    parser = MarkdownIt("commonmark", {"html": False, "maxNesting": _MAX_NESTING}).enable(["strikethrough", "table"])
    parser.disable("reference")
    parser.core.ruler.at("inline", _parse_inline)
    keep_math(parser)
    return parser


def _parse_inline(state: StateCore) -> None:
    """Parse the text of each block, but for those that are no prose."""
    from markdown_it.token import Token

    for token in state.tokens:
        if token.type != "inline":
            continue
        token.children = []
        if len(token.content) > _LONGEST or sum(map(token.content.count, "[$\\")) > _MOST_OPENED:
            token.children.append(Token("text", "", 0, content=token.content))
        else:
            state.md.inline.parse(token.content, state.md, state.env, token.children)


def _shape(tokens: Sequence[Token], marked: Marked) -> Iterator[tuple[object, ...]]:
    """What is rendered of the tokens, without signs."""
    for token in tokens:
        content = marked.plain(token.content)
        if token.type != "text" or content:
            yield token.type, token.tag, token.hidden, content, tuple(token.attrs.items())
        yield from _shape(token.children or (), marked)
