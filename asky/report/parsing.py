"""Parsing of an answer's Markdown into tokens, with marks around its doubtful claims."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from asky.report.formulas import keep_math
from asky.report.marking import Marked, mark_claims
from asky.report.verdicts import is_doubtful
from asky.text.markdown import markdown_parser

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.rules_core import StateCore
    from markdown_it.token import Token

_MAX_CHARS = 20_000  # of a paragraph; a longer one is not prose
_MAX_OPENINGS = 400  # brackets, dollars and backslashes of a paragraph: the parser may scan the rest for each of them
_MAX_NESTING = 100


def parse_answer(text: str, claims: Sequence[Mapping[str, Any]]) -> tuple[list[Token], Marked]:
    """Return the tokens of `text`, and the marked text; without marks if these would change how it is parsed."""
    parser = _parser()
    tokens = parser.parse(text)
    marked = mark_claims(text, claims, [number for number, claim in enumerate(claims) if is_doubtful(claim)])
    if marked.claims:
        with_signs = parser.parse(marked.text)
        if list(_shape(with_signs, marked)) == list(_shape(tokens, marked)):
            return with_signs, marked
    return tokens, Marked(text)


def _parser() -> MarkdownIt:
    parser = markdown_parser(max_nesting=_MAX_NESTING)
    parser.core.ruler.at("inline", _parse_inline)
    keep_math(parser)
    return parser


def _parse_inline(state: StateCore) -> None:
    """Parse the inline content of each block, except blocks that are not prose."""
    from markdown_it.token import Token

    for token in state.tokens:
        if token.type != "inline":
            continue
        token.children = []
        if len(token.content) > _MAX_CHARS or sum(map(token.content.count, "[$\\")) > _MAX_OPENINGS:
            token.children.append(Token("text", "", 0, content=token.content))
        else:
            state.md.inline.parse(token.content, state.md, state.env, token.children)


def _shape(tokens: Sequence[Token], marked: Marked) -> Iterator[tuple[object, ...]]:
    """Yield what is rendered of the tokens, without marks."""
    for token in tokens:
        content = marked.plain(token.content)
        if token.type != "text" or content:
            yield token.type, token.tag, token.hidden, content, tuple(token.attrs.items())
        yield from _shape(token.children or (), marked)
