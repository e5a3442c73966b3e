"""The quotable units of passages: sentences, lists with their lead-in, table rows, settings, definitions in code.

A unit is what can be quoted alone and still be understood. It is found by its own words and, with less weight, by its
context: the headings above it, the head of its table, the sentence that introduces it.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import pairwise, zip_longest
from typing import Literal, Protocol

from asky.llm.extractive.forms import form_of, is_code_name, is_head, loose_code, small_objects
from asky.llm.extractive.pieces import (
    FENCE_LINE,
    LIST_MARKER,
    MAIL_HEAD,
    Code,
    block_end,
    code_begun_before,
    code_in,
    heading_line,
    is_ended,
    is_label,
    line_spans,
    pieces_of,
)
from asky.llm.extractive.tasks import task_state
from asky.text.beside.remarks import remark_spans, without_remarks
from asky.text.indices import shown_text
from asky.text.tables import bar_tables, cells_of
from asky.text.terms import content_terms, terms_of, words
from asky.values import Location, Span


class PassageText(Protocol):
    """A passage as shown to the model: its key, its text and its place; of its source the title, authors and file name.

    It is a dataclass.

    `sections` are those that begin within `text`: the offset there, and the headings above it, joined. `file` is empty
    if the title is the name of the file; `linked_from` is the title of the source whose passage led to this one, or
    empty.
    """

    @property
    def key(self) -> str: ...

    @property
    def title(self) -> str: ...

    @property
    def text(self) -> str: ...

    @property
    def location(self) -> Location: ...

    @property
    def sections(self) -> Sequence[tuple[int, str]]: ...

    @property
    def authors(self) -> str: ...

    @property
    def file(self) -> str: ...

    @property
    def linked_from(self) -> str: ...


UnitKind = Literal[
    "sentence", "item", "list", "task", "table", "row", "field", "property", "code", "entry", "heading", "remark"
]


RECORDS: frozenset[UnitKind] = frozenset({"row", "field", "property", "entry", "table", "task"})
"""Units that resemble each other and are told apart by one value: near repetitions of each other, but not the same."""


@dataclass(frozen=True, slots=True)
class Unit:
    """A unit of a passage: `passages[passage].text[span]`.

    `position` counts the units of its passage from 0. `text` is the stored text, without the marker of a list item,
    `terms` are its distinct content terms, and `context` those around it that it depends on; `heading` is the text of
    the heading above it in the passage, and `section` has all headings above it, joined. Of a setting, `key` are the
    terms of its last key, `beside` those of the object that it belongs to, and `heading` its name. Of the row of a
    table with a head, `labelled` is its text with the names of the columns. `quotable` is false for a unit that only
    gives context; `complete` is false for one that is no sentence.
    """

    passage: int
    position: int
    span: Span
    text: str
    kind: UnitKind
    terms: frozenset[str]
    context: frozenset[str]
    quotable: bool
    complete: bool
    heading: str = ""
    section: str = ""
    key: frozenset[str] = frozenset()
    beside: frozenset[str] = frozenset()
    labelled: str = ""

    @property
    def quote(self) -> str:
        """Return `text` as it is quoted: on one line, or in lines for a list, a table or code.

        Inline markup is shown as text. A source's own `[3]` would read as a citation of the answer, and is left out of
        prose; the index of a path is none.
        """
        if self.kind == "code":
            return self.text
        if self.kind == "remark":
            return " ".join(self.text.split())
        if self.kind == "heading":
            return _one_line(_HEADING_MARK.sub("", self.text))
        if self.labelled:
            return self.labelled
        if self.kind in RECORDS:
            return "\n".join(" ".join(line.split()) for line in self.text.split("\n"))
        if self.kind == "list":
            return "\n".join(_shown_lines(_with_named_rows(self.text.rstrip())))
        return _one_line(self.text)


def _with_named_rows(text: str) -> str:
    """Return a list with the rows of the tables in it as items that name their columns, and without the heads."""
    for table in reversed(list(bar_tables(text)) if not FENCE_LINE.search(text) else []):
        if table.names:
            items = "\n".join(f"- {row.named}" for row in table.rows)
            text = text[: table.lines[0].start] + items + text[table.lines[-1].end :]
    return text


def _shown_lines(text: str) -> Iterator[str]:
    """Yield the lines of a list without markup; those of a block of code in it as they are."""
    in_code = False
    for line in text.split("\n"):
        is_fence = FENCE_LINE.match(line) is not None
        if is_fence or in_code:
            yield line.rstrip()
        elif not _RST_MARKUP.match(line) and (shown := _one_line(line)).strip("|-: "):
            yield shown
        in_code ^= is_fence


_MIN_WORDS = 4
_MIN_ENDED = 2  # words of what ends as a sentence does, or has a number: "Serves 6.", "Total £2,437.00"
_MAX_WORDS = 90
_MAX_CHARS = 1_000
_MIN_LETTERS, _MIN_LETTERS_BESIDE_NUMBERS = 0.5, 0.3  # of the signs: "Sun 2 Nov 13:50 Lisbon LIS"
_MAX_SYMBOLS = 0.08
_MAX_LIST_WORDS = 180  # of a list that is quoted as a whole
_MAX_LIST_LINES = 40
_MAX_CODE_LINES = 12
_BULLETS = "-*+•◦▪‣·●○■□–—"
_RST_MARKUP = re.compile(r"\s*(?:\.\. [\w-]+::|:[\w-]+:(?:\s|$))")
_FRONT_MATTER = re.compile(r"\A---[ \t]*\n(.*?\n)(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.DOTALL)
_ITEM_OR_HEADING_MARK = re.compile(
    r"^(?:#{1,6}\s+|[-*+•]\s+|\(?\d{1,3}[.)]\s+|\(?[A-Za-z][.)]\s+)|\s*#+\s*$|\n\s*[=-]{3,}\s*$"
)
_HEADING_MARK = re.compile(r"^#{1,6}\s+|\s*#+\s*$|\n\s*[=-]{3,}\s*$")
_REFERENCE_ENTRY = re.compile(
    r"^(?:\[\^?\d{1,3}\](?![\[.]\S)[^\n:]|[^\n]*\b(?:doi:|ISBN\b|arXiv:\d))[^\n]*$", re.MULTILINE
)
_SENTENCE_BREAK = re.compile(r"(?:[^\W\d_]{2}|\d{3}|[)%])[.!?] [A-Z]")
_ABOUT_MAIL = re.compile(
    r"^(?:>[ \t]?)*(?:From|Von|De|Subject|Betreff|Objet):[ \t]+(?:(?:Re|Fwd?|AW|WG): ?)*([^\n<]*)", re.MULTILINE
)
_MAIL_TERMS = terms_of("mail email message letter wrote write written sent send sender")
_FAILURE = re.compile(r"\b(?:ERROR|ERR|FATAL|CRITICAL|WARN(?:ING)?|panic|Traceback|[Ee]xception|[Ff]ail(?:ed|ure))\b")
_FAILURE_TERMS = terms_of("error problem wrong went failed failure issue broke crash trouble")
_NOT_PROSE = re.compile(
    r"^#{1,6}\s|\t.*\t|^[$>]|^!\[|^={3,}|\n\s*[=-]{3,}\s*$|https?://\S+\s*$"
    r"|^\*\*[^*]+\*\*$|^__[^_]+__$"  # a heading in bold
    r"|^(?:For more (?:information|details)|See also|Learn more|To learn more|Read more)\b"
)
_LEADS_IN = re.compile(r"[:：]\W*$|\b(?:below|as follows|(?:the|these) following(?: \w+){0,4})[.:]?\W*$", re.IGNORECASE)
_BIBLIOGRAPHY = re.compile(
    r"(?:^|› )(?:[\dIVX]+\.?\s+)?(?:references|bibliography|works cited|(?:cited )?literature|literature cited)$",
    re.IGNORECASE,
)
_TOP_INDEX = re.compile(r"^(?:\[\d+\])+\.(?=\w)", re.MULTILINE)  # of `[0].note: ...`, a sentence in a list of JSON
_DIGIT = re.compile(r"\d")
_KEY_LIKE = re.compile(r"\[\s*P[0-9a-fA-F]{4,8}\b")  # would read as a citation key
_SYMBOLS = frozenset("{}<>=;|\\$#~^@")
_FIELD = re.compile(r"\s*([^=\n]{1,150}?)\s*(?::(?=\s|$)|=)\s*(.*)", re.DOTALL)
_INDEX = re.compile(r"\[\d+\]$")
_IDENTIFIES = re.compile(
    r"(?:\w*_)?(?:name|id|title|label|ssid|host|hostname|alert|job|image|user|username|email|slug)", re.IGNORECASE
)


def unit_of(number: int, passage: PassageText, span: Span, kind: UnitKind) -> Unit:
    """Return what stands at `span` of the passage with this number, as a unit of its own."""
    text = passage.text[span.start : span.end]
    return Unit(number, span.start, span, text, kind, terms_of(text), frozenset(), True, kind == "sentence")


def is_mail_head(unit: Unit) -> bool:
    """Return whether a unit is what stands above a mail: who wrote it, to whom, when and about what."""
    return unit.kind == "entry" and MAIL_HEAD.match(unit.text) is not None


def read_units(passages: Sequence[PassageText]) -> list[Unit]:
    """Return the units of all passages in order.

    Only the first occurrence of a text is quotable, unless it stands in several sections of one source, and nothing in
    the bibliography of a paged document.
    """
    seen: dict[str, tuple[str, set[str]]] = {}
    found: list[Unit] = []
    for index, passage in enumerate(passages):
        title = terms_of(passage.title)
        parts = _parts(passage)
        for position, unit in enumerate(_with_remarks(passage, parts)):
            path = next(path for start, path in reversed(parts) if start <= unit.span.start)
            source, paths = seen.setdefault(unit.quote, (passage.title, set()))
            if paths and (source != passage.title or path in paths):
                continue
            paths.add(path)
            section = terms_of(path)
            is_bibliography = passage.location.page is not None and _BIBLIOGRAPHY.search(path) is not None
            context = unit.context | section
            # a repetition of the title, or of the section's at the start, is a heading
            is_heading = unit.terms <= title or (position == 0 and not unit.complete and unit.terms <= section)
            adds = unit.kind not in ("sentence", "item") or not is_heading
            found.append(
                replace(
                    unit,
                    passage=index,
                    position=position,
                    section=path,
                    context=context - unit.terms,
                    quotable=unit.quotable and adds and not is_bibliography,
                )
            )
    return found


def _parts(passage: PassageText) -> list[tuple[int, str]]:
    """Return where the sections of a passage begin in it, and the headings of each, joined."""
    return [(0, passage.location.section or ""), *passage.sections]


def _with_remarks(passage: PassageText, parts: Sequence[tuple[int, str]]) -> Sequence[Unit]:
    """Return the units of a passage in order; the remarks of others in it are units, each whole."""
    remarks = [_unit(passage.text, Span(*span), "remark") for span in remark_spans(passage.text)]
    names = cells_of(passage.location.columns) if passage.location.columns else ()
    units = [*_units_of(without_remarks(passage.text), passage.title, parts, names), *remarks]
    return sorted(units, key=lambda unit: unit.span.start) if remarks else units


def _units_of(text: str, title: str, parts: Sequence[tuple[int, str]], names: Sequence[str]) -> Iterator[Unit]:
    form = form_of(text, title)
    if form == "prose" or _FRONT_MATTER.match(text):
        yield from _prose(text, parts, names)
    elif form == "code" and not is_code_name(title):
        yield from _prose(text, parts, names, loose_code(text))
    elif form == "code":
        yield from _code_blocks(text, Span(0, len(text)), frozenset())
    elif form == "fields":
        yield from _with_siblings(list(_fields(text)))
    else:
        kind: UnitKind = "row" if form == "rows" else "entry"
        lines = list(line_spans(text, entries=form == "log"))
        for span, below in zip_longest(lines, lines[1:], fillvalue=Span(0, 0)):
            heads = kind == "row" and is_head(text[span.start : span.end], text[below.start : below.end])
            yield _unit(text, span, kind, quotable=not heads)


def _unit(
    text: str, span: Span, kind: UnitKind, context: frozenset[str] = frozenset(), *, quotable: bool = True
) -> Unit:
    body = text[span.start : span.end]
    if kind == "entry" and _FAILURE.search(body):
        context |= _FAILURE_TERMS
    complete = kind in ("sentence", "item") and is_ended(body)
    quotable = quotable and bool(body.strip()) and not _KEY_LIKE.search(body)
    return Unit(0, 0, span, body, kind, terms_of(body), context, quotable, complete)


# prose, which may have lists, tables and code in it


def _prose(
    text: str, parts: Sequence[tuple[int, str]], names: Sequence[str], loose: Sequence[Span] = ()
) -> Iterator[Unit]:
    front = _FRONT_MATTER.match(text)
    begin = front.end() if front else 0
    if front:
        for unit in _fields(text, Span(front.start(1), front.end(1))):
            yield replace(unit, kind="property")
    if not front and (inside := code_begun_before(text)):
        yield from _code_blocks(text, Span(0, inside.start), frozenset())
        begin = inside.end
    fences = [(each.start, each.end, each) for each in loose] or code_in(text, begin)
    for (start, path), (stop, _) in pairwise([*parts, (len(text), "")]):
        part = Span(max(begin, start), max(begin, stop))
        yield from _section(text, part, path.rpartition(" › ")[2], [f for f in fences if start <= f[0] < stop], names)


def _section(text: str, part: Span, named: str, fences: Sequence[Code], names: Sequence[str]) -> Iterator[Unit]:
    """Yield the units of a section or of what a passage has of it, which may begin with the heading that names it."""
    asides = [match.span() for match in _REFERENCE_ENTRY.finditer(text, part.start, part.end)]
    head = heading_line(text, part, named)
    heading = named if head is not None or part.start else ""
    heading_terms = terms_of(heading)
    if head is not None:
        yield _unit(text, head, "heading", quotable=False)
    pieces = list(pieces_of(text, Span(head.end if head else part.start, part.end), fences, names))
    number = 0
    while number < len(pieces):
        kind, span = pieces[number]
        body = text[span.start : span.end]
        before_code = pieces[number + 1 : number + 2] and pieces[number + 1][0] == "code"
        is_fenced = not before_code or pieces[number + 1][1] not in [inner for _, _, inner in fences]
        leads = is_fenced and (_LEADS_IN.search(body) or (before_code and not is_ended(body)))
        end = block_end(text, pieces, number, leads=bool(leads))
        block = pieces[number:end]
        number = end
        before_record = pieces[end : end + 1] and pieces[end][0] == "record"
        found: Iterable[Unit]
        if kind == "heading" or (kind == "item" and is_label(body, block, pieces[end : end + 1])):
            heading = _one_line(_ITEM_OR_HEADING_MARK.sub("", body))
            heading_terms = terms_of(heading)
            yield _unit(text, span, "heading", quotable=False)
            continue
        if kind == "record":
            found = [_unit(text, span, "row", heading_terms)]
        elif kind == "row":
            found = _table(text, [row for _, row in block], heading_terms, names)
        elif MAIL_HEAD.match(body):
            heading, heading_terms = "", terms_of(" ".join(_ABOUT_MAIL.findall(body)))
            found = [_unit(text, span, "entry", _MAIL_TERMS)]
        elif kind == "item" or len(block) > 1:
            found = _list(text, block, heading_terms)
        elif kind == "code":
            inner = next((each for start, stop, each in fences if start <= span.start < stop), span)
            found = _code_blocks(text, inner, heading_terms)
        else:
            aside = any(start < span.end and span.start < stop for start, stop in asides)
            heads = before_record and is_head(body, text[pieces[end][1].start : pieces[end][1].end])
            quotable = not (aside or heads or body.rstrip().endswith((":", "："))) and _is_prose(body)
            found = [_unit(text, span, "sentence", heading_terms, quotable=quotable)]
        yield from (replace(unit, heading=heading) for unit in found)


def _list(text: str, block: Sequence[tuple[str, Span]], heading: frozenset[str]) -> Iterator[Unit]:
    """Yield a list with its lead-in: as one unit if it is short, else item by item.

    A short list is one unit because its items depend on each other; each is then context of the others. Sentences
    with bullets, and items of several sentences, do not if nothing introduces them.
    """
    whole = Span(block[0][1].start, block[-1][1].end)
    body = text[whole.start : whole.end]
    has_lead = block[0][0] != "item"
    if any(task_state(text[span.start : span.end]) for _, span in block):
        for _, span in block:
            item = text[span.start : span.end]
            state = task_state(item)
            start = span.start + (item.index("[") if state else 0)
            yield _unit(text, Span(start, span.end), "task" if state else "item", heading)
        return
    items = [text[span.start : span.end] for _, span in block]
    bulleted = all(item[0] in _BULLETS and is_ended(item) for item in items)
    alone = not has_lead and (bulleted or any(_SENTENCE_BREAK.search(item) for item in items))
    if len(block) > 1 and not alone and len(body.split()) <= _MAX_LIST_WORDS and len(block) <= _MAX_LIST_LINES:
        yield _unit(text, whole, "list", heading)
        return
    lead = terms_of(text[block[0][1].start : block[0][1].end]) if has_lead else frozenset()
    if has_lead:
        yield _unit(text, block[0][1], "sentence", heading, quotable=False)
    for kind, span in block[has_lead:]:
        if kind == "code":
            yield from _code_blocks(text, span, heading | lead)
            continue
        item = text[span.start : span.end]
        marker = LIST_MARKER.match(item)
        start = span.start + (marker.end() if marker and marker.end() < len(item) else 0)
        yield _unit(text, Span(start, span.end), "item", heading | lead, quotable=_is_item(text[start : span.end]))


def _table(text: str, rows: Sequence[Span], heading: frozenset[str], names: Sequence[str]) -> Iterator[Unit]:
    """Yield the rows of a table, found by its head and that of their group too, which are none of them."""
    tables = list(bar_tables(text, rows[0].start, rows[-1].end, names=() if rows[0].start else names))
    for table in tables:
        for row in table.rows:
            above = heading | terms_of(" ".join((*table.names, row.group)))
            yield replace(_unit(text, row.span, "table", above), labelled=row.named)
    if not tables:
        yield from (_unit(text, row, "table", heading) for row in rows)


def _code_blocks(text: str, inner: Span, context: frozenset[str]) -> Iterator[Unit]:
    """Yield the blocks of code between blank lines, those without an indent at the start of a definition."""
    lines = [(match.start(), match.end()) for match in re.finditer(r"[^\n]+", text[inner.start : inner.end])]
    block: list[tuple[int, int]] = []
    above: frozenset[str] = context
    for start, end in [*((inner.start + a, inner.start + b) for a, b in lines), (inner.end, inner.end)]:
        gap = text[block[-1][1] : start] if block else ""
        done = start >= inner.end or gap.count("\n") > 1 or len(block) >= _MAX_CODE_LINES
        if block and done:
            first = text[block[0][0] : block[0][1]]
            yield _unit(text, Span(block[0][0], block[-1][1]), "code", above)
            if not first[:1].isspace():
                above = context | terms_of(first)
            block = []
        if start < end and text[start:end].strip():
            block.append((start, end))


# forms of one unit a line


def _with_siblings(fields: Sequence[Unit]) -> Iterator[Unit]:
    """Yield settings with the words of those beside and below them as context: the port beside `image: postgres`.

    They know the object that they belong to: those beside them, and what has a name like `name` above them.
    """
    around: dict[str, set[str]] = {}
    beside: dict[str, set[str]] = {}
    named: dict[str, list[Unit]] = {}
    paths = [_path(unit) for unit in fields]
    for unit, path in zip(fields, paths, strict=True):
        parent, _, key = path.rpartition(".")
        beside.setdefault(parent, set()).update(unit.terms)
        beside.setdefault(path, set()).update(unit.terms)  # a comment on the whole object
        if _IDENTIFIES.fullmatch(key):
            named.setdefault(parent, []).append(unit)
        while parent:
            around.setdefault(parent, set()).update(unit.terms)
            parent = parent.rpartition(".")[0]
    for unit, path in zip(fields, paths, strict=True):
        parent, _, key = path.rpartition(".")
        if not parent:
            yield unit
            continue
        names = [name for above in _ancestors(parent) for name in named.get(above, [])]
        yield replace(
            unit,
            context=unit.context | around[parent],
            key=terms_of(key),
            beside=frozenset(beside[parent]).union(*(name.terms for name in names)) - unit.terms,
            heading="; ".join(name.text.rpartition(".")[2] for name in names if name is not unit),
        )


def _path(unit: Unit) -> str:
    """Return the path of a setting: `services.db.ports` of `services.db.ports[0]: 80`."""
    field = _FIELD.match(unit.text)
    return _INDEX.sub("", (field[1] if field else unit.text).strip())


def _ancestors(path: str) -> Iterator[str]:
    while path:
        yield path
        path = path.rpartition(".")[0]


def _fields(text: str, part: Span | None = None) -> Iterator[Unit]:
    """Yield settings under their paths; consecutive members of one list are one unit."""
    begin, stop = (part.start, part.end) if part is not None else (0, len(text))
    group: list[Span] = []
    path_before = ""
    small = small_objects(text[begin:stop])
    for line in [*line_spans(text[begin:stop]), Span(stop - begin, stop - begin)]:
        span = Span(begin + line.start, begin + line.end)
        field = _FIELD.match(text, span.start, span.end)
        path = field[1].strip() if field else ""
        of_list = _INDEX.sub("[]", path) if _INDEX.search(path) else ""
        owner = path.rpartition(".")[0]
        of_list = owner if owner in small else of_list
        member = bool(group) and part is not None and text[span.start : span.end].startswith("- ")  # YAML's lists
        if group and not member and not (of_list and of_list == path_before):
            yield _unit(text, Span(group[0].start, group[-1].end), "field")
            group = []
        if len(span):
            group.append(span)
        path_before = path_before if member else of_list


@lru_cache(maxsize=4_096)  # a unit is compared, scored, embedded and quoted by this text
def _one_line(text: str) -> str:
    return " ".join(shown_text(_TOP_INDEX.sub("", text)).split())


def _is_item(text: str) -> bool:
    """Return whether an item may be quoted: it needs no verb, unlike a sentence."""
    return len(text) <= _MAX_CHARS and not _KEY_LIKE.search(text) and bool(content_terms(text))


def _is_prose(text: str) -> bool:
    if len(text) > _MAX_CHARS or _NOT_PROSE.search(text):
        return False
    word_count = len(words(text))
    # Scripts without spaces have few words and many terms.
    has_number = _DIGIT.search(text) is not None
    least = _MIN_ENDED if has_number or is_ended(text) else _MIN_WORDS
    if max(word_count, len(content_terms(text))) < least or word_count > _MAX_WORDS:
        return False
    visible = [character for character in text if not character.isspace()]
    letters = sum(unicodedata.category(character)[0] in "LM" for character in visible)
    symbols = sum(character in _SYMBOLS for character in visible)
    least_letters = _MIN_LETTERS_BESIDE_NUMBERS if has_number else _MIN_LETTERS
    return letters >= least_letters * len(visible) and symbols <= _MAX_SYMBOLS * len(visible)
