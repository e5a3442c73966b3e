"""`asky search`: passages that match a query. No model is called."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import click

from asky.app.requests import DocumentName
from asky.app.schemas.search import external_ids, hits_object, with_embedding
from asky.app.search import describe_place
from asky.app.unread_files import describe_parts, of_sources
from asky.cli.context import command_context
from asky.cli.options import DocumentPath, json_option, verbosity_options
from asky.cli.terminal.excerpt import wrapped_excerpt
from asky.cli.terminal.terminal import Terminal
from asky.errors import UsageError
from asky.values import Hit


@click.command()
@click.argument("query", nargs=-1)
@click.option(
    "-k", "limit", type=click.IntRange(1, 1000), default=10, show_default=True, help="Maximum number of passages."
)
@click.option(
    "-d",
    "--docs",
    type=DocumentPath(),
    multiple=True,
    help="Search this file, folder or adapter's target (repeatable).",
)
@click.option("--collection", help="Search this collection.  [default: default]")
@click.option(
    "--batch", type=click.Path(path_type=Path), help='Run every {"id", "query"} line of a file ("-" for stdin).'
)
@json_option
@verbosity_options
def search(
    query: tuple[str, ...],
    limit: int,
    docs: tuple[DocumentName, ...],
    collection: str | None,
    batch: Path | None,
    as_json: bool,
    quiet: bool,
    verbose: bool,
) -> None:
    """Find the passages that best match QUERY, by meaning and by words. No model is called.

    If a file that you named cannot be read, what was found elsewhere is printed, and the exit code is nonzero.
    """
    if bool(query) == (batch is not None):
        raise UsageError("give a query, or --batch FILE", hint='for example: asky search -d docs "how search works"')
    with command_context(quiet=quiet, verbose=verbose, as_json=as_json or batch is not None) as ctx:
        service = ctx.asky.search
        # Only updating folders is asynchronous: a search of stored documents starts at once.
        scope = ctx.run(lambda: service.resolve(docs, collection)) if docs else service.resolve_collection(collection)
        if batch is not None:
            for number, line in enumerate(_lines(batch), start=1):
                if not line.strip():
                    continue
                id_, text = _parse(line, f"{batch}, line {number}")
                ctx.terminal.json(
                    {"id": id_, **hits_object(text, service.search_in(scope, text, limit=limit), scope.unread)}
                )
                ctx.terminal.out.flush()  # the process writing the queries may wait for this line
            service.raise_for_unread(scope)
            return
        text = " ".join(query)
        hits = service.search_in(scope, text, limit=limit)
        if as_json:
            ctx.terminal.json(with_embedding(hits_object(text, hits, scope.unread), ctx.asky.embedding_usage()))
        else:
            _print(ctx.terminal, hits)
            for note in describe_parts(of_sources(scope.unread, [hit.source for hit in hits])):
                ctx.terminal.note(note)
        service.raise_for_unread(scope)


def _lines(batch: Path) -> Iterator[bytes]:
    """Yield the lines of the file, or of standard input for `-`. Raises `UsageError` if it cannot be read."""
    try:
        if str(batch) == "-":
            yield from sys.stdin.buffer
            return
        with batch.open("rb") as file:
            yield from file
    except OSError as error:
        raise UsageError(f"cannot read {batch}: {error.strerror}") from error


def _parse(line: bytes, place: str) -> tuple[object, str]:
    """Return the id and the query of a line. Raises `UsageError` naming `place` if it is malformed."""
    try:
        record = json.loads(line)  # of bytes: UTF-8 in every locale, with or without a byte order mark
        id_, query = record["id"], record["query"]
    except UnicodeDecodeError:
        raise UsageError(f"{place}: not UTF-8") from None
    except (ValueError, KeyError, TypeError, RecursionError):
        raise UsageError(f'{place}: not an object with "id" and "query"') from None
    if not isinstance(query, str) or not query.strip():
        raise UsageError(f'{place}: "query" must be a string that is not empty')
    return id_, query


def _print(terminal: Terminal, hits: list[Hit]) -> None:
    if not hits:
        terminal.note("nothing found")
    for hit in hits:
        terminal.line(f"{hit.rank}. {describe_place(hit)}  {hit.score:.3f}", 1, hang=3)
        if where := hit.source.path or hit.source.url:
            terminal.source(f"   {where}", where, 2)
        if ids := external_ids(hit):
            terminal.line(f"   {'id' if len(ids) == 1 else 'ids'} {', '.join(map(str, ids))}", hang=3)
        if paths := [each.path for each in hit.also_in if each.path]:
            terminal.line(f"   also in {', '.join(paths)}", hang=3)
        if hit.location.columns is not None:
            terminal.line(f"   columns: {hit.location.columns}", hang=3)
        for line in wrapped_excerpt(hit.text):
            terminal.line(f"   {line}")
        terminal.line()
