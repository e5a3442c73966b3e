"""`asky search`: passages for a query. No model is asked."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from asky.cli.documents import scope_of
from asky.cli.options import json_option, verbosity_options
from asky.cli.workbench import Workbench, workbench
from asky.errors import UsageError
from asky.evidence.citing import page_text, section_text

if TYPE_CHECKING:
    from asky.storage.scope import Scope
    from asky.values import Hit

_MAX_QUERY_CHARS = 100_000


@click.command()
@click.argument("query", nargs=-1)
@click.option("-k", "limit", type=click.IntRange(1, 1000), default=10, show_default=True, help="Most passages.")
@click.option("-d", "--docs", type=click.Path(path_type=Path), multiple=True, help="Search this file or folder.")
@click.option("--collection", help="Search this collection.  [default: default]")
@click.option(
    "--batch", type=click.Path(path_type=Path), help='Answer every {"id", "query"} line of a file ("-": stdin).'
)
@json_option
@verbosity_options
def search(
    query: tuple[str, ...],
    limit: int,
    docs: tuple[Path, ...],
    collection: str | None,
    batch: Path | None,
    as_json: bool,
    quiet: bool,
    verbose: bool,
) -> None:
    """Find the passages that fit QUERY best, by meaning and by words."""
    if bool(query) == (batch is not None):
        raise UsageError("give a query, or --batch FILE", hint='for example: asky search -d docs "how search works"')
    with workbench(quiet=quiet, verbose=verbose, as_json=as_json or batch is not None) as bench:
        scope = scope_of(bench, docs, collection)
        if batch is not None:
            for number, line in enumerate(_lines(batch), start=1):
                if not line.strip():
                    continue
                id_, text = _parse(line, f"{batch}, line {number}")
                bench.terminal.json({"id": id_, **hits_json(text, _find(bench, text, scope, limit))})
                bench.terminal.out.flush()  # whoever writes the queries may be waiting for this line
            return
        text = " ".join(query)
        hits = _find(bench, text, scope, limit)
        if as_json:
            bench.terminal.json(hits_json(text, hits))
        else:
            _print(bench, hits)


def _find(bench: Workbench, query: str, scope: Scope, limit: int) -> list[Hit]:
    if not query.strip():
        raise UsageError("the query is empty")
    if len(query) > _MAX_QUERY_CHARS:
        raise UsageError(f"the query has {len(query):,} characters; {_MAX_QUERY_CHARS:,} are the limit")
    return bench.services.vectors.search_content_chunks(query, scope, limit=limit)


def _lines(batch: Path) -> Iterator[bytes]:
    """The lines of the file, or of standard input for `-`, blank ones too. Raises `UsageError` if it cannot be read."""
    try:
        if str(batch) == "-":
            yield from sys.stdin.buffer
            return
        with batch.open("rb") as file:
            yield from file
    except OSError as error:
        raise UsageError(f"cannot read {batch}: {error.strerror}") from error


def _parse(line: bytes, place: str) -> tuple[object, str]:
    """The id and the query of a line. Raises `UsageError` naming `place`."""
    try:
        record = json.loads(line)  # of bytes: UTF-8 in every locale, with or without a byte order mark
        id_, query = record["id"], record["query"]
    except UnicodeDecodeError:
        raise UsageError(f"{place}: not UTF-8") from None
    except (ValueError, KeyError, TypeError, RecursionError):
        raise UsageError(f'{place}: not an object with "id" and "query"') from None
    if not isinstance(query, str) or not query.strip():
        raise UsageError(f'{place}: "query" must be a text that is not empty')
    return id_, query


def hits_json(query: str, hits: list[Hit]) -> dict[str, Any]:
    """The `asky.hits/1` object."""
    return {"schema": "asky.hits/1", "query": query, "hits": [_hit_json(hit) for hit in hits]}


def _hit_json(hit: Hit) -> dict[str, Any]:
    return {
        "rank": hit.rank,
        "score": round(hit.score, 6),
        "semantic": None if hit.semantic is None else round(hit.semantic, 6),
        "lexical": None if hit.lexical is None else round(hit.lexical, 6),
        "source_id": hit.source.id,
        "external_id": hit.source.external_id,
        "title": hit.source.title,
        "url": hit.source.url,
        "path": hit.source.path,
        "page": hit.location.page,
        "page_label": hit.location.page_label,
        "section": hit.location.section,
        "start": hit.span.start,
        "end": hit.span.end,
        "text": hit.text,
    }


def _print(bench: Workbench, hits: list[Hit]) -> None:
    terminal = bench.terminal
    if not hits:
        terminal.note("nothing found")
    for hit in hits:
        shown = _hit_json(hit)
        place = " · ".join(part for part in (hit.source.title, section_text(shown), page_text(shown)) if part)
        terminal.out.write(terminal.paint(f"{hit.rank}. {place}", 1) + f"  {hit.score:.3f}\n")
        if hit.source.path or hit.source.url:
            terminal.out.write(terminal.paint(f"   {hit.source.path or hit.source.url}", 2) + "\n")
        for line in _wrapped(hit.text):
            terminal.line(f"   {line}")
        terminal.line()


def _wrapped(text: str) -> list[str]:
    import shutil
    import textwrap  # only for printing

    width = min(shutil.get_terminal_size((100, 24)).columns, 110) - 4
    lines = textwrap.wrap(" ".join(text.split()), max(width, 20))
    return [*lines[:5], "…"] if len(lines) > 6 else lines
