"""The candidates of a shortlist: addresses in the question, search results, and links of named pages."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from asky.research.page import WebPage
from asky.research.shortlist.keyphrases import keyphrases
from asky.search.federation import merge
from asky.search.identifiers import find_identifiers
from asky.search.port import Candidate
from asky.text.addresses import split_addresses, words_around
from asky.text.scrub import one_line
from asky.text.sentences import sentence_spans
from asky.text.terms import content_terms
from asky.text.urls import canonical_url

if TYPE_CHECKING:
    from asky.values import Link

QUERY_WORDS = 50
QUERY_CHARS = 400
"""Query length limit of the services (Brave's are the tightest); a question within both limits is sent unchanged.

Source: for questions of 10 to 45 words keyphrases in addition to the question, or instead of it, find less: nDCG@8 .470
to .446 and .391 on MultiHop-RAG, .713 to .671 and .616 on SciFact (60 questions each, BM25).
"""

PHRASES = 12
"""Number of keyphrases in the second query of a longer prompt.

Source: the first 50 words and 12 phrases find more than the 50 words alone, recall of 20 candidates .593 and .519; 8
phrases of up to three words .563 (DeepScholar, 20 abstracts of 189 words, BM25).
"""

MAX_LINKS = 8
"""Maximum number of links of named pages that become candidates: named pages are a start, not a crawl."""

LINK_COSINE = 0.3
"""Minimum cosine between a link's text and the question.

Source: titles as links (HotpotQA, 80 questions): .83 of the relevant ones are as near, .29 of what else bm25 finds for
the question, .02 of random ones; at .4 .68, .16 and .00.
"""

_LINKS_COMPARED = 100  # 0.2 s of CPU
_MIN_SHARED = 2
_MIN_TERMS = 3  # of a question apart from its addresses: "summarise URL" is not to be searched for
_COMPARED_CHARS = 1000  # what a small embedding model reads
_MAX_ANCHOR_CHARS = 200

_HOMES = {
    "arxiv": "https://arxiv.org/abs/",
    "doi": "https://doi.org/",
    "pmid": "https://pubmed.ncbi.nlm.nih.gov/",
    "pmcid": "https://pmc.ncbi.nlm.nih.gov/articles/",
}


@dataclass(frozen=True, slots=True)
class QuestionParts:
    """A parsed question: the addresses in it as candidates, in order, and the words around them."""

    candidates: tuple[Candidate, ...]
    words: str


def read_prompt(question: str) -> QuestionParts:
    """Parse `question` for http and https addresses, `www.` names, DOIs, arXiv ids, PMIDs and PMCIDs.

    See `split_addresses` for what counts as an address.
    """
    addresses, outside = split_addresses(question)
    candidates = [Candidate(url, origin="prompt") for url in addresses]
    for one in find_identifiers(outside):
        home = _HOMES[one.kind] + one.value + (f"v{one.version}" if one.version else "")
        candidates.append(Candidate(home, origin="prompt", kind="paper"))
    return QuestionParts(unite(candidates, ()), words_around(outside) if candidates else " ".join(outside.split()))


def search_queries(prompt: QuestionParts) -> tuple[str, ...]:
    """Return the search queries: the question itself, or two queries of a longer one, or none.

    A prompt of more than `QUERY_WORDS` words or `QUERY_CHARS` characters becomes its questions (or its first sentences
    if it asks none), and its keyphrases. There are no queries if a prompt contains addresses and fewer than three other
    content terms.
    """
    words = prompt.words
    if not any(character.isalnum() for character in words):
        return ()
    if prompt.candidates and len(set(content_terms(words))) < _MIN_TERMS:
        return ()
    if not _is_long(words):
        return (words,)
    queries = (_clip(question_part(words)), _clip(" ".join(keyphrases(words, limit=PHRASES))))
    return tuple(dict.fromkeys(query for query in queries if query))


def question_part(words: str) -> str:
    """Return the text to compare pages with: a short prompt, or the questions of a longer one, or its beginning."""
    if not _is_long(words):
        return words
    sentences = [words[span.start : span.end] for span in sentence_spans(words)]
    return " ".join([each for each in sentences if each.endswith(("?", "？", "؟"))] or sentences)[:_COMPARED_CHARS]


def unite(named: Sequence[Candidate], found: Sequence[Candidate]) -> tuple[Candidate, ...]:
    """Merge the candidates named in a question, then those `found`, in order; each work once, under its named address.

    A candidate with several mentions combines the metadata of all of them.
    """
    united = merge([*((candidate,) for candidate in named), found])
    return tuple(sorted(united, key=lambda candidate: candidate.origin != "prompt"))


def offered_links(pages: Sequence[WebPage], question: str, known: Iterable[str]) -> tuple[Candidate, ...]:
    """Return the links in the text of `pages`: at most a hundred, those that share most terms with `question` first.

    Links outside the text, such as menus, and those without words are left out; `known` are addresses that are
    candidates already. Ties keep the order of the pages.
    """
    seen = {canonical_url(page.source.uri) for page in pages} | {canonical_url(url) for url in known}
    offered: list[Candidate] = []
    for page in pages:
        for link in page.document.links:
            if link.start < len(page.document.text) and (anchor := _anchor(link)):
                address = _address(link.url)
                if address and address not in seen:
                    seen.add(address)
                    parent = page.source.url or page.source.uri
                    offered.append(Candidate(link.url, title=anchor, origin="link", parent=parent))
    question_terms = set(content_terms(question))
    return tuple(sorted(offered, key=lambda link: -_shared(question_terms, link)))[:_LINKS_COMPARED]


def choose_links(offered: Sequence[Candidate], cosines: Sequence[float] | None, question: str) -> tuple[Candidate, ...]:
    """Return the links that are about `question`, nearest first, at most `MAX_LINKS`.

    Judged by their visible text: at least `LINK_COSINE` near the question, or with two of its terms if `cosines` is
    `None`.
    """
    if cosines is None:
        question_terms = set(content_terms(question))
        return tuple(link for link in offered if _shared(question_terms, link) >= _MIN_SHARED)[:MAX_LINKS]
    near = [(cosine, link) for cosine, link in zip(cosines, offered, strict=True) if cosine >= LINK_COSINE]
    return tuple(link for _, link in sorted(near, key=lambda each: -each[0]))[:MAX_LINKS]


def _shared(question_terms: set[str], link: Candidate) -> int:
    return len(question_terms & set(content_terms(link.title)))


def _address(url: str) -> str | None:
    """Return the canonical address, or `None` for text that only looks like one."""
    try:
        return canonical_url(url)
    except ValueError:
        return None


def _anchor(link: Link) -> str | None:
    anchor = one_line(link.text, _MAX_ANCHOR_CHARS)
    return anchor if any(not term[0].isdigit() for term in content_terms(anchor)) else None


def _is_long(words: str) -> bool:
    return len(words) > QUERY_CHARS or len(words.split()) > QUERY_WORDS


def _clip(query: str) -> str:
    words = query.split()[:QUERY_WORDS]
    while len(words) > 1 and len(" ".join(words)) > QUERY_CHARS:
        words.pop()
    return " ".join(words)[:QUERY_CHARS]
