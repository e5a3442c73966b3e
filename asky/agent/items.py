"""What counts as one entity, one fact and one citation, so that novelty is counted over distinct items."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from types import MappingProxyType
from typing import NamedTuple

from asky.evidence.verification.quantities import MEASURE_WORDS, NUMBER_WORDS, Quantity
from asky.evidence.verification.support import read_statement
from asky.research.index.near_duplicates import group_copies, shingles
from asky.text.languages import languages_of
from asky.text.letters import fold, without_accents
from asky.text.terms import STOP_WORDS, content_terms, stem, words
from asky.text.urls import canonical_url

_ARTICLES = frozenset({"the", "a", "an"})
_JOINTS = frozenset({"and", "&"})
_LEGAL_FORMS = frozenset(
    """
    inc incorporated corp corporation co company ltd limited llc llp lp plc gmbh mbh ag se kg kgaa ohg sa sas sarl srl
    spa sl bv nv ab as asa aps oy oyj pty pte kk
    """.split()  # noqa: SIM905 - a list literal of quoted words is harder to read and to change
)
_ORGANISATIONS = ("org", "compan", "corp", "business", "firm", "institut", "agenc", "publish", "manufactur")
_NAMES = ("person", "people", "author", "place", "location", "geo", "city", "countr", "region", *_ORGANISATIONS)
_MARKS = re.compile("[™®©℠]")
_POSSESSIVE = re.compile(r"['\u2019]s\b", re.IGNORECASE)
_DOTS = re.compile(r"(?<!\d)\.|\.(?!\d)|(?<=\d),(?=\d{3})|['\u2019`]")  # not the point of a number
_TOKEN = re.compile(r"[^\W_]+(?:\.\d+)*[+#]*|&")
_PLURALS = tuple(
    (re.compile(ending), singular)
    for ending, singular in (
        (r"(?<=...)ies$", "y"),
        (r"(?<=x|z)es$|(?<=ch|sh|ss|us)es$", ""),
        (r"(?<=..[^suio])s$", ""),
    )
)

_KNOWN = 16_384
"""Statements and addresses whose reading is kept: a run reads all of its own again after every cycle."""
_MIN_SHARED = 4
_MAX_COMPARED = 40  # a sentence; looking for a word that may be left out takes the square of their number
_MIN_WORD_CHARS = 3
_TURNING = frozenset(
    map(
        stem,
        """
        fail lack deny refuse reject refute dispute doubt false wrong less fewer little former ex stop cease halt
        prevent block avoid unlikely rarely seldom hardly barely almost plan propose expect forecast alleged
        """.split(),  # noqa: SIM905 - as above
    )
)
"""Words that turn the meaning of a statement: two that differ by one of them are two facts."""
_RELATIONS = frozenset(
    "more most before after above below over under up down off against all few until since".split()  # noqa: SIM905
)
"""Words without content of their own, of which another one in the same place makes another fact."""
_MEASURES = frozenset(map(stem, MEASURE_WORDS))


class CitationCount(NamedTuple):
    """How many citations there are, and how many of them are circular: they lead to a source that is known already."""

    circular: int
    total: int


def entity_key(name: str, entity_type: str = "") -> str:
    """Return the key of an entity: the same for all spellings of its name.

    Case, accents, punctuation, spaces, articles, `and` and a possessive do not matter, nor does the legal form of an
    organisation, nor whether something that is no person, place or organisation is in the plural. Names of one spelling
    are one entity whatever their types, because pages and models disagree about those.
    """
    kind = entity_type.casefold()
    plain = _DOTS.sub("", _POSSESSIVE.sub("", _MARKS.sub("", name)))
    tokens = _TOKEN.findall(fold(plain))
    kept = [each for each in tokens if each not in _JOINTS]
    while len(kept) > 1 and kept[0] in _ARTICLES:
        del kept[0]
    while len(kept) > 1 and kind.startswith(_ORGANISATIONS) and kept[-1] in _LEGAL_FORMS:
        del kept[-1]
    if kept and not kind.startswith(_NAMES) and not plain.rstrip().split()[-1].isupper():
        kept[-1] = _singular(kept[-1])
    return "".join(kept) or fold(name).strip()


def fact_keys(statements: Sequence[str]) -> list[str]:
    """Return the key of the fact that each statement states, in order; linear in the number of statements.

    Statements are one fact if they have the same content words, in any order and inflection, the same numbers with the
    same units and the same months, and if both or none are negated. An English one that has one content word more or
    less than an earlier one gets the key of that one, if they share four and the word does not turn the meaning. The
    keys of the first statements do not depend on later ones.

    Who does what to whom is in the order of words, of which only the one after "than" counts: "A bought B" is the same
    as "B was bought by A", and as "B bought A".
    """
    known: dict[tuple[str, frozenset[str]], str] = {}
    shortened: dict[tuple[str, frozenset[str]], str] = {}
    keys = []
    for statement in statements:
        read = _read(statement)
        parts = read.rest, read.words
        key = known.get(parts) or shortened.get(parts)
        key = key or next(filter(None, (known.get((read.rest, fewer)) for fewer in _shorter(read))), None)
        if key is None:
            key = known[parts] = read.key
            for fewer in _shorter(read):
                shortened.setdefault((read.rest, fewer), key)
        keys.append(key)
    return keys


def origins(texts: Mapping[str, str]) -> dict[str, str]:
    """Return for the address of each text the first address that has the same text, or a copy of it.

    Copies are those of `group_copies`, which takes the square of the number of different texts.
    """
    by_text: dict[str, str] = {}
    first_of = {address: by_text.setdefault(text, address) for address, text in texts.items()}
    distinct = list(by_text.items())
    first_of_group: dict[int, str] = {}
    groups = group_copies([shingles(content_terms(text)) for text, _ in distinct])
    chosen = {
        address: first_of_group.setdefault(group, address) for (_, address), group in zip(distinct, groups, strict=True)
    }
    return {address: chosen[first] for address, first in first_of.items()}


def circular_citations(
    citing: Mapping[str, Iterable[str]], same_as: Mapping[str, str] = MappingProxyType({})
) -> CitationCount:
    """Return how many citations there are and how many lead back to a source already known; linear in the citations.

    `citing` has each source that was read, by its address, with the addresses that it links to or cites. `same_as`
    leads from an address to that of its original, for reprints (see `origins`), redirects and DOIs. A citation is a
    pair of originals, counted once; a link within one host is navigation, and no citation. Addresses are compared in
    canonical form, without scheme, `www.` and a trailing slash.
    """
    original = {_page(address): _page(first) for address, first in same_as.items()}
    linked = {(_page(source), _page(cited)) for source, targets in citing.items() for cited in targets}
    across = (pair for pair in linked if _host(pair[0]) != _host(pair[1]))
    pairs = {(original.get(source, source), original.get(cited, cited)) for source, cited in across}
    pairs = {(source, cited) for source, cited in pairs if source != cited}
    known = {original.get(page, page) for page in map(_page, citing)}
    return CitationCount(sum(cited in known for _, cited in pairs), len(pairs))


@dataclass(frozen=True, slots=True)
class _ReadStatement:
    words: frozenset[str]
    rest: str
    optional: frozenset[str]

    @property
    def key(self) -> str:
        return " ".join(filter(None, (*sorted(self.words), self.rest)))


@lru_cache(maxsize=_KNOWN)
def _read(statement: str) -> _ReadStatement:
    plain = without_accents(statement)
    read = read_statement(plain)
    stated = (each for each in read.quantities if each.certain or each.written[0].isdecimal())
    numbers = sorted({_number(each) for each in stated if each.values})
    rest = [*numbers, *(f"month {month}" for month in sorted(read.months)), *(["not"] if read.negated else [])]
    terms = {fold(term) for term in read.terms if not term[0].isdigit()}
    if rest:
        terms -= _MEASURES
    fixed = set(_relations(words(plain)))
    optional = {term for term in terms - _TURNING if len(term) >= _MIN_WORD_CHARS and term.isalpha()}
    is_compared = _MIN_SHARED < len(terms) <= _MAX_COMPARED and "en" in languages_of(plain)
    every = frozenset(terms | fixed) or frozenset({fold(statement).strip()})
    return _ReadStatement(every, " ".join(rest), frozenset(optional if is_compared else ()))


def _number(quantity: Quantity) -> str:
    return "/".join(sorted(quantity.values)) + (quantity.unit or "")


def _relations(found: Sequence[str]) -> Iterator[str]:
    """Yield the words that relate others, and the content word that something is compared with by "than"."""
    yield from _RELATIONS.intersection(found)
    for position, word in enumerate(found):
        if word == "than":
            after = next((each for each in found[position + 1 :] if each not in STOP_WORDS), "0")
            if not after[0].isdigit() and after not in NUMBER_WORDS:
                yield f"than {stem(after)}"


def _shorter(read: _ReadStatement) -> Iterator[frozenset[str]]:
    """Yield the words of a statement without one of those that may be left out."""
    return (read.words - {word} for word in sorted(read.optional))


def _singular(word: str) -> str:
    for ending, singular in _PLURALS:
        if ending.search(word):
            return ending.sub(singular, word)
    return word


@lru_cache(maxsize=_KNOWN)
def _page(address: str) -> str:
    """Return an address in the form in which pages are compared; one that is no web address stays as it is."""
    try:
        page = canonical_url(address)
    except ValueError:
        return address
    return page.partition("://")[2].removeprefix("www.").rstrip("/")


def _host(page: str) -> str:
    return page.partition("/")[0]
