"""Papers from the network: what registries say of them, and their PDFs at open addresses."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from asky.errors import AskyError, SourceRefused, SourceUnreadable, StorageError
from asky.papers.identity import Identity, filled, named, of_record
from asky.reading.web_types import media_type_of_response
from asky.search.identifiers import Identifier, ids_of
from asky.search.lookup import FoundPaper, LookedUp, UnknownPaper
from asky.search.papers import arxiv_url
from asky.search.port import Candidate, SearchRequest
from asky.storage.papers import PaperNotice
from asky.text.letters import fold
from asky.text.urls import host_of

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from asky.net.fetching import Fetcher
    from asky.papers.wanted import WantedPaper
    from asky.research.source_policy import SourcePolicy
    from asky.research.web.open_copies import CopyFinder
    from asky.research.web.search_cache import CachedSearch
    from asky.search.lookup import PaperRegistries

PDF = "application/pdf"
_TITLES_FOUND = 5
_ORDER = ("arxiv", "doi", "pmid", "pmcid")


@dataclass(frozen=True, slots=True)
class PaperRecord:
    """What is known of a paper from elsewhere: who it is, and the notices on it.

    `told` are the fields of `CorpusStore.describe`, which take precedence over what its text says. `wrong` are the
    reasons why something may be missing, each for people. `is_certain` says that a registry told it.
    """

    identity: Identity
    told: Mapping[str, Any] = field(default_factory=dict)
    notices: tuple[PaperNotice, ...] = ()
    pdf_url: str | None = None
    wrong: tuple[str, ...] = ()
    is_certain: bool = True

    @property
    def is_checked(self) -> bool:
        """Return whether all registries that list the notices on the paper have answered."""
        return self.is_certain and not self.wrong


@dataclass(frozen=True, slots=True)
class OpenPdf:
    """A PDF from an open address, and the id with version that arXiv has it under, if it is from there."""

    url: str
    data: bytes = field(repr=False)
    arxiv: Identifier | None = None


@dataclass(frozen=True, slots=True)
class _Address:
    url: str
    is_named: bool = False
    arxiv: Identifier | None = None


class OnlinePapers:
    """Looks papers up in `registries`, and fetches their PDFs with `fetcher`.

    `finder` knows open copies, and `titles` searches the services that know papers by their titles.
    """

    def __init__(
        self,
        registries: PaperRegistries,
        fetcher: Fetcher,
        finder: CopyFinder | None,
        policy: SourcePolicy,
        titles: CachedSearch,
    ) -> None:
        self._registries = registries
        self._titles = titles
        self._fetcher = fetcher
        self._finder = finder
        self._policy = policy

    async def record(self, wanted: WantedPaper) -> PaperRecord:
        """Return what the registries say of the first id of a paper that they know; nothing but the id is sent.

        If all that is known comes from the argument itself, since it has no id or the registries fail, so it says.
        Raises `UnknownPaper` if no registry knows any of the ids, and `StorageError`.
        """
        unknown: UnknownPaper | None = None
        wrong: list[str] = []
        for each in sorted(wanted.identifiers, key=lambda one: _ORDER.index(one.kind)):
            try:
                return _record_of(await self._registries.look_up(each), wanted)
            except UnknownPaper as error:
                unknown = unknown or error
            except StorageError:
                raise
            except AskyError as error:
                wrong.append(error.message)
        if unknown is None or wrong:
            return _own_record(wanted, tuple(wrong))
        if not wanted.url:
            raise unknown
        return _own_record(replace(wanted, identifiers=()), (unknown.message,))

    async def ids_of_title(self, title: str, authors: Sequence[str]) -> tuple[Identifier, ...]:
        """Return the ids of the first paper found that has just this title, and this first author if both are known.

        Nothing but the title is sent. Titles are compared by their letters and digits. Empty if there is none; raises
        as `Federation.search` does.
        """
        found = await self._titles.search([SearchRequest(title, max_results=_TITLES_FOUND)])
        for each in found.candidates:
            has_author = not authors or not each.authors or _family(each.authors[0]) == _family(authors[0])
            if _letters(each.title) == _letters(title) and has_author and (ids := ids_of(each)):
                return ids
        return ()

    async def pdfs(self, wanted: WantedPaper, record: PaperRecord) -> AsyncIterator[OpenPdf | AskyError]:
        """Yield what each address of the paper's PDF leads to: a PDF, or why there is none.

        They are asked one after another, while more are wanted: arXiv's own copy, the address that the user named, the
        one that a registry knows, and then that of the finder of open copies. Raises `StorageError`.
        """
        seen = set[str]()
        for address in _addresses(wanted, record):
            if address.url not in seen:
                seen.add(address.url)
                yield await self._try(address)
        if self._finder is None or record.identity.doi is None:
            return
        try:
            copy = await self._finder.find_open_copy(record.identity.doi)
        except StorageError:
            raise
        except AskyError as error:
            yield error
            return
        url = copy.pdf_url or copy.url if copy is not None else None
        if url is not None and url not in seen:
            yield await self._try(_Address(url))

    async def _try(self, address: _Address) -> OpenPdf | AskyError:
        try:
            return await self._fetch(address)
        except StorageError:
            raise
        except AskyError as error:
            return error

    async def _fetch(self, address: _Address) -> OpenPdf:
        self._require_allowed(address.url, is_named=address.is_named)
        fetched = await self._fetcher.fetch(address.url, named_by_user=address.is_named)
        self._require_allowed(fetched.url, is_named=address.is_named)
        media_type = media_type_of_response(fetched.url, fetched.media_type, fetched.charset, fetched.body)
        host = host_of(fetched.url)
        if media_type != PDF:
            raise SourceUnreadable(f"{host} sent no PDF ({media_type})", verdict="unsupported")
        if fetched.is_cut:
            raise SourceUnreadable(f"{host} sent a PDF that is too large", verdict="too_large")
        return OpenPdf(address.url, fetched.body, address.arxiv)

    def _require_allowed(self, url: str, *, is_named: bool) -> None:
        try:
            reason = self._policy.address_refusal(url, is_named=is_named)
        except ValueError as error:
            raise SourceRefused(str(error)) from None
        if reason:
            raise SourceRefused(f"{host_of(url)}: {reason}", hint="[research.sources] limits what is read")


def _letters(text: str) -> str:
    return "".join(character for character in fold(text) if character.isalnum())


def _family(author: str) -> str:
    return _letters(author.partition(",")[0] if "," in author else author.rpartition(" ")[2])


def _record_of(looked_up: LookedUp, wanted: WantedPaper) -> PaperRecord:
    found = looked_up.paper
    identity = of_record(found, wanted.identifiers)
    return PaperRecord(identity, _told(identity), tuple(_notices(found)), found.candidate.pdf_url, found.unchecked)


def _own_record(wanted: WantedPaper, wrong: tuple[str, ...]) -> PaperRecord:
    """Return the record of a paper of which only the argument, or the entry of an export, says something."""
    candidate = wanted.candidate or Candidate(wanted.url or "")
    identity = named(replace(candidate, url=wanted.url or candidate.url), wanted.identifiers)
    told = _told(identity) if candidate.title else {}
    return PaperRecord(identity, told, (), candidate.pdf_url, wrong, is_certain=False)


def entry_record(wanted: WantedPaper, identity: Identity, *, has_title: bool) -> PaperRecord:
    """Return what the entry of an export adds to what the first page of its PDF says."""
    entry = _told(_own_record(wanted, ()).identity) if wanted.candidate is not None else {}
    own = _told(identity) | {"title": identity.title if has_title else None}
    lacking = {name: value for name, value in entry.items() if value and not own[name]}
    return PaperRecord(
        filled(identity, wanted.candidate or Candidate(""), wanted.identifiers), lacking, is_certain=False
    )


def _told(identity: Identity) -> dict[str, Any]:
    return {name: getattr(identity, name) for name in ("title", "authors", "published", "published_in", "doi")}


def _notices(found: FoundPaper) -> Iterator[PaperNotice]:
    for each in found.notices:
        one = each.identifier
        name = None if one is None else f"{one.value}v{one.version}" if one.version else one.value
        yield PaperNotice(each.kind, each.date, each.source, name)


def _addresses(wanted: WantedPaper, record: PaperRecord) -> Iterator[_Address]:
    identity = record.identity
    if identity.arxiv is not None:
        arxiv = Identifier("arxiv", identity.arxiv, identity.version)
        yield _Address(arxiv_url(arxiv, "pdf"), is_named="arxiv" in _kinds(wanted.identifiers), arxiv=arxiv)
    if wanted.url is not None:
        yield _Address(wanted.url, is_named=True)
    if record.pdf_url is not None:
        yield _Address(record.pdf_url)


def _kinds(identifiers: Sequence[Identifier]) -> set[str]:
    return {each.kind for each in identifiers}
