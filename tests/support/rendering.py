"""What a page would load that shows an answer, rendered by a viewer that lets HTML through."""

from __future__ import annotations

from html.parser import HTMLParser

from markdown_it import MarkdownIt

_WRITTEN_BY_MARKDOWN = {
    "a", "blockquote", "br", "code", "em", "h1", "h2", "h3", "h4", "h5", "h6", "hr", "li", "ol", "p", "pre", "s",
    "strong", "table", "tbody", "td", "th", "thead", "tr", "ul",
}  # fmt: skip
_OF_LETTERS = {
    "abbr", "b", "cite", "del", "dfn", "i", "ins", "kbd", "mark", "q", "samp", "small", "sub", "sup", "u", "var", "wbr",
}  # fmt: skip
_ATTRIBUTES = {"a": {"href", "title"}, "code": {"class"}, "ol": {"start"}, "td": {"style"}, "th": {"style"}}
_ALIGNED = ("text-align:left", "text-align:center", "text-align:right")


class _Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.suspect: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in _WRITTEN_BY_MARKDOWN | _OF_LETTERS:
            self.suspect.append(tag)
        self.suspect += [
            f"{tag} {name}"
            for name, value in attrs
            if name not in _ATTRIBUTES.get(tag, ()) or (name == "style" and value not in _ALIGNED)
        ]

    def handle_comment(self, data: str) -> None:
        self.suspect.append(f"<!--{data}-->")

    def handle_decl(self, decl: str) -> None:
        self.suspect.append(f"<!{decl}>")

    def handle_pi(self, data: str) -> None:
        self.suspect.append(f"<?{data}>")

    def unknown_decl(self, data: str) -> None:
        self.suspect.append(f"<![{data}]>")


def rendered(markdown: str) -> str:
    """`markdown` as HTML, with what HTML it holds itself."""
    return str(MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"]).render(markdown))


def loaded_by(markdown: str) -> list[str]:
    """What in the rendered `markdown` may load something: every tag and attribute but those known to load nothing."""
    tags = _Tags()
    tags.feed(rendered(markdown))
    tags.close()
    return tags.suspect
