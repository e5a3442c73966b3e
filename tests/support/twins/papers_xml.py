"""Twins of PubMed and arXiv, which answer in XML. Papers are invented, shapes and odd parts are the real ones'."""

from __future__ import annotations

import re
from dataclasses import replace
from html import escape

from tests.support.twins.base import Reply, Request
from tests.support.twins.papers import Paper, PaperTwin

_XML = "text/xml; charset=UTF-8"
_ATOM = "application/atom+xml; charset=utf-8"
_DOCTYPE = (
    '<?xml version="1.0" ?>\n<!DOCTYPE PubmedArticleSet PUBLIC "-//NLM//DTD PubMedArticle, 1st January 2025//EN" '
    '"https://dtd.nlm.nih.gov/ncbi/pubmed/out/pubmed_250101.dtd">\n'
)
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")


class PubMedTwin(PaperTwin):
    """PubMed: ids first, their records then. Errors may have the status 200, and one repeats the key."""

    base_path = "/entrez/eutils"
    translation = "soil[All Fields]"

    def refusal(self, request: Request) -> Reply | None:
        key = request.param("api_key")
        if key is not None and key != self.key:
            return Reply({"error": "API key invalid", "api-key": key, "type": "api key", "status": "unknown"}, 400)
        if request.param("tool") is None or request.param("db") != "pubmed":
            return Reply({"esearchresult": {"ERROR": "Invalid db name specified: "}})
        if request.path.endswith("/esearch.fcgi"):
            return self._refused_search(request)
        if not request.path.endswith("/efetch.fcgi"):
            return Reply("<html><body>404</body></html>", 404, "text/html")
        ids = (request.param("id") or "").split(",")
        if len(ids) > 200 or not all(one.isdigit() for one in ids) or request.param("retmode") != "xml":
            return Reply("<eFetchResult><ERROR>ID list is empty!</ERROR></eFetchResult>", 400, _XML)
        return None

    def _refused_search(self, request: Request) -> Reply | None:
        dates = [request.param(name) is None for name in ("mindate", "maxdate")]
        days = [request.param(name) or "2026/01/01" for name in ("mindate", "maxdate")]
        if not request.param("term"):
            return Reply({"esearchresult": {"ERROR": "Empty term and query_key - nothing todo"}})
        if dates[0] != dates[1] or not all(re.fullmatch(r"\d{4}/\d\d/\d\d", day) for day in days):
            return Reply({"esearchresult": {"ERROR": "Invalid date range"}})
        if not 0 <= int(request.param("retmax") or 20) <= 10_000:
            return Reply({"esearchresult": {"ERROR": "retmax out of range"}})
        return None

    def answer(self, request: Request) -> Reply:
        papers = {paper.pmid: paper for paper in self.papers() if paper.pmid}
        if request.path.endswith("/esearch.fcgi"):
            return self._found(list(papers)[: int(request.param("retmax") or 20)])
        wanted = (request.param("id") or "").split(",")
        records = (_record(papers[one]) for one in reversed(wanted) if one in papers)  # in an order of its own
        return Reply(f"{_DOCTYPE}<PubmedArticleSet>\n{''.join(records)}</PubmedArticleSet>", content_type=_XML)

    def empty(self, _: Request) -> Reply:
        result = {
            "count": "0",
            "retmax": "0",
            "retstart": "0",
            "idlist": [],
            "querytranslation": "",
            "errorlist": {"phrasesnotfound": ["zzz"], "fieldsnotfound": []},
            "warninglist": {"phrasesignored": [], "quotedphrasesnotfound": [], "outputmessages": ["No items found."]},
        }
        return Reply({"header": {"type": "esearch", "version": "0.3"}, "esearchresult": result})

    def sparse(self, request: Request) -> Reply:
        if request.path.endswith("/esearch.fcgi"):
            return Reply({"esearchresult": {"idlist": ["1", "2", "3", "4", "5"]}})
        return Reply(_SPARSE, content_type=_XML)

    def failure(self, kind: str, request: Request) -> Reply:
        key = request.param("api_key") or "203.0.113.9"
        if kind == "bad_key":
            return Reply({"error": "API key invalid", "api-key": key, "type": "api key", "status": "unknown"}, 400)
        body = {"error": f"API rate limit exceeded for {key}", "api-key": key, "count": "4", "limit": "3"}
        return Reply(body, status=200 if kind == "echo" else 429, headers=(("X-RateLimit-Remaining", "0"),))

    def _found(self, ids: list[str]) -> Reply:
        result = {
            "count": str(len(ids)),
            "retmax": str(len(ids)),
            "retstart": "0",
            "idlist": ids,
            "translationset": [],
            "querytranslation": self.translation,
        }
        return Reply({"header": {"type": "esearch", "version": "0.3"}, "esearchresult": result})


def _reference(kind: str, source: str, pmid: str | None) -> str:
    number = f'<PMID Version="1">{pmid}</PMID>' if pmid else ""
    return (
        f'<CommentsCorrections RefType="{kind}"><RefSource>{escape(source)}</RefSource>{number}</CommentsCorrections>'
    )


def _record(paper: Paper) -> str:
    year, *rest = paper.day.split("-")
    month = f"<Month>{_MONTHS[int(rest[0]) - 1]}</Month><Day>{int(rest[1])}</Day>" if rest else ""
    authors = "".join(
        f'<Author ValidYN="Y"><LastName>{family}</LastName><ForeName>{given}</ForeName><Initials>X</Initials></Author>'
        for given, family in paper.authors
    )
    parts = (
        f'<Abstract><AbstractText Label="BACKGROUND">Of <i>soil</i>, H<sub>2</sub>O.</AbstractText>'
        f'<AbstractText Label="RESULTS">{escape(paper.abstract)}</AbstractText></Abstract>'
        if paper.abstract
        else ""
    )
    types = "".join(
        f'<PublicationType UI="D016428">{each}</PublicationType>'
        for each in (*paper.types, *(["Retracted Publication"] if paper.is_marked_by("pubmed") else []))
    )
    comments = "".join(_reference(*each) for each in paper.references)
    names = {"pubmed": paper.pmid, "doi": paper.doi, "pmc": paper.pmcid}
    ids = "".join(f'<ArticleId IdType="{name}">{escape(value)}</ArticleId>' for name, value in names.items() if value)
    return f"""<PubmedArticle><MedlineCitation Status="MEDLINE" Owner="NLM"><PMID Version="1">{paper.pmid}</PMID>
      <Article PubModel="Print"><Journal><JournalIssue><PubDate><Year>{year}</Year>{month}</PubDate></JournalIssue>
      <Title>{paper.venue}</Title><ISOAbbreviation>J Inv Soils</ISOAbbreviation></Journal>
      <ArticleTitle>{escape(paper.title)}.</ArticleTitle>{parts}<AuthorList CompleteYN="Y">{authors}</AuthorList>
      <PublicationTypeList>{types}</PublicationTypeList></Article>
      {f"<CommentsCorrectionsList>{comments}</CommentsCorrectionsList>" if comments else ""}
      </MedlineCitation><PubmedData><ArticleIdList>{ids}</ArticleIdList><ReferenceList><Reference><ArticleIdList>
      <ArticleId IdType="doi">10.5555/cited</ArticleId></ArticleIdList></Reference></ReferenceList></PubmedData>
      </PubmedArticle>"""


_SPARSE = f"""{_DOCTYPE}<PubmedArticleSet>
<PubmedArticle><MedlineCitation><PMID>1</PMID><Article><Journal><JournalIssue><PubDate>
  <MedlineDate>2025 Dec-2026 Jan</MedlineDate></PubDate></JournalIssue></Journal>
  <ArticleTitle>Bare&nbsp;title</ArticleTitle>
  <AuthorList><Author><CollectiveName>The Group</CollectiveName></Author></AuthorList></Article></MedlineCitation>
</PubmedArticle>
<PubmedArticle><MedlineCitation><PMID>2</PMID><Article><ArticleTitle></ArticleTitle></Article></MedlineCitation>
</PubmedArticle>
<PubmedBookArticle><BookDocument><PMID>3</PMID><ArticleIdList>
  <ArticleId IdType="bookaccession">NBK1</ArticleId></ArticleIdList>
  <Book><BookTitle>A Book</BookTitle><PubDate><Year>2020</Year><Season>Spring</Season></PubDate></Book>
  <ArticleTitle>A chapter</ArticleTitle><Abstract><AbstractText>Of it.</AbstractText></Abstract></BookDocument>
</PubmedBookArticle>
<PubmedArticle><MedlineCitation><PMID>4</PMID><Article><Journal><Title>J</Title></Journal><ArticleTitle>Noticed</ArticleTitle>
  <ELocationID EIdType="doi" ValidYN="Y">10.5555/Noticed</ELocationID></Article>
  <CommentsCorrectionsList><CommentsCorrections RefType="RetractionIn"><PMID>9</PMID></CommentsCorrections>
  </CommentsCorrectionsList>
</MedlineCitation></PubmedArticle>
</PubmedArticleSet>"""


class ArxivTwin(PaperTwin):
    """arXiv: a feed, in which errors are entries too; a space between words means OR."""

    base_path = "/api"

    def refusal(self, request: Request) -> Reply | None:
        if not request.headers.get("user-agent", "").startswith("asky/"):
            return Reply("Rate exceeded.", status=429, content_type="text/plain")
        start, most = (request.param(name) or default for name, default in (("start", "0"), ("max_results", "10")))
        if not most.isdigit() or not start.isdigit():
            return arxiv_error("max_results_must_be_an_integer")
        if int(most) > 2000 or int(start) + int(most) > 30_000:
            return arxiv_error("max_results must be no more than 2000 and the sum of start and it 30000")
        if request.param("sortBy") not in (None, "relevance", "lastUpdatedDate", "submittedDate"):
            return arxiv_error("sortBy must be in: relevance, lastUpdatedDate, submittedDate")
        if not (request.param("search_query") or request.param("id_list")):
            return arxiv_error("search_query or id_list must be given")
        return None

    def answer(self, request: Request) -> Reply:
        quoted = re.sub(r'"[^"]*"|\[[^\]]*\]', "q", request.param("search_query") or "")
        if " " in quoted.replace(" AND ", "&"):
            return arxiv_feed(_entry(Paper("Something else", arxiv="2301.09999")), total=900)
        most = int(request.param("max_results") or 10)
        if request.param("id_list"):
            entries = [self._version(name) for name in (request.param("id_list") or "").split(",")]
            known = [entry for entry in entries if entry]
            return arxiv_feed(*known[:most], total=len(known))
        entries = [_entry(paper) for paper in self.papers() if paper.arxiv]
        return arxiv_feed(*entries[:most], total=len(entries))

    def _version(self, name: str) -> str | None:
        """The entry of an id, of its newest version unless it names one; `None` for what there is not."""
        value, _, version = name.partition("v")
        paper = next((each for each in self.papers() if each.arxiv == value), None)
        if paper is None or int(version or 1) > paper.versions:
            return None
        if version and int(version) < paper.versions:
            return _entry(replace(paper, title=f"Draft of {paper.title}", note="9 pages", versions=int(version)))
        return _entry(paper)

    def empty(self, _: Request) -> Reply:
        return arxiv_feed()

    def sparse(self, _: Request) -> Reply:
        bare = "<entry><id>http://arxiv.org/abs/math/0611800v1</id><title>Bare</title><author><name>B</name></author></entry>"
        unknown = "<entry><id>http://arxiv.org/abs/2301.00000</id></entry>"
        withdrawn = _entry(Paper("Gone", arxiv="2302.00001")).replace(
            "9 pages", "This paper has been withdrawn by the author"
        )
        return arxiv_feed(bare, unknown, withdrawn, total=3)

    def failure(self, kind: str, request: Request) -> Reply:
        if kind == "echo":
            return Reply(f"Rate exceeded for {request.headers.get('user-agent')}", 503, "text/plain")
        return Reply("Rate exceeded.", status=429, content_type="text/plain")


def arxiv_feed(*entries: str, total: int = 0, status: int = 200) -> Reply:
    """A feed of arXiv's with these entries."""
    text = f"""<?xml version="1.0" encoding="UTF-8"?>
<feed xmlns="http://www.w3.org/2005/Atom" xmlns:opensearch="http://a9.com/-/spec/opensearch/1.1/"
  xmlns:arxiv="http://arxiv.org/schemas/atom">
  <id>https://arxiv.org/api/abc</id><title>arXiv Query: search_query=all:soil</title>
  <updated>2026-11-20T00:00:00Z</updated>
  <link href="https://arxiv.org/api/query?search_query=all:soil" type="application/atom+xml"/>
  <opensearch:itemsPerPage>10</opensearch:itemsPerPage><opensearch:totalResults>{total}</opensearch:totalResults>
  <opensearch:startIndex>0</opensearch:startIndex>{"".join(entries)}</feed>"""
    return Reply(text, status=status, content_type=_ATOM)


def arxiv_error(message: str, status: int = 400) -> Reply:
    """An error of arXiv's: an entry like any other."""
    entry = f"<entry><id>http://arxiv.org/api/errors#{message[:5]}</id><title>Error</title><summary>{message}</summary></entry>"
    return arxiv_feed(entry, total=1, status=status)


def _entry(paper: Paper) -> str:
    authors = "".join(f"<author><name>{' '.join(name)}</name></author>" for name in paper.authors)
    doi = f"<arxiv:doi>{escape(paper.doi)}</arxiv:doi>" if paper.doi else ""
    name = f"{paper.arxiv}v{paper.versions}"
    title = escape(paper.title).replace(" ", "\n  ", 1)
    return f"""<entry><id>http://arxiv.org/abs/{name}</id><title>{title}</title><updated>2026-03-01T10:00:00Z</updated>
      <published>{paper.day}T10:00:00Z</published><summary>  {escape(paper.abstract or "")}
      Over lines.</summary>{authors}<link title="pdf" href="https://arxiv.org/pdf/{name}" rel="related"/>{doi}
      <arxiv:comment>{escape(paper.note)}</arxiv:comment><arxiv:primary_category term="physics.geo-ph"/></entry>"""
