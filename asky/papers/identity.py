"""Which paper a text or a record is: its ids, and the names under which it may be known already."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from asky.evidence.export.works import citation_key
from asky.search.identifiers import Identifier, arxiv_id_of, doi_of, find_identifiers, named_by_doi, work_keys
from asky.search.lookup import FoundPaper
from asky.search.papers import doi_url
from asky.search.port import Candidate
from asky.text.letters import fold
from asky.values import Document

_VERSION = re.compile(r"v([1-9]\d{0,3})$")
_UNUSUAL = re.compile(r"[^\w.]+")
_BY_TITLE = "title:"
_MAX_SLUG_CHARS = 60


@dataclass(frozen=True, slots=True)
class Identity:
    """What a text says of itself as a paper, or a registry of one.

    `keys` are its names, such as `arxiv:2005.11401` and `doi:10.5555/x`, the strongest first; the last one may be its
    title with year and author. `own_name` is an id for a paper without any: `lewis2020retrieval`, or the name of its
    file if author or year are not known. `arxiv` has no version. `address` is where the paper is, if it has no id.
    """

    title: str
    authors: tuple[str, ...]
    published: str | None
    keys: tuple[str, ...]
    own_name: str
    arxiv: str | None = None
    version: int | None = None
    doi: str | None = None
    pmid: str | None = None
    published_in: str | None = None
    address: str | None = None

    @property
    def id(self) -> str:
        """Return the id of the paper: the arXiv id, the DOI, or its own name."""
        return self.arxiv or self.doi or self.own_name

    @property
    def url(self) -> str | None:
        """Return the address of the paper in its registry."""
        if self.arxiv is not None:
            return f"https://arxiv.org/abs/{self.arxiv}" + (f"v{self.version}" if self.version else "")
        if self.doi:
            return doi_url(self.doi)
        return f"https://pubmed.ncbi.nlm.nih.gov/{self.pmid}/" if self.pmid else self.address

    @property
    def identifiers(self) -> tuple[Identifier, ...]:
        """Return the ids by which registries know the paper, those of arXiv with the version."""
        found = (identifier_in(each) for each in self.keys)
        return tuple(
            replace(each, version=self.version) if each.kind == "arxiv" and each.value == self.arxiv else each
            for each in found
            if each is not None
        )


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


def of_record(found: FoundPaper, wanted: Sequence[Identifier] = ()) -> Identity:
    """Return who a paper is, as registries say; `wanted` are the ids by which it was asked for.

    The version is the one that was asked for, or else the newest.
    """
    candidate = found.candidate
    ids = (*wanted, *found.ids)
    titled = (each for each in work_keys(candidate) if is_by_title(each))
    keys = (*(each.key for each in (*ids, *found.same_as)), *titled)
    made = named(candidate, ids, keys=tuple(dict.fromkeys(keys)))
    newest = next((each.version for each in found.ids if each.kind == "arxiv" and each.value == made.arxiv), None)
    return replace(made, version=made.version or newest)


def named(candidate: Candidate, ids: Sequence[Identifier], *, keys: tuple[str, ...] = (), stem: str = "") -> Identity:
    """Return the identity of a paper with this description and these ids, of each kind the first.

    `keys` are its names, by default the ids and the title. `stem` stands in for its title.
    """
    first = {each.kind: each for each in reversed(ids)}
    arxiv, doi, pmid = first.get("arxiv"), first.get("doi"), first.get("pmid")
    title = candidate.title or stem or next((each.value for each in ids), "") or "paper"
    return Identity(
        title,
        candidate.authors,
        candidate.published,
        keys or tuple(dict.fromkeys((*(each.key for each in ids), *work_keys(candidate)))),
        own_name_of(candidate.authors, candidate.published, title),
        arxiv=arxiv.value if arxiv is not None else None,
        version=arxiv.version if arxiv is not None else None,
        doi=doi.value if doi is not None else None,
        pmid=pmid.value if pmid is not None else None,
        published_in=candidate.venue,
        address=candidate.url or None,
    )


def filled(identity: Identity, candidate: Candidate, ids: Sequence[Identifier]) -> Identity:
    """Return `identity` with what it lacks of title, authors, date and ids from an entry of an export."""
    entry = named(candidate, ids)
    authors, published = identity.authors or entry.authors, identity.published or entry.published
    arxiv, doi = identity.arxiv or entry.arxiv, identity.doi or entry.doi
    own = dict(_registered(identity.keys))
    extra = (each.key for each in ids if each.kind not in own)
    keys = (*(each for each in identity.keys if not is_by_title(each)), *extra)
    titled = work_keys(Candidate("", identity.title, published=published, authors=authors))
    return replace(
        identity,
        authors=authors,
        published=published,
        keys=tuple(dict.fromkeys((*keys, *titled))),
        own_name=own_name_of(authors, published, identity.title) if authors and published else identity.own_name,
        arxiv=arxiv,
        version=identity.version if identity.arxiv else entry.version,
        doi=doi,
        pmid=identity.pmid or entry.pmid,
        published_in=identity.published_in or entry.published_in,
    )


def without_ids(identity: Identity) -> Identity:
    """Return `identity` without the ids on its first page, which are those of another paper."""
    titled = tuple(each for each in identity.keys if is_by_title(each))
    return replace(identity, keys=titled, arxiv=None, version=None, doi=None, pmid=None)


def as_printed(identity: Identity) -> Identity:
    """Return the identity of a paper whose text is not arXiv's: called by its DOI if it has one, arXiv's id a name."""
    return replace(identity, arxiv=None, version=None) if identity.doi else replace(identity, version=None)


def own_name_of(authors: Sequence[str], published: str | None, title: str) -> str:
    """Return an id for a paper without any, such as `lewis2020retrieval`; of its title if it has no author or date."""
    return citation_key(authors, published, title) if authors and published else _slug(title[:_MAX_SLUG_CHARS])


def identifier_in(key: str) -> Identifier | None:
    """Return the identifier that the name `key` of a paper is, such as `doi:10.5555/x`; `None` for a title."""
    kind, _, value = key.partition(":")
    if kind == "doi":
        return named_by_doi(value)
    return Identifier(kind, value) if kind in ("arxiv", "pmid", "pmcid") else None  # type: ignore[arg-type]


def bears_title(title: str, identity: Identity, first_page: str) -> bool:
    """Return whether a text may be the paper called `title`: by its own title, or as all words stand on its first page.

    A title may be found wrongly, or be broken over columns.
    """
    if is_title_like(title, identity.title):
        return True
    wanted = set(re.findall(r"\w+", fold(title)))
    return wanted <= set(re.findall(r"\w+", fold(first_page)))


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
