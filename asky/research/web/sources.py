"""Web pages as sources of the session."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import TYPE_CHECKING

from asky.evidence.passages import describe_source
from asky.research.excerpts.locations import ABSTRACT, SNIPPET
from asky.research.web.open_copies import named_paper
from asky.values import Document, Source, source_id

if TYPE_CHECKING:
    from asky.research.corpus.acquire import Acquirer
    from asky.research.page import WebPage
    from asky.research.shortlist_types import Shortlisted
    from asky.search.port import Candidate
    from asky.storage.corpus import CorpusStore


_MAX_REASON_CHARS = 200


def chosen_lines(sources: Sequence[Source], chosen: Sequence[Shortlisted]) -> list[str]:
    """Return the list of the `chosen` for a model, best first: rank, source, host, date, and why it was chosen."""
    return [
        f"{rank}. {describe_source(source, published=each.published)}: {'; '.join(each.reasons)[:_MAX_REASON_CHARS]}"
        for rank, (source, each) in enumerate(zip(sources, chosen, strict=True), start=1)
    ]


class WebSources:
    """The web sources of the collection `collection_id`."""

    def __init__(self, corpus: CorpusStore, acquirer: Acquirer, collection_id: int) -> None:
        self._corpus = corpus
        self._acquirer = acquirer
        self._collection_id = collection_id

    def hold(self, pages: Sequence[WebPage]) -> None:
        """Make pages sources of the collection."""
        self._corpus.hold(self._collection_id, [page.source.id for page in pages])

    def describe(self, page: WebPage, paper: Candidate | None) -> Source:
        """Return the source of a page, with the metadata of the paper it contains: a PDF has almost none of its own."""
        if paper is None:
            return page.source
        title = paper.title if page.document.title is None else None
        self._corpus.describe(
            page.source.id, title=title or None, authors=paper.authors, published=paper.published,
            published_in=paper.venue, doi=paper.doi,
        )  # fmt: skip
        return self._corpus.source(page.source.id) or page.source

    def of(self, chosen: Shortlisted) -> Source:
        """Return the source of a chosen item: its page, or the abstract, stored now, of an unreadable paper."""
        candidate = chosen.candidate
        if chosen.page is not None:
            return self.describe(chosen.page, candidate if candidate.kind == "paper" else named_paper(candidate.url))
        return self.of_snippet(candidate)

    def of_snippet(self, candidate: Candidate) -> Source:
        """Return the source of what a service says of a result: the abstract of a paper, or the snippet of a page.

        It is stored now, apart from the page itself, and each wording apart: what a service quotes of a page depends on
        the query.
        """
        part = "abstract" if candidate.kind == "paper" else "snippet"
        wording = hashlib.sha256(f"{candidate.title}\n{candidate.snippet}".encode("utf-8", "surrogatepass")).hexdigest()
        uri = f"{part}:{candidate.url} {wording[:16]}"
        source = Source(source_id(uri), candidate.kind, uri, candidate.title or candidate.url, url=candidate.url)
        work = {"published": candidate.published, "published_in": candidate.venue, "doi": candidate.doi}
        facts = {"author": "; ".join(candidate.authors), "part": part, **work}
        known = {name: fact for name, fact in facts.items() if fact}
        media_type = ABSTRACT if candidate.kind == "paper" else SNIPPET
        document = Document(candidate.snippet, media_type, candidate.title or None, metadata=known)
        self._acquirer.add_text(source, document, self._collection_id)
        return source
