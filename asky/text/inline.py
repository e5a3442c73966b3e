"""Inline markup of Markdown as the text that a reader sees."""

from __future__ import annotations

import re

_COMMENT = re.compile(r"%%.*?%%|<!--.*?-->", re.DOTALL)
_IMAGE = re.compile(r"!\[([^\[\]]*)\]\([^()\n]*\)")
_EMBED = re.compile(r"!\[\[(?:[^\[\]|\n]*\|)?([^\[\]|\n]*)\]\]")
_WIKI_LINK = re.compile(r"\[\[(?:[^\[\]|\n]*\|)?([^\[\]|\n]*)\]\]")
_LINK = re.compile(r"(?<!!)\[([^\[\]]*)\]\((?:[^()\n]|\([^()\n]*\))*\)")
_AUTOLINK = re.compile(r"<((?:https?|mailto):[^<>\s]+)>")
_FOOTNOTE = re.compile(r"\[\^[^\[\]\s]{1,40}\]")
_BLOCK_ID = re.compile(r"(?m)\s\^[A-Za-z0-9-]{1,40}$")
_CODE = re.compile(r"(`+)(?!`)(.+?)(?<!`)\1(?!`)", re.DOTALL)
_STRONG = re.compile(r"(?<!\w)(\*\*\*|___|\*\*|__|~~|==)(?=\S)(.+?)(?<=\S)\1(?!\w)", re.DOTALL)
_STRONG_INSIDE = re.compile(r"(\*\*\*|\*\*|~~|==)(?=\S)(.+?)(?<=\S)\1", re.DOTALL)
_EMPHASIS = re.compile(
    r"(?<![\w*])\*(?=[^\s*])([^*\n]+?)(?<=[^\s*])\*(?![\w*])|(?<![\w_])_(?=[^\s_])([^_\n]+?)(?<=[^\s_])_(?![\w_])"
)
_ESCAPE = re.compile(r"\\([\\`*_{}\[\]()#+\-.!|~=<>^])")


def inline_text(source: str) -> str:
    """Return `source` without the inline markup of Markdown and of Obsidian, as a reader sees it.

    Links and wikilinks become their text, images their description; emphasis, highlights, code marks, comments,
    footnote marks, ids of blocks and the backslashes of escapes are left out. Text in code marks stays as it is. Plain
    text, such as `snake_case` and `2 * 3 * 4`, is unchanged; linear time for lines of ordinary length.
    """
    if not any(sign in source for sign in "*_[`~=%<\\^"):
        return source
    kept: list[str] = []

    def keep(match: re.Match[str]) -> str:
        kept.append(match[2].strip() or match[2])
        return f"\x00{len(kept) - 1}\x00"

    def keep_escaped(match: re.Match[str]) -> str:
        kept.append(match[1])
        return f"\x00{len(kept) - 1}\x00"

    text = _CODE.sub(keep, source.replace("\x00", ""))
    text = _ESCAPE.sub(keep_escaped, text)
    text = _BLOCK_ID.sub("", _FOOTNOTE.sub("", _COMMENT.sub("", text)))
    text = _EMBED.sub(r"\1", _IMAGE.sub(r"\1", text))
    text = _LINK.sub(r"\1", _WIKI_LINK.sub(lambda match: match[1].replace("#", " › ").strip(" ›"), text))
    text = _AUTOLINK.sub(r"\1", text)
    for _ in range(3):  # emphasis in emphasis
        text = _STRONG.sub(r"\2", text)
        text = _STRONG_INSIDE.sub(r"\2", text)
        text = _EMPHASIS.sub(lambda match: match[1] or match[2], text)
    return re.sub(r"\x00(\d+)\x00", lambda match: kept[int(match[1])], text)
