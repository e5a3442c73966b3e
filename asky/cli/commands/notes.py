"""`asky notes`: the notes of a vault."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING

import click

from asky.app.inputs import report_notes
from asky.app.requests import RunLimits
from asky.app.schemas.note import (
    indexed_notes_object,
    note_failure_object,
    note_hits_object,
    note_links_object,
    note_object,
    note_text_object,
    note_undone_object,
    notes_object,
)
from asky.app.schemas.search import with_embedding
from asky.app.unread_files import of_sources
from asky.cli.context import CommandContext, Stopped, command_context
from asky.cli.listing_group import ListingGroup
from asky.cli.options import complete_model, complete_note, json_option, verbosity_options
from asky.cli.terminal.approval import Approval
from asky.cli.terminal.diff import print_diff
from asky.cli.terminal.excerpt import wrapped_excerpt
from asky.cli.view import PrintedView, note_parts, note_unread, open_view, print_result, run_to_end
from asky.errors import AskyError, UsageError
from asky.events import Noted
from asky.text.counting import counted

if TYPE_CHECKING:
    from asky.app.schemas import IndexedNotes, NoteEntry, NoteHit, NoteResult
    from asky.cli.view import Start


@click.group(cls=ListingGroup)
def notes() -> None:
    """List, find, read and research the notes of your vault.

    The vault is a folder of notes, `notes.vault`. Only `research` and `undo` change a note.
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
        indexed = _update(ctx)
        text = " ".join(query)
        hits = ctx.run(lambda: ctx.asky.notes.find_notes(text, mode, limit))
        if as_json:
            ctx.terminal.json(with_embedding(note_hits_object(text, mode, hits, indexed), ctx.asky.embedding_usage()))
            return
        if not hits:
            ctx.terminal.note("nothing found")
            note_unread(ctx.terminal, indexed.report.unread)
        for number, hit in enumerate(hits, start=1):
            _print_hit(ctx, number, hit)
        note_parts(ctx.terminal, of_sources(indexed.report.unread, [each.hit.source for each in hits]))


@notes.command()
@click.argument("name", metavar="NOTE", shell_complete=complete_note)
@json_option
def read(name: str, as_json: bool) -> None:
    """Print NOTE with the notes that it embeds.

    NOTE is a path, absolute or in the vault, what a [[link]] to the note says, or one of its aliases.
    """
    with command_context(as_json=as_json) as ctx:
        note = ctx.run(lambda: ctx.asky.notes.show_note(name))
        if as_json:
            ctx.terminal.json(note_text_object(note))
        else:
            ctx.terminal.write(note.text if note.text.endswith("\n") else f"{note.text}\n")
            note_parts(ctx.terminal, note.unread)


@notes.command("list")
@click.option("--folder", help="List the notes below this folder of the vault.")
@click.option("--tag", help="List the notes with this tag, or one below it.")
@json_option
@verbosity_options
def list_(folder: str | None, tag: str | None, as_json: bool, quiet: bool, verbose: bool) -> None:
    """List the notes with their titles and tags, in order of their paths."""
    with command_context(quiet=quiet, verbose=verbose, as_json=as_json) as ctx:
        indexed = _update(ctx)
        found = ctx.asky.notes.list_notes(folder, tag)
        if as_json:
            ctx.terminal.json(notes_object(found, indexed))
            return
        for each in found:
            ctx.terminal.line(_described(each), hang=2)
        if not found:
            ctx.terminal.note("no notes" if tag is None else f"no notes with the tag {tag}")
        paths = {each.path for each in found}
        note_unread(ctx.terminal, [each for each in indexed.report.unread if each.path in paths])


@notes.command()
@click.argument("name", metavar="NOTE", shell_complete=complete_note)
@json_option
@verbosity_options
def links(name: str, as_json: bool, quiet: bool, verbose: bool) -> None:
    """Show where the links of NOTE lead, and which notes link to it."""
    with command_context(quiet=quiet, verbose=verbose, as_json=as_json) as ctx:
        catalog = ctx.asky.notes
        note = ctx.run(lambda: catalog.find_note(name))
        indexed = _update(ctx)
        outgoing, incoming = catalog.links(note.relative), catalog.backlinks(note.relative)
        if as_json:
            ctx.terminal.json(note_links_object(note.shown, outgoing, incoming, indexed))
            return
        ctx.terminal.line(f"{note.shown}: {counted(len(outgoing), 'link')}, {counted(len(incoming), 'backlink')}")
        for each in outgoing:
            verb = "embeds" if each.is_embed else "links to"
            missing = " (no such note)" if each.kind == "missing" else ""
            ctx.terminal.line(f"  {verb} {each.path or each.target}{missing}", hang=4)
        for entry in incoming:
            ctx.terminal.line(f"  linked from {_described(entry)}", hang=4)
        note_unread(ctx.terminal, [each for each in indexed.report.unread if each.path == note.shown])


@notes.command()
@click.argument("name", metavar="NOTE", shell_complete=complete_note)
@click.option(
    "--depth",
    default="shallow",
    show_default=True,
    metavar="shallow|deep",
    help="Use what search services say of each result, or also read pages.",
)
@click.option("--focus", metavar="TEXT", help="What to look for above all.")
@click.option(
    "-m", "--model", help="Model to write with: an alias or PROVIDER:MODEL_ID.", shell_complete=complete_model
)
@click.option("--vault-only", is_flag=True, help="Search the vault alone; send nothing to search services.")
@click.option("--offline", is_flag=True, help="Never touch the network.")
@click.option("-y", "--yes", is_flag=True, help="Send the search queries without asking.")
@click.option("--dry-run", is_flag=True, help="Print the change to the note, and write nothing.")
@click.option("--max-tokens", type=click.IntRange(1), help="Maximum tokens, prompts and replies combined.")
@click.option("--max-cost", type=click.FloatRange(0, min_open=True), metavar="USD", help="Maximum cost of the run.")
@click.option(
    "--max-time", type=click.FloatRange(0, min_open=True), metavar="SECONDS", help="Maximum duration of the run."
)
@click.option("--json-stream", is_flag=True, help="Print events as JSON lines; the last line is the answer.")
@json_option
@verbosity_options
def research(
    name: str,
    depth: str,
    focus: str | None,
    model: str | None,
    vault_only: bool,
    offline: bool,
    yes: bool,
    dry_run: bool,
    max_tokens: int | None,
    max_cost: float | None,
    max_time: float | None,
    json_stream: bool,
    as_json: bool,
    quiet: bool,
    verbose: bool,
) -> None:
    """Look the topics of NOTE up, and write what is found into its section `## Research`.

    Topics are chosen from the note; the web and the other notes are searched for each. Before a word of the note is
    sent to a search service, the queries are shown and confirmed. The rest of the note stays as it is, byte for byte;
    `asky notes undo` takes the change back. Without a model, sentences are quoted.
    """
    if as_json and json_stream:
        raise UsageError("--json and --json-stream cannot be combined", hint="use one of them")
    with command_context(quiet=quiet, verbose=verbose, as_json=as_json or json_stream) as ctx:
        catalog = ctx.asky.notes
        is_given = yes or ctx.asky.config.notes.approve_queries
        start = partial(
            catalog.start,
            name,
            depth,
            focus,
            model=model,
            limits=RunLimits(None, max_tokens, max_cost, max_time),
            vault_only=vault_only,
            offline=offline,
            dry_run=dry_run,
            approve=Approval(ctx.terminal, ctx.progress, is_given=is_given),
        )
        if as_json:
            _print_researched_json(ctx, name, start)
            return
        if dry_run and not json_stream:
            answer = run_to_end(ctx, PrintedView(ctx.terminal, ctx.progress), start)
            result = catalog.result(answer)
            print_diff(ctx.terminal, result.diff)
            _print_missing(ctx, result)
            said = "nothing was written" if result.diff else "the note holds this already"
            ctx.terminal.note(f"{said}; `asky runs show {result.run}` shows the passages")
            return
        view = open_view(ctx, "events" if json_stream else "text", waits=False)
        answer = print_result(ctx, view, None, lambda: run_to_end(ctx, view, start))
        result = catalog.result(answer)
        for line in _outcome(name, result):
            ctx.terminal.note(line)
        _print_missing(ctx, result)


@notes.command()
@click.argument("name", metavar="NOTE", shell_complete=complete_note)
@json_option
def undo(name: str, as_json: bool) -> None:
    """Take the last change of `asky notes research` to NOTE back, byte for byte.

    It is refused if the note has been changed since. Again, it takes back the change before that.
    """
    with command_context(as_json=as_json) as ctx:
        note = ctx.run(lambda: ctx.asky.notes.find_note(name))
        ctx.asky.notes.undo(note.relative)
        if as_json:
            ctx.terminal.json(note_undone_object(note.shown))
        else:
            ctx.terminal.note(f"{note.shown} is as it was before the research")


def _print_researched_json(ctx: CommandContext, name: str, start: Start) -> None:
    """Print the result as JSON; that of a failure too, whose error is raised again."""
    try:
        answer = run_to_end(ctx, PrintedView(ctx.terminal, ctx.progress), start)
        result = ctx.asky.notes.result(answer)
    except AskyError as error:
        ctx.terminal.json(note_failure_object(name, error))
        raise
    ctx.terminal.json(note_object(result))


def _outcome(name: str, result: NoteResult) -> Iterator[str]:
    """Yield what came of research, as notes for the user."""
    topics = counted(result.topics_researched, "topic")
    if result.written_to is None:
        yield f"\n{name} was not changed"
    elif result.written_to != result.path:
        yield f"\n{result.path} was changed, renamed or deleted meanwhile: the research is in {result.written_to}"
    else:
        yield f"\nwrote research on {topics} into {result.path}; `asky notes undo {shlex.quote(name)}` takes it back"


def _print_missing(ctx: CommandContext, result: NoteResult) -> None:
    if result.missing is not None:
        ctx.terminal.note(result.missing)


def _update(ctx: CommandContext) -> IndexedNotes:
    """Index what has changed; what is not embedded yet is left to the search."""
    return _index(ctx, embed=False, changes_only=True)


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
