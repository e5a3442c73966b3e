"""The port for looking papers up by identifier, the notices on a paper, and several registries as one.

`None` says that a registry has no record of an identifier; any failure is an error of `asky.search.port`. An empty list
of notices says that there are none only if nothing is `unchecked`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from types import MappingProxyType
from typing import Literal, Protocol, TypeAlias, get_args

from asky.concurrency import error_of, failure, gather
from asky.errors import AskyError, SourceError, StorageError
from asky.search.federation import summary, united
from asky.search.identifiers import Identifier, IdentifierKind
from asky.search.papers import mark_in_title
from asky.search.port import Candidate
from asky.values import Failure

NoticeKind = Literal["retraction", "withdrawal", "concern", "correction", "newer_version"]

RETRACTING: frozenset[NoticeKind] = frozenset({"retraction", "withdrawal"})
"""The notices that take a paper back."""

PAPER_LOOKUPS: Mapping[IdentifierKind, tuple[str, ...]] = MappingProxyType(
    {
        "arxiv": ("arxiv", "openalex", "semantic_scholar"),
        "doi": ("crossref", "openalex", "semantic_scholar"),
        "pmid": ("pubmed", "openalex", "semantic_scholar"),
        "pmcid": ("semantic_scholar",),
    }
)
"""The registries that are asked for each kind of identifier, the one whose description counts most first."""

_HOMES: Mapping[str, str] = MappingProxyType({"arxiv": "arxiv", "doi": "crossref", "pmid": "pubmed"})
"""The registry that lists the notices on papers with each kind of identifier."""

_ASKED_LATER = frozenset({"doi", "pmid"})  # what arXiv says of a preprint is no notice on the paper in print
_AT_ONCE = 8
_SEVERITY = get_args(NoticeKind)


@dataclass(frozen=True, slots=True)
class Notice:
    """A notice on a paper, as `source`, a registry, has it.

    `date` is an ISO 8601 date, or a part of one. `identifier` is that of the notice, or of the newer version. A partial
    retraction is a retraction, a removal a withdrawal; an erratum or an addendum is a correction.
    """

    kind: NoticeKind
    date: str | None
    source: str
    identifier: Identifier | None = None


@dataclass(frozen=True, slots=True)
class FoundPaper:
    """A paper as one registry describes it, or several do.

    `ids` are its identifiers, that of arXiv with the newest version; `same_as` those of the work's other forms, such as
    its preprint. `notices` are on this paper; `is_notice` says that it is itself a notice, on another one. `unchecked`
    has a reason, for people, for each way in which notices may be missing.
    """

    candidate: Candidate
    ids: tuple[Identifier, ...]
    same_as: tuple[Identifier, ...] = ()
    notices: tuple[Notice, ...] = ()
    is_notice: bool = False
    unchecked: tuple[str, ...] = ()


class PaperLookup(Protocol):
    """A registry of papers."""

    @property
    def name(self) -> str:
        """Return the name used in the configuration."""
        ...

    @property
    def host(self) -> str:
        """Return the host that requests go to, `host[:port]`."""
        ...

    async def lookup(self, identifier: Identifier) -> FoundPaper | None:
        """Return the paper with this identifier, of a kind that `PAPER_LOOKUPS` lists for this registry.

        `None` if there is none. Nothing but the identifier is sent. An arXiv paper is described in the version named,
        or in the newest one. Raises the errors of `asky.search.port`.
        """
        ...


@dataclass(frozen=True, slots=True)
class LookedUp:
    """A paper in the words of all registries that know it; see `PaperRegistries.look_up`.

    `asked` names the registries in the order in which they were asked; `failures` are about those that failed.
    """

    paper: FoundPaper
    asked: tuple[str, ...]
    failures: tuple[Failure, ...] = ()

    @property
    def has_checked_notices(self) -> bool:
        """Return whether the registries that list the notices on this paper have all answered."""
        return not self.paper.unchecked


class UnknownPaper(SourceError):
    """No registry has a record of an identifier."""

    code = "unknown_paper"


_Request: TypeAlias = tuple[str, Identifier]
_Answer: TypeAlias = FoundPaper | AskyError | None


class PaperRegistries:
    """Several registries as one; those of `PAPER_LOOKUPS` that are not among `lookups` are not asked."""

    def __init__(self, lookups: Iterable[PaperLookup]) -> None:
        self._lookups = {each.name: each for each in lookups}

    async def look_up(self, identifier: Identifier) -> LookedUp:
        """Return what the registries of `PAPER_LOOKUPS` have on a paper, asked a few at a time.

        A DOI or a PMID that they tell is looked up too, where the notices on it are listed; what that tells is not. The
        first registry that knows a field provides it. Notices come by severity, retractions first, then by date and
        registry; one that several registries have comes once from each.

        Raises `UnknownPaper` if no registry knows the identifier, even if some fail while its own does not know it; the
        summary of the errors if some fail and the others do not know it; and `StorageError`.
        """
        answers = await self._ask({(name, _plain(identifier)): identifier for name in PAPER_LOOKUPS[identifier.kind]})
        told = (each for _, paper in _found(answers) for each in paper.ids if each.kind in _ASKED_LATER)
        later = {(_HOMES[each.kind], each): each for each in told}
        answers |= await self._ask({request: each for request, each in later.items() if request not in answers})
        found = _found(answers)
        if not found:
            raise _not_found(identifier, answers)
        paper = _united(identifier, found)
        failures = {name: failure(each, name) for (name, _), each in answers.items() if isinstance(each, AskyError)}
        return LookedUp(
            replace(paper, unchecked=_unchecked(identifier, paper, answers)),
            tuple(dict.fromkeys(name for name, _ in answers)),
            tuple(failures.values()),
        )

    async def _ask(self, requests: Mapping[_Request, Identifier]) -> dict[_Request, _Answer]:
        """Ask each registry at the name of a request, if there is one, about the identifier as it is given."""
        known = {request: each for request, each in requests.items() if request[0] in self._lookups}
        asks = [partial(_ask, self._lookups[name], each) for (name, _), each in known.items()]
        answers: dict[_Request, _Answer] = {}
        for request, answer in zip(known, await gather(asks, lambda ask: ask(), limit=_AT_ONCE), strict=True):
            if isinstance(answer, Failure):
                raise error_of(answer)
            answers[request] = answer
        return answers


async def _ask(lookup: PaperLookup, identifier: Identifier) -> _Answer:
    try:
        return await lookup.lookup(identifier)
    except StorageError:
        raise  # no failure of the registry: its answer could not be recorded
    except AskyError as error:
        return error


def _plain(identifier: Identifier) -> Identifier:
    """Return the identifier without a version: a paper is looked up once."""
    return replace(identifier, version=None)


def _found(answers: Mapping[_Request, _Answer]) -> list[tuple[str, FoundPaper]]:
    """Return the descriptions of a paper with the registries that they are from."""
    return [(name, each) for (name, _), each in answers.items() if isinstance(each, FoundPaper)]


def _united(identifier: Identifier, found: Sequence[tuple[str, FoundPaper]]) -> FoundPaper:
    """Return one paper from its descriptions, the one that counts most first."""
    papers = [paper for _, paper in found]
    ids: dict[str, Identifier] = {}
    for each in (*(one for paper in papers for one in paper.ids), _plain(identifier)):
        known = ids.get(each.key)
        if known is None or (each.version or 0) > (known.version or 0):
            ids[each.key] = each
    is_notice = any(paper.is_notice for paper in papers)
    notices = _notices(found, is_notice=is_notice)
    return FoundPaper(
        replace(united([paper.candidate for paper in papers]), is_retracted=_is_retracted(notices)),
        tuple(ids.values()),
        tuple(dict.fromkeys(one for paper in papers for one in paper.same_as if one.key not in ids)),
        notices,
        is_notice,
    )


def _notices(found: Iterable[tuple[str, FoundPaper]], *, is_notice: bool) -> tuple[Notice, ...]:
    """Return all notices, and a title such as `RETRACTED: ...` as one if nothing else tells of it.

    Titles and bare marks count only for a paper that is not a notice itself: notices are often marked like the papers
    that they are on.
    """
    notices = [each for _, paper in found for each in paper.notices if not is_notice or each.identifier]
    if not is_notice and not _is_retracted(notices):
        marks = ((name, mark_in_title(paper.candidate.title)) for name, paper in found)
        notices += [Notice(mark, None, name) for name, mark in marks if mark][:1]
    return tuple(sorted(dict.fromkeys(notices), key=_by_severity))


def _is_retracted(notices: Iterable[Notice]) -> bool:
    return any(each.kind in RETRACTING for each in notices)


def _by_severity(notice: Notice) -> tuple[int, str, str]:
    return _SEVERITY.index(notice.kind), notice.date or "9999", notice.source


def _unchecked(identifier: Identifier, paper: FoundPaper, answers: Mapping[_Request, _Answer]) -> tuple[str, ...]:
    """Return why notices may be missing: what the registries say, those that failed, and those that do not know it."""
    reasons = [reason for _, each in _found(answers) for reason in each.unchecked]
    listed = [each for each in map(_plain, paper.ids) if each.kind in _ASKED_LATER or each.key == identifier.key]
    homes = [(_HOMES[each.kind], each) for each in listed if each.kind in _HOMES]
    for home, each in homes:
        answer = answers.get((home, each))
        if isinstance(answer, AskyError):
            reasons.append(answer.message)
        elif answer is None:
            has_asked = (home, each) in answers
            reasons.append(f"{home} {'does not know' if has_asked else 'was not asked about'} {each.value}")
    if not homes:
        reasons.append(f"no registry lists notices on {identifier.value}")
    return tuple(dict.fromkeys(reasons))


def _not_found(identifier: Identifier, answers: Mapping[_Request, _Answer]) -> AskyError:
    """Return the error for an identifier that nobody knows, or for failures that leave it open.

    A registry other than Crossref has all identifiers of its kind: if it does not know one, there is none.
    """
    errors = [(name, each) for (name, _), each in answers.items() if isinstance(each, AskyError)]
    silent = [name for (name, _), each in answers.items() if each is None]
    is_its_own = identifier.kind != "doi" and _HOMES.get(identifier.kind) in silent
    if errors and not is_its_own:
        return summary(errors, f"could not look up {identifier.value}")
    return UnknownPaper(f"no registry knows {identifier.value}", hint=f"check it; asked: {', '.join(silent) or 'none'}")
