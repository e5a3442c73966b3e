"""How a CSV file parts its cells, and its records, whatever its quotes do."""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

from asky.reading.tables.kinds import Kind, kind_of

_DELIMITERS = ",;\t|"
_RARE_DELIMITERS = ": "  # as good as never meant, so that every row has to have them
_QUOTES = "\"'"
_SAMPLE_CHARS = 64 * 1024
_SAMPLE_RECORDS = 60
_COLUMNS = 64
_MAX_CELL_CHARS = 256 * 1024  # a quote that is not closed within them opens nothing
_WIDTHS_TOLD = 0.5  # of the rows have the same number of cells
_RARE_WIDTHS = 0.95
_RARE_COLUMNS = 3
_RARE_ROWS = 3
_TEXT_WEIGHT = 0.5  # of a cell of words; of numbers, dates and the like 1: "5;2" of "1,5;2,5" is neither
_STATED = re.compile(r'"?sep=(.)"?[ \t]*(?:\n|\Z)', re.IGNORECASE)
_VALUES: tuple[Kind, ...] = ("", "number", "date", "time", "address", "flag")


@dataclass(frozen=True, slots=True)
class Dialect:
    """The character between cells, the one around those that hold it or a line end, and whether `\\` escapes that.

    `begins` is the offset of the first record: behind a line `sep=;`.
    """

    delimiter: str
    quote: str = '"'
    escapes: bool = False
    begins: int = 0


def find_dialect(text: str, *, tabs: bool = False) -> Dialect:
    """Return the dialect that gives most records of the sample the same number of cells, and cells that are values.

    `tabs` says that the name of the file promises tabs, which decide if they stand in it. Without a delimiter each line
    is a cell.
    """
    stated = _STATED.match(text)
    if stated:
        return Dialect(stated[1], begins=stated.end())
    sample = text[:_SAMPLE_CHARS]
    if tabs and "\t" in sample:
        return _with_quotes(sample, "\t")
    found = [_with_quotes(sample, delimiter) for delimiter in _DELIMITERS if delimiter in sample]
    scored = [(_score(sample, dialect), dialect) for dialect in found]
    score, best = max(scored, key=lambda each: each[0], default=((0.0, 0), Dialect(",")))
    if score[1] > 1:
        return best
    rare = (Dialect(delimiter) for delimiter in _RARE_DELIMITERS if delimiter in sample)
    return next((dialect for dialect in rare if _is_regular(sample, dialect)), Dialect(","))


def _with_quotes(sample: str, delimiter: str) -> Dialect:
    edge = re.escape(delimiter)
    counts = {
        quote: len(re.findall(rf"(?:^|{edge}){quote}[^{quote}\n]*{quote}(?={edge}|$)", sample, re.MULTILINE))
        for quote in _QUOTES
    }
    quote = max(_QUOTES, key=lambda each: counts[each])
    escapes = re.search(rf"\\{quote}(?!{edge}|$|{quote})", sample, re.MULTILINE) is not None
    return Dialect(delimiter, quote, escapes)


def _sample_records(sample: str, dialect: Dialect) -> list[list[str]]:
    found = [record for record in islice(records(sample, dialect), _SAMPLE_RECORDS) if any(map(str.strip, record))]
    return found[:-1] if len(found) > 1 and len(sample) == _SAMPLE_CHARS else found


def _score(sample: str, dialect: Dialect) -> tuple[float, int]:
    """Return how regular the records are, and their usual number of cells: one if hardly any have more."""
    found = _sample_records(sample, dialect)
    counts = Counter(len(record) for record in found if len(record) > 1)
    columns, rows = max(counts.items(), key=lambda item: (item[1], item[0]), default=(1, 0))
    regular = [record for record in found if len(record) == columns]
    cells = [kind_of(cell.strip()) in _VALUES for record in regular for cell in record[:_COLUMNS]]
    values = sum(1 if is_value else _TEXT_WEIGHT for is_value in cells) / max(1, len(cells))
    return rows / max(1, len(found)) * values, columns


def _is_regular(sample: str, dialect: Dialect) -> bool:
    """Return whether nearly all records have the same number of cells, at least three, and many of them are values."""
    found = _sample_records(sample, dialect)
    counts = Counter(map(len, found))
    columns, rows = max(counts.items(), key=lambda item: (item[1], item[0]), default=(0, 0))
    whole = [kind_of(dialect.delimiter.join(record).strip()) for record in found]
    kinds = [kind_of(cell.strip()) for record in found if len(record) == columns for cell in record]
    return (
        columns >= _RARE_COLUMNS
        and len(found) >= _RARE_ROWS
        and rows >= _RARE_WIDTHS * len(found)
        and whole.count("text") >= _WIDTHS_TOLD * len(whole)
        and kinds.count("number") >= _WIDTHS_TOLD * len(kinds)
    )


def records(text: str, dialect: Dialect) -> Iterator[list[str]]:
    """Yield the cells of each record, in order; linear time.

    A quote opens a cell at its beginning, spaces aside, and closes it before a delimiter or at the end of a line;
    elsewhere it is a character like others. One that no quote closes in that way before a further line has a lone quote
    is a character too, so that it never takes the rest of the file.
    """
    quote, delimiter = dialect.quote, dialect.delimiter
    has_quotes = quote in text
    closings = _Closings(text, dialect)
    position = dialect.begins
    while position < len(text):
        end = text.find("\n", position)
        end = len(text) if end < 0 else end
        line = text[position:end]
        position = end + 1
        if not has_quotes or quote not in line:
            yield line.split(delimiter)
        elif cells := _quoted_line(line, dialect):
            yield cells
        else:
            cells, position = _record(text, end - len(line), end, dialect, closings)
            yield cells


def _quoted_line(line: str, dialect: Dialect) -> list[str] | None:
    """Return the cells of a line that is a well-formed record, by the standard parser; `None` for any other."""
    if dialect.escapes:
        return None
    spaced = dialect.delimiter != " "
    reader = csv.reader(
        [line], delimiter=dialect.delimiter, quotechar=dialect.quote, strict=True, skipinitialspace=spaced
    )
    try:
        return next(reader)
    except csv.Error:
        return None


def _record(text: str, position: int, line_end: int, dialect: Dialect, closings: _Closings) -> tuple[list[str], int]:
    """Return the cells of the record at `position`, whose first line ends at `line_end`, and where the next begins."""
    cells: list[str] = []
    while True:
        first = position
        while first < len(text) and text[first] == " " and dialect.delimiter != " ":
            first += 1
        closing = closings.after(first, line_end) if text.startswith(dialect.quote, first) else None
        if closing is not None:
            cells.append(_unescaped(text[first + 1 : closing], dialect))
            position = closing + 1
            while text.startswith(" ", position) and dialect.delimiter != " ":
                position += 1
            if position > line_end:
                line_end = text.find("\n", position)
                line_end = len(text) if line_end < 0 else line_end
        else:
            end = text.find(dialect.delimiter, position, line_end)
            end = line_end if end < 0 else end
            cells.append(text[position:end])
            position = end
        if not text.startswith(dialect.delimiter, position):
            return cells, position + 1
        position += 1


def _unescaped(cell: str, dialect: Dialect) -> str:
    cell = cell.replace(dialect.quote * 2, dialect.quote)
    return cell.replace(f"\\{dialect.quote}", dialect.quote).replace("\\\\", "\\") if dialect.escapes else cell


class _Closings:
    """Finds the quotes that close cells, from the beginning of the text to its end."""

    def __init__(self, text: str, dialect: Dialect) -> None:
        self._text, self._dialect = text, dialect
        edge = re.escape(dialect.delimiter)
        self._runs = re.compile(rf"{dialect.quote}+")
        self._closes = re.compile(rf" *(?:{edge}|\n|\Z)") if dialect.delimiter != " " else re.compile(r" |\n|\Z")
        self._none_before = 0  # those between an opening and this offset were looked at, and close nothing

    def after(self, opening: int, line_end: int) -> int | None:
        """Return the offset of the quote that closes the cell which one at `opening`, in a line, opens, if one does."""
        beside = self._runs.match(self._text, opening + 1)
        if beside and self._closes_cell(beside):
            return beside.end() - 1
        for run in self._runs.finditer(self._text, max(beside.end() if beside else opening + 1, self._none_before)):
            self._none_before = run.start()
            if run.start() - opening > _MAX_CELL_CHARS:
                return None
            if self._closes_cell(run):
                return run.end() - 1
            if line_end < run.start() and self._size(run) % 2:  # what opened further up did not open anything
                return None
        self._none_before = len(self._text)
        return None

    def _closes_cell(self, run: re.Match[str]) -> bool:
        return self._size(run) % 2 == 1 and self._closes.match(self._text, run.end()) is not None

    def _size(self, run: re.Match[str]) -> int:
        """Return how many quotes of a run are not escaped."""
        return run.end() - run.start() - (self._dialect.escapes and self._is_escaped(run.start()))

    def _is_escaped(self, position: int) -> bool:
        slashes = 0
        while position - slashes > 0 and self._text[position - slashes - 1] == "\\":
            slashes += 1
        return slashes % 2 == 1
