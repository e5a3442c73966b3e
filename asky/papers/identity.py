"""Which paper a text is: its ids, and the names under which it may be known already."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from asky.evidence.export.works import citation_key
from asky.search.identifiers import arxiv_id_of, doi_of, find_identifiers, work_keys
from asky.search.port import Candidate
from asky.text.letters import fold
from asky.values import Document

_VERSION = re.compile(r"v([1-9]\d{0,3})$")
_UNUSUAL = re.compile(r"[^\w.]+")
_BY_TITLE = "title:"


@dataclass(frozen=True, slots=True)
class Identity:
    """What a text says of itself as a paper.

    `keys` are its names, such as `arxiv:2005.11401` and `doi:10.5555/x`, the strongest first; the last one may be its
    title with year and author. `own_name` is an id for a paper without any: `lewis2020retrieval`, or the name of its
    file if author or year are not known. `arxiv` has no version.
    """

    title: str
    authors: tuple[str, ...]
    published: str | None
    keys: tuple[str, ...]
    own_name: str
    arxiv: str | None = None
    version: int | None = None
    doi: str | None = None

    @property
    def id(self) -> str:
        """Return the id of the paper: the arXiv id, the DOI, or its own name."""
        return self.arxiv or self.doi or self.own_name

    @property
    def url(self) -> str | None:
        """Return the address of the paper in its registry."""
        if self.arxiv is not None:
            return f"https://arxiv.org/abs/{self.arxiv}" + (f"v{self.version}" if self.version else "")
        return f"https://doi.org/{self.doi}" if self.doi else None


def identify(document: Document, stem: str) -> Identity:
    """Return what the first page and the facts of a PDF say about the paper; nothing is looked up.

    `stem` is the name of its file without suffix, which stands in for what they do not say.
    """
    facts = document.metadata
    title = document.title or stem
    authors = tuple(name.strip() for name in facts.get("author", "").split(";") if name.strip())
    published = facts.get("published")
    found = arxiv_id_of(f"arXiv:{facts['arxiv']}") if facts.get("arxiv") else None
    doi = doi_of(facts.get("doi"))
    url = f"https://arxiv.org/abs/{found.value}" if found is not None else ""
    keys = work_keys(Candidate(url, title, published=published, doi=doi, authors=authors))
    return Identity(
        title,
        authors,
        published,
        keys,
        citation_key(authors, published, title) if authors and published else _slug(stem),
        arxiv=found.value if found is not None else None,
        version=found.version if found is not None else None,
        doi=doi,
    )


def may_be_one(identity: Identity, known: Iterable[str]) -> bool:
    """Return whether a text may be the paper with the names `known`, which share a title with it.

    Two different ids of one registry are two papers, unless the registry relates them: a conference paper and its
    longer version in a journal often have one title.
    """
    own = dict(_registered(identity.keys))
    return all(own.get(kind, value) == value for kind, value in _registered(known))


def is_title_like(title: str, other: str) -> bool:
    """Return whether two titles may be of one paper: half of the words of the shorter one are in the longer one.

    A page may bear the id of another paper, such as the one that it replies to.
    """
    words = [set(re.findall(r"\w+", fold(each))) for each in (title, other)]
    shorter, longer = sorted(words, key=len)
    return 2 * len(shorter & longer) >= len(shorter)


def is_by_title(key: str) -> bool:
    """Return whether a name is only the title, with year and author."""
    return key.startswith(_BY_TITLE)


def read_name(text: str) -> tuple[str, ...]:
    """Return the names that a user may mean by `text`: `2005.11401v4`, `arXiv:2005.11401`, a DOI or an address."""
    return tuple(each.key for each in find_identifiers(text))


def without_version(name: str) -> str:
    """Return the id in a name such as `2005.11401v4`."""
    return _VERSION.sub("", name)


def free_id(base: str, is_taken: Callable[[str], bool]) -> str:
    """Return `base`, or else the first of `baseb`, `basec`, ... that is not taken."""
    tried, number = base, 1
    while is_taken(tried):
        number += 1
        tried = base + (chr(ord("a") + number - 1) if number <= 26 else str(number))
    return tried


def _slug(stem: str) -> str:
    return _UNUSUAL.sub("-", stem).strip("-.") or "paper"


def _registered(keys: Iterable[str]) -> Iterable[tuple[str, str]]:
    for key in keys:
        kind, _, value = key.partition(":")
        if not is_by_title(key):
            yield kind, value
