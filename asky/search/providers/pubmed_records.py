"""PubMed's records in XML: articles and chapters of books, as papers."""

from __future__ import annotations

import re
from collections.abc import Mapping, Set
from types import MappingProxyType
from typing import TYPE_CHECKING

from asky.search.identifiers import find_identifiers, ids_of
from asky.search.lookup import RETRACTING, FoundPaper, Notice, NoticeKind
from asky.search.papers import date_of, paper
from asky.search.reply import unavailable
from asky.search.rows import MAX_SNIPPET_CHARS, MAX_TITLE_CHARS
from asky.search.xml_reply import parse_xml, text_in
from asky.text.scrub import one_line

if TYPE_CHECKING:
    from lxml.etree import _Element as Element

_RETRACTED_TYPE = "retracted publication"
_NOTICE_TYPES = frozenset(
    {"retraction of publication", "retraction notice", "published erratum", "expression of concern"}
)
_KINDS: Mapping[str, NoticeKind] = MappingProxyType(
    {
        "RetractionIn": "retraction",
        "PartialRetractionIn": "retraction",
        "RetractedandRepublishedIn": "retraction",
        "ExpressionOfConcernIn": "concern",
        "ErratumIn": "correction",
        "CorrectedandRepublishedIn": "correction",
        "RepublishedIn": "correction",
        "UpdateIn": "newer_version",
    }
)
"""The references to notices on a paper. Source: the DTD of PubMed's records, `CommentsCorrections`."""
_IN_SOURCE = re.compile(r"\b((?:19|20)\d\d)(?: ([A-Z][a-z]{2})\b)?(?: (\d{1,2})\b)?")
_FREE_DATE = re.compile(r"(\d{4})(?: ([A-Z][a-z]{2})\b)?(?: (\d{1,2})\b)?")


def read_records(text: str, name: str) -> dict[str, FoundPaper]:
    """Return the papers of a `PubmedArticleSet` by their PMID; records without a title are left out.

    Raises `ProviderError`: malformed for anything but XML, unavailable if it is not that set but an error.
    """
    root = parse_xml(text, name)
    if root.tag != "PubmedArticleSet":
        raise unavailable(name, "it did not return the papers that it found")
    found: dict[str, FoundPaper] = {}
    for record in root:
        parts = _article(record) if record.tag == "PubmedArticle" else _chapter(record)
        if parts is not None and (described := _read(record, *parts, source=name)):
            found[text_in(parts[0], "PMID")] = described
    return found


def _article(record: Element) -> tuple[Element, Element, Element | None, str] | None:
    """Return the elements with the id, the description and the date of a record, and where it was published."""
    citation = record.find("MedlineCitation")
    article = None if citation is None else citation.find("Article")
    if citation is None or article is None:
        return None
    venue = text_in(article, "Journal/Title", MAX_TITLE_CHARS) or text_in(article, "Journal/ISOAbbreviation")
    return citation, article, article.find("Journal/JournalIssue/PubDate"), venue


def _chapter(record: Element) -> tuple[Element, Element, Element | None, str] | None:
    document = record.find("BookDocument") if record.tag == "PubmedBookArticle" else None
    if document is None:
        return None
    return document, document, document.find("Book/PubDate"), text_in(document, "Book/BookTitle", MAX_TITLE_CHARS)


def _read(
    record: Element, named: Element, described: Element, when: Element | None, venue: str, *, source: str
) -> FoundPaper | None:
    types = {text_in(each).lower() for each in described.findall("PublicationTypeList/PublicationType")}
    notices = _notices(named, types, source)
    is_notice = not types.isdisjoint(_NOTICE_TYPES)
    pmid = text_in(named, "PMID")
    title = text_in(described, "ArticleTitle", MAX_TITLE_CHARS) or text_in(described, "Book/BookTitle", MAX_TITLE_CHARS)
    candidate = paper(
        title=title.removesuffix("."),
        doi=_doi(record, described),
        page=f"https://pubmed.ncbi.nlm.nih.gov/{pmid}/" if pmid else None,
        keeps_page=True,
        abstract=_abstract(described),
        authors=[_name_of(author) for author in described.findall("AuthorList/Author")],
        venue=venue,
        published=_date_of(when),
        is_retracted=any(each.kind in RETRACTING for each in notices),
        is_notice=is_notice,
    )
    if candidate is None:
        return None
    others = " ".join(text_in(each) for each in record.findall("PubmedData/ArticleIdList/ArticleId[@IdType='pmc']"))
    return FoundPaper(candidate, ids_of(candidate, others), notices=notices, is_notice=is_notice)


def _doi(record: Element, described: Element) -> str | None:
    """Return the record's own DOI; those of its references are elsewhere."""
    lists = ("PubmedData/ArticleIdList", "PubmedBookData/ArticleIdList", "BookDocument/ArticleIdList")
    for path in lists:
        if doi := text_in(record, f"{path}/ArticleId[@IdType='doi']"):
            return doi
    return text_in(described, "ELocationID[@EIdType='doi']") or None


def _abstract(described: Element) -> str:
    """Return the parts of the abstract, each after its label."""
    parts = []
    for part in described.findall("Abstract/AbstractText"):
        label, text = part.get("Label"), text_in(part)
        parts.append(f"{label}: {text}" if label and text else text)
    return one_line(" ".join(parts), MAX_SNIPPET_CHARS)


def _name_of(author: Element) -> str:
    given = text_in(author, "ForeName") or text_in(author, "Initials")
    return f"{given} {text_in(author, 'LastName')}".strip() or text_in(author, "CollectiveName")


def _date_of(when: Element | None) -> str | None:
    if free := _FREE_DATE.match(text_in(when, "MedlineDate")):
        return date_of(*free.groups())
    return date_of(text_in(when, "Year"), text_in(when, "Month"), text_in(when, "Day"))


def _notices(named: Element, types: Set[str], source: str) -> tuple[Notice, ...]:
    """Return the notices that the record refers to, and its mark as retracted if none of them is a retraction."""
    references = named.findall("CommentsCorrectionsList/CommentsCorrections")
    notices = [
        _notice(each, _KINDS[kind], source) for each in references if (kind := each.get("RefType", "")) in _KINDS
    ]
    if _RETRACTED_TYPE in types and all(each.kind != "retraction" for each in notices):
        notices.append(Notice("retraction", None, source))
    return tuple(dict.fromkeys(notices))


def _notice(reference: Element, kind: NoticeKind, source: str) -> Notice:
    """Return the notice in a reference such as `Lancet. 2010 Feb 6;375(9713):445`, which often has a PMID."""
    cited, pmid = text_in(reference, "RefSource"), text_in(reference, "PMID")
    dated = _IN_SOURCE.search(cited)
    named = next(iter(find_identifiers(f"PMID:{pmid} {cited}")), None)
    return Notice(kind, date_of(*dated.groups()) if dated else None, source, named)
