"""`asky papers`: the paper library."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from asky.app.forms import BibliographyForm
from asky.app.schemas import added_papers_object, paper_hits_object, paper_summary_object, papers_object, with_embedding
from asky.cli.commands.search import wrapped_excerpt
from asky.cli.context import CommandContext, Stopped, command_context
from asky.cli.export_forms import FORMAT_HINT, form_of
from asky.cli.listing_group import ListingGroup
from asky.cli.options import json_option, verbosity_options
from asky.cli.saving import save_text
from asky.cli.terminal.markdown_stream import print_markdown
from asky.cli.terminal.terminal import Terminal
from asky.errors import SourceError, UsageError
from asky.text.counting import counted
from asky.text.printable import one_line

if TYPE_CHECKING:
    from asky.app.schemas import AddedPaper, AddedPapers, Paper

_BIBLIOGRAPHIES: Sequence[BibliographyForm] = ("bibtex", "csl", "ris")
_EMPTY = "the library has no papers yet; `asky papers add FILE` adds a PDF"


@click.group(cls=ListingGroup)
def papers() -> None:
    """Keep a library of papers, and search it page by page.

    The papers are also plain files: their PDFs, texts and metadata lie in the folder `papers` of asky's data.
    """


@papers.command()
@click.argument("files", metavar="[PDF|FOLDER]...", nargs=-1, type=click.Path(path_type=Path))
@click.option("--no-embed", is_flag=True, help="Index words only; the next add or question embeds.")
@json_option
@verbosity_options
def add(files: tuple[Path, ...], no_embed: bool, as_json: bool, quiet: bool, verbose: bool) -> None:
    """Add PDFs, and those in folders with everything below them.

    Title, authors and ids are read from the first page; nothing is sent anywhere. A paper that the library has is not
    kept twice, and a newer version of a paper of arXiv takes the place of the older one.
    """
    with command_context(quiet=quiet, verbose=verbose, as_json=as_json) as ctx:
        _add(ctx, files, embed=not no_embed, as_json=as_json)


def _add(ctx: CommandContext, files: Sequence[Path], *, embed: bool, as_json: bool) -> None:
    try:
        added = ctx.run(lambda: ctx.asky.papers.add(files, embed=embed))
    except Stopped as stop:
        stop.hint = "papers read so far are kept; the same command goes on from there"
        raise
    _print_added(ctx, added, as_json=as_json)
    named = {each.name for each in files if not each.is_dir()}
    _raise_for_unread(added.outcomes, [each for each in added.outcomes if each.file in named])


@papers.command()
@json_option
@verbosity_options
def retry(as_json: bool, quiet: bool, verbose: bool) -> None:
    """Read papers again that lack something: scans once `ocr` is installed, and those of an earlier version of asky."""
    with command_context(quiet=quiet, verbose=verbose, as_json=as_json) as ctx:
        added = ctx.run(ctx.asky.papers.retry)
        if not added.outcomes and not as_json:
            ctx.terminal.note("no paper lacks anything")
            return
        _print_added(ctx, added, as_json=as_json)
        _raise_for_unread(added.outcomes, [])


@papers.command("list")
@json_option
def list_(as_json: bool) -> None:
    """List all papers in order of their ids."""
    with command_context(as_json=as_json) as ctx:
        _print_papers(ctx.terminal, ctx.asky.papers.papers(), _EMPTY, as_json=as_json)


@papers.command()
@click.argument("words", nargs=-1, required=True)
@json_option
def find(words: tuple[str, ...], as_json: bool) -> None:
    """List the papers whose id, title, authors or date contain all WORDS."""
    with command_context(as_json=as_json) as ctx:
        text = " ".join(words)
        _print_papers(ctx.terminal, ctx.asky.papers.find(text), f"no paper matches {text!r}", as_json=as_json)


@papers.command()
@click.argument("query", nargs=-1, required=True)
@click.option(
    "-k", "limit", type=click.IntRange(1, 1000), default=10, show_default=True, help="Maximum number of passages."
)
@click.option(
    "--paper", "chosen", multiple=True, help="Search only this paper: an id, a DOI, title words (repeatable)."
)
@json_option
@verbosity_options
def search(
    query: tuple[str, ...], limit: int, chosen: tuple[str, ...], as_json: bool, quiet: bool, verbose: bool
) -> None:
    """Find the passages of all papers that best match QUERY, each with its page. No model is called."""
    with command_context(quiet=quiet, verbose=verbose, as_json=as_json) as ctx:
        text = " ".join(query)
        found = ctx.run(lambda: ctx.asky.papers.search(text, papers=chosen, limit=limit))
        if as_json:
            ctx.terminal.json(with_embedding(paper_hits_object(text, found), ctx.asky.embedding_usage()))
            return
        if not found:
            ctx.terminal.note("nothing found")
        for each in found:
            hit, place = each.hit, each.hit.location
            page = f", page {place.page_label or place.page}" if place.page is not None else ""
            ctx.terminal.line(f"{hit.rank}. [{each.paper.name}{page}] {one_line(hit.source.title)}", 1, hang=3)
            for line in wrapped_excerpt(hit.text):
                ctx.terminal.line(f"   {line}")
            ctx.terminal.line()


@papers.command()
@click.argument("name", nargs=-1, required=True)
@json_option
def summary(name: tuple[str, ...], as_json: bool) -> None:
    """Show what a paper is about, in its own sentences with their pages."""
    with command_context(as_json=as_json) as ctx:
        found = ctx.asky.papers.resolve(" ".join(name))
        shown = ctx.asky.papers.summary(found)
        if as_json:
            ctx.terminal.json(paper_summary_object(found, shown))
        else:
            print_markdown(ctx.terminal, shown.text)


@papers.command("open")
@click.argument("name", nargs=-1, required=True)
def open_(name: tuple[str, ...]) -> None:
    """Open the PDF of a paper, named by its id, DOI or words of its title; print its path in a pipe."""
    with command_context() as ctx:
        found = ctx.asky.papers.resolve(" ".join(name))
        path = ctx.asky.papers.pdf(found)
        if not path.exists():
            raise SourceError(f"{path} does not exist", hint="`asky papers add FILE` adds the PDF again")
        ctx.terminal.line(str(path))
        if sys.stdout.isatty() and click.launch(str(path)) != 0:
            ctx.terminal.note("no program to show a PDF was found")


@papers.command()
@click.argument("names", metavar="PAPER...", nargs=-1, required=True)
def rm(names: tuple[str, ...]) -> None:
    """Remove papers and their files, named by id, DOI or words of the title.

    Cited passages stay available to `asky why`.
    """
    with command_context() as ctx:
        for each in ctx.run(lambda: ctx.asky.papers.remove(names)):
            ctx.terminal.note(f"removed {each.name}: {one_line(each.source.title)}")


@papers.command()
@click.argument("names", metavar="[PAPER]...", nargs=-1)
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    help="Write to PATH instead of stdout; the suffix selects the format: .bib, .csl.json or .ris.",
)
@click.option(
    "--format", "form", type=click.Choice(["bibtex", "csl", "ris"]), help="Format to write.  [default: bibtex]"
)
def export(names: tuple[str, ...], output: Path | None, form: BibliographyForm | None) -> None:
    """Export papers, by default all, as a bibliography."""
    chosen = form or (_bibliography_form(output) if output is not None else "bibtex")
    with command_context() as ctx:
        text = ctx.asky.papers.bibliography(chosen, names)
        if output is None:
            ctx.terminal.out.write(text)
            return
        save_text(output, text)
        ctx.terminal.note(f"wrote {output}")


def _bibliography_form(output: Path) -> BibliographyForm:
    form = form_of(output, hint=FORMAT_HINT)
    if form not in ("bibtex", "csl", "ris"):
        raise UsageError(f"{output}: not .bib, .csl.json or .ris", hint=FORMAT_HINT)
    return form


@papers.command("rebuild-index")
@verbosity_options
def rebuild_index(quiet: bool, verbose: bool) -> None:
    """Rebuild the indexes, and write the library's files again, without reading or embedding anything again."""
    with command_context(quiet=quiet, verbose=verbose) as ctx:
        count = ctx.run(ctx.asky.papers.rebuild)
        vectors = "" if count is None else f", the vector index of {count:,} passages"
        ctx.terminal.note(f"rebuilt the word index{vectors} and the files of the library")


def _print_papers(terminal: Terminal, found: Sequence[Paper], nothing: str, *, as_json: bool) -> None:
    if as_json:
        terminal.json(papers_object(found))
        return
    if not found:
        terminal.note(nothing)
    width = max((len(each.name) for each in found), default=0)
    for each in found:
        year = (each.source.published or "")[:4] or "    "
        who = _authors(each.source.authors)
        lacks = "" if each.status == "complete" else "  (no text: `asky papers retry` reads it again)"
        terminal.line(f"{each.name:<{width}}  {year}  {who}{one_line(each.source.title)}{lacks}", hang=width + 8)


def _authors(names: Sequence[str]) -> str:
    """Return `Lewis et al.: ` for many authors."""
    families = [each.partition(",")[0] if "," in each else each.rpartition(" ")[2] for each in names]
    few = " and ".join(families[:2]) if len(families) <= 2 else f"{families[0]} et al."
    return f"{one_line(few)}: " if families else ""


def _print_added(ctx: CommandContext, added: AddedPapers, *, as_json: bool) -> None:
    if as_json:
        ctx.terminal.json(with_embedding(added_papers_object(added), ctx.asky.embedding_usage()))
        return
    for each in added.outcomes:
        if each.outcome != "known" or each.why:
            ctx.terminal.line(f"{each.outcome:<7}  {_outcome(each)}", hang=9)
    counts = Counter(each.outcome for each in added.outcomes)
    words = [f"{counts[name]:,} {name}" for name in ("added", "updated", "known", "unread") if counts[name]]
    ctx.terminal.note(f"{counted(len(added.outcomes), 'PDF')}: {', '.join(words)}" if words else "no PDF was found")
    if added.embedded:
        ctx.terminal.note(f"embedded {counted(added.embedded, 'passage')}")


def _outcome(added: AddedPaper) -> str:
    file = one_line(added.file)
    if added.outcome in ("unread", "known") or added.paper is None:
        return f"{file}: {one_line(added.why or '')}"
    return f"{added.paper.name}  {one_line(added.paper.source.title)}"


def _raise_for_unread(outcomes: Iterable[AddedPaper], named: Sequence[AddedPaper]) -> None:
    """Raise `SourceError` if a file that was named, or every file, could not be read."""
    unread = [each for each in outcomes if each.outcome == "unread"]
    failed = [each for each in named if each.outcome == "unread"]
    if failed and len(failed) == len(named) == 1:
        raise SourceError(f"{failed[0].file} could not be added", hint="the reason is above")
    if failed:
        raise SourceError(f"{len(failed)} of {len(named)} files could not be added", hint="the reasons are above")
    if unread and all(each.outcome == "unread" for each in outcomes):
        raise SourceError("no PDF could be added", hint="the reasons are above")
