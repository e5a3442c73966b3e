"""`asky notes`: the notes of a vault."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import click

from asky.app.inputs import report_notes
from asky.app.schemas import (
    indexed_notes_object,
    note_hits_object,
    note_links_object,
    note_text_object,
    notes_object,
    with_embedding,
)
from asky.cli.context import CommandContext, Stopped, command_context
from asky.cli.listing_group import ListingGroup
from asky.cli.options import json_option, verbosity_options
from asky.cli.terminal.excerpt import wrapped_excerpt
from asky.events import Noted
from asky.text.counting import counted

if TYPE_CHECKING:
    from asky.app.schemas import IndexedNotes, NoteEntry, NoteHit


@click.group(cls=ListingGroup)
def notes() -> None:
    """List, find and read the notes of your vault.

    The vault is a folder of notes, `notes.vault`; none of these commands changes it.
    """


@notes.command()
@click.option("--no-embed", is_flag=True, help="Index words only; the next index or question embeds.")
@json_option
@verbosity_options
def index(no_embed: bool, as_json: bool, quiet: bool, verbose: bool) -> None:
    """Bring the index up to date with the vault. Notes that have not changed are not opened."""
    with command_context(quiet=quiet, verbose=verbose, as_json=as_json) as ctx:
        indexed = _index(ctx, embed=not no_embed)
        if as_json:
            ctx.terminal.json(with_embedding(indexed_notes_object(indexed), ctx.asky.embedding_usage()))


@notes.command()
@click.argument("query", nargs=-1, required=True)
@click.option(
    "--mode",
    default="hybrid",
    show_default=True,
    type=click.Choice(["hybrid", "semantic", "keyword"]),
    help="Find by meaning and words, by meaning, or by words.",
)
@click.option("--limit", type=click.IntRange(1, 100), default=5, show_default=True, help="Maximum number of notes.")
@json_option
@verbosity_options
def find(query: tuple[str, ...], mode: str, limit: int, as_json: bool, quiet: bool, verbose: bool) -> None:
    """Find the notes that best match QUERY, each with its best passage. No model is called."""
    with command_context(quiet=quiet, verbose=verbose, as_json=as_json) as ctx:
        _update(ctx)
        text = " ".join(query)
        hits = ctx.run(lambda: ctx.asky.notes.find_notes(text, mode, limit))
        if as_json:
            ctx.terminal.json(with_embedding(note_hits_object(text, mode, hits), ctx.asky.embedding_usage()))
            return
        if not hits:
            ctx.terminal.note("nothing found")
        for number, hit in enumerate(hits, start=1):
            _print_hit(ctx, number, hit)


@notes.command()
@click.argument("name", metavar="NOTE")
@json_option
def read(name: str, as_json: bool) -> None:
    """Print NOTE with the notes that it embeds.

    NOTE is a path, absolute or in the vault, or what a [[link]] to the note says.
    """
    with command_context(as_json=as_json) as ctx:
        text = ctx.run(lambda: ctx.asky.notes.read_note(name))
        if as_json:
            ctx.terminal.json(note_text_object(ctx.asky.notes.note(name).shown, text))
        else:
            ctx.terminal.write(text if text.endswith("\n") else f"{text}\n")


@notes.command("list")
@click.option("--folder", help="List the notes below this folder of the vault.")
@click.option("--tag", help="List the notes with this tag, or one below it.")
@json_option
@verbosity_options
def list_(folder: str | None, tag: str | None, as_json: bool, quiet: bool, verbose: bool) -> None:
    """List the notes with their titles and tags, in order of their paths."""
    with command_context(quiet=quiet, verbose=verbose, as_json=as_json) as ctx:
        _update(ctx)
        found = ctx.asky.notes.list_notes(folder, tag)
        if as_json:
            ctx.terminal.json(notes_object(found))
            return
        for each in found:
            ctx.terminal.line(_described(each), hang=2)
        if not found:
            ctx.terminal.note("no notes" if tag is None else f"no notes with the tag {tag}")


@notes.command()
@click.argument("name", metavar="NOTE")
@json_option
@verbosity_options
def links(name: str, as_json: bool, quiet: bool, verbose: bool) -> None:
    """Show where the links of NOTE lead, and which notes link to it."""
    with command_context(quiet=quiet, verbose=verbose, as_json=as_json) as ctx:
        catalog = ctx.asky.notes
        note = catalog.note(name)
        _update(ctx)
        outgoing, incoming = catalog.links(note.relative), catalog.backlinks(note.relative)
        if as_json:
            ctx.terminal.json(note_links_object(note.shown, outgoing, incoming))
            return
        ctx.terminal.line(f"{note.shown}: {counted(len(outgoing), 'link')}, {counted(len(incoming), 'backlink')}")
        for each in outgoing:
            verb = "embeds" if each.is_embed else "links to"
            missing = " (no such note)" if each.kind == "missing" else ""
            ctx.terminal.line(f"  {verb} {each.path or each.target}{missing}", hang=4)
        for entry in incoming:
            ctx.terminal.line(f"  linked from {_described(entry)}", hang=4)


def _update(ctx: CommandContext) -> None:
    """Index what has changed; what is not embedded yet is left to the search."""
    _index(ctx, embed=False, changes_only=True)


def _index(ctx: CommandContext, *, embed: bool, changes_only: bool = False) -> IndexedNotes:
    catalog = ctx.asky.notes
    try:
        indexed = ctx.run(partial(catalog.index, embed), unless=partial(catalog.index_unchanged, embed))
    except Stopped as stop:
        stop.hint = "what was read so far is kept; `asky notes index` goes on from there"
        raise
    for note in report_notes(indexed.report, changes_only=changes_only):
        ctx.progress(note)
    if indexed.embedded:
        ctx.progress(Noted(f"embedded {counted(indexed.embedded, 'passage')}"))
    return indexed


def _print_hit(ctx: CommandContext, number: int, hit: NoteHit) -> None:
    place = " · ".join(part for part in (hit.path, hit.heading) if part)
    ctx.terminal.line(f"{number}. {place}  {hit.score:.3f}", 1, hang=3)
    for line in wrapped_excerpt(hit.snippet):
        ctx.terminal.line(f"   {line}")
    ctx.terminal.line()


def _described(note: NoteEntry) -> str:
    """Return the path of a note, with its title if that is another name, and its tags."""
    is_named = note.path.rpartition("/")[2].rpartition(".")[0] == note.title
    tags = "".join(f" #{each}" for each in note.tags)
    return f"{note.path}{'' if is_named else f'  {note.title}'}{f' {tags}' if tags else ''}"
