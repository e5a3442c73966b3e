"""What could not be read of the documents that a result rests on: as JSON, and in words."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from asky.text.counting import counted
from asky.text.scrub import one_line
from asky.values import Source, UnreadFile

PARTIAL = "partial"
"""The verdict on a part of a file that was read without it."""

_MAX_LISTED = 100  # a folder may hold thousands of pictures
_MAX_NAMED = 3
NO_TEXT_EXPECTED = ("unsupported", "empty")
"""The verdicts on pictures, archives and the like, which nobody expects to be searched."""
_BETWEEN = "; "


def unread_fields(unread: Sequence[UnreadFile]) -> dict[str, Any]:
    """Return `unread`, the first 100 of them, and `unread_count`, the number of all: fields of every object that tells
    what was found in documents.
    """
    return {"unread": [unread_json(each) for each in unread[:_MAX_LISTED]], "unread_count": len(unread)}


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


def describe_files(unread: Sequence[UnreadFile]) -> str:
    """Return `tug.pdf (encrypted: needs a password) and 3 more`, pictures and the like last; empty if all were read."""
    files = sorted((each for each in unread if each.part is None), key=lambda each: each.verdict in NO_TEXT_EXPECTED)
    named = ", ".join(f"{one_line(each.path)} ({one_line(_why(each), None)})" for each in files[:_MAX_NAMED])
    more = len(files) - _MAX_NAMED
    return f"{named} and {more:,} more" if more > 0 else named


def _why(unread: UnreadFile) -> str:
    verdict = unread.verdict.replace("_", " ")
    return f"{verdict}: {unread.message}" if unread.message else verdict


def describe_parts(unread: Iterable[UnreadFile]) -> list[str]:
    """Return a line for each file that was read in part: `a.docx: 1 part was not read: plan.dwg (no reader for it)`."""
    files: dict[str, list[UnreadFile]] = {}
    for each in unread:
        if each.part is not None:
            files.setdefault(each.path, []).append(each)
    return [_parts_line(path, parts) for path, parts in files.items()]


def _parts_line(path: str, parts: Sequence[UnreadFile]) -> str:
    named = [f"{one_line(str(each.part))} ({one_line(each.message)})" for each in parts[:_MAX_NAMED]]
    more = len(parts) - _MAX_NAMED
    named += [f"{more:,} more"] if more > 0 else []
    return f"{one_line(path)}: {counted(len(parts), 'part was', 'parts were')} not read: {', '.join(named)}"


def of_sources(unread: Iterable[UnreadFile], sources: Iterable[Source]) -> list[UnreadFile]:
    """Return what was not read of the files that are among `sources`."""
    paths = [each.path for each in sources if each.path is not None]
    return [each for each in unread if any(path == each.path or path.endswith(f"/{each.path}") for path in paths)]
