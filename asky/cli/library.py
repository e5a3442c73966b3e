"""The commands of the library that follow each other, for `asky papers` and for `/papers` in a chat."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

from asky.app.requests import RunLimits
from asky.app.schemas.paper import (
    paper_hits_object,
    paper_notes_object,
    paper_summary_object,
    papers_object,
    research_object,
)
from asky.app.schemas.search import with_embedding
from asky.app.unread_files import of_sources
from asky.cli.evidence_view import print_evidence
from asky.cli.papers_table import print_table
from asky.cli.papers_view import FAILED_SIGN, ResearchView, is_unicode, print_panel, shown
from asky.cli.saving import require_writable, save_text
from asky.cli.terminal.editor import run_editor
from asky.cli.terminal.excerpt import wrapped_excerpt
from asky.cli.terminal.viewer import show_file
from asky.cli.view import (
    EventsView,
    JsonView,
    PrintedView,
    note_parts,
    note_unread,
    print_result,
    print_verdicts,
    run_to_end,
    write_answer,
)
from asky.errors import AskyError, SourceError, StorageError, UsageError
from asky.text.printable import one_line

if TYPE_CHECKING:
    from collections.abc import Iterator

    from asky.app.asky import PaperService
    from asky.app.schemas import Paper, PaperState
    from asky.cli.context import CommandContext
    from asky.cli.terminal.terminal import Terminal
    from asky.cli.view import Format
    from asky.values import Answer

DEFAULT_SESSION = "papers"
RESPONSE = "📝 Response"
_OF_ANSWERS = (".html", ".pdf", ".tex", ".json", ".bib", ".ris")
_LACKS: Mapping[str, str] = MappingProxyType(
    {
        "no_text": "  (no text: `asky papers retry` reads it again)",
        "no_pdf": "  (no PDF: `asky papers retry` tries to fetch it)",
    }
)
EMPTY = "the library has no papers yet; `asky papers add FILE` adds a PDF"


@dataclass(frozen=True, slots=True)
class ResearchOptions:
    """How a query is answered."""

    model: str | None = None
    limits: RunLimits = field(default_factory=RunLimits)
    offline: bool = False
    output: Path | None = None
    format: Format = "text"
    strict: bool = False
    evidence: bool = False


@dataclass(frozen=True, slots=True)
class Library:
    """The library in one session, whose state the commands share."""

    ctx: CommandContext
    session: str = DEFAULT_SESSION

    @property
    def _papers(self) -> PaperService:
        return self.ctx.asky.papers

    def list(self, *, as_json: bool = False) -> None:
        """List all papers, with their numbers for the commands that follow."""
        found = self._papers.papers()
        self._enter_selected(found)
        self._print_papers(found, EMPTY, as_json=as_json)

    def find(self, words: str, *, as_json: bool = False) -> None:
        """List the papers that have all `words`."""
        found = self._papers.find(words)
        self._enter_selected(found)
        self._print_papers(found, f"no paper matches {words!r}", as_json=as_json)

    def search(self, query: str, *, limit: int = 10, chosen: Sequence[str] = (), as_json: bool = False) -> None:
        """Print the passages that match `query` best."""
        ctx, papers = self.ctx, self._papers
        state = papers.state(self.session)
        names = [state.numbered(each) for each in chosen]
        found = ctx.run(lambda: papers.search(query, papers=names, limit=limit))
        unread = papers.unread([papers.resolve(each) for each in names] if names else None)
        lines = []
        for each in found:
            hit, place = each.hit, each.hit.location
            page = f", page {place.page_label or place.page}" if place.page is not None else ""
            lines.append(f"{hit.rank}. [{each.paper.name}{page}] {one_line(hit.source.title)}{_noticed(each.paper)}")
            lines += [f"   {line}" for line in wrapped_excerpt(hit.text)] + [""]
        self._enter(state.searched(query, [each.paper.id for each in found], "\n".join(lines)))
        if as_json:
            ctx.terminal.json(with_embedding(paper_hits_object(query, found, unread), ctx.asky.embedding_usage()))
            return
        if not found:
            ctx.terminal.note("nothing found")
        for line in lines:
            ctx.terminal.line(line, *([] if line.startswith(" ") else [1]), hang=3)
        if found:
            note_parts(ctx.terminal, of_sources(unread, [each.hit.source for each in found]))
        else:
            note_unread(ctx.terminal, unread)

    def research(self, query: str, options: ResearchOptions, *, feedback: str = "") -> Answer:
        """Answer `query`, or improve the last answer by `feedback`, and print the answer with its citations by page."""
        ctx, papers = self.ctx, self._papers
        start = partial(
            papers.start,
            query,
            feedback=feedback,
            session=self.session,
            model=options.model,
            limits=options.limits,
            offline=options.offline,
        )
        view = self._view(options, is_improvement=bool(feedback))
        with self._signed(options.format):
            answer = print_result(ctx, view, options.output, lambda: run_to_end(ctx, view, start))
            ctx.asky.chat.raise_for_outcome(answer, strict=options.strict)
        return answer

    def improve(self, feedback: str, options: ResearchOptions) -> Answer:
        """Answer the last query again, as `feedback` asks. Raises `UsageError` if there is no answer yet."""
        if not feedback.strip():
            raise UsageError(
                "say what to improve", hint=f"for example: {self.ctx.library_prefix}improve explain the method"
            )
        query = self._papers.state(self.session).require_answer()
        return self.research(query, options, feedback=feedback)

    def evidence(self) -> None:
        """Print what each statement of the last answer rests on. Raises `UsageError` if there is no answer yet."""
        state = self._papers.state(self.session)
        state.require_answer()
        run = self.ctx.asky.runs.find(state.run)
        if run.answer is not None:
            print_evidence(self.ctx.terminal, run.answer)

    def table(
        self, columns: str, names: Sequence[str], options: ResearchOptions, *, output: Path | None = None
    ) -> None:
        """Print a table of papers, or write it to `output`, in CSV if its name ends in that."""
        ctx, papers = self.ctx, self._papers
        if output is not None:
            require_writable(output)
        given = {"limits": options.limits, "offline": options.offline}
        make = partial(papers.tabulate, columns, names, session=self.session, model=options.model, **given)
        found = ctx.run(make)
        unread = papers.unread([each.paper for each in found.rows])
        print_table(ctx.terminal, found, output, unread, as_json=options.format == "json")
        note_parts(self.ctx.terminal, unread)

    def summary(self, name: str, *, model: str | None = None, offline: bool = False, as_json: bool = False) -> None:
        """Print the summary of a paper, named as everywhere or by its number; `model` writes it anew."""
        papers, ctx = self._papers, self.ctx
        state = papers.state(self.session)
        found = papers.resolve(state.numbered(name))
        if model is not None:
            write = partial(papers.summarize, found, model, offline=offline, listen=ctx.progress)
            written = ctx.run(write)
            found = papers.resolve(found.id)
            if written is not None and not as_json:
                print_verdicts(ctx.terminal, written, ctx.terminal.note, are_marked=True)
        summary = papers.summary(found)
        self._enter(state.summarized(found.id, summary.text))
        if as_json:
            self.ctx.terminal.json(paper_summary_object(found, summary, papers.unread([found])))
        else:
            _warn(self.ctx.terminal, found)
            print_panel(self.ctx.terminal, RESPONSE, summary.text)
            note_parts(self.ctx.terminal, papers.unread([found]))

    def notes(self, name: str, text: str | None, *, edits: bool = False, as_json: bool = False) -> None:
        """Print the notes on a paper, with `text` added if it is given, or after the user has edited them."""
        papers, terminal = self._papers, self.ctx.terminal
        state = papers.state(self.session)
        found = papers.resolve(state.numbered(name))
        path = papers.notes_path(found)
        if edits:
            run_editor(self.ctx.run(lambda: papers.begin_notes(found)), terminal.environ)
        notes = self.ctx.run(lambda: papers.notes(found, text))
        self._enter(state.opened(found.id))
        if as_json:
            terminal.json(paper_notes_object(found, path, notes, papers.unread_notes(found)))
            return
        if text is not None or edits:
            terminal.note(f"wrote {path}")
        elif notes:
            print_panel(terminal, RESPONSE, notes)
        else:
            terminal.note(f"no notes on {found.name} yet; they would be in {path}")
        note_parts(self.ctx.terminal, papers.unread_notes(found))

    def open(self, name: str) -> None:
        """Open the PDF of a paper, and print its path."""
        papers, terminal = self._papers, self.ctx.terminal
        state = papers.state(self.session)
        found = papers.resolve(state.numbered(name))
        path = papers.pdf(found)
        if found.status == "no_pdf":
            raise SourceError(f"{found.name} has no PDF yet", hint="`asky papers retry` tries to fetch it again")
        if not path.exists():
            raise SourceError(f"{path} does not exist", hint="`asky papers add FILE` adds the PDF again")
        self._enter(state.opened(found.id))
        _warn(terminal, found)
        if not terminal.out.isatty():
            terminal.line(str(path))
            return
        opened = show_file(path)
        print_panel(terminal, RESPONSE, f"# Paper Content: {found.name}\n\nPDF Location: {path}\n\n{opened}")

    def save(self, path: Path | None = None) -> None:
        """Write what was printed last to `path`, by default to a new file in the folder `results` of the library.

        An answer is written in the format of the suffix; what has another suffix, and all else, is Markdown.
        """
        terminal, state = self.ctx.terminal, self._papers.state(self.session)
        text = state.require_draft()
        terminal.note(shown(terminal, "💾 Saving research results..."))
        if path is None:
            path = self._papers.save_result(state)
        elif state.run is not None and path.suffix.lower() in _OF_ANSWERS:
            answer = self.ctx.asky.runs.find(state.run).answer
            assert answer is not None  # the state of a session with an answer
            write_answer(path, answer, self.ctx.asky.runs)
        else:
            save_text(path, text if text.endswith("\n") else f"{text}\n")
        terminal.note(shown(terminal, f"✅ Research results saved to: {path}"))

    def _enter_selected(self, found: Sequence[Paper]) -> None:
        self._enter(self._papers.state(self.session).selected([each.id for each in found]))

    def _enter(self, state: PaperState) -> None:
        """Keep a state for the next command; what was found is shown also where nothing can be written."""
        with suppress(StorageError):
            self._papers.enter(state, self.session)

    def _view(self, options: ResearchOptions, *, is_improvement: bool) -> PrintedView:
        ctx = self.ctx
        if options.format == "events":
            return EventsView(ctx.terminal, ctx.progress, ctx.terminal.environ)
        if options.format == "json":
            return _JsonView(ctx.terminal, ctx.progress, self._papers)
        papers, prefix = self._papers, self.ctx.library_prefix
        return ResearchView(ctx, papers, prefix=prefix, is_improvement=is_improvement, shows_evidence=options.evidence)

    @contextmanager
    def _signed(self, format_: Format) -> Iterator[None]:
        """Put the sign of an error before its message, if a person reads it."""
        try:
            yield
        except AskyError as error:
            if format_ == "text" and is_unicode(self.ctx.terminal):
                error.message = f"{FAILED_SIGN} {error.message}"
            raise

    def _print_papers(self, found: Sequence[Paper], nothing: str, *, as_json: bool) -> None:
        terminal = self.ctx.terminal
        if as_json:
            terminal.json(papers_object(found, self._papers.unread(found)))
            return
        if not found:
            terminal.note(nothing)
        width = max((len(each.name) for each in found), default=0)
        digits = len(str(len(found)))
        for number, each in enumerate(found, start=1):
            year = (each.source.published or "")[:4] or "    "
            who = _authors(each.source.authors)
            lacks = _LACKS.get(each.status, "")
            head = f"{number:>{digits}}. {each.name:<{width}}  {year}  "
            terminal.line(f"{head}{who}{one_line(each.source.title)}{_noticed(each)}{lacks}", hang=len(head))
        note_parts(self.ctx.terminal, self._papers.unread(found))


class _JsonView(JsonView):
    def __init__(self, terminal: object, forward: object, papers: PaperService) -> None:
        super().__init__(terminal, forward)  # type: ignore[arg-type]
        self._papers = papers

    def show(self, answer: Answer) -> None:
        self._terminal.json(research_object(answer, self._papers.result(answer)))


def _noticed(paper: Paper) -> str:
    """Return what is to be said of a paper, after its title."""
    return "".join(f"  [{one_line(each)}]" for each in paper.notice_texts)


def _warn(terminal: Terminal, paper: Paper) -> None:
    for each in paper.notice_texts:
        terminal.note(shown(terminal, f"⚠️  {paper.name}: {one_line(each)}"))


def _authors(names: Sequence[str]) -> str:
    """Return `Lewis et al.: ` for many authors."""
    families = [each.partition(",")[0] if "," in each else each.rpartition(" ")[2] for each in names]
    few = " and ".join(families[:2]) if len(families) <= 2 else f"{families[0]} et al."
    return f"{one_line(few)}: " if families else ""
