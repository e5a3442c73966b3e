"""`asky corpus`: stored documents."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import click

from asky.app.corpus import (
    DEFAULT_COLLECTION,
    AddedDocuments,
    CollectionSummary,
    DiskChanges,
    IndexingStatus,
    ListedSource,
    RemovedCollection,
    RemovedDocuments,
    is_address,
    raise_for_added,
)
from asky.app.schemas.corpus import added_object, collection_object, collections_object, sources_object, synced_object
from asky.app.schemas.search import with_embedding
from asky.app.unread_files import describe_parts
from asky.cli.context import Stopped, command_context
from asky.cli.listing_group import ListingGroup
from asky.cli.options import json_option, verbosity_options
from asky.cli.terminal.terminal import Terminal
from asky.errors import UsageError
from asky.text.counting import counted

_NOTHING = "nothing is indexed yet; `asky corpus add PATH` adds documents"
_collection_option = click.option(
    "--collection", default=DEFAULT_COLLECTION, show_default=True, help="Collection to use."
)


@click.group(cls=ListingGroup)
def corpus() -> None:
    """Add, list, sync and remove documents."""


@corpus.command()
@click.argument("sources", metavar="[PATH|URL|TARGET]...", nargs=-1)
@click.option(
    "--jsonl",
    type=click.Path(path_type=Path),
    help='Add records, one {"id", "text", "title"?, "url"?, "metadata"?} object per line.',
)
@_collection_option
@click.option("--no-embed", is_flag=True, help="Index words only; embed later with `asky corpus sync`.")
@click.option("--offline", is_flag=True, help="Never touch the network; add cached pages only.")
@json_option
@verbosity_options
def add(
    sources: tuple[str, ...],
    jsonl: Path | None,
    collection: str,
    no_embed: bool,
    offline: bool,
    as_json: bool,
    quiet: bool,
    verbose: bool,
) -> None:
    """Add files, folders with everything below them, web pages, and targets of adapters.

    Files and folders are tracked for `asky corpus sync`; add a page or target again to refresh it. If one that you
    named cannot be read, it is reported, the rest is added, and the exit code is nonzero. A file in a folder that you
    named is reported only.
    """
    if not sources and jsonl is None:
        raise UsageError("nothing to add", hint="name files, folders or web pages, or --jsonl FILE")
    is_followed = jsonl is None and not any(map(is_address, sources))
    retry_command = _sync_command(collection) if is_followed else "the same command"
    with command_context(quiet=quiet, verbose=verbose, as_json=as_json) as ctx, _resumable(retry_command):
        added = ctx.run(
            lambda: ctx.asky.corpus.add(
                sources, records=jsonl, collection=collection, embed=not no_embed, offline=offline
            )
        )
        if as_json:
            ctx.terminal.json(with_embedding(added_object(added), ctx.asky.embedding_usage()))
        raise_for_added(added)


@corpus.command()
@_collection_option
@click.option("--all", "everything", is_flag=True, help="Sync all collections, including folders given with -d.")
@json_option
@verbosity_options
def sync(collection: str, everything: bool, as_json: bool, quiet: bool, verbose: bool) -> None:
    """Update collections from their folders and embed new passages.

    With --all, --json prints one object with a "collections" list.
    """
    retry_command = "`asky corpus sync --all`" if everything else _sync_command(collection)
    with command_context(quiet=quiet, verbose=verbose, as_json=as_json) as ctx, _resumable(retry_command):
        service = ctx.asky.corpus
        names = service.list_collections() if everything else [collection]
        if not names:
            ctx.terminal.note(_NOTHING)
        synced: list[AddedDocuments] = []
        for name in names:
            if everything:
                ctx.terminal.note(f"collection {name}")
            synced.append(ctx.run(partial(service.sync, name), unless=partial(service.sync_unchanged, name)))
        if as_json:
            made = synced_object(synced) if everything else added_object(synced[0])
            ctx.terminal.json(with_embedding(made, ctx.asky.embedding_usage()))
        raise_for_added(*synced)


_any_collection_option = click.option("--collection", help="Collection to show.  [default: all]")


@corpus.command("list")
@_any_collection_option
@click.option("--collections", is_flag=True, help="List collections instead of documents.")
@json_option
def list_(collection: str | None, collections: bool, as_json: bool) -> None:
    """List documents by collection, and what has changed on disk since the last sync.

    --json lists one collection, by default the default one.
    """
    with command_context(as_json=as_json) as ctx:
        service = ctx.asky.corpus
        names = service.list_collections()
        if collections and as_json:
            ctx.terminal.json(collections_object(names))
        elif as_json:
            name = collection or DEFAULT_COLLECTION
            ctx.terminal.json(sources_object(name, service.list_sources(name)))
        elif collections:
            for name in names:
                ctx.terminal.line(name)
        else:
            for name in names if collection is None else [collection]:
                _print_sources(ctx.terminal, name, service.list_sources(name), alone=len(names) == 1)
                if changes := _changes(ctx.run(partial(service.changes, name)), name):
                    ctx.terminal.note(f"since then on disk: {changes}")
        if not names:
            ctx.terminal.note(_NOTHING)


def _print_sources(terminal: Terminal, collection: str, sources: Sequence[ListedSource], *, alone: bool) -> None:
    if not alone:
        terminal.note(f"{collection}: {counted(len(sources), 'document')}")
    for each in sources:
        terminal.line(f"{each.source.id}  {_name(each)}{_problem(each)}")


def _changes(found: DiskChanges, collection: str) -> str:
    """Return `3 changed, 1 new, 1 gone: ...` with the command that reads them; empty if nothing has changed."""
    counts = {"changed": found.changed, "new": found.new, "gone": found.gone}
    said = ", ".join(f"{count:,} {word}" for word, count in counts.items() if count)
    return f"{said}: {_sync_command(collection)}" if said else ""


@corpus.command()
@_any_collection_option
@json_option
def status(collection: str | None, as_json: bool) -> None:
    """Show what collections hold, how far embedding them is, and what has changed on disk since the last sync.

    --json shows one collection, by default the default one.
    """
    with command_context() as ctx:
        service = ctx.asky.corpus
        if as_json:
            found = ctx.run(lambda: service.summarize(collection or DEFAULT_COLLECTION))
            ctx.terminal.json(collection_object(found, ctx.run(service.indexing)))
            return
        names = service.list_collections() if collection is None else [collection]
        for number, name in enumerate(names):
            found = ctx.run(partial(service.summarize, name))
            if number:
                ctx.terminal.line()
            _print_summary(ctx.terminal, found)
        if not names:
            ctx.terminal.note(_NOTHING)
        elif (indexing := ctx.run(service.indexing)) is not None:
            if len(names) > 1:
                ctx.terminal.line()
            ctx.terminal.line(f"indexing     {_describe_indexing(indexing)}")


def _print_summary(terminal: Terminal, found: CollectionSummary) -> None:
    terminal.line(f"collection   {found.name}")
    for root in found.roots:
        terminal.line(f"follows      {root}")
    verdicts = ", ".join(f"{count:,} {verdict.replace('_', ' ')}" for verdict, count in found.verdicts.items())
    terminal.line(f"sources      {found.sources:,}" + (f" ({verdicts})" if verdicts else ""))
    for line in describe_parts(found.unread):
        terminal.line(f"in part      {line}", hang=13)
    terminal.line(f"text         {found.characters:,} characters in {counted(found.chunks, 'passage')}")
    if changes := _changes(found.on_disk, found.name):
        terminal.line(f"on disk      {changes}")
    embedded = "no embedding model" if found.embedded is None else counted(found.embedded, "passage")
    terminal.line(f"embedded     {embedded}")
    if found.engine is not None:
        engine = "exact scan of the vectors" if found.engine == "exact" else "Chroma"
        limit = (
            "as configured" if found.exact_max_chunks is None else f"Chroma above {found.exact_max_chunks:,} passages"
        )
        terminal.line(f"searched by  {engine} ({limit})")


def _describe_indexing(indexing: IndexingStatus) -> str:
    """Return the state of the whole store's embedding in a line."""
    left = f"{counted(indexing.passages_left, 'passage')} left to embed"
    goes_on = "the next question or `asky corpus sync --all` goes on with them"
    match indexing.state:
        case "running":
            process = "" if indexing.pid is None else f", process {indexing.pid}"  # for a moment at its start
            return f"running in the background{process}: {left}"
        case "done":
            return "done"
        case "failed":
            return f"failed ({indexing.problem}): {left}; {goes_on}"
        case "stopped":
            return f"stopped: {left}; {goes_on}"
        case "off":
            return f"not in the background: {left}; `asky corpus sync --all` embeds them"


@corpus.command()
@click.argument("sources", nargs=-1)
@click.option("--collection", help="Collection to use.  [default: the one that has them]")
@click.option("--all", "everything", is_flag=True, help="Remove the whole collection.")
@verbosity_options
def rm(sources: tuple[str, ...], collection: str | None, everything: bool, quiet: bool, verbose: bool) -> None:
    """Remove documents from a collection by id, path, file name, URL or external id.

    Cited passages stay available to `asky why`.
    """
    if bool(sources) == everything:
        raise UsageError("name documents to remove, or --all", hint="`asky corpus list` lists the documents")
    with command_context(quiet=quiet, verbose=verbose) as ctx:
        service = ctx.asky.corpus
        if everything:
            _print_removed_collection(
                ctx.terminal, ctx.run(lambda: service.remove_collection(collection or DEFAULT_COLLECTION))
            )
        else:
            _print_removed(ctx.terminal, ctx.run(lambda: service.remove(sources, collection=collection)))


def _print_removed_collection(terminal: Terminal, removed: RemovedCollection) -> None:
    what = f"{counted(removed.documents, 'document')}, {counted(removed.passages, 'passage')}"
    terminal.note(f"removed the collection {removed.name}: {what}" + _kept_elsewhere(removed.kept_elsewhere))
    for root in removed.roots:
        terminal.note(f"{root} is no longer followed")


def _print_removed(terminal: Terminal, removed: RemovedDocuments) -> None:
    for name, folder in removed.followed:
        terminal.note(f"{name} is in {folder}; the next sync adds it again unless .askyignore excludes it")
    terminal.note(f"removed {counted(removed.documents, 'document')}" + _kept_elsewhere(removed.kept_elsewhere))


def _kept_elsewhere(count: int) -> str:
    return f" ({count:,} still in other collections)" if count else ""


@corpus.command()
@_collection_option
@click.option("--embeddings", is_flag=True, help="Also embed everything again.")
@verbosity_options
def rebuild(collection: str, embeddings: bool, quiet: bool, verbose: bool) -> None:
    """Rebuild the indexes from stored texts and vectors, without reading or embedding anything again."""
    with command_context(quiet=quiet, verbose=verbose) as ctx:
        count = ctx.run(lambda: ctx.asky.corpus.rebuild(collection, embeddings=embeddings))
        vectors = "" if count is None else f" and the vector index of {count:,} passages"
        ctx.terminal.note(f"rebuilt the word index{vectors}")


def _sync_command(collection: str) -> str:
    option = "" if collection == DEFAULT_COLLECTION else f" --collection {shlex.quote(collection)}"
    return f"`asky corpus sync{option}`"


@contextmanager
def _resumable(retry_command: str) -> Iterator[None]:
    """Add a hint to a stopped command: finished work is kept, and `retry_command` continues from there."""
    try:
        yield
    except Stopped as stop:
        stop.hint = f"finished work is kept; {retry_command} continues from there"
        raise


def _name(listed: ListedSource) -> str:
    source = listed.source
    return source.path or source.url or (source.uri if source.external_id is None else str(source.external_id))


def _problem(listed: ListedSource) -> str:
    if listed.verdict == "indexed":
        return f"  (not read: {listed.why})" if listed.why else ""
    return f"  ({listed.verdict.replace('_', ' ')}: {listed.why})"
