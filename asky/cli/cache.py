"""`asky cache`: web pages that were read before."""

from __future__ import annotations

import time
from datetime import datetime, timezone
from typing import TYPE_CHECKING, Any

import click

from asky.cli.damaged import describe_damaged, note_damaged
from asky.cli.options import complete_page, json_option
from asky.cli.terminal import one_line
from asky.cli.workbench import Workbench, workbench
from asky.errors import UsageError
from asky.storage.stored_json import Unreadable

if TYPE_CHECKING:
    from asky.storage.pages import PageRow

_SHOWN_CHARS = 200


@click.group()
def cache() -> None:
    """List, show and drop web pages that were read before.

    A fresh page is used again without asking its host; a stale one is asked for again, and read anew only if it
    changed. A page that an answer cites stays readable with `asky why`, whatever becomes of it here.
    """


@cache.command("list")
@click.argument("matching", default="")
@click.option("-n", "limit", type=click.IntRange(1), default=50, show_default=True, help="Most pages.")
@json_option
def list_(matching: str, limit: int, as_json: bool) -> None:
    """List pages whose address holds MATCHING, the last used first."""
    with workbench() as bench:
        listed = bench.services.pages.listed(matching=matching, limit=limit)
        rows = [each for each in listed if not isinstance(each, Unreadable)]
        damaged = [each for each in listed if isinstance(each, Unreadable)]
        note_damaged(bench.terminal, damaged)
        if as_json:
            pages = [_described(bench, each) for each in rows]
            bench.terminal.json({"schema": "asky.pages/1", "pages": pages, "damaged": describe_damaged(damaged)})
            return
        if not listed:
            bench.terminal.note("no page" + (f" with {matching!r} in its address" if matching else " was read yet"))
        for each in rows:
            state = _state(bench, each)
            size = f"{each.bytes:,} bytes" if each.failure is None else one_line(each.failure.message)
            bench.terminal.line(f"{_date(each.fetched_at)[:16]}  {state:<8}  {one_line(each.url)}")
            bench.terminal.out.write(bench.terminal.paint(f"    {size}, {len(each.links)} links", 2) + "\n")


@cache.command()
@click.argument("url", shell_complete=complete_page)
@click.option("--links", "wants_links", is_flag=True, help="Print its links instead of its text.")
@json_option
def show(url: str, wants_links: bool, as_json: bool) -> None:
    """Print the text that is kept of the page at URL."""
    with workbench() as bench:
        row = _find(bench, url)
        services = bench.services
        document_id = services.corpus.current_document(row.source_id) if row.source_id is not None else None
        document = services.documents.document(document_id) if document_id is not None else None
        if as_json:
            described = _described(bench, row, with_links=True)
            text = document.text if document is not None else None
            bench.terminal.json({"schema": "asky.page/1", **described, "text": text})
            return
        if wants_links:
            for link in row.links:
                bench.terminal.line(f"{one_line(link.url)}  {one_line(link.text)}")
            return
        bench.terminal.note(f"{row.final_url}: {_state(bench, row)}, read {_date(row.fetched_at)}")
        if document is None:
            why = row.failure.message if row.failure is not None else "its text is gone"
            bench.terminal.note(f"there is no text of it: {why}")
            return
        bench.terminal.write(document.text + "\n")


@cache.command()
@click.argument("urls", metavar="URL...", nargs=-1, required=True, shell_complete=complete_page)
def rm(urls: tuple[str, ...]) -> None:
    """Forget the pages at these addresses."""
    with workbench() as bench:
        rows = [_find(bench, url) for url in urls]
        removed = bench.services.pages.remove([row.url for row in rows])
        bench.terminal.note(f"forgot {removed} page{'' if removed == 1 else 's'}")


@cache.command()
def clear() -> None:
    """Forget all pages, searches and remembered vectors.

    Texts that a session or another collection uses stay with it.
    """
    with workbench() as bench:
        pages = bench.services.pages
        counts = pages.counts(time.time())
        pages.remove([each.url for each in pages.pages()])
        bench.services.searches.remove()
        bench.services.text_vectors.shrink(0)
        bench.terminal.note(f"forgot {counts.pages:,} pages with {counts.bytes:,} bytes of text")


@cache.command()
@json_option
def stats(as_json: bool) -> None:
    """Say what the cache holds and how long pages stay fresh."""
    with workbench() as bench:
        settings = bench.services.config.research.cache
        counts = bench.services.pages.counts(time.time(), ttl_s=_ttl_s(bench))
        facts = {
            "pages": counts.pages,
            "stale": counts.stale,
            "failures": counts.failures,
            "bytes": counts.bytes,
            "max_bytes": settings.max_mb << 20,
            "ttl_hours": settings.ttl_hours,
        }
        if as_json:
            bench.terminal.json({"schema": "asky.cache/1", **facts})
            return
        bench.terminal.line(f"pages     {counts.pages:,}, of which {counts.stale:,} are stale")
        bench.terminal.line(f"failures  {counts.failures:,}")
        bench.terminal.line(f"text      {counts.bytes:,} of {settings.max_mb << 20:,} bytes")
        bench.terminal.line(f"fresh     for {settings.ttl_hours:g} hours")


def _find(bench: Workbench, url: str) -> PageRow:
    from asky.text.urls import canonical_url  # for an address only

    try:
        row = bench.services.pages.get(canonical_url(url))
    except ValueError:
        hint = "write all of it, such as https://example.org/page; `asky cache list` shows what there is"
        raise UsageError(f"{one_line(url)[:_SHOWN_CHARS]!r} is no address of a page", hint=hint) from None
    if row is None:
        raise UsageError(
            f"{one_line(url)[:_SHOWN_CHARS]} is not in the cache", hint="`asky cache list` shows what there is"
        )
    return row


def _ttl_s(bench: Workbench) -> float:
    return bench.services.config.research.cache.ttl_hours * 3600.0


def _state(bench: Workbench, row: PageRow) -> str:
    if row.failure is not None:
        return "failed"
    return "fresh" if row.fresh_until(_ttl_s(bench)) > time.time() else "stale"


def _described(bench: Workbench, row: PageRow, *, with_links: bool = False) -> dict[str, Any]:
    described: dict[str, Any] = {
        "url": row.url,
        "final_url": row.final_url,
        "source_id": row.source_id,
        "state": _state(bench, row),
        "failure": row.failure.message if row.failure is not None else None,
        "bytes": row.bytes,
        "links": len(row.links),
        "is_cut": row.is_cut,
        "fetched_at": _date(row.fetched_at),
        "expires_at": _date(row.fresh_until(_ttl_s(bench))),
    }
    if with_links:
        described["links"] = [{"url": link.url, "text": link.text, "start": link.start} for link in row.links]
    return described


def _date(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
