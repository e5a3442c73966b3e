"""The pieces of prose: headings, items of lists, rows of tables, blocks of code, heads of mails, and sentences."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from asky.llm.extractive.forms import is_row
from asky.text.plain import plain
from asky.text.sentences import sentence_spans
from asky.text.tables import bar_tables
from asky.text.terms import words
from asky.values import Span

Piece = tuple[str, Span]
"""What a piece is, such as `heading`, and where it stands."""

Code = tuple[int, int, Span]
"""Where a block of code begins and ends with the lines around it, and its own lines."""

_TAIL_CHARS = 80
_MAX_ITEM_WORDS = 40  # of the sentences of one item
_MAX_LABEL_WORDS = 8  # of an item that is the heading of the sentences below it
_MAX_NUMBER_WORDS = 3  # before the words of a heading: "4.2.1 Results"
LIST_MARKER = re.compile(
    r"(?:[-*+•◦▪‣·●○■□–—]|\(?\d{1,3}[.)]|\(?[A-Za-z]\)|\([ivx]{1,5}\))\s+(?:\[[ xX]\]\s+)?|\[[ xX]\]\s+(?=\S)"
)
_FENCE = re.compile(r"^[ \t]*(```|~~~)[^\n]*\n(.*?)(?:^[ \t]*\1[^\n]*$|\Z)", re.MULTILINE | re.DOTALL)
FENCE_LINE = re.compile(r"^[ \t]*(?:```|~~~)([^\n]*)$", re.MULTILINE)
# Source: reStructuredText specification, literal blocks and the directives of docutils and Sphinx.
_RST_BLOCK = re.compile(
    r"(?:^[ \t]*\.\. (code|code-block|sourcecode|parsed-literal|prompt|console)::[^\n]*\n"
    r"(?:[ \t]+:[^\n]*\n)*|(?<=::)[ \t]*\n)(?:[ \t]*\n)+((?:[ \t]+\S[^\n]*(?:\n|\Z)|[ \t]*\n(?=[ \t]))+)",
    re.MULTILINE,
)
_ENDED = re.compile(r"""[.!?…。！？｡।॥؟۔።]["'”’)\]}»›」』）】》*_`]*(?:\s*\[[\d,;\s–-]{1,20}\])*$""")
_HEADING = re.compile(r"#{1,6}\s|\*\*[^*\n]+\*\*:?$|__[^_\n]+__:?$|[^\n]+\n\s*[=-]{3,}\s*$")
_MARKED_HEADING = re.compile(r"#{1,6}\s|\*\*[^*\n]+\*\*:?$|[^\n]+\n[ \t]*[=-]{3,}[ \t]*$", re.MULTILINE)
_MAIL_HEADER = (
    r"(?:>[ \t]?)*(?:From|To|Cc|Bcc|Reply-To|Date|Sent|Subject|Attachments|Von|An|Datum|Gesendet|Betreff|Anlagen|De|À|"
    r"Envoyé|Objet):[ \t][^\n]*"
)
# Two or more headers, one of which names the sender: of a mail, or of one that is quoted or passed on in it.
MAIL_HEAD = re.compile(
    rf"(?=(?:{_MAIL_HEADER}\n){{0,5}}(?:>[ \t]?)*(?:From|Von|De):[ \t]){_MAIL_HEADER}(?:\n{_MAIL_HEADER})+"
)
# A line in bold, and what stands above a mail: each is one piece, whatever it says.
_APART = re.compile(rf"^[ \t]*(?P<piece>\*\*[^*\n]+\*\*:?|__[^_\n]+__:?|{MAIL_HEAD.pattern})[ \t]*$", re.MULTILINE)
_TABLE_ROW = re.compile(r"\|.*\||[^|\n]+\|[^|\n]+\|")
_LINE = re.compile(r"\S[^\n]*")
# What charts say, a series a line: "Chart “Visitors”: 2024 = 9120; 2025 = 10480"
_VALUES = re.compile(r"[^\n=;]{1,300}: [^\n=;]{1,100} = [^\n=;]{1,60}(?:; [^\n=;]{1,100} = [^\n=;]{1,60})*\s*")
# A line of cells parted by tabs, such as "Harp\tJonas Vik", that is no line of contents, "Introduction\t7".
_TABBED = re.compile(r"(?=[^\t\n]*[^\W\d_]{2})[^\t\n]{1,80}(?:\t+[^\t\n]{1,80}){1,5}")
_OF_CONTENTS = re.compile(r"\t[\d .ivx]{1,8}$")
_INTRODUCED = ("item", "code", "row")


def heading_line(text: str, part: Span, named: str) -> Span | None:
    """Return the first line of a section if it is its heading, apart from its number, and is not marked as one."""
    line = _LINE.search(text, part.start, part.end)
    if line is None or _MARKED_HEADING.match(text, line.start(), part.end):
        return None
    said, wanted = words(plain(line[0])), words(named)
    is_heading = bool(wanted) and said[-len(wanted) :] == wanted and len(said) - len(wanted) <= _MAX_NUMBER_WORDS
    return Span(line.start(), line.start() + len(line[0].rstrip())) if is_heading else None


def is_ended(body: str) -> bool:
    """Return whether a text ends like a sentence."""
    return _ENDED.search(body[-_TAIL_CHARS:]) is not None


def code_in(text: str, begin: int) -> list[Code]:
    """Return the blocks of code of Markdown and reStructuredText from an offset on, in order."""
    blocks = [*_FENCE.finditer(text, begin), *(_RST_BLOCK.finditer(text, begin) if "::" in text else ())]
    return sorted(((each.start(), each.end(), Span(*each.span(2))) for each in blocks), key=lambda code: code[0])


def code_begun_before(text: str) -> Span | None:
    """Return the fence that closes the block of code in which a passage begins, if it does.

    A fence that names a language opens a block.
    """
    fences = list(FENCE_LINE.finditer(text))
    names = [fence[1].strip() for fence in fences]
    if not fences or names[0]:
        return None
    if len(fences) == 1 or not any(names):
        closes = len(fences) % 2 == 1 and not text[: fences[0].start()].rstrip().endswith((".", ":", "?", "!", "："))
    else:
        closes = any(names[1::2])
    return Span(*fences[0].span()) if closes else None


def block_end(text: str, pieces: Sequence[Piece], number: int, *, leads: bool) -> int:
    """Return the end of the block that begins at `number`: a list or table, or a sentence with what it introduces."""
    kind = pieces[number][0]
    together = {"item": ("item",), "row": ("row",), "sentence": _INTRODUCED if leads else ()}.get(kind, ())
    end = number + 1
    while end < len(pieces) and pieces[end][0] in together and pieces[end - 1][0] != "code":
        (before, last), (following, first) = pieces[end - 1], pieces[end]
        if before == following == "row" and text.count("\n", last.end, first.start) > 1:  # another table
            break
        end += 1
    return end


def is_label(body: str, block: Sequence[Piece], following: Sequence[Piece]) -> bool:
    """Return whether a lone numbered line is the heading of the sentences below it: "2. New shed"."""
    alone = len(block) == 1 and bool(following) and following[0][0] == "sentence"
    return alone and len(body.split()) <= _MAX_LABEL_WORDS and _ENDED.search(body) is None


def pieces_of(text: str, part: Span, fences: Sequence[Code], names: Sequence[str] = ()) -> Iterator[Piece]:
    """Yield the pieces of a part of a text, in order; `fences` is the code in it.

    `names` are those of the columns of a table that goes on at the start of the text.

    The further sentences of a short list item are in its piece; of others, each is a piece.
    """
    yield from _with_continued(text, _pieces(text, part, fences, names))


def _pieces(text: str, part: Span, fences: Sequence[Code], names: Sequence[str]) -> Iterator[Piece]:
    """Yield the headings, list items, table rows, records, blocks of code and sentences, in order.

    A sentence within a line is "continued".
    """
    position = part.start
    for start, end, inner in [*fences, (part.end, part.end, Span(part.end, part.end))]:
        found = bar_tables(text, position, start, names=() if position else names)
        tables = [("row", table.lines) for table in found]
        records = [("record", run) for run in _runs_of_rows(text, position, start) if not _overlaps(run, tables)]
        runs = sorted([*tables, *records], key=lambda each: each[1][0].start)
        for kind, lines in [*runs, ("", [Span(start, start)])]:
            for span in _sentences(text, position, lines[0].start):
                begins_line = not text[text.rfind("\n", 0, span.start) + 1 : span.start].strip()
                yield _kind_of(text[span.start : span.end]) if begins_line else "continued", span
            yield from ((kind, line) for line in lines if len(line))
            position = lines[-1].end
        if len(inner):
            yield "code", Span(start, end)
        position = end


def _overlaps(run: Sequence[Span], tables: Sequence[tuple[str, Sequence[Span]]]) -> bool:
    return any(lines[0].start < run[-1].end and run[0].start < lines[-1].end for _, lines in tables)


def _sentences(text: str, begin: int, end: int) -> Iterator[Span]:
    """Yield the sentences, and the pieces that stand apart from them."""
    for apart in [*_APART.finditer(text, begin, end), None]:
        stop = apart.start("piece") if apart else end
        yield from (Span(begin + span.start, begin + span.end) for span in sentence_spans(text[begin:stop]))
        if apart:
            yield Span(*apart.span("piece"))
            begin = apart.end()


def _with_continued(text: str, pieces: Iterable[Piece]) -> Iterator[Piece]:
    """Yield the pieces with the further sentences of a short list item in its span; of others, each is a piece."""
    last: Piece | None = None
    for kind, span in pieces:
        begins_item = LIST_MARKER.match(text, span.start) is not None
        if kind == "continued" and last is not None and last[0] == "item" and not begins_item:
            whole = Span(last[1].start, span.end)
            if len(text[whole.start : whole.end].split()) <= _MAX_ITEM_WORDS:
                last = ("item", whole)
                continue
        if last is not None:
            yield last
        last = ("sentence" if kind == "continued" else kind, span)
    if last is not None:
        yield last


def _runs_of_rows(text: str, begin: int, end: int) -> Iterator[list[Span]]:
    """Yield runs of lines that are rows of a table, `month: May; units: 5`, and lines that are records alone."""
    run: list[Span] = []
    if any(mark in text[begin:end] for mark in ("; ", " = ", "\t")):
        for match in _LINE.finditer(text, begin, end):
            is_alone = _is_record(match[0].rstrip())
            if not is_alone and is_row(match[0]):
                run.append(Span(*match.span()))
                continue
            if len(run) > 1:
                yield run
            run = []
            if is_alone:
                yield [Span(*match.span())]
    if len(run) > 1:
        yield run


def _is_record(line: str) -> bool:
    """Return whether a line has the values of a chart, or cells parted by tabs."""
    if "\t" in line:
        is_other = LIST_MARKER.match(line) or _OF_CONTENTS.search(line) or is_ended(line) or "|" in line
        return not is_other and _TABBED.fullmatch(line) is not None
    return " = " in line and _VALUES.fullmatch(line) is not None


def _kind_of(body: str) -> str:
    if LIST_MARKER.match(body):
        return "item"
    if _TABLE_ROW.match(body):
        return "row"
    return "heading" if _HEADING.match(body) else "sentence"


def line_spans(text: str, *, entries: bool = False) -> Iterator[Span]:
    """Yield the lines; as `entries`, an indented line belongs to the one before it."""
    spans: list[Span] = []
    for match in re.finditer(r"[^\n]*\S[^\n]*", text):
        line = match.group()
        if entries and spans and line[0].isspace():
            spans[-1] = Span(spans[-1].start, match.end())
        else:
            spans.append(Span(match.start() + len(line) - len(line.lstrip()), match.start() + len(line.rstrip())))
    yield from spans
