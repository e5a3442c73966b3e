"""`asky corpus`: the documents that asky keeps."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from asky.cli.adding import add_pages, is_address, require_added, require_address
from asky.cli.documents import tell
from asky.cli.options import json_option, verbosity_options
from asky.cli.removing import remove_collection, remove_sources
from asky.cli.running import Stopped
from asky.cli.workbench import Workbench, workbench
from asky.errors import AskyError, SourceError, UsageError
from asky.storage.corpus import DEFAULT_COLLECTION
from asky.storage.scope import Scope

if TYPE_CHECKING:
    from asky.research.tally import AcquireReport

_NOTHING = "nothing is indexed yet; `asky corpus add PATH` adds documents"
_collection_option = click.option(
    "--collection", default=DEFAULT_COLLECTION, show_default=True, help="The collection to work on."
)


@click.group()
def corpus() -> None:
    """Add, list, sync and remove documents."""


@corpus.command()
@click.argument("given", metavar="[PATH|URL]...", nargs=-1)
@click.option(
    "--jsonl",
    type=click.Path(path_type=Path),
    help='Add {"id", "text", "title"?, "url"?, "metadata"?} objects, one a line.',
)
@_collection_option
@click.option("--no-embed", is_flag=True, help="Index words only; `asky corpus sync` embeds later.")
@click.option("--offline", is_flag=True, help="Reach no host; of web pages, add those that are in the cache.")
@json_option
@verbosity_options
def add(
    given: tuple[str, ...],
    jsonl: Path | None,
    collection: str,
    no_embed: bool,
    offline: bool,
    as_json: bool,
    quiet: bool,
    verbose: bool,
) -> None:
    """Add files, folders with everything below them, and web pages.

    Files and folders are followed from then on; a web page is read again when it is added again. A page that cannot be
    read is named, the rest is added, and the exit code is not 0.
    """
    if not given and jsonl is None:
        raise UsageError("nothing to add", hint="name files, folders or web pages, or --jsonl FILE")
    urls = [each for each in given if is_address(each)]
    paths = [each for each in given if not is_address(each)]
    again = "the same command" if jsonl is not None or urls else _sync_command(collection)
    flags = {"research.embedding.local_files_only": True} if offline else None
    with (
        workbench(quiet=quiet, verbose=verbose, as_json=as_json, offline=offline, flags=flags) as bench,
        _resumable(again),
        _records(jsonl) as lines,
    ):
        for url in urls:
            require_address(url)
        roots = [_local(each) for each in paths]
        reports: list[AcquireReport] = []
        errors: tuple[AskyError, ...] = ()
        if roots:
            bench.services.only(roots)  # all of them must be there before anything is written
            reports.append(_sync(bench, collection, roots))
        if jsonl is not None:
            reports.append(_add_records(bench, collection, lines, jsonl.name))
        if urls:
            pages = add_pages(bench, collection, urls)
            errors = pages.errors
            if errors and len(given) == 1 and not reports:
                raise errors[0]  # which says all that the report would
            reports.append(pages.report)
        added = _finish(bench, collection, reports, embed=not no_embed)
        if as_json:
            bench.terminal.json(added)
        require_added(errors, len(urls))
        _require_usable(reports)


@corpus.command()
@_collection_option
@click.option("--all", "everything", is_flag=True, help="Every collection, the folders given with -d among them.")
@json_option
@verbosity_options
def sync(collection: str, everything: bool, as_json: bool, quiet: bool, verbose: bool) -> None:
    """Bring collections up to date with their folders, and embed what is not embedded.

    With --all, --json prints one object whose "collections" holds what it prints for one.
    """
    again = "`asky corpus sync --all`" if everything else _sync_command(collection)
    with workbench(quiet=quiet, verbose=verbose, as_json=as_json) as bench, _resumable(again):
        names = bench.services.corpus.collections() if everything else [collection]
        if not names:
            bench.terminal.note(_NOTHING)
        reports, synced = [], []
        for name in names:
            if everything:
                bench.terminal.note(f"collection {name}")
            reports.append(_sync(bench, name, []))
            synced.append(_finish(bench, name, reports[-1:], embed=True))
        if as_json:
            bench.terminal.json({"schema": "asky.synced/1", "collections": synced} if everything else synced[0])
        _require_usable(reports)


@corpus.command("list")
@_collection_option
@click.option("--collections", is_flag=True, help="List the collections instead of the documents of one.")
@json_option
def list_(collection: str, collections: bool, as_json: bool) -> None:
    """List documents."""
    with workbench(as_json=as_json) as bench:
        names = bench.services.corpus.collections()
        if collections:
            if as_json:
                bench.terminal.json({"schema": "asky.collections/1", "collections": names})
            for name in [] if as_json else names:
                bench.terminal.line(name)
            if not names:
                bench.terminal.note(_NOTHING)
            return
        missing = collection == DEFAULT_COLLECTION and collection not in names
        sources = [] if missing else _listed(bench, collection)
        if as_json:
            bench.terminal.json({"schema": "asky.sources/1", "collection": collection, "sources": sources})
            return
        for each in sources:
            problem = "" if each["verdict"] == "indexed" else f"  ({each['verdict'].replace('_', ' ')}: {each['why']})"
            bench.terminal.line(f"{each['id']}  {_name(each)}{problem}")
        if not sources:
            others = [name for name in names if name != collection]
            bench.terminal.note(
                f"the collection {collection} is empty; `asky corpus list --collections` shows the others"
                if others
                else _NOTHING
            )


@corpus.command()
@_collection_option
@json_option
def status(collection: str, as_json: bool) -> None:
    """Count what a collection holds, and how much of it is embedded."""
    with workbench() as bench:
        collection_id = bench.services.corpus.collection(collection)
        found = bench.services.corpus.status(collection_id)
        coverage = bench.services.vectors.coverage(Scope((collection_id,)))
        embedded = coverage.embedded if coverage else None
        if as_json:
            bench.terminal.json({"schema": "asky.collection/1", **asdict(found), "embedded": embedded})
            return
        bench.terminal.line(f"collection   {found.name}")
        for root in found.roots:
            bench.terminal.line(f"follows      {root}")
        verdicts = ", ".join(f"{count:,} {verdict.replace('_', ' ')}" for verdict, count in found.verdicts.items())
        bench.terminal.line(f"sources      {found.sources:,}" + (f" ({verdicts})" if verdicts else ""))
        bench.terminal.line(f"text         {found.characters:,} characters in {found.chunks:,} passages")
        bench.terminal.line(f"embedded     {'no embedding model' if embedded is None else f'{embedded:,} passages'}")


@corpus.command()
@click.argument("sources", nargs=-1)
@_collection_option
@click.option("--all", "everything", is_flag=True, help="Remove the whole collection.")
@verbosity_options
def rm(sources: tuple[str, ...], collection: str, everything: bool, quiet: bool, verbose: bool) -> None:
    """Remove documents, by id, path, address or external id, from a collection.

    What answers cited stays readable for `asky why`.
    """
    if bool(sources) == everything:
        raise UsageError("name documents to remove, or --all", hint="`asky corpus list` shows what there is")
    with workbench(quiet=quiet, verbose=verbose) as bench:
        collection_id = bench.services.corpus.collection(collection)
        if everything:
            remove_collection(bench, collection_id)
        else:
            remove_sources(bench, collection_id, sources)


@corpus.command()
@_collection_option
@click.option("--embeddings", is_flag=True, help="Embed everything again too.")
@verbosity_options
def rebuild(collection: str, embeddings: bool, quiet: bool, verbose: bool) -> None:
    """Make the indexes anew from the stored texts and vectors; nothing is read or embedded again."""
    with workbench(quiet=quiet, verbose=verbose) as bench:
        scope = Scope((bench.services.corpus.collection(collection),))
        bench.services.lexical.rebuild()
        if embeddings:
            bench.services.vectors.clear_cache_embeddings(scope)
            bench.run(lambda: bench.services.acquirer.embed(scope))
        count = bench.services.vectors.rebuild_index()
        bench.terminal.note(
            f"rebuilt the word index{'' if count is None else f' and the vector index of {count:,} passages'}"
        )


def _sync_command(collection: str) -> str:
    option = "" if collection == DEFAULT_COLLECTION else f" --collection {shlex.quote(collection)}"
    return f"`asky corpus sync{option}`"


@contextmanager
def _resumable(again: str) -> Iterator[None]:
    """Say after Ctrl-C that nothing has to be done twice, and what goes on from there."""
    try:
        yield
    except Stopped as stop:
        stop.hint = f"what is done is kept; {again} goes on from there"
        raise


@contextmanager
def _records(path: Path | None) -> Iterator[Iterator[bytes]]:
    """The lines of a file of records, opened before anything is made of them; none without a file."""
    if path is None:
        yield iter(())
        return
    from asky.research.records import open_lines

    with open_lines(path) as lines:
        yield lines


def _local(path: str) -> Path:
    from asky.research.local_names import uri_path

    return Path(uri_path(path) or path)


def _sync(bench: Workbench, collection: str, new: list[Path]) -> AcquireReport:
    store = bench.services.corpus
    collection_id = store.collection(collection, create=bool(new))
    for each in new:
        store.add_root(collection_id, os.path.realpath(each))
    followed = store.roots(collection_id)
    for path in followed:
        if not os.path.lexists(path):
            bench.terminal.note(f"{path} is not there: its documents are kept; `asky corpus rm` forgets them")
    roots = bench.services.only([Path(each) for each in followed if os.path.lexists(each)])
    return bench.run(lambda: bench.services.acquirer.sync(collection_id, roots))


def _add_records(bench: Workbench, collection: str, lines: Iterator[bytes], name: str) -> AcquireReport:
    store = bench.services.corpus
    is_new = collection not in store.collections()
    collection_id = store.collection(collection, create=True)
    report = bench.run(lambda: bench.services.acquirer.add_records(collection_id, collection, lines, name))
    if is_new and not store.files(collection_id):  # not one line was a record
        store.remove_collection(collection_id)
    return report


def _finish(bench: Workbench, collection: str, reports: list[AcquireReport], *, embed: bool) -> dict[str, Any]:
    """Tell what became of everything, embed what is new, and return the `asky.added/1` object."""
    for report in reports:
        tell(bench.terminal, report)
    embedded = 0
    if embed and collection in bench.services.corpus.collections():
        scope = Scope((bench.services.corpus.collection(collection),))
        embedded = bench.run(lambda: bench.services.acquirer.embed(scope))
    if embedded:
        bench.terminal.note(f"embedded {embedded:,} passages")
    found = [_report_json(each) for each in reports]
    return {"schema": "asky.added/1", "collection": collection, "embedded": embedded, "reports": found}


def _require_usable(reports: list[AcquireReport]) -> None:
    """Raise `SourceError` if something was looked at and nothing of it can be searched."""
    looked_at = sum(sum(each.verdicts.values()) for each in reports)
    if looked_at and not any(each.verdicts.get(usable) for each in reports for usable in ("indexed", "unchanged")):
        raise SourceError(f"none of {looked_at:,} could be added", hint="the reasons are above")


def _report_json(report: AcquireReport) -> dict[str, Any]:
    return {
        "verdicts": report.verdicts,
        "problems": [asdict(each) for each in report.problems],
        "skipped": [{"first": first, "reason": reason, "count": count} for first, reason, count in report.skipped],
        "removed": report.removed,
        "passages_added": report.chunks_added,
        "seconds": round(report.seconds, 3),
    }


def _listed(bench: Workbench, collection: str) -> list[dict[str, Any]]:
    """The sources of a collection as JSON, each with its verdict."""
    store = bench.services.corpus
    collection_id = store.collection(collection)
    files = store.files(collection_id)
    return [
        asdict(each) | {"verdict": files[each.uri].verdict, "why": files[each.uri].why}
        for each in store.sources(Scope((collection_id,)))
    ]


def _name(source: dict[str, Any]) -> str:
    id_ = source["external_id"]
    return source["path"] or source["url"] or (source["uri"] if id_ is None else str(id_))
