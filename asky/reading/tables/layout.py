"""What names the values of a table: its header rows, the names beside the values, or nothing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from asky.reading.tables.cells import GridRow
from asky.reading.tables.forms import is_form, names_field
from asky.reading.tables.kinds import Kind, is_counted, is_year, kind_of, kind_of_column, unit_of
from asky.text.scrub import one_line
from asky.text.tables import NAME_CHARS, column_names

_COLUMNS = 64  # those that decide on the header of a wide table
_MAX_ABOVE = 20  # rows in which a header is looked for
_MAX_HEADS = 10  # rows of a header
_FEW_ROWS = 3
_MOST = 0.8
_HALF = 0.5
_CERTAIN = 0.75  # of the values of a column that have its kind
_HALF_NAME = NAME_CHARS // 2
_MEASURED: tuple[Kind, ...] = ("number", "date", "time")


@dataclass(frozen=True, slots=True)
class TableLayout:
    """The rows `first` to `end` of a sample are the header; `names` has a name for each column, if there is one.

    `line` is the header as a line, in which each of its texts stands whole once. `header` are the texts of its rows,
    which may come again. `kinds` has the kind of each column that is certain, else "". In a form, names stand beside
    their values. `is_sure` says that marks or the kinds of the values tell the header, `is_marked` that the format
    marks all its cells as names.
    """

    first: int = 0
    end: int = 0
    names: tuple[str, ...] = ()
    line: str = ""
    header: frozenset[tuple[str, ...]] = frozenset()
    kinds: tuple[Kind, ...] = ()
    is_form: bool = False
    is_sure: bool = False
    is_marked: bool = False

    def takes(self, row: GridRow) -> bool:
        """Return whether the values of a row can be those of the columns: most are as many, and of their kinds."""
        cells = list(row.cells())
        if len(row.values) > len(self.names):
            return False
        if sum(columns for _, columns, _ in cells) > _HALF * len(self.names):
            return not self.contradicts(row)
        kinds = [(self.kinds[column], kind_of(text)) for column, _, text in cells if column < len(self.kinds)]
        alike = sum(bool(kind) and kind == found for kind, found in kinds)
        unlike = sum(bool(kind) and found == "text" for kind, found in kinds)
        return alike >= unlike and (alike > 0 or not any(self.kinds))

    def contradicts(self, row: GridRow, several: int = 1) -> bool:
        """Return whether a row has words wherever columns have other kinds, in `several`: it names other columns."""
        found = 0
        for kind, value in zip(self.kinds, row.values, strict=False):
            if kind and (other := kind_of(value)):
                if other == kind or other not in ("text", "code"):
                    return False
                found += 1
        return found >= several


def lay_out(rows: Sequence[GridRow], *, header_rows: int | None = None, is_list: bool) -> TableLayout:
    """Return the layout of a table from its first rows, which are not empty.

    `header_rows` is what the format says. Cells that it marks as names come next, then the kinds of the values. A table
    of words alone has a header if its first row is filled, but for the first cell, and distinct; where `is_list` is
    false, two columns of words are names and values.
    """
    is_list = is_list or any(0 in row.below for row in rows)  # a name that goes on below itself groups a list
    if header_rows is not None:
        if not header_rows:
            return TableLayout(is_form=is_form(rows, is_list=is_list))
        return _headed(rows, 0, _with_units(rows, min(header_rows, len(rows))), is_sure=True)
    if marked := _marked_rows(rows):
        return _headed(rows, 0, _with_units(rows, _end_of_names(rows, marked)), is_sure=True)
    form = is_form(rows, is_list=is_list)
    place = None if form or _has_row_heads(rows) else _place_of_names(rows, is_list=is_list)
    if place is None:
        return TableLayout(is_form=form)
    end = _end_of_names(rows, place + 1)
    if end == place + 1 < len(rows) and _are_second_names(rows, end):
        end += 1
    is_sure = _score(rows, place) > 0
    return _headed(rows, _first_of_names(rows, place), _with_units(rows, end), is_sure=is_sure)


def is_marked(row: GridRow) -> bool:
    """Return whether all the filled cells of a row are marked as names, but perhaps for that in the first column."""
    columns = [column for column, _, _ in row.cells()]
    rest = columns[1:] if columns[:1] == [0] else columns
    return bool(rest) and row.heads.issuperset(rest)


# header rows


def _headed(rows: Sequence[GridRow], first: int, end: int, *, is_sure: bool = False) -> TableLayout:
    header = frozenset(row.values for row in rows[first:end])
    head = [row for row in rows[first:end] if row.lone() is None] or rows[first:end]
    if len(head) < end - first:
        is_unnamed = not any(row.values[0] for row in head)
        head = [row for row in rows[first:end] if row.lone() is None or names_part(row, is_unnamed=is_unnamed)]
    body = [row for row in rows[end:] if row.values not in header]
    width = max((len(row.values) for row in head), default=0)
    if len(body) > 1 and width and all(len(row.values) == width + 1 for row in body) and head[-1].values[0]:
        head = [GridRow(("", *row.values)) for row in head]  # R writes no name above the names of the rows
        width += 1
    is_unit = len(head) > 1 and _is_units(head[-1])
    levels = [_spread(row, width, rows[end - 1]) for row in (head[:-1] if is_unit else head)]
    labels, wholes = [], []
    told: set[str] = set()  # the parts of names that have been shown whole
    for column in range(width):
        unit = (unit_of(head[-1].values[column]) or "") if is_unit and column < len(head[-1].values) else ""
        parts = _with_unit(list(dict.fromkeys(filter(None, (level[column] for level in levels)))), unit)
        short = _fitted(parts) if len(head) > 1 else parts
        labels.append(", ".join(short))
        wholes.append(", ".join(cut if part in told else part for part, cut in zip(parts, short, strict=True)))
        told.update(parts)
    names = column_names(labels)
    filled = [any(column < len(row.values) and row.values[column] for row in body) for column in range(width)]
    shown = [
        whole if len(whole) > len(name) and (whole != label or name[:_HALF_NAME] == label[:_HALF_NAME]) else name
        for name, label, whole in zip(names, labels, wholes, strict=True)
    ]
    line = "; ".join(text for text, label, has in zip(shown, labels, filled, strict=True) if text and (label or has))
    marked = all(map(is_marked, rows[first:end]))
    return TableLayout(first, end, names, line, header, _kinds(body, width), is_sure=is_sure, is_marked=marked)


def names_part(row: GridRow, *, is_unnamed: bool) -> bool:
    """Return whether the only cell of a row of a header names some columns: a group, or the first one below others.

    The names of the rows of a data frame are named in a row of their own; `is_unnamed` says that no other row of the
    header names the first column.
    """
    lone = row.lone()
    if lone is None:
        return False
    column, columns, _ = lone
    return columns > 1 if column else columns == 1 and is_unnamed


def _with_unit(parts: Sequence[str], unit: str) -> Sequence[str]:
    """Return the parts of a name with a unit that none of them has."""
    if not unit or unit in "-–—" or any(f"({unit})" in part or f"[{unit}]" in part for part in parts):
        return parts
    return [*parts[:-1], f"{parts[-1]} ({unit})"] if parts else [unit]


def _fitted(parts: Sequence[str]) -> Sequence[str]:
    """Return the parts of a name, outermost first, cut so that they fit into a name and the last one stays."""
    room = NAME_CHARS - 2 * (len(parts) - 1)
    if sum(map(len, parts)) <= room:
        return parts
    last = one_line(parts[-1], max(room // len(parts), room - sum(map(len, parts[:-1]))))
    each = (room - len(last)) // max(1, len(parts) - 1)
    return [*(one_line(part, max(each, 1)) for part in parts[:-1]), last]


def _spread(row: GridRow, width: int, names: GridRow) -> list[str]:
    """Return the names of one header row for each column; a group that is not merged goes on to the next one."""
    values = [*row.values, *[""] * (width - len(row.values))]
    if row is names or row.merged or not _groups(row, names):
        return values
    for column in range(1, width):
        if not values[column] and column < len(names.values) and names.values[column]:
            values[column] = values[column - 1]
    return values


def _groups(row: GridRow, names: GridRow) -> bool:
    """Return whether a sparse row groups the names below it: they come again, once in each group."""
    below = [name for name in names.values if name]
    return 1 < len(list(row.cells())) < len(below) and len(set(below)) < len(below)


def _kinds(body: Sequence[GridRow], width: int) -> tuple[Kind, ...]:
    found: list[Kind] = []
    body = [row for row in body if len(list(row.cells())) > _HALF * width]  # no totals, and no notes
    for column in range(min(width, _COLUMNS)):
        kinds = [kind for value in _column(body, column) if (kind := kind_of(value))]
        most = max(kinds, key=kinds.count) if kinds else "text"
        is_certain = kinds.count(most) >= _CERTAIN * len(kinds) and (len(kinds) > 1 or most in _MEASURED)
        found.append(most if most != "text" and is_certain else "")
    return tuple(found)


def _column(rows: Sequence[GridRow], column: int) -> list[str]:
    return [row.values[column] for row in rows if column < len(row.values) and row.values[column]]


def _marked_rows(rows: Sequence[GridRow]) -> int:
    """Return how many of the first rows are marked as names, but perhaps for their first cell; 0 if all rows are."""
    marked = 0
    while marked < len(rows) and is_marked(rows[marked]):
        marked += 1
    return marked if marked < len(rows) and marked <= _MAX_HEADS and _score(rows, marked - 1) >= 0 else 0


def _has_row_heads(rows: Sequence[GridRow]) -> bool:
    """Return whether the first cell of most rows is marked as a name, that of the first row too, and others are not."""
    headed = [0 in row.heads and not is_marked(row) for row in rows]
    return headed[0] and sum(headed) >= _MOST * len(rows)


def _end_of_names(rows: Sequence[GridRow], end: int) -> int:
    """Return the end of the header: further rows belong to it into which its cells extend, or that part its groups."""
    while end < len(rows) and rows[end].below:
        end += 1
    if end < len(rows) and rows[end - 1].merged and _parts_groups(rows, end):
        end += 1
    return end


def _parts_groups(rows: Sequence[GridRow], number: int) -> bool:
    """Return whether a row names the columns of the merged cells above it."""
    row, groups = rows[number], [range(column, column + columns) for column, columns in rows[number - 1].merged]
    under = [[row.values[column] for column in group if column < len(row.values)] for group in groups]
    if any(kind_of(text) in _MEASURED and not is_year(text) for _, _, text in row.cells()) or row.merged:
        return False
    if not all(all(names) and len(set(names)) == len(names) > 1 for names in under):
        return False
    covered = {column for group in groups for column in group}
    alone = all(column in covered for column, _, _ in row.cells())
    again = len(under) > 1 and all(names == under[0] for names in under)
    return alone or again or _score(rows, number) > 0


def _are_second_names(rows: Sequence[GridRow], number: int) -> bool:
    """Return whether a row below names has words too, in several columns of other values; of few rows it is a value."""
    row = rows[number]
    if len(rows) - number <= _FEW_ROWS:
        return False
    texts = [text for _, _, text in row.cells()]
    return (
        len(texts) == len(row.values) == len(rows[number - 1].values)
        and len(set(texts)) == len(texts)
        and all(kind_of(text) == "text" for text in texts)
        and _score(rows, number) > 1
    )


def _with_units(rows: Sequence[GridRow], end: int) -> int:
    is_below = 0 < end < len(rows) and _is_units(rows[end])
    return end + 1 if is_below and (_score(rows, end) > 0 or _in_brackets(rows[end])) else end


def _is_units(row: GridRow) -> bool:
    return all(unit_of(text) is not None for _, _, text in row.cells())


def _in_brackets(row: GridRow) -> bool:
    return all(text[0] in "[(" for _, _, text in row.cells())


# the values below


def _place_of_names(rows: Sequence[GridRow], *, is_list: bool) -> int | None:
    """Return which row names the columns, by its words above other values; the rows before it are shorter."""
    lengths = Counter(len(row.values) for row in rows if len(list(row.cells())) > 1)
    if not lengths:
        return None
    width = max(lengths, key=lambda length: (lengths[length], length))
    parts = [number for number, row in enumerate(rows[:_MAX_ABOVE]) if len(list(row.cells())) > 1]
    whole = next((number for number in parts if len(rows[number].values) >= width and not rows[number].merged), None)
    candidates = [number for number in parts if whole is None or number <= whole]
    scores = {number: _score(rows, number) for number in candidates}
    best = max(candidates, key=lambda number: (scores[number], number))
    if scores[best] > 0:
        return best
    if whole is None or scores[whole] < 0 or (width == 2 and not is_list and not names_field(rows[whole].values[1])):
        return None
    return whole if _is_row_of_words(rows, whole) else None


def _is_row_of_words(rows: Sequence[GridRow], number: int) -> bool:
    """Return whether a row's cells are filled, but for the first, distinct, and words, codes or years."""
    values = rows[number].values
    labels = _headed(rows, _first_of_names(rows, number), number + 1).names
    names = labels if values[0] else labels[1:]
    return (
        all(values[1:])
        and not any(name.endswith(")") and name not in values for name in names)
        and not any(kind_of(value) in (*_MEASURED, "address", "flag") and not is_year(value) for value in values)
    )


def _first_of_names(rows: Sequence[GridRow], place: int) -> int:
    """Return the first row of the header whose last one is known: rows above that group its names belong to it."""
    first = place
    while first and place - first < _MAX_HEADS:
        above, below = rows[first - 1], rows[first]
        partly = above.merged and len(list(above.cells())) > 1
        if not (partly or below.below or _groups(above, rows[place])):
            break
        first -= 1
    return first


def _score(rows: Sequence[GridRow], number: int) -> int:
    """Return in how many more columns a row has a name of the values below it than a value of their kind."""
    row = rows[number]
    below = [each for each in rows[number + 1 :] if each.values != row.values]
    counted = _has_counted(row) and not any(map(_has_counted, below[:1]))
    names = values = 0
    for column, _, text in row.cells():
        if column >= _COLUMNS:
            break
        found = _column(below, column)
        kind, most = kind_of(text), kind_of_column(found)
        if not most or not kind:
            continue
        if most in ("text", "code") and kind in _MEASURED:
            values += not is_year(text)
        elif most == "text":
            values += text in found
        elif kind == most == "number" and ((is_year(text) and not all(map(is_year, found))) or counted):
            names += 1
        elif kind == most:
            values += 1
        else:
            names += kind in ("text", "code") or most == "number"
    return names - values if names >= 2 * values else min(0, names - values)


def _has_counted(row: GridRow) -> bool:
    return kind_of(row.values[0]) in ("", "text") and is_counted([value for value in row.values[1:] if value])
