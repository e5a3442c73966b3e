"""The records of a table, a log or a settings file that share most with a query.

A chunk holds a dozen rows, and every chunk of a sales table has every product and every region in it: a ranking of
chunks cannot find the row that has both. A scan of the lines can.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence

from asky.reading.formats import format_of
from asky.text.terms import terms_of
from asky.values import Span

_MEDIA_TYPES = frozenset(
    (
        "text/csv",
        "text/calendar",
        "application/json",
        "application/jsonl",
        "application/yaml",
        "application/toml",
        "text/x-ini",
        "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
        "application/vnd.oasis.opendocument",
    )
)
_LOG = re.compile(r"\.log(?:\.\d+)?$", re.IGNORECASE)
MAX_CHARS = 2_000_000
"""The length of a text up to which its lines are scanned: about a second for one without a break."""

_MAX_RECORDS = 6
_NEAR = 0.9  # of the best score
_MIN_TERMS = 2
_STEM_CHARS = 4
_OBJECT_CHARS = 1_200
_PATH = re.compile(r"(?:[\w$@/-]|\[\d+\])+(?:\.[\w$@/-]+(?:\[\d+\])*)+(?=\s?[:=])")


def has_records(name: str) -> bool:
    """Return whether each line of the text of a file of this name is a record of its own."""
    row = format_of(name)
    return (row is not None and row.media_type in _MEDIA_TYPES) or _LOG.search(name) is not None


def matching_records(query: str, text: str) -> list[Span]:
    """Return the lines of `text` that share most with `query`, best first, ties in text order; at most six.

    A term that few lines contain weighs more. Empty if no line has two of the query's terms. A setting with a term has
    also those of the object that it belongs to, with which it is then returned, if that is small.
    """
    wanted = terms_of(query)
    lines = [(match.start(), match.end()) for match in re.finditer(r"[^\n]*\S[^\n]*", text)]
    beginnings = tuple(term[:_STEM_CHARS] for term in wanted)
    found: list[tuple[Span, frozenset[str]]] = []
    for start, end in lines:
        line = text[start:end]
        lower = line.casefold()
        if (any(each in lower for each in beginnings) or "-" in line) and (shared := terms_of(line) & wanted):
            found.append((Span(start, end), shared))
    counts = Counter(term for _, shared in found for term in shared)
    scored = [
        (math.fsum(math.log(1 + len(lines) / counts[term]) for term in shared), span)
        for span, shared in _with_objects(text, lines, found)
        if len(shared) >= min(_MIN_TERMS, len(wanted))
    ]
    scored.sort(key=lambda each: (-each[0], each[1].start))
    best = dict.fromkeys(span for score, span in scored if score >= _NEAR * scored[0][0])
    return list(best)[:_MAX_RECORDS]


def _with_objects(
    text: str, lines: Sequence[tuple[int, int]], found: Sequence[tuple[Span, frozenset[str]]]
) -> Sequence[tuple[Span, frozenset[str]]]:
    """Return what settings share together with their object, as the span of that."""
    shared_by: dict[str, frozenset[str]] = {}
    owners = [_owners(text[span.start : span.end]) for span, _ in found]
    for (_, shared), of_line in zip(found, owners, strict=True):
        for owner in of_line:
            shared_by[owner] = shared_by.get(owner, frozenset()) | shared
    if not shared_by:
        return found
    spans: dict[str, Span] = {}
    for start, end in lines:
        for owner in _owners(text[start:end]):
            spans[owner] = Span(spans[owner].start if owner in spans else start, end)
    joined = []
    for (span, shared), of_line in zip(found, owners, strict=True):
        small = [owner for owner in of_line if len(spans[owner]) <= _OBJECT_CHARS]
        best = max(small, key=lambda owner: (len(shared_by[owner]), -len(spans[owner])), default="")
        joined.append((spans[best], shared_by[best]) if best and not shared_by[best] <= shared else (span, shared))
    return joined


def _owners(line: str) -> list[str]:
    """Return the paths of the objects that a setting is in: `job[0]` and `job[0].keep` of `job[0].keep.days: 7`."""
    path = _PATH.match(line)
    keys = path[0].split(".")[:-1] if path else []
    return [".".join(keys[:count]) for count in range(1, len(keys) + 1)]
