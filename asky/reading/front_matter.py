"""Front matter: the YAML properties at the start of a Markdown file, between two lines of `---`.

Properties are data about the note and no prose, but people ask for them ("Which notes are tagged recipe?", "When did
the trip end?"), and an answer has to cite a passage. So the front matter stays in the stored text, as a section of its
own, `PROPERTIES`, that no chunk shares with the prose below it: it is found by its words and by the title beside them,
and is cited like any passage. It is also the metadata of the source.

Values are kept as they are written: the YAML is parsed into events and never constructed, so `no` is not a boolean, a
date stays as it is, no tag makes an object, and neither an alias nor a merge multiplies anything.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

from asky.reading.limits import OMITTED
from asky.reading.text_builder import UNREAD_PARTS
from asky.text.plain import plain
from asky.text.scrub import one_line

PROPERTIES = "Properties"
"""The heading of the section that holds the front matter. Its level is 0: it belongs to no outline."""

# Notes have a few hundred bytes of it; a larger one is only searched. libyaml parses this much in 5 ms.
_PARSED_CHARS = 65_536
_MAX_PROPERTIES = 200
_MAX_DEPTH = 4
_REFUSED_DEPTH = 50  # such YAML was built to take time
_VALUE_CHARS = 2_000
BETWEEN = "; "
"""What stands between the members of a list in a property's value."""

_BLOCK = re.compile(r"---[ \t]*\n(.*?\n)?(?:---|\.\.\.)[ \t]*(?:\n|$)", re.DOTALL)
_FIRST_LINE = re.compile(r"(?:[ \t]*(?:#[^\n]*)?\n)*(?!-[ \t])[^\s#:][^\n:]*:(?:\s|$)")
_LINE = re.compile(r"^([^\s#:-][^\n:]{0,100}):[ \t]+(\S[^\n]*)$", re.MULTILINE)
_DATE = re.compile(r"(\d{4})(?:-(0[1-9]|1[0-2])(?:-(0[1-9]|[12]\d|3[01])(?!\d))?)?(?![\d-])")

_AUTHORS = ("author", "authors", "creator")
_DATES = ("published", "date", "pubdate", "publishdate")
_TAGS = ("tags", "tag", "keywords")
_ALIASES = ("aliases", "alias")
# These say how a file was read, and no file may say it of itself.
_RESERVED = frozenset(
    {
        "title",
        OMITTED,
        UNREAD_PARTS,
        "pages_without_text",
        "invisible_characters",
        "hidden_characters",
        "hidden_comments",
        "of_the_work",
    }
)


@dataclass(frozen=True, slots=True)
class FrontMatter:
    """The front matter of a text: it ends at offset `end`, where the body begins; 0 if there is none."""

    end: int = 0
    title: str | None = None
    metadata: dict[str, str] = field(default_factory=dict)


def front_matter(text: str) -> FrontMatter:
    """Return the front matter of `text` and its properties; linear time, and no YAML fails.

    It begins with the first line and ends with the next line of `---` or `...`; what has no key before that is a
    thematic break. The keys of `metadata` are in lower case and those of nested properties joined with a dot; values
    are plain text, members of a list joined with "; ". `author`, `published` (ISO 8601), `tags` (without `#`) and
    `aliases` are taken from their usual names. If the YAML is broken, its lines of `key: value` are taken.
    """
    block = _BLOCK.match(text)
    if block is None or not _FIRST_LINE.match(block[1] or ""):
        return FrontMatter(block.end() if block and not (block[1] or "").strip() else 0)
    found = _properties(block[1]) if len(block[1]) <= _PARSED_CHARS else {}
    title = one_line(plain(" ".join(found.get("title", [])))) or None
    return FrontMatter(block.end(), title, _metadata(found))


def _properties(yaml: str) -> dict[str, list[str]]:
    """Return the values of each property, as written; the last of equal keys counts."""
    from yaml import YAMLError  # 20 ms: only if a note has front matter

    found: dict[str, list[str]] = {}
    try:
        for key, values in _pairs(yaml):
            found[key] = values
            if len(found) >= _MAX_PROPERTIES:
                break
    except (YAMLError, ValueError):
        if found:
            found.popitem()  # the error may be in its value
        return {**dict(islice(_lines(yaml), _MAX_PROPERTIES)), **found}
    return found


def _lines(yaml: str) -> Iterator[tuple[str, list[str]]]:
    """Yield the lines of `key: value` of broken YAML."""
    for line in _LINE.finditer(yaml):
        yield line[1].strip().lower(), [one_line(line[2], _VALUE_CHARS).strip("\"'")]


def _pairs(yaml: str) -> Iterator[tuple[str, list[str]]]:
    """Yield the properties in order, each with its scalars; nested keys are joined with dots."""
    path: list[str | None] = []  # the pending key of each open mapping; `None` if a value ended and a key is next
    kinds: list[str] = []
    values: list[str] = []
    for event in _events(yaml):
        kind = type(event).__name__
        if kind in ("MappingStartEvent", "SequenceStartEvent"):
            if len(kinds) >= _REFUSED_DEPTH:
                raise ValueError("nested too deeply")
            kinds.append(kind[0])
            path.append(None)
        elif kind in ("MappingEndEvent", "SequenceEndEvent"):
            kinds.pop()
            path.pop()
            yield from _end_value(path, kinds, values)
        elif kind in ("ScalarEvent", "AliasEvent"):
            text = one_line(event.value, _VALUE_CHARS) if kind == "ScalarEvent" else ""
            if kinds and kinds[-1] == "M" and path[-1] is None:
                path[-1] = text
            else:
                if text and len(kinds) <= _MAX_DEPTH:
                    values.append(text)
                yield from _end_value(path, kinds, values)


def _end_value(path: list[str | None], kinds: list[str], values: list[str]) -> Iterator[tuple[str, list[str]]]:
    """Yield the property whose value has ended, unless it is a member of a list: lists are one value."""
    if not kinds or kinds[-1] != "M":
        return
    names = [name for name in path if name]
    is_in_list = "S" in kinds
    if path[-1] is None:  # the key itself was a list or a mapping
        path[-1] = ""
        values.clear()
        return
    path[-1] = None
    if is_in_list:
        return
    if values and names:
        yield ".".join(names).lower(), values.copy()
    values.clear()


def _events(yaml: str) -> Iterator[Any]:
    """Parse with libyaml where PyYAML has it; neither parser recurses, and libyaml refuses more than 1,000 levels."""
    import yaml as library  # 20 ms: only if a note has front matter

    loader = getattr(library, "CSafeLoader", library.SafeLoader)
    yield from library.parse(yaml, Loader=loader)


def _metadata(found: dict[str, list[str]]) -> dict[str, str]:
    shown = {key: [text for value in values if (text := plain(value))] for key, values in found.items()}
    metadata = {one_line(key, 100): _joined(values) for key, values in shown.items() if key not in _RESERVED}
    authors = next((shown[key] for key in _AUTHORS if shown.get(key)), [])
    dates = (_DATE.match(shown[key][0]) for key in _DATES if shown.get(key))
    tags = next((_split_tags(found[key]) for key in _TAGS if found.get(key)), [])
    aliases = next((shown[key] for key in _ALIASES if shown.get(key)), [])
    known = {
        "author": _joined(authors),
        "published": next((date[0] for date in dates if date), ""),
        "tags": _joined(tags),
        "aliases": _joined(aliases),
    }
    return {key: value for key, value in {**metadata, **known}.items() if key and value}


def _joined(values: list[str]) -> str:
    return one_line(BETWEEN.join(value.replace(";", ",") if len(values) > 1 else value for value in values), None)


def _split_tags(values: list[str]) -> list[str]:
    """Return tags without `#`; one text may hold several, with commas or else spaces between them."""
    written = values[0].split("," if "," in values[0] else None) if len(values) == 1 else values
    return [name for tag in written if (name := plain(tag.strip().lstrip("#")))]
