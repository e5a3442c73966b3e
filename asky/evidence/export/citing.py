"""Citations of a stored answer in words."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

# Characters that can begin markup anywhere in a line. Those that do at its start only follow other text, except in a
# quote.
_MARKUP = re.compile(r"([\\`*_{}\[\]<>&#|~!$])")
_BLOCK = re.compile(r"^([-+=]|\d+[.)])")


def page_text(citation: Mapping[str, Any]) -> str | None:
    """Return `p. 3`, or `p. iv (PDF 6)` if the printed number differs; `None` without pages."""
    page, label = citation["page"], citation["page_label"]
    if page is None:
        return None
    return f"p. {page}" if label in (None, "", str(page)) else f"p. {label} (PDF {page})"


def place_text(citation: Mapping[str, Any]) -> str | None:
    """Return the page as `page_text` does, or `line 12` in a file that has lines and no pages."""
    line = citation.get("line")
    return page_text(citation) or (f"line {line}" if line is not None else None)


def section_text(citation: Mapping[str, Any]) -> str | None:
    """Return the headings above the passage, without the document title that many begin with; `None` if empty."""
    section = citation["section"] or ""
    return None if section == citation["title"] else section.removeprefix(f"{citation['title']} › ") or None


def reference(citation: Mapping[str, Any]) -> str:
    """Return `Title, Section, p. 3 - /path/to/file`, as far as each is known."""
    place = ", ".join(part for part in (citation["title"], section_text(citation), place_text(citation)) if part)
    where = citation["url"] or citation["path"]
    return f"{place} - {where}" if where else place


def as_written(text: str) -> str:
    """Return `text` on one line, escaped so that Markdown shows it literally."""
    line = _MARKUP.sub(r"\\\1", " ".join(text.split()))
    return _BLOCK.sub(lambda found: f"{found[1][:-1]}\\{found[1][-1]}", line)
