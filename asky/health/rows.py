"""Rows that no command could read: which they are, and with a repair, that they do not stand in the way any more."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING

from asky.health.check import Check, ok, problem
from asky.storage.damage import Damage, find_damage
from asky.storage.database import Database
from asky.storage.set_aside import set_damage_aside

if TYPE_CHECKING:
    from collections.abc import Mapping

    from asky.storage.damage import Mend

_NAME = "rows"
_NAMED = 20
_REPAIR_HINT = "`asky doctor --repair` keeps it in a file beside the store, and {}"
_WOULD: Mapping[Mend, str] = MappingProxyType(
    {
        "replaced": "puts � for what is no text",
        "default": "puts what a new row has in its place",
        "emptied": "leaves its place empty",
        "made anew": "makes it anew from the rest of the store",
        "taken out": "takes the row out",
        "cut off": "takes it out with what comes after it in the record of the run",
        "unsaid": "takes it out of what later turns are told, with the other calls of its turn and their results",
    }
)
_DID: Mapping[Mend, str] = MappingProxyType(
    {
        "replaced": "has � now for what is no text",
        "default": "is as in a new row now",
        "emptied": "is empty now",
        "made anew": "was made anew from the rest of the store",
        "taken out": "was taken out with its row",
        "cut off": "was taken out with what came after it in the record of the run",
        "unsaid": "was taken out of what later turns are told, with the other calls of its turn and their results",
    }
)
_NO_MEND_HINT = "no repair changes it, for what hangs on it: restore asky.db from a backup; nothing was deleted"


def check_rows(database: Database, *, repair: bool) -> Iterator[Check]:
    """Whether every text and record of the store can be read. With `repair`, damaged ones are set aside beside it.

    Each damaged value is a problem of its own, at most 20 of them. Raises `StorageError`.
    """
    found = find_damage(database)
    if repair and any(each.damage.mend is not None for each in found):
        path, mended = set_damage_aside(database, database.path.parent, found)
        found = find_damage(database)
        yield from _named([ok(_NAME, f"{_words(each)}; {_DID[each.mend]}") for each in mended if each.mend])
        if path is not None:
            yield ok(_NAME, f"{path} has what was there before, and is yours to delete")
    if found:
        yield from _named([_problem(each.damage, is_tried=repair) for each in found])
    else:
        yield ok(_NAME, "every text and every record can be read")


def _problem(damage: Damage, *, is_tried: bool) -> Check:
    hint = _NO_MEND_HINT if damage.mend is None or is_tried else _REPAIR_HINT.format(_WOULD[damage.mend])
    return problem(_NAME, _words(damage), hint)


def _words(damage: Damage) -> str:
    return f"{damage.column} of {damage.table} {damage.row}: {damage.why}"


def _named(checks: Sequence[Check]) -> Iterator[Check]:
    """The first of the checks, and how many more there are."""
    yield from checks[:_NAMED]
    if len(checks) > _NAMED:
        last = checks[_NAMED]
        yield Check(_NAME, last.state, f"and {len(checks) - _NAMED:,} more", last.hint)
