"""What could not be read of the documents that a result rests on: as JSON, and in words."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from asky.evidence.paper_names import paper_name
from asky.text.counting import counted
from asky.text.scrub import one_line
from asky.values import Source, UnreadFile

PARTIAL = "partial"
"""The verdict on a part of a file that was read without it."""

_MAX_LISTED = 100  # a folder may hold thousands of pictures
_MAX_NAMED = 3
_MAX_LINES = 10
NO_TEXT_EXPECTED = ("unsupported", "empty")
"""The verdicts on pictures, archives and the like, which nobody expects to be searched."""
_BETWEEN = "; "


def unread_fields(unread: Sequence[UnreadFile]) -> dict[str, Any]:
    """Return `unread`, the first 100 of them, and `unread_count`, the number of all: fields of every object that tells
    what was found in documents. Of more than 100, pictures and the like come last.
    """
    listed = unread
    if len(unread) > _MAX_LISTED:
        listed = sorted(unread, key=lambda each: each.verdict in NO_TEXT_EXPECTED)[:_MAX_LISTED]
    return {"unread": [unread_json(each) for each in listed], "unread_count": len(unread)}


def unread_json(unread: UnreadFile) -> dict[str, Any]:
    """Return a file that was not read, or a part of one, as an object."""
    part = {} if unread.part is None else {"part": unread.part}
    return {"path": unread.path, "verdict": unread.verdict, **part, "message": unread.message}


def parts_of(path: str, listed: str | None) -> list[UnreadFile]:
    """Return the parts of a file that are listed as `name: reason; name: reason`."""
    found = []
    for each in (listed or "").split(_BETWEEN):
        part, _, why = each.partition(": ")
        if part:
            found.append(UnreadFile(path, PARTIAL, why or "not read", part))
    return found


def of_rows(rows: Iterable[tuple[str, str, str | None]]) -> list[UnreadFile]:
    """Return the files and parts in rows of path, verdict and reason; that of an `indexed` file lists its parts."""
    found: list[UnreadFile] = []
    for path, verdict, why in rows:
        found += parts_of(path, why) if verdict == "indexed" else [UnreadFile(path, verdict, why or "")]
    return found


def describe_files(unread: Sequence[UnreadFile]) -> str:
    """Return `tug.pdf (encrypted: needs a password) and 3 more`, pictures and the like last; empty if all were read."""
    files = sorted((each for each in unread if each.part is None), key=lambda each: each.verdict in NO_TEXT_EXPECTED)
    named = ", ".join(map(_described, files[:_MAX_NAMED]))
    more = len(files) - _MAX_NAMED
    return f"{named} and {more:,} more" if more > 0 else named


def describe_fields(made: Mapping[str, Any]) -> list[str]:
    """Return a line for each file and part in an object with `unread_fields`, and one for all pictures and the like.

    Of more than 10, the last line says how many more there are. An answer of before there were these fields has none.
    """
    found = [_unread_file(each) for each in made.get("unread", ())]
    wanted = [each for each in found if each.verdict not in NO_TEXT_EXPECTED]
    others = [each for each in found if each.verdict in NO_TEXT_EXPECTED]
    lines = [_described(each) for each in wanted[:_MAX_LINES]]
    more = made.get("unread_count", 0) - len(lines)
    if others and len(wanted) <= _MAX_LINES:
        return [*lines, _described(others[0]) + (f" and {more - 1:,} more" if more > 1 else "")]
    return [*lines, f"{more:,} more"] if more > 0 else lines


def _unread_file(made: Mapping[str, Any]) -> UnreadFile:
    return UnreadFile(made["path"], made["verdict"], made["message"], made.get("part"))


def _described(unread: UnreadFile) -> str:
    if unread.part is not None:
        return f"{one_line(unread.path)}: {_part(unread)}"
    verdict = unread.verdict.replace("_", " ")
    why = f"{verdict}: {unread.message}" if unread.message else verdict
    return f"{one_line(unread.path)} ({one_line(why, None)})"


def _part(unread: UnreadFile) -> str:
    return f"{one_line(str(unread.part))} ({one_line(unread.message)})"


def describe_parts(unread: Iterable[UnreadFile], *, most: int | None = None) -> list[str]:
    """Return a line for each file that was read in part: `a.docx: 1 part was not read: plan.dwg (no reader for it)`.

    Of more than `most` such files, the last line says how many more there are.
    """
    files: dict[str, list[UnreadFile]] = {}
    for each in unread:
        if each.part is not None:
            files.setdefault(each.path, []).append(each)
    lines = [_parts_line(path, parts) for path, parts in files.items()]
    if most is None or len(lines) <= most:
        return lines
    return [*lines[:most], f"{counted(len(lines) - most, 'more file was', 'more files were')} read in part"]


def _parts_line(path: str, parts: Sequence[UnreadFile]) -> str:
    named = [_part(each) for each in parts[:_MAX_NAMED]]
    more = len(parts) - _MAX_NAMED
    named += [f"{more:,} more"] if more > 0 else []
    return f"{one_line(path)}: {counted(len(parts), 'part was', 'parts were')} not read: {', '.join(named)}"


def of_sources(unread: Iterable[UnreadFile], sources: Iterable[Source]) -> list[UnreadFile]:
    """Return what was not read of the files and papers that are among `sources`."""
    named = [name for each in sources for name in (each.path, paper_name(each)) if name is not None]
    return [each for each in unread if any(name == each.path or name.endswith(f"/{each.path}") for name in named)]
