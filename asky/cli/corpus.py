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

from asky.cli.documents import tell
from asky.cli.options import json_option, verbosity_options
from asky.cli.running import Stopped
from asky.cli.workbench import Workbench, workbench
from asky.errors import SourceError, UsageError
from asky.storage.corpus import DEFAULT_COLLECTION
from asky.storage.scope import Scope

if TYPE_CHECKING:
    from asky.research.acquire import AcquireReport

_collection_option = click.option(
    "--collection", default=DEFAULT_COLLECTION, show_default=True, help="The collection to work on."
)


@click.group()
def corpus() -> None:
    """Add, list, sync and remove documents."""


@corpus.command()
@click.argument("paths", nargs=-1)
@click.option(
    "--jsonl", type=click.Path(path_type=Path), help='Add {"id", "text", "title"?, "url"?} objects, one a line.'
)
@_collection_option
@click.option("--no-embed", is_flag=True, help="Index words only; `asky corpus sync` embeds later.")
@json_option
@verbosity_options
def add(
    paths: tuple[str, ...],
    jsonl: Path | None,
    collection: str,
    no_embed: bool,
    as_json: bool,
    quiet: bool,
    verbose: bool,
) -> None:
    """Add files and folders (with everything below them) and keep following them."""
    if not paths and jsonl is None:
        raise UsageError("nothing to add", hint="name files or folders, or --jsonl FILE")
    with workbench(quiet=quiet, verbose=verbose, as_json=as_json) as bench, _resumable(collection):
        roots = [_local(each) for each in paths]
        reports = []
        if roots:
            bench.services.only(roots)  # all of them must be there before anything is written
            reports.append(_sync(bench, collection, roots))
        if jsonl is not None:
            reports.append(_add_records(bench, collection, jsonl))
        _finish(bench, collection, reports, embed=not no_embed, as_json=as_json)


@corpus.command()
@_collection_option
@click.option("--all", "everything", is_flag=True, help="Every collection, the folders given with -d among them.")
@json_option
@verbosity_options
def sync(collection: str, everything: bool, as_json: bool, quiet: bool, verbose: bool) -> None:
    """Bring collections up to date with their folders, and embed what is not embedded."""
    with workbench(quiet=quiet, verbose=verbose, as_json=as_json) as bench, _resumable(collection):
        names = bench.services.corpus.collections() if everything else [collection]
        for name in names:
            report = _sync(bench, name, [])
            _finish(bench, name, [report], embed=True, as_json=as_json)


@corpus.command("list")
@_collection_option
@click.option("--collections", is_flag=True, help="List the collections instead of the documents of one.")
@json_option
def list_(collection: str, collections: bool, as_json: bool) -> None:
    """List documents."""
    with workbench() as bench:
        store = bench.services.corpus
        if collections:
            names = store.collections()
            if as_json:
                bench.terminal.json({"schema": "asky.collections/1", "collections": names})
            for name in [] if as_json else names:
                bench.terminal.line(name)
            return
        scope = Scope((store.collection(collection),))
        files = store.files(scope.collections[0] if scope.collections else 0)
        if as_json:
            sources = [
                asdict(each) | {"verdict": files[each.uri].verdict, "why": files[each.uri].why}
                for each in store.sources(scope)
            ]
            bench.terminal.json({"schema": "asky.sources/1", "collection": collection, "sources": sources})
            return
        for each in store.sources(scope):
            state = files[each.uri]
            problem = "" if state.verdict == "indexed" else f"  ({state.verdict.replace('_', ' ')}: {state.why})"
            bench.terminal.line(f"{each.id}  {each.path or each.url or each.external_id or each.uri}{problem}")


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
    """Remove documents, by id or path, from a collection. What answers cited stays readable for `asky why`."""
    if bool(sources) == everything:
        raise UsageError("name documents to remove, or --all")
    with workbench(quiet=quiet, verbose=verbose) as bench:
        store = bench.services.corpus
        collection_id = store.collection(collection)
        if everything:
            removed = store.remove_collection(collection_id)
        else:
            chosen = _chosen(bench, collection_id, sources)
            _stop_following(bench, collection_id, sources)
            removed = store.remove_sources(collection_id, chosen)
        bench.terminal.note(f"removed {removed:,} documents")


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


@contextmanager
def _resumable(collection: str) -> Iterator[None]:
    """Say after Ctrl-C that nothing has to be done again."""
    try:
        yield
    except Stopped as stop:
        option = "" if collection == DEFAULT_COLLECTION else f" --collection {shlex.quote(collection)}"
        stop.hint = f"what is done is kept; `asky corpus sync{option}` goes on from there"
        raise


def _local(path: str) -> Path:
    if "://" in path and not path.startswith("file://"):
        raise UsageError(f"{path}: web pages cannot be added yet", hint="add files and folders")
    return Path(path.removeprefix("file://"))


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


def _add_records(bench: Workbench, collection: str, path: Path) -> AcquireReport:
    from asky.research.records import open_lines

    lines = open_lines(path)
    collection_id = bench.services.corpus.collection(collection, create=True)
    return bench.run(lambda: bench.services.acquirer.add_records(collection_id, collection, lines, path.name))


def _finish(bench: Workbench, collection: str, reports: list[AcquireReport], *, embed: bool, as_json: bool) -> None:
    for report in reports:
        tell(bench.terminal, report)
    scope = Scope((bench.services.corpus.collection(collection),))
    embedded = bench.run(lambda: bench.services.acquirer.embed(scope)) if embed else 0
    if embedded:
        bench.terminal.note(f"embedded {embedded:,} passages")
    if as_json:
        found = [_report_json(each) for each in reports]
        bench.terminal.json(
            {"schema": "asky.added/1", "collection": collection, "embedded": embedded, "reports": found}
        )
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


def _stop_following(bench: Workbench, collection_id: int, given: tuple[str, ...]) -> None:
    """Follow the named paths no longer, and say what a folder that is still followed will bring back."""
    store = bench.services.corpus
    for each in given:
        if not store.remove_root(collection_id, os.path.realpath(each)):
            kept = [root for root in store.roots(collection_id) if os.path.realpath(each).startswith(root + os.sep)]
            if kept:
                bench.terminal.note(
                    f"{each} lies in {kept[0]}, and the next sync adds it again unless .askyignore names it"
                )


def _chosen(bench: Workbench, collection_id: int, given: tuple[str, ...]) -> list[str]:
    """Source ids for what the user named: ids, paths, folders, external ids."""
    sources = bench.services.corpus.sources(Scope((collection_id,)))
    chosen: list[str] = []
    for each in given:
        real = os.path.realpath(each)
        found = [
            s.id
            for s in sources
            if each in (s.id, s.external_id, s.url) or (s.path and (s.path == real or s.path.startswith(real + os.sep)))
        ]
        if not found and real not in bench.services.corpus.roots(collection_id):
            raise UsageError(f"{each}: not in this collection", hint="`asky corpus list` shows what there is")
        chosen += found
    return chosen
