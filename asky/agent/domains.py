"""Fields of research: which sources count in one, and which of them can be used here.

A question belongs to the field whose keywords it has most of, else to `general`. The user's fields are tables
`[agent.domains.NAME]` of the configuration.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from asky.errors import UsageError
from asky.search.catalog import ROWS
from asky.text.addresses import parse_domains
from asky.text.terms import terms_of

if TYPE_CHECKING:
    from asky.config.schema import AgentDomain

GENERAL = "general"
"""The name of the field of all other questions."""

_WEB = ("searxng", "brave", "tavily", "exa", "serper")

_SITES: Mapping[str, tuple[str, ...]] = {
    "facebook": ("facebook.com",),
    "linkedin": ("linkedin.com",),
    "medium": ("medium.com",),
    "quora": ("quora.com",),
    "reddit": ("reddit.com",),
    "stackexchange": ("stackexchange.com", "stackoverflow.com"),
    "tiktok": ("tiktok.com",),
    "twitter": ("twitter.com", "x.com"),
    "wikipedia": ("wikipedia.org",),
    "youtube": ("youtube.com", "youtu.be"),
}


@dataclass(frozen=True, slots=True)
class DomainConfiguration:
    """One field. Sources are names of search services, best first; those excluded are services, sites or domains.

    A fact is verified from a confidence of `verification_threshold` on, and with `academic_required` only if a paper
    supports it.
    """

    domain: str
    primary_sources: tuple[str, ...]
    secondary_sources: tuple[str, ...] = ()
    academic_required: bool = False
    verification_threshold: float = 0.6
    keywords: tuple[str, ...] = ()
    excluded_sources: tuple[str, ...] = ()

    @classmethod
    def for_medical(cls) -> DomainConfiguration:
        """Return the field of medicine: biomedical papers."""
        return cls(
            "medical",
            primary_sources=("pubmed", "semantic_scholar"),
            secondary_sources=("arxiv", "google_scholar"),
            academic_required=True,
            verification_threshold=0.8,
            keywords=("clinical", "patient", "treatment", "diagnosis", "therapy"),
            excluded_sources=("wikipedia",),
        )

    @classmethod
    def for_competitive_intelligence(cls) -> DomainConfiguration:
        """Return the field of companies and markets: the web and its news."""
        return cls(
            "competitive_intelligence",
            primary_sources=("tavily", "exa", "brave"),
            secondary_sources=("news_api", "crunchbase"),
            keywords=("company", "market", "competitor", "funding", "product"),
        )

    @classmethod
    def for_academic(cls) -> DomainConfiguration:
        """Return the field of scholarship: papers of every subject."""
        return cls(
            "academic",
            primary_sources=("semantic_scholar", "openalex", "arxiv"),
            secondary_sources=("crossref", "pubmed", "google_scholar"),
            academic_required=True,
            verification_threshold=0.7,
            keywords=(
                "paper",
                "study",
                "literature",
                "hypothesis",
                "peer-reviewed",
                "preprint",
                "journal",
                "benchmark",
            ),
            excluded_sources=("wikipedia",),
        )

    @classmethod
    def for_regulatory(cls) -> DomainConfiguration:
        """Return the field of laws and rules: the web, where authorities publish them."""
        return cls(
            "regulatory",
            primary_sources=_WEB,
            secondary_sources=("openalex", "crossref"),
            verification_threshold=0.8,
            keywords=(
                "regulation",
                "directive",
                "compliance",
                "law",
                "legal",
                "statute",
                "court",
                "legislation",
                "gdpr",
            ),
            excluded_sources=("wikipedia", "reddit", "quora"),
        )

    @classmethod
    def for_general(cls) -> DomainConfiguration:
        """Return the field of all other questions: the whole web."""
        return cls(GENERAL, primary_sources=_WEB, secondary_sources=("wikipedia", "openalex", "semantic_scholar"))

    @property
    def sources(self) -> tuple[str, ...]:
        """Return the names of its sources, primary ones first, each once, without those that are excluded."""
        named = dict.fromkeys((*self.primary_sources, *self.secondary_sources))
        return tuple(name for name in named if name not in self.excluded_sources)

    @property
    def denied_domains(self) -> tuple[str, ...]:
        """Return the domains whose pages are not read: excluded domains, and those of excluded sites that are known."""
        return tuple(dict.fromkeys(_domains_of(self.excluded_sources)))


def domains_of(own: Mapping[str, AgentDomain]) -> dict[str, DomainConfiguration]:
    """Return all fields by name: the built-in ones, each replaced by the user's of the same name, then the others."""
    built_in = (
        DomainConfiguration.for_medical(),
        DomainConfiguration.for_competitive_intelligence(),
        DomainConfiguration.for_academic(),
        DomainConfiguration.for_regulatory(),
        DomainConfiguration.for_general(),
    )
    fields = {each.domain: each for each in built_in}
    for name, given in own.items():
        fields[name] = DomainConfiguration(
            name,
            primary_sources=given.primary_sources,
            secondary_sources=given.secondary_sources,
            academic_required=given.academic_required,
            verification_threshold=given.verification_threshold,
            keywords=given.keywords,
            excluded_sources=given.excluded_sources,
        )
    return fields


def choose_domain(query: str, domains: Mapping[str, DomainConfiguration]) -> DomainConfiguration:
    """Return the field with most keywords in `query`, in any form of the word; among equals the first.

    Without any, that is `general`, which `domains` holds.
    """
    asked = terms_of(query)
    counts = {name: sum(_is_in(word, asked) for word in each.keywords) for name, each in domains.items()}
    best = max(counts, key=lambda name: counts[name])
    return domains[best if counts[best] else GENERAL]


def find_domain(name: str, domains: Mapping[str, DomainConfiguration]) -> DomainConfiguration:
    """Return the field called `name`. Raises `UsageError` if there is none."""
    if name not in domains:
        raise UsageError(f"there is no field of research called {name[:100]!r}", hint=f"they are {', '.join(domains)}")
    return domains[name]


@dataclass(frozen=True, slots=True)
class DomainSources:
    """The search services of a field that can be used, best first, and the others, each with the reason."""

    available: tuple[str, ...]
    unavailable: tuple[tuple[str, str], ...]


def available_sources(domain: DomainConfiguration, configured: Sequence[str]) -> DomainSources:
    """Return which sources of a field are among the services that are `configured`, in the order of the field.

    If none is, the other configured services are used, in their order, but for those that the field excludes.
    """
    own = tuple(name for name in domain.sources if name in configured)
    others = tuple(name for name in configured if name not in domain.excluded_sources)
    missing = tuple((name, _why_unavailable(name)) for name in domain.sources if name not in configured)
    return DomainSources(own or others, missing)


def _why_unavailable(name: str) -> str:
    row = ROWS.get(name)
    if row is None:
        return "asky has no such search service"
    if row.kind == "finder":
        return "it does not search"
    if row.key == "required":
        return f"not set up: it needs a key in the variable {row.key_variable}"
    if row.base_url is None:
        return f"not set up: it needs an address in search.{name}.base_url"
    return "not set up: it needs no key, but a place in search.providers"


def _domains_of(sources: Iterable[str]) -> Iterator[str]:
    for source in sources:
        if source in _SITES:
            yield from _SITES[source]
        elif "." in source:
            with suppress(UsageError):
                yield from parse_domains([source])


def _is_in(keyword: str, asked: Collection[str]) -> bool:
    terms = terms_of(keyword)
    return bool(terms) and all(term in asked for term in terms)
