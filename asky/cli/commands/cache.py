"""`asky cache`: cached web pages."""

from __future__ import annotations

import click

from asky.app.cache import utc_time
from asky.app.schemas.cache import cache_object, page_object, pages_object
from asky.cli.context import command_context
from asky.cli.listing_group import ListingGroup
from asky.cli.options import complete_page, json_option
from asky.cli.terminal.damaged import note_damaged
from asky.cli.terminal.terminal import one_line
from asky.cli.view import note_parts


@click.group(cls=ListingGroup)
def cache() -> None:
    """List, show and delete cached web pages.

    A fresh page is reused without contacting its host; a stale page is revalidated and read again only if it changed.
    Cited pages stay available to `asky why` after they leave the cache.
    """


@cache.command("list")
@click.argument("matching", default="")
@click.option("-n", "limit", type=click.IntRange(1), default=50, show_default=True, help="Maximum number of pages.")
@json_option
def list_(matching: str, limit: int, as_json: bool) -> None:
    """List cached pages whose URL contains MATCHING, most recently used first."""
    with command_context() as ctx:
        pages = ctx.asky.cache.list_pages(matching, limit=limit)
        note_damaged(ctx.terminal, pages.damaged)
        if as_json:
            ctx.terminal.json(pages_object(pages))
            return
        if not pages:
            ctx.terminal.note("no page" + (f" with {matching!r} in its address" if matching else " has been read yet"))
        for each in pages.found:
            size = f"{each.bytes:,} bytes" if each.failure is None else one_line(each.failure)
            ctx.terminal.line(f"{utc_time(each.fetched_at)[:16]}  {each.state:<8}  {one_line(each.url)}")
            ctx.terminal.line(f"    {size}, {len(each.links)} links", 2)


@cache.command()
@click.argument("url", shell_complete=complete_page)
@click.option("--links", "wants_links", is_flag=True, help="Print the links instead of the text.")
@json_option
def show(url: str, wants_links: bool, as_json: bool) -> None:
    """Print the cached text of the page at URL."""
    with command_context() as ctx:
        page = ctx.asky.cache.find(url)
        text = ctx.asky.cache.read_text(page)
        if as_json:
            ctx.terminal.json(page_object(page, text, ctx.asky.cache.unread(page)))
            return
        if wants_links:
            for link in page.links:
                ctx.terminal.line(f"{one_line(link.url)}  {one_line(link.text)}")
            return
        ctx.terminal.note(f"{page.final_url}: {page.state}, read {utc_time(page.fetched_at)}")
        if text is None:
            is_list = page.source_id is None and page.failure is None
            without = "it is a list, without a text" if is_list else "it was removed"
            ctx.terminal.note(f"its text is not cached: {page.failure or without}")
            return
        ctx.terminal.write(text + "\n")
        note_parts(ctx.terminal, ctx.asky.cache.unread(page))


@cache.command()
@click.argument("urls", metavar="URL...", nargs=-1, required=True, shell_complete=complete_page)
def rm(urls: tuple[str, ...]) -> None:
    """Delete pages from the cache by URL."""
    with command_context() as ctx:
        removed = ctx.asky.cache.remove(urls)
        ctx.terminal.note(f"deleted {removed} page{'' if removed == 1 else 's'}")


@cache.command()
def clear() -> None:
    """Delete all cached pages, searches and vectors.

    Texts used by a session or another collection are kept.
    """
    with command_context() as ctx:
        removed = ctx.asky.cache.clear()
        ctx.terminal.note(f"deleted {removed.pages:,} pages with {removed.bytes:,} bytes of text")


@cache.command()
@json_option
def stats(as_json: bool) -> None:
    """Show what the cache holds and how long pages stay fresh."""
    with command_context() as ctx:
        totals = ctx.asky.cache.stats()
        if as_json:
            ctx.terminal.json(cache_object(totals))
            return
        ctx.terminal.line(f"pages     {totals.pages:,}, of which {totals.stale:,} are stale")
        ctx.terminal.line(f"failures  {totals.failures:,}")
        ctx.terminal.line(f"text      {totals.bytes:,} of {totals.max_bytes:,} bytes")
        ctx.terminal.line(f"fresh     for {totals.ttl_hours:g} hours")
