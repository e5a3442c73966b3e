"""`asky papers`: the paper library."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from asky.app.answers import BibliographyForm
from asky.app.requests import RunLimits
from asky.app.schemas.paper import added_papers_object
from asky.app.schemas.search import with_embedding
from asky.cli.context import CommandContext, Stopped, command_context
from asky.cli.export_forms import FORMAT_HINT, form_of
from asky.cli.library import DEFAULT_SESSION, Library, ResearchOptions
from asky.cli.listing_group import ListingGroup
from asky.cli.options import (
    check_output,
    complete_model,
    complete_session,
    json_option,
    output_option,
    piped_text,
    verbosity_options,
)
from asky.cli.saving import save_text
from asky.cli.terminal.confirm import confirm, is_interactive
from asky.cli.view import note_parts
from asky.errors import SourceError, UsageError
from asky.text.counting import counted
from asky.text.printable import one_line

if TYPE_CHECKING:
    from asky.app.schemas import AddedPaper, AddedPapers
    from asky.cli.view import Format

session_option = click.option(
    "-s",
    "--session",
    default=DEFAULT_SESSION,
    show_default=True,
    help="Session whose last list the numbers mean.",
    shell_complete=complete_session,
)
_RESEARCH_OPTIONS = (
    session_option,
    click.option(
        "-m", "--model", help="Model to answer with: an alias or PROVIDER:MODEL_ID.", shell_complete=complete_model
    ),
    click.option("--offline", is_flag=True, help="Never touch the network."),
    click.option("--max-tokens", type=click.IntRange(1), help="Maximum tokens, prompts and replies combined."),
    click.option("--max-cost", type=click.FloatRange(0, min_open=True), metavar="USD", help="Maximum cost of the run."),
    click.option(
        "--max-time", type=click.FloatRange(0, min_open=True), metavar="SECONDS", help="Maximum duration of the run."
    ),
    click.option("--strict", is_flag=True, help="Exit with code 12 if a sentence is not supported by its sources."),
    click.option("--evidence", is_flag=True, help="Show the words of the papers behind each statement."),
    output_option,
    click.option("--json-stream", is_flag=True, help="Print events as JSON lines; the last line is the answer."),
    json_option,
    verbosity_options,
)

F = TypeVar("F", bound=Callable[..., Any])


def research_options(command: F) -> F:
    """Add the options of `_Options`."""
    for option in reversed(_RESEARCH_OPTIONS):
        command = option(command)
    return command


@dataclass(frozen=True, slots=True)
class _Options:
    """The options of research, as click names them."""

    session: str
    model: str | None
    offline: bool
    max_tokens: int | None
    max_cost: float | None
    max_time: float | None
    strict: bool
    evidence: bool
    output: Path | None
    json_stream: bool
    as_json: bool
    quiet: bool
    verbose: bool

    def context(self) -> AbstractContextManager[CommandContext]:
        """Open the context of the command. Raises `UsageError` if options contradict each other."""
        if self.output is not None:
            check_output(self.output)
        if self.as_json and self.json_stream:
            raise UsageError("--json and --json-stream cannot be combined", hint="use one of them")
        silent = self.as_json or self.json_stream
        return command_context(quiet=self.quiet, verbose=self.verbose, as_json=silent)

    def research(self) -> ResearchOptions:
        """Return how the query is answered."""
        limits = RunLimits(None, self.max_tokens, self.max_cost, self.max_time)
        form: Format = "json" if self.as_json else "events" if self.json_stream else "text"
        return ResearchOptions(self.model, limits, self.offline, self.output, form, self.strict, self.evidence)


@click.group(cls=ListingGroup)
def papers() -> None:
    """Keep a library of papers, and search it page by page.

    The papers are also plain files: their PDFs, texts and metadata lie in the folder `papers` of asky's data.
    """


@papers.command()
@click.argument("arguments", metavar="[PDF|FOLDER|ID|URL|EXPORT]...", nargs=-1)
@click.option(
    "--lookup", is_flag=True, help="Look PDFs up by the id on their first page, or their title; only that is sent."
)
@click.option("--offline", is_flag=True, help="Never touch the network.")
@click.option("--no-embed", is_flag=True, help="Index words only; the next add or question embeds.")
@click.option(
    "--files-from",
    multiple=True,
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    metavar="FOLDER",
    help="Read PDFs in this folder that an export elsewhere names, without asking (repeatable).",
)
@json_option
@verbosity_options
def add(
    arguments: tuple[str, ...],
    files_from: tuple[Path, ...],
    lookup: bool,
    offline: bool,
    no_embed: bool,
    as_json: bool,
    quiet: bool,
    verbose: bool,
) -> None:
    """Add papers: PDFs, folders with everything below them, arXiv ids, DOIs, PMIDs, addresses, and exports.

    An id is looked up in registries and its open PDF fetched; exports are BibTeX, RIS and CSL-JSON, with the PDFs that
    they name; you are asked before those outside of the export's folder are read. Of PDFs on this machine nothing is
    sent. A paper that the library has is not kept twice, and a newer version of a paper of arXiv takes the place of the
    older one.
    """
    with command_context(quiet=quiet, verbose=verbose, as_json=as_json) as ctx:
        papers, folders = ctx.asky.papers, [*files_from, *_allowed(ctx, arguments, files_from)]
        try:
            added = ctx.run(
                lambda: papers.add(arguments, embed=not no_embed, looks_up=lookup, offline=offline, files_from=folders)
            )
        except Stopped as stop:
            stop.hint = "papers read so far are kept; the same command goes on from there"
            raise
        _print_added(ctx, added, as_json=as_json)
        _raise_for_unread(added.outcomes, added.named)


def _allowed(ctx: CommandContext, arguments: Sequence[str], given: Sequence[Path]) -> list[Path]:
    """Return the folders from which the user lets exports elsewhere add PDFs; none where nobody can be asked."""
    if not is_interactive():
        return []
    roots = [each.resolve() for each in given]
    outside = ctx.asky.papers.files_outside(arguments)
    asked = {path: count for path, count in outside.items() if not any(path.is_relative_to(each) for each in roots)}
    return [
        path
        for path, count in asked.items()
        if confirm(f"Read the {counted(count, 'PDF')} in {one_line(str(path))} that the export names?")
    ]


@papers.command()
@click.option("--lookup", is_flag=True, help="Look up the notices on all papers, such as retractions, again.")
@click.option("--offline", is_flag=True, help="Never touch the network.")
@json_option
@verbosity_options
def retry(lookup: bool, offline: bool, as_json: bool, quiet: bool, verbose: bool) -> None:
    """Complete papers that lack something: fetch PDFs that could not be had, and read scans once `ocr` is installed."""
    with command_context(quiet=quiet, verbose=verbose, as_json=as_json) as ctx:
        added = ctx.run(lambda: ctx.asky.papers.retry(looks_up=lookup, offline=offline))
        if not added.outcomes and not as_json:
            ctx.terminal.note("nothing is new" if lookup else "no paper lacks anything")
            return
        _print_added(ctx, added, as_json=as_json)
        _raise_for_unread(added.outcomes, [])


@papers.command("list")
@session_option
@json_option
def list_(session: str, as_json: bool) -> None:
    """List all papers in order of their ids."""
    with command_context(as_json=as_json) as ctx:
        Library(ctx, session).list(as_json=as_json)


@papers.command()
@click.argument("words", nargs=-1, required=True)
@session_option
@json_option
def find(words: tuple[str, ...], session: str, as_json: bool) -> None:
    """List the papers whose id, title, authors or date contain all WORDS."""
    with command_context(as_json=as_json) as ctx:
        Library(ctx, session).find(" ".join(words), as_json=as_json)


@papers.command()
@click.argument("query", nargs=-1, required=True)
@click.option(
    "-k", "limit", type=click.IntRange(1, 1000), default=10, show_default=True, help="Maximum number of passages."
)
@click.option(
    "--paper", "chosen", multiple=True, help="Search only this paper: an id, a DOI, title words (repeatable)."
)
@session_option
@json_option
@verbosity_options
def search(
    query: tuple[str, ...],
    limit: int,
    chosen: tuple[str, ...],
    session: str,
    as_json: bool,
    quiet: bool,
    verbose: bool,
) -> None:
    """Find the passages of all papers that best match QUERY, each with its page. No model is called."""
    with command_context(quiet=quiet, verbose=verbose, as_json=as_json) as ctx:
        Library(ctx, session).search(" ".join(query), limit=limit, chosen=chosen, as_json=as_json)


papers.add_command(search, "sem-search")


@papers.command()
@click.argument("query", nargs=-1, required=True)
@research_options
def research(query: tuple[str, ...], **params: Any) -> None:
    """Answer QUERY from the library: summaries, then the pages of relevant papers, then a cited answer.

    Every statement cites its paper and page, and is checked against that page. Without a model, the answer quotes.
    """
    options = _Options(**params)
    with options.context() as ctx:
        Library(ctx, options.session).research(" ".join(query), options.research())


@papers.command()
@click.argument("feedback", nargs=-1, required=True)
@research_options
def improve(feedback: tuple[str, ...], **params: Any) -> None:
    """Write the last answer of the session again, as FEEDBACK asks, with new passages about it."""
    options = _Options(**params)
    with options.context() as ctx:
        Library(ctx, options.session).improve(" ".join(feedback), options.research())


@papers.command()
@session_option
def evidence(session: str) -> None:
    """Show each statement of the last answer with its verdict and the words of the papers behind it."""
    with command_context() as ctx:
        Library(ctx, session).evidence()


@papers.command()
@click.argument("names", metavar="[PAPER|QUERY]...", nargs=-1)
@click.option("--columns", required=True, help='Columns, separated by commas: "method,dataset,n", or questions.')
@click.option(
    "-m", "--model", help="Model that fills the cells; without it they are quoted.", shell_complete=complete_model
)
@click.option("--offline", is_flag=True, help="Never touch the network.")
@click.option("-o", "--output", type=click.Path(path_type=Path), help="Write the table to PATH, .md or .csv.")
@session_option
@json_option
@verbosity_options
def table(
    names: tuple[str, ...],
    columns: str,
    model: str | None,
    offline: bool,
    output: Path | None,
    session: str,
    as_json: bool,
    quiet: bool,
    verbose: bool,
) -> None:
    """Make a table of papers: a row for each, and in each cell what it says, quoted, with the page.

    The papers are named as for `summary`, or are those about QUERY; by default those of the last list or answer, else
    the first 20. With a model, each cell is its own, checked against the passages that it cites.
    """
    if output is not None and output.suffix.lower() not in (".md", ".csv"):
        raise UsageError(f"{output}: not .md or .csv", hint="for example: -o table.csv")
    with command_context(quiet=quiet, verbose=verbose, as_json=as_json) as ctx:
        options = ResearchOptions(model, offline=offline, format="json" if as_json else "text")
        Library(ctx, session).table(columns, names, options, output=output)


@papers.command()
@click.argument("path", required=False, type=click.Path(path_type=Path))
@session_option
def save(path: Path | None, session: str) -> None:
    """Save the last answer, summary or search, to PATH or to a new file in the folder `results` of the library.

    It is Markdown; an answer is written as .html, .pdf, .tex, .json, .bib, .csl.json or .ris if PATH ends in that.
    """
    with command_context() as ctx:
        Library(ctx, session).save(path)


@papers.command()
@click.argument("name", nargs=-1, required=True)
@click.option("-m", "--model", help="Model that writes the summary anew, and keeps it.", shell_complete=complete_model)
@click.option("--offline", is_flag=True, help="Never touch the network.")
@session_option
@json_option
@verbosity_options
def summary(
    name: tuple[str, ...], model: str | None, offline: bool, session: str, as_json: bool, quiet: bool, verbose: bool
) -> None:
    """Show what a paper is about, in its own sentences with their pages.

    NAME is an id, a DOI, words of the title, or the number in the last list or answer. With -m, that model writes the
    summary anew from passages of the paper, which are sent to it; each statement cites its page and is checked.
    `-m extractive` quotes again.
    """
    with command_context(quiet=quiet, verbose=verbose, as_json=as_json) as ctx:
        Library(ctx, session).summary(" ".join(name), model=model, offline=offline, as_json=as_json)


@papers.command()
@click.argument("name", metavar="PAPER")
@click.argument("text", metavar="[TEXT|-]", nargs=-1)
@click.option("--edit", "edits", is_flag=True, help="Edit the notes in $VISUAL or $EDITOR.")
@session_option
@json_option
def notes(name: str, text: tuple[str, ...], edits: bool, session: str, as_json: bool) -> None:
    """Show your notes on a paper, or add TEXT to them; `-` adds what is piped in.

    They are a Markdown file in the folder `notes` of the library, which you may edit as you like. Questions find a
    paper by its notes too.
    """
    if edits and (text or as_json):
        raise UsageError("--edit cannot be combined with TEXT or --json", hint="use one of them")
    if edits and not (sys.stdin is not None and not sys.stdin.closed and sys.stdin.isatty()):
        raise UsageError("--edit needs a terminal", hint="asky papers notes PAPER TEXT adds TEXT")
    added = piped_text() if text == ("-",) else " ".join(text) if text else None
    with command_context(as_json=as_json) as ctx:
        Library(ctx, session).notes(name, added, edits=edits, as_json=as_json)


@papers.command("open")
@click.argument("name", nargs=-1, required=True)
@session_option
def open_(name: tuple[str, ...], session: str) -> None:
    """Open the PDF of a paper, named as for `summary`; print its path in a pipe."""
    with command_context() as ctx:
        Library(ctx, session).open(" ".join(name))


@papers.command()
@click.argument("names", metavar="PAPER...", nargs=-1, required=True)
@click.option("--with-notes", is_flag=True, help="Delete your notes on them too.")
def rm(names: tuple[str, ...], with_notes: bool) -> None:
    """Remove papers and their files, named by id, DOI or words of the title.

    Cited passages stay available to `asky why`, and your notes stay where they are.
    """
    with command_context() as ctx:
        for each in ctx.run(lambda: ctx.asky.papers.remove(names, with_notes=with_notes)):
            ctx.terminal.note(f"removed {each.name}: {one_line(each.source.title)}")
            notes = ctx.asky.papers.notes_path(each)
            if notes.exists():
                ctx.terminal.note(f"your notes stay in {notes}; if the paper is added again, they are found again")


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


def _print_added(ctx: CommandContext, added: AddedPapers, *, as_json: bool) -> None:
    if as_json:
        ctx.terminal.json(with_embedding(added_papers_object(added), ctx.asky.embedding_usage()))
        return
    for each in added.outcomes:
        if each.outcome != "known" or each.why:
            ctx.terminal.line(f"{each.outcome:<7}  {_outcome(each)}", hang=9)
    counts = Counter(each.outcome for each in added.outcomes)
    words = [f"{counts[name]:,} {name}" for name in ("added", "updated", "known", "unread") if counts[name]]
    note_parts(ctx.terminal, added.unread)
    is_all_pdf = all(each.file.lower().endswith(".pdf") for each in added.outcomes)
    found = counted(len(added.outcomes), "PDF" if is_all_pdf else "paper")
    ctx.terminal.note(f"{found}: {', '.join(words)}" if words else "no PDF was found")
    if added.embedded:
        ctx.terminal.note(f"embedded {counted(added.embedded, 'passage')}")


def _outcome(added: AddedPaper) -> str:
    file = one_line(added.file)
    if added.outcome in ("unread", "known") or added.paper is None:
        kept = "" if added.paper is None or added.paper.status != "no_pdf" else "kept without its PDF: "
        return f"{file}: {kept if added.outcome == 'unread' else ''}{one_line(added.why or '')}"
    notices = "".join(f"  [{one_line(each)}]" for each in added.paper.notice_texts)
    why = f" ({one_line(added.why)})" if added.why else ""
    return f"{added.paper.name}  {one_line(added.paper.source.title)}{notices}{why}"


def _raise_for_unread(outcomes: Iterable[AddedPaper], named: Sequence[AddedPaper]) -> None:
    """Raise `SourceError` if a file or paper that was named, or every one, could not be read."""
    unread = [each for each in outcomes if each.outcome == "unread"]
    failed = [each for each in named if each.outcome == "unread"]
    if failed and all(each.paper is not None for each in failed):
        names = one_line(", ".join(each.file for each in failed[:3]))
        raise SourceError(f"added without a text: {names}", hint="the reason is above; `asky papers retry` tries again")
    if failed and len(failed) == len(named) == 1:
        raise SourceError(f"{failed[0].file} could not be added", hint="the reason is above")
    if failed:
        raise SourceError(f"{len(failed)} of {len(named)} could not be added", hint="the reasons are above")
    if unread and all(each.outcome == "unread" for each in outcomes):
        raise SourceError("no paper could be added", hint="the reasons are above")
