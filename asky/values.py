"""Values shared by every layer: frozen, with no behaviour beyond checking their own consistency.

Offsets are character offsets (Python `str` indices) into a document's stored text, half open: `text[start:end]`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal

SourceKind = Literal["file", "web", "paper", "note"]
PRIVATE_KINDS: tuple[SourceKind, ...] = ("file", "note")
"""The kinds of sources whose text belongs to the user. Privacy is decided from this alone."""
Verdict = Literal["supported", "partial", "unsupported", "contradicted", "uncited"]
StoppedBy = Literal["budget", "max_turns", "cancelled", "no_evidence", "length", "cut"]
"""What ended a run early; `length` and `cut` say that its answer was not ended by the model, as `Reply.finish` does."""


@dataclass(frozen=True, slots=True)
class Span:
    """Characters `[start, end)` of a document's stored text."""

    start: int
    end: int

    def __post_init__(self) -> None:
        if not 0 <= self.start <= self.end:
            raise ValueError(f"not a span: [{self.start}, {self.end})")

    def __len__(self) -> int:
        return self.end - self.start


@dataclass(frozen=True, slots=True)
class Section:
    """A heading and its range: from the start of its heading line to the next heading of the same or a higher level.

    `level` counts from 1. Level 0 is data about the document, such as the front matter of a note: it belongs to no
    outline, and no chunk crosses its end. `metadata` is about the section alone, such as a mail of a mailbox; what its
    text is found by is told in `asky.research.corpus.cutting`.
    """

    heading: str
    level: int
    start: int
    end: int
    metadata: Mapping[str, str] = field(default_factory=dict, hash=False)


@dataclass(frozen=True, slots=True)
class Page:
    """One physical page. `index` counts from 1; `label` is the printed number, `None` where the file defines none."""

    index: int
    label: str | None
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Link:
    """An outgoing link of a page: `url` is absolute, http or https; `text` is the visible link text.

    A source of an adapter has links to other targets too.

    `start` is the offset in the document's text of the block that holds the link, or the end of the text if that block
    is not part of it.
    """

    url: str
    text: str
    start: int


@dataclass(frozen=True, slots=True)
class NoteLink:
    """A link from one note to another, at `[start, end)` of the text of the note that it is written in.

    `target` names the other note as it is written, "" for the note itself; `part` is what follows `#`: a heading or
    several joined by `#`, or `^` and the id of a block; "" for the whole note. `alias` is the text shown instead, ""
    without one. An embed shows what it leads to in its place.
    """

    target: str
    part: str
    alias: str
    is_embed: bool
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Document:
    """The text extracted from some bytes, with its structure.

    `text` is what is stored, indexed, cited and hashed; it is never rewritten. `sections` are ordered by start and may
    nest; `pages` are in order, do not overlap, and are empty for media without pages; `links` are in page order,
    without duplicate URLs; `note_links` are in order and do not overlap.
    """

    text: str
    media_type: str
    title: str | None = None
    sections: tuple[Section, ...] = ()
    pages: tuple[Page, ...] = ()
    links: tuple[Link, ...] = ()
    note_links: tuple[NoteLink, ...] = ()
    metadata: Mapping[str, str] = field(default_factory=dict)

    @property
    def sha256(self) -> str:
        """Return the hex SHA-256 of the UTF-8 bytes of `text`."""
        return hashlib.sha256(self.text.encode("utf-8")).hexdigest()


@dataclass(frozen=True, slots=True)
class Source:
    """The origin of a document. `id` is derived from `uri` and is the same in every store.

    `external_id` is the id of an imported record, with its type preserved: 1 and "1" differ. `authors`, `published`
    (ISO 8601: a date, or only its year or month), `published_in` (a site or a journal) and `doi` are bibliographic data
    as reported by the source or a search service; they are not verified.
    """

    id: str
    kind: SourceKind
    uri: str
    title: str
    url: str | None = None
    path: str | None = None
    external_id: str | int | None = None
    fetched_at: str | None = None
    authors: tuple[str, ...] = ()
    published: str | None = None
    published_in: str | None = None
    doi: str | None = None


def source_id(uri: str) -> str:
    """Return the id of the source at `uri`: `s` and the first 12 hexadecimal digits of its SHA-256."""
    return "s" + hashlib.sha256(uri.encode("utf-8", "surrogatepass")).hexdigest()[:12]


@dataclass(frozen=True, slots=True)
class Chunk:
    """A span of a document that is indexed as one unit. `ordinal` counts from 0 within the document."""

    ordinal: int
    span: Span
    tokens: int


@dataclass(frozen=True, slots=True)
class Location:
    """The place of a span, in terms a reader can use. `page` and `line`, that of the first character, count from 1.

    Only texts that are stored line by line as in their file have lines. `columns` are the names of the columns, parted
    by bars, of a table that begins before the span and goes on with its first line.
    """

    section: str | None = None
    page: int | None = None
    page_label: str | None = None
    line: int | None = None
    columns: str | None = None


@dataclass(frozen=True, slots=True)
class Hit:
    """One ranked chunk. `rank` counts from 1; a leg that did not run has `None`.

    `score` is how well the chunk matches the query; `rank` also depends on the other hits: see `asky.research.ranking`.
    `linked_from` is the title of the source whose passage names or has a link to this one, if that raised it. `also_in`
    are the other sources in scope that hold the same text, in order of URI.
    """

    rank: int
    score: float
    semantic: float | None
    lexical: float | None
    source: Source
    document_id: int
    chunk_id: int
    span: Span
    text: str
    location: Location
    linked_from: str | None = None
    also_in: tuple[Source, ...] = ()


@dataclass(frozen=True, slots=True)
class Evidence:
    """A passage that was shown to a model in a run under an opaque `key`; only such keys can be cited.

    `sections` are those that begin within `text`: the offset there, and the headings, joined as in `location`, which is
    that of the first character. For `linked_from` see `Hit`.
    """

    key: str
    source: Source
    document_id: int
    sha256: str
    span: Span
    text: str
    location: Location
    score: float | None = None
    linked_from: str | None = None
    sections: tuple[tuple[int, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Citation:
    """A numbered reference to a passage; `quote == text[span.start:span.end]` of the text whose hash is `sha256`.

    `score` is how well the passage matched the query that found it, as `Hit.score` has it; `None` if no query did.
    """

    n: int
    key: str
    source: Source
    location: Location
    span: Span
    quote: str
    sha256: str
    score: float | None = None


@dataclass(frozen=True, slots=True)
class Claim:
    """A sentence of an answer, `answer[span.start:span.end]`, with its citations and the result of checking it."""

    text: str
    span: Span
    citations: tuple[int, ...]
    verdict: Verdict
    score: float
    checks: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class OutgoingQueries:
    """Search queries of a model that may reveal a private document, each in the form in which it would be sent.

    `services` are the names and hosts of the search services that would receive them, `reason` says what was found.
    """

    queries: tuple[str, ...]
    services: tuple[tuple[str, str], ...]
    reason: str


@dataclass(frozen=True, slots=True)
class FileChange:
    """A change to a file of the user that a model has asked for: its path for the user, and a unified diff."""

    path: str
    diff: str


Approve = Callable[[OutgoingQueries | FileChange], Awaitable[bool]]
"""Asks the user whether the queries may be sent, or the change may be written."""


async def decline(asked: OutgoingQueries | FileChange) -> bool:  # noqa: ARG001 - the signature of `Approve`
    """Return `False`: without a user to ask, nothing is approved."""
    return False


Clarify = Callable[[str], Awaitable[str | None]]
"""Asks the user a question and returns the answer; `None` if there is none."""


@dataclass(frozen=True, slots=True)
class Failure:
    """A failure as a value: one item of a batch that failed while the others continue."""

    subject: str
    code: str
    message: str
    hint: str | None = None
    retryable: bool = False


@dataclass(frozen=True, slots=True)
class Unreadable:
    """A row that cannot be read, in a list of others: `name` is what is left of its name, `why` what is wrong."""

    name: str
    why: str


@dataclass(frozen=True, slots=True)
class Usage:
    """The resources that a run used. `cost_usd` is `None` if no price is known."""

    llm_calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cost_usd: float | None = None
    searches: int = 0
    fetches: int = 0
    cache_hits: int = 0
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class ContradictionSide:
    """One side of a contradiction, with the numbers of the citations that state it and the name of its source."""

    statement: str
    citations: tuple[int, ...] = ()
    source: str = ""


@dataclass(frozen=True, slots=True)
class Contradiction:
    """Statements that cannot both hold. `stated_by` is `model` or `check`: who said so.

    `kind` is `number`, `date` or `negation` if the check found it, and "" if a model stated it; `explanation` says what
    differs, if that is known.
    """

    sides: tuple[ContradictionSide, ...]
    explanation: str = ""
    stated_by: str = "model"
    kind: str = ""


@dataclass(frozen=True, slots=True)
class UnreadFile:
    """A file that could not be read or, with `part`, a part of one that was read without it.

    `message` is the reason, in words that follow a colon; `verdict` is that of the reader, and "partial" for a part.
    """

    path: str
    verdict: str
    message: str
    part: str | None = None


@dataclass(frozen=True, slots=True)
class Answer:
    """A finished run: the text with `[n]` markers, the citation behind each marker, and the check of each sentence.

    `faults` counts flagged sentences, removed citations, and addresses that belong to no source. `confidence` is how
    likely the cited passages hold the answer, in [0, 1]: a calibrated probability of the built-in model, `None` for
    other models, for answers about whole documents, and without an embedding model. `contradictions` are those that the
    check found among the passages shown and the statements of the answer. `noted` are findings about the question that
    the built-in model, which only quotes, could not weigh; each as `asky.research.memory.noted_record` has it. `unread`
    are the files among the documents of the question that could not be read, and the parts of files.
    """

    run: str
    session: str | None
    mode: str
    question: str
    model: str
    text: str
    citations: tuple[Citation, ...]
    claims: tuple[Claim, ...]
    sources: tuple[tuple[Source, float, bool], ...]
    rejected: tuple[tuple[str, str], ...]
    usage: Usage
    stopped_by: StoppedBy | None = None
    warnings: tuple[str, ...] = ()
    faults: int = 0
    confidence: float | None = None
    contradictions: tuple[Contradiction, ...] = ()
    noted: tuple[Mapping[str, object], ...] = ()
    unread: tuple[UnreadFile, ...] = ()

    def _repr_markdown_(self) -> str:
        """Return the answer as Markdown for a notebook: the text, then a line for each citation."""
        lines = [f"[{each.n}] {each.source.title}{_place(each)}" for each in self.citations]
        return "\n\n".join([self.text, "  \n".join(lines)] if lines else [self.text])


def _place(citation: Citation) -> str:
    location = citation.location
    page = f"p. {location.page_label or location.page}" if location.page is not None else None
    line = f"line {location.line}" if location.line is not None else None
    parts = [location.section, page or line, citation.source.url or citation.source.path]
    return "".join(f", {part}" for part in parts if part)
