"""Identifiers of papers: DOIs, arXiv ids, PMIDs and PMCIDs, found in text and addresses and normalized."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal
from urllib.parse import unquote

from asky.search.port import Candidate
from asky.text.scrub import scrub

IdentifierKind = Literal["doi", "arxiv", "pmid", "pmcid"]

_ARCHIVES = """
    acc-phys adap-org alg-geom ao-sci astro-ph atom-ph bayes-an chao-dyn chem-ph cmp-lg comp-gas cond-mat cs dg-ga
    funct-an gr-qc hep-ex hep-lat hep-ph hep-th math-ph math mtrl-th nlin nucl-ex nucl-th patt-sol physics plasm-ph
    q-alg q-bio q-fin quant-ph solv-int stat supr-con
    """.split()  # noqa: SIM905 - a list literal of quoted names is harder to read

_ARXIV = rf"""
    (?: (?P<new>\d{{4}}\.\d{{4,5}})
      | (?P<archive>{"|".join(_ARCHIVES)}) (?:\.[A-Za-z][A-Za-z-]{{1,11}})? / (?P<old>\d{{7}}) )
    (?: v(?P<version>[1-9]\d{{0,3}}) )?
    (?:\.pdf)?
"""
_SCANNER = re.compile(
    rf"""
      (?P<url> \bhttps?://[^\s<>"'{{}}\[\]|\\^`]+ )
    | (?<![\w./]) (?: arxiv:\s? | (?:[a-z]{{1,20}}\.){{0,2}}arxiv\.org/[a-z-]{{1,10}}/ | 10\.48550/arxiv\. )?
      {_ARXIV} (?![\w/]|\.\d)
    | (?<![\w.]) (?P<doi> 10\.\d{{4,9}} (?:/|%2F) [^\s"'<>{{}}|\\^\[\]`]{{1,500}} )
    | (?<!\w) PMID (?:\s?[:-])? \s? (?P<pmid>\d{{1,8}}) (?!\w|\.\d)
    | (?<!\w) PMC (?P<pmcid>\d{{1,9}}) (?:\.\d+)? (?!\w)
    """,
    re.VERBOSE | re.IGNORECASE,
)
_ARXIV_URL = re.compile(
    rf"https?://(?:[a-z]{{1,20}}\.){{0,2}}arxiv\.org/(?:abs|pdf|html|src|e-print|ps|format)/{_ARXIV}(?!\w|\.\d)",
    re.VERBOSE | re.IGNORECASE,
)
_PMID_URL = re.compile(
    r"""https?://(?: pubmed\.ncbi\.nlm\.nih\.gov/ | (?:www\.)?ncbi\.nlm\.nih\.gov/(?:m/)?pubmed/
          | (?:www\.)?europepmc\.org/(?:article|abstract)/med/ ) (\d{1,8}) (?!\w|\.\d)""",
    re.VERBOSE | re.IGNORECASE,
)
_PMCID_URL = re.compile(
    r"https?://(?:[a-z]{1,20}\.){0,2}(?:ncbi\.nlm\.nih\.gov|europepmc\.org)/[^?#]*?\bPMC(\d{1,9})(?!\w)", re.IGNORECASE
)
_DOI = re.compile(r"(?<![\w.])10\.\d{4,9}/[^\s\"'<>{}|\\^\[\]`]{1,500}")
_DOI_HOST = re.compile(r"https?://(?:dx\.|www\.)?doi\.org/", re.IGNORECASE)
_WHOLE_DOI = re.compile(r"(?:doi:\s?|https?://(?:dx\.|www\.)?doi\.org/)?(?P<doi>10\.\d{4,9}/\S{1,500})", re.IGNORECASE)
_VIEW = re.compile(r"(?:/(?:full|fulltext|pdf|epdf|abstract|html|meta|summary)|\.full|\.pdf|/)+$", re.IGNORECASE)
_WHOLE = re.compile(
    r"""
    (?: (?P<label>arxiv|doi|pmid|pmcid) \s{0,2}[:\s]\s{0,2} | (?:https?://)?(?:dx\.|www\.)?doi\.org/ )?
    (?P<id> \d{4}\.\d{4,5}(?:v\d+)? | [a-z-]+(?:\.[a-z-]+)?/\d{7}(?:v\d+)? | (?:PMC)?\d+
      | 10\.\d{4,9}(?:/|%2F)[^\s?\#]{1,500} )
    (?: \s\[[\w.-]+\] )?
    """,
    re.VERBOSE | re.IGNORECASE,
)
_ARXIV_DOI = re.compile(rf"10\.48550/arxiv\.{_ARXIV}", re.VERBOSE | re.IGNORECASE)
_TRAILING = ".,;:!?'\"*_\u2018\u2019\u201c\u201d\u00bb\u2026\u3001\u3002\uff0c\uff1b\uff09"
_MIN_TITLE_CHARS = 12


@dataclass(frozen=True, slots=True)
class Identifier:
    """A paper's id in one registry, in its canonical form: without prefix and version, DOIs in lower case.

    `version` is the arXiv version given; without one the newest is meant.
    """

    kind: IdentifierKind
    value: str
    version: int | None = None

    @property
    def key(self) -> str:
        """Return the kind and the value, which are equal for two names of one paper."""
        return f"{self.kind}:{self.value}"


def find_identifiers(text: str) -> tuple[Identifier, ...]:
    """Return the identifiers in `text`, prose or an address, in order, without duplicates; linear time.

    An arXiv id without a prefix counts if its month and its number of digits are consistent; a PMID needs its prefix or
    its address. An arXiv DOI is converted to its arXiv id. In prose, a DOI with angle brackets in it is cut there.

    Source: arXiv's "Understanding the arXiv identifier" (five digits from 1501 on); the DOI Handbook, 2.2.
    """
    found: dict[str, Identifier] = {}
    for match in _SCANNER.finditer(scrub(text)):
        identifiers = _in_url(match["url"]) if match["url"] else _in_match(match)
        for identifier in identifiers:
            found.setdefault(identifier.key, identifier)
    return tuple(found.values())


def doi_of(text: object) -> str | None:
    """Return the first DOI in `text`, such as `https://doi.org/10.5555/X1`, in lower case; arXiv's own DOIs included.

    `None` if there is none, and for anything but text.
    """
    match = _DOI.search(scrub(unquote(text))) if isinstance(text, str) else None
    return _trim_doi(match.group()) if match else None


def doi_field(value: object) -> str | None:
    """Return the DOI in a field that holds one, alone or as its address, in lower case: whole, with any characters.

    Old DOIs of Wiley have angle brackets, at which `doi_of` cuts. Of a field with more text, the first DOI as `doi_of`
    finds it; `None` as there.
    """
    match = _WHOLE_DOI.fullmatch(scrub(unquote(value)).strip()) if isinstance(value, str) else None
    return _trim_doi(match["doi"]) if match else doi_of(value)


def named_by_doi(doi: str) -> Identifier:
    """Return the identifier in a DOI as `doi_field` returns it: the arXiv id in one of arXiv's own, else the DOI."""
    match = _ARXIV_DOI.fullmatch(doi)
    inner = next(_arxiv(match), None) if match else None
    return inner or Identifier("doi", doi)


def arxiv_id_of(text: object) -> Identifier | None:
    """Return the first arXiv id in `text`; `None` if there is none, and for anything but text."""
    found = find_identifiers(text) if isinstance(text, str) else ()
    return next((one for one in found if one.kind == "arxiv"), None)


def ids_of(candidate: Candidate, others: str = "") -> tuple[Identifier, ...]:
    """Return the identifiers in the DOI and the address of a paper, and in the text `others`, each once."""
    doi = doi_field(candidate.doi)
    named = ((named_by_doi(doi),) if doi else ()) + find_identifiers(f"{candidate.url} {others}")
    return tuple({one.key: one for one in named}.values())


def identifier_of(text: str) -> Identifier | None:
    """Return the identifier that the whole of `text` is, as people and arXiv's own pages write it; else `None`.

    Examples: `arXiv:2005.11401v4 [cs.CL]`, `hep-th/9711200`, `doi: 10.5555/x1`, `doi.org/10.5555/x1`, `PMID 123`.
    Unlike in prose, a DOI may have angle brackets in it.
    """
    match = _WHOLE.fullmatch(scrub(text).strip())
    if match is None:
        return None
    is_pmid = (match["label"] or "").lower() == "pmid"
    if (doi := doi_field(unquote(match["id"]))) is not None:
        return named_by_doi(doi)
    found = find_identifiers(f"PMID:{match['id']}" if is_pmid else match["id"])
    return found[0] if found else None


def work_keys(candidate: Candidate) -> tuple[str, ...]:
    """Return the keys of the work behind a candidate: two candidates that share a key are one work.

    Strongest first: DOI, arXiv id, PMID, PMCID (of `doi` and `url`), and then, if all three are known, title, year and
    the first author's family name together, compared without case, accents and punctuation.
    """
    order = ("doi", "arxiv", "pmid", "pmcid")
    keys = [one.key for one in sorted(ids_of(candidate), key=lambda one: order.index(one.kind))]
    if title := _title_key(candidate):
        keys.append(title)
    return tuple(dict.fromkeys(keys))


def _in_url(url: str) -> Iterator[Identifier]:
    if match := _ARXIV_URL.match(url):
        yield from _arxiv(match)
    elif match := _PMID_URL.match(url):
        yield from _numbered("pmid", match[1])
    elif match := _PMCID_URL.match(url):
        yield from _numbered("pmcid", match[1])
    else:
        yield from _doi_in_url(url)


def _doi_in_url(url: str) -> Iterator[Identifier]:
    at_home = _DOI_HOST.match(url) is not None
    for part in re.split(r"[?#&=]", url):
        doi = doi_field(part) if at_home else doi_of(part)
        if doi is not None:
            yield named_by_doi(doi if at_home else _VIEW.sub("", doi))
            return


def _in_match(match: re.Match[str]) -> Iterator[Identifier]:
    if match["doi"]:
        doi = doi_of(match["doi"])
        if doi is not None:
            yield named_by_doi(doi)
    elif match["pmid"]:
        yield from _numbered("pmid", match["pmid"])
    elif match["pmcid"]:
        yield from _numbered("pmcid", match["pmcid"])
    else:
        yield from _arxiv(match)


def _numbered(kind: Literal["pmid", "pmcid"], digits: str) -> Iterator[Identifier]:
    number = digits.lstrip("0")
    if number:
        yield Identifier(kind, number if kind == "pmid" else f"PMC{number}")


def _arxiv(match: re.Match[str]) -> Iterator[Identifier]:
    version = int(match["version"]) if match["version"] else None
    if match["new"] and _is_new_id(match["new"]):
        yield Identifier("arxiv", match["new"], version)
    elif match["old"] and _is_old_number(match["old"]):
        yield Identifier("arxiv", f"{match['archive'].lower()}/{match['old']}", version)


def _is_new_id(value: str) -> bool:
    month, number = value.split(".")
    digits = 5 if month >= "1501" else 4
    return month >= "0704" and _is_month(month[2:]) and len(number) == digits


def _is_old_number(number: str) -> bool:
    return (number[:2] >= "91" or number[:4] <= "0703") and _is_month(number[2:4])


def _is_month(digits: str) -> bool:
    return "01" <= digits <= "12"


def _trim_doi(doi: str) -> str | None:
    """Return a DOI without surrounding punctuation; `None` if nothing is left of its suffix."""
    while doi[-1] in _TRAILING or (doi[-1] == ")" and doi.count(")") > doi.count("(")):
        doi = doi[:-1]  # ends before the slash at the latest
    return None if doi.endswith("/") and doi.count("/") == 1 else doi.lower()


def _title_key(candidate: Candidate) -> str | None:
    title = _plain(candidate.title)
    year = (candidate.published or "")[:4]
    names = candidate.authors[0].split() if candidate.authors else []
    family = _plain(names[-1]) if names else ""
    if len(title) < _MIN_TITLE_CHARS or not year or not family:
        return None
    return f"title:{title}:{year}:{family}"


def _plain(text: str) -> str:
    """Return only letters and digits, casefolded, without accents."""
    return "".join(c for c in unicodedata.normalize("NFKD", text).casefold() if c.isalnum())
