"""A model's Markdown as text that does nothing: it is parsed, and written again from what a note may hold.

What is written is headings, paragraphs, lists, quotes, tables, code, formulas and links to known places. Everything
else that occurs in it is text: nothing is loaded when the note is opened, no plugin runs it, and it ends no section.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING
from urllib.parse import quote

from asky.reading.front_matter import front_matter
from asky.text.scrub import scrub, strip_sequences
from asky.text.urls import canonical_url

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.rules_core import StateCore
    from markdown_it.rules_inline import StateInline
    from markdown_it.tree import SyntaxTreeNode

_TOP_LEVEL = 3
_LOWEST_LEVEL = 6
_MAX_NESTING = 40
_MAX_CHARS = 20_000  # of a paragraph whose inline markup is parsed, which takes the square of its brackets
_MAX_OPENINGS = 400
_MAX_CELLS = 2_000  # of a table, whose parser adds the cells that a row lacks
_MAX_PASSES = 6  # escaping can change what is emphasis: the second pass sees it
_PREFIX = "asky-"

# Languages that no plugin of Obsidian runs or renders. Any other name of a fence may be a program to one of them:
# dataview, dataviewjs, tasks, query, button, js-engine, mermaid, and those that come.
_LANGUAGES = frozenset(
    """
    bash bibtex c c++ cpp cs csharp css csv diff go haskell html ini java javascript js json julia kotlin latex lua
    markdown matlab md perl php powershell py python r ruby rust scala sh shell sql swift tex text toml ts typescript
    xml yaml
    """.split()  # noqa: SIM905 - names read better in lines
)
# Inline code that plugins run: Dataview (`= `, `$= `), Numerals, Meta Bind.
_RUN_INLINE = re.compile(r"\s*(?:\$?=|#:|(?:INPUT|VIEW|BUTTON|META)\w*\[)", re.IGNORECASE)
_MATH = re.compile(r"\$\$[^$]+\$\$|\$(?=[^\s$])[^$\n]*(?<=[^\s\\])\$(?!\d)")
_ACTIVE_MATH = re.compile(
    r"\\(?:href|url|html|require|class|cssId|style|data|unicode|include|input)|[`<>#]|%%|::|://|\]\(|\[\[|\[\^|!\[",
    re.IGNORECASE,
)
_WIKILINK = re.compile(r"!?\[\[([^\[\]|\n]*)(?:\\?\|([^\[\]\n]*))?\]\]")
_FOOTNOTE = re.compile(r"\[\^([\w-]{1,64})\]")
_UNSAFE_LABEL = re.compile(r"[^\w\s.,;:()'’&+/–—-]|::")
_ADDRESS = re.compile(r"(?:[A-Za-z][A-Za-z0-9+.-]*://|www\.)[^\s<>`]*[^\s<>`.,;:!?'\"()\[\]*_]")
_ESCAPED = re.compile(
    r"""
      (?P<kept>\[(?:\d{1,4}(?:,\ ?\d{1,4})*|!\w{1,20})\](?![\[(:]))   # citations, the kind of a callout
    | (?<=%)% | (?<=:):                                               # comments; Dataview's fields
    | [\\`*\[\]$^|]
    | (?<![^\W_])_ | _(?![^\W_])                                      # not within a word
    | (?<=~)~ | ~(?=~)
    | \#(?=[^\s\#])(?!\d+(?:[^\w/-]|\Z))                             # tags
    """,
    re.VERBOSE,
)
_ENTITY = re.compile(r"&(?=#?\w+;)")
_HTML = re.compile(r"<(?=[^\s\d=]|\Z)")
_BLOCK_START = re.compile(r"(\d{1,9})(?=[.)](?:\s|\Z))|(?=>|[-+](?:\s|\Z)|(?:-+|=+)[ \t]*\Z|#{1,6}(?:\s|\Z))")
_URL_UNSAFE = re.compile(r"[\s<>()\[\]\\`|\"{}^$]|%(?![0-9A-Fa-f]{2})|(?<=:):")
_OPENINGS = re.compile(r"(?<!\\)[\[$]")
_TICKS = re.compile(r"`+")


def harmless(markdown: str, *, urls: Collection[str], wikilinks: Collection[str]) -> str:
    """Return `markdown` as a part of a note that does nothing and links to nothing but `urls` and `wikilinks`.

    Headings are moved so that the highest is of level 3. A link to one of `urls`, compared in canonical form, gets the
    address as it is there; any other keeps its text, and an address that stands alone becomes code. Images become such
    links. A wikilink or embed whose target, without heading, is one of `wikilinks` becomes a link; any other its text.
    Fences keep the name of a language that nothing runs. HTML, comments, tags, tasks, block ids, formulas with links,
    Dataview's fields and inline code that plugins run are shown as text; `<%` and `%%` occur nowhere. Ids of footnotes
    begin with `asky-`. Front matter and a leading rule are left out, and so is what is invisible. Idempotent.
    """
    text = scrub(strip_sequences(markdown))
    writer = _Writer(urls, wikilinks)
    for _ in range(_MAX_PASSES):
        before, text = text, writer.write(text)
        if text == before:
            return text
    return _fence(text, "")


class _Writer:
    """Writes Markdown from what is parsed of it."""

    def __init__(self, urls: Collection[str], wikilinks: Collection[str]) -> None:
        self._parser = _parser()
        self._urls = dict(_by_canonical_form(urls))
        self._wikilinks = frozenset(wikilinks)
        self._shift = 0
        self._inline: dict[str, Callable[[SyntaxTreeNode], str]] = {
            "text": lambda node: self._text(node.content),
            "code_inline": lambda node: _code(node.content),
            "softbreak": lambda _: "\n",
            "hardbreak": lambda _: "\n",
            "em": lambda node: node.markup + self._spans(node.children) + node.markup,
            "strong": lambda node: node.markup + self._spans(node.children) + node.markup,
            "s": lambda node: f"~~{self._spans(node.children)}~~",
            "link": self._link,
            "image": self._link,
            "html_inline": lambda node: " " if node.content[:3].lower() == "<br" else self._text(node.content),
            "wikilink": lambda node: self._wikilink(node.content),
            "footnote": lambda node: f"[^{node.content}]",
            "math": lambda node: node.content,
        }

    def write(self, text: str) -> str:
        """Return the parsed `text` as Markdown."""
        from markdown_it.tree import SyntaxTreeNode

        tokens = self._parser.parse(text[front_matter(text).end :])
        highest = min((int(token.tag[1:]) for token in tokens if token.type == "heading_open"), default=_TOP_LEVEL)
        self._shift = max(0, _TOP_LEVEL - highest)
        blocks = SyntaxTreeNode(tokens).children
        while blocks and blocks[0].type == "hr":
            blocks = blocks[1:]
        return "\n".join(self._blocks(blocks))

    # blocks, as lines

    def _blocks(self, nodes: Sequence[SyntaxTreeNode], *, is_tight: bool = False) -> Iterator[str]:
        """Yield the lines of blocks, with a blank one between two, except in the items of a tight list."""
        before, marker = "", ""
        for node in nodes:
            marker = _next_marker(node, marker if node.type == before else "")
            lines = list(self._block(node, marker))
            if not lines:
                continue
            if before and not (is_tight and before == "paragraph"):
                yield ""
            yield from lines
            before = node.type

    def _block(self, node: SyntaxTreeNode, marker: str) -> Iterable[str]:
        if node.type == "heading":
            level = min(_LOWEST_LEVEL, int(node.tag[1:]) + self._shift)
            return [f"{'#' * level} {' '.join(self._spans_of(node).split())}".rstrip()]
        if node.type == "blockquote":
            return (f"> {line}".rstrip() for line in self._blocks(node.children))
        if node.type in ("bullet_list", "ordered_list"):
            return self._list(node, marker)
        if node.type in ("fence", "code_block"):
            name = node.info.split()[0].lower() if node.info.split() else ""
            return _fence(node.content, name if name in _LANGUAGES else "").split("\n")
        if node.type == "table":
            return self._table(node)
        if node.type == "hr":
            return ["***"]
        if node.type == "paragraph" and not _is_prose(node.children[0].content):
            return _fence(node.children[0].content, "").split("\n")
        content = self._text(node.content) if node.type == "html_block" else self._spans_of(node)
        return [_line(line) for line in content.split("\n") if line.strip()]

    def _list(self, node: SyntaxTreeNode, marker: str) -> Iterator[str]:
        is_tight = all(child.hidden for item in node.children for child in item.children if child.type == "paragraph")
        first = int(node.attrs.get("start", 1))
        for number, item in enumerate(node.children):
            if number and not is_tight:
                yield ""
            bullet = f"{first + number}{marker} " if node.type == "ordered_list" else f"{marker} "
            lines = list(self._blocks(item.children, is_tight=is_tight)) or [""]
            yield (bullet + lines[0]).rstrip()
            yield from ((" " * len(bullet) + line).rstrip() for line in lines[1:])

    def _table(self, node: SyntaxTreeNode) -> Iterator[str]:
        rows = [row.children for part in node.children for row in part.children]
        for number, cells in enumerate(rows[: _MAX_CELLS // len(rows[0])]):
            shown = (" ".join(self._spans_of(cell).split()).replace("|", r"\|") for cell in cells)
            yield f"| {' | '.join(shown)} |"
            if not number:
                yield "|" + "|".join(_ALIGNED.get(str(cell.attrs.get("style", "")), " --- ") for cell in cells) + "|"

    # inline markup

    def _spans_of(self, block: SyntaxTreeNode) -> str:
        return self._spans([span for inline in block.children for span in inline.children])

    def _spans(self, nodes: Sequence[SyntaxTreeNode]) -> str:
        written = ""
        for node in nodes:
            span = self._inline[node.type](node)
            if written.endswith("!") and span.startswith("["):
                written = written[:-1] + r"\!"  # else it would be an image
            elif written.endswith("`") and span.startswith("`"):
                written += " "  # else they would be the ends of one span
            elif written.endswith("]") and span.startswith("("):
                written += "\\"  # else it would be a link
            elif written.endswith("]") and span.startswith("[^"):
                written += " "  # else both might be one link
            written += span
        return written

    def _text(self, text: str, *, is_label: bool = False) -> str:
        """Return a text escaped, with addresses in it as links if they are known, else as code."""
        pieces, end = [], 0
        for found in _ADDRESS.finditer(text):
            url = None if is_label else self._known(found[0])
            pieces += [_escaped(text[end : found.start()]), f"<{url}>" if url else _code(found[0])]
            end = found.end()
        return "".join([*pieces, _escaped(text[end:])])

    def _link(self, node: SyntaxTreeNode) -> str:
        href = str(node.attrs.get("href", node.attrs.get("src", "")))
        url = self._known(href)
        if node.markup == "autolink":
            return f"<{url}>" if url else _code(href)
        label = _shown(node)
        if url is None or not label.strip():
            return self._text(label)
        return f"[{self._text(label, is_label=True)}]({url})"

    def _known(self, url: str) -> str | None:
        with suppress(ValueError):
            return self._urls.get(canonical_url(url))
        return None

    def _wikilink(self, source: str) -> str:
        found = _WIKILINK.fullmatch(source)
        assert found is not None
        target, _, part = found[1].strip().partition("#")
        alias = (found[2] or "").strip()
        if target.strip() not in self._wikilinks:
            return self._text(alias or " > ".join(filter(None, (target.strip(), part.strip()))))
        heading = "" if not part.strip() or _UNSAFE_LABEL.search(part) else f"#{part.strip()}"
        label = "" if not alias or _UNSAFE_LABEL.search(alias) else f"|{alias}"
        return f"[[{target.strip()}{heading}{label}]]"


_ALIGNED = {"text-align:left": " :-- ", "text-align:right": " --: ", "text-align:center": " :-: "}


def _parser() -> MarkdownIt:
    from markdown_it import MarkdownIt  # 0.05 s: only if there is something to write

    parser = MarkdownIt("commonmark", {"maxNesting": _MAX_NESTING}).enable(["strikethrough", "table"])
    parser.disable("reference")
    parser.core.ruler.at("inline", _parse_inline)
    for name in ("wikilink", "footnote", "math"):
        parser.inline.ruler.before("escape", name, _RULES[name])
    parser.validateLink = _is_link  # type: ignore[method-assign]
    parser.normalizeLink = lambda url: url  # type: ignore[method-assign]
    return parser


def _is_link(url: str) -> bool:  # noqa: ARG001 - the parser's own takes some for text, with their addresses
    return True


def _parse_inline(state: StateCore) -> None:
    """Parse the inline content of each block that is prose."""
    from markdown_it.token import Token

    for token in state.tokens:
        if token.type != "inline":
            continue
        token.children = []
        if _is_prose(token.content):
            state.md.inline.parse(token.content, state.md, state.env, token.children)
        else:  # of a heading or a cell; a paragraph becomes code
            token.children.append(Token("text", "", 0, content=_OPENINGS.sub("", token.content)[:_MAX_CHARS]))


def _is_prose(content: str) -> bool:
    return (
        len(content) - content.count("\\") <= _MAX_CHARS
        and sum(1 for _ in _OPENINGS.finditer(content)) <= _MAX_OPENINGS
    )


def _take(state: StateInline, kind: str, found: re.Match[str] | None, content: str, silent: bool) -> bool:
    if found is None:
        return False
    if not silent:
        state.push(kind, "", 0).content = content
    state.pos = found.end()
    return True


def _wikilink(state: StateInline, silent: bool) -> bool:
    found = _WIKILINK.match(state.src, state.pos)
    return _take(state, "wikilink", found, found[0] if found else "", silent)


def _footnote(state: StateInline, silent: bool) -> bool:
    found = _FOOTNOTE.match(state.src, state.pos)
    return _take(state, "footnote", found, _PREFIX + found[1].removeprefix(_PREFIX) if found else "", silent)


def _math(state: StateInline, silent: bool) -> bool:
    found = _MATH.match(state.src, state.pos)
    kind = "code_inline" if found and _ACTIVE_MATH.search(found[0]) else "math"
    return _take(state, kind, found, found[0] if found else "", silent)


_RULES = {"wikilink": _wikilink, "footnote": _footnote, "math": _math}


def _by_canonical_form(urls: Iterable[str]) -> Iterator[tuple[str, str]]:
    for url in urls:
        with suppress(ValueError):
            written = _URL_UNSAFE.sub(lambda found: quote(found[0], safe=""), url)
            yield canonical_url(url), written
            yield canonical_url(written), written


def _next_marker(node: SyntaxTreeNode, before: str) -> str:
    """Return the marker of a list, which differs from that of a list right before it: else both would be one."""
    kinds = {"bullet_list": "-*", "ordered_list": ".)"}.get(node.type, "")
    return next((each for each in kinds if each != before), "")


def _shown(node: SyntaxTreeNode) -> str:
    """Return the text of a link or an image, without markup."""
    if not node.children:
        return " " if node.type.endswith("break") else node.content
    return "".join(_shown(child) for child in node.children)


def _escaped(text: str) -> str:
    kept = _ESCAPED.sub(lambda found: found[0] if found["kept"] else f"\\{found[0]}", text)
    return _HTML.sub("&lt;", _ENTITY.sub("&amp;", kept))


def _line(line: str) -> str:
    """Return a line of a paragraph so that it begins no other block."""
    line = line.strip()
    found = _BLOCK_START.match(line)
    return f"{found[1] or ''}\\{line[found.end() :]}" if found else line


def _code(content: str) -> str:
    """Return inline code, or its text if a plugin would run it."""
    content = _inert(" ".join(content.split("\n")))
    if not content.strip() or _RUN_INLINE.match(content):
        return _escaped(content)
    ticks = "`" * (1 + max((len(run) for run in _TICKS.findall(content)), default=0))
    pad = " " if content[0] in "` " or content[-1] in "` " else ""
    return f"{ticks}{pad}{content}{pad}{ticks}"


def _fence(content: str, language: str) -> str:
    ticks = "`" * max(3, 1 + max((len(run) for run in _TICKS.findall(content)), default=0))
    return "\n".join([ticks + language, *_inert(content).rstrip("\n").split("\n"), ticks])


def _inert(code: str) -> str:
    """Return code without the marks that work in code too: those of Templater and of comments."""
    return code.replace("<%", "< %").replace("%>", "% >").replace("%%", "% %")
