"""Recognition of questions about a whole document: what it is about, its title, its authors, its findings.

No sentence of a paper shares the words of "Summarise this" or "Who wrote it?", so such questions are answered from the
parts of a document that hold the answer: its first page, its abstract, its conclusion, its headings.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from typing import Literal

from asky.text.definitions import KIND_NAMES, KIND_WORDS, kinds_in
from asky.text.terms import content_terms, stem, terms_of, words

Aspect = Literal[
    "summary", "title", "authors", "date", "venue", "affiliation", "method", "findings", "conclusion", "problem",
    "outline", "definitions", "fields", "funding", "limitations", "future", "data", "licence", "code",
]  # fmt: skip

TOLD_BY_ALL: frozenset[Aspect] = frozenset({"summary", "method", "findings", "conclusion", "problem"})
"""Aspects that the sentences of any text tell; of the others a text may say nothing."""

_NOUN = (
    r"(?:papers?|articles?|documents?|docs?|files?|texts?|books?|poems?|stor(?:y|ies)|novels?|plays?|reports?|notes?|"
    r"stud(?:y|ies)|works?|thes[ei]s|dissertations?|manuscripts?|preprints?|publications?|essays?|posts?|pages?|pdfs?|"
    r"manuals?|guides?|specs?|specifications?|presentations?|slides?|spreadsheets?|tables?|sheets?|chapters?|letters?|"
    r"contracts?|agreements?|minutes|transcripts?|e-?mails?|folders?|collections?|vaults?|repos?|repository|projects?|"
    r"meetings?|talks?|lectures?|notebooks?|videos?|interviews?|threads?|conversations?|discussions?|podcasts?|episodes?|"
    r"courses?|lessons?|modules?|scripts?|programs?|readmes?|changelogs?|logs?|recipes?|proposals?|offers?|invoices?|"
    r"memos?|messages?|attachments?|workbooks?|websites?|blogs?|people|persons?)"
)
_THIS = (
    r"(?:it|this|that|these|those|they|everything|all of (?:it|this|these|them)|"
    r"(?:(?:the|this|that|these|those|my|our|each|every|all)(?: of)?(?: the| these| my)?(?: \w+)?)? ?"
    rf"{_NOUN})"
)

_PROJECT = (
    r"(?:this|the|that|my|our) (?:\w+ )?(?:projects?|repos?|repository|packages?|librar(?:y|ies)|tools?|apps?|"
    r"applications?|code ?base|code|programs?|software|modules?)"
)

_WRITERS = r"(?:they|he|she|(?:the|its|their) (?:\w+ )?authors?(?: of [^?.!]{1,60}?)?)"
_PATTERNS: tuple[tuple[Aspect, str], ...] = (
    ("title", r"\b(?:sub)?titles?\b|\bwhat(?: is|'s) (?:it|this|the (?:paper|article|book|document)) called\b"),
    (
        "authors",
        r"\bauthors?(?:hip)?\b(?! (?:propos|us|find|found|conclu|claim|report|argu|suggest|recommend|do|did|say|show|"
        r"mean|introduc|present|describ|evaluat|compar|train|test|measur)\w*)|"
        rf"\bwho (?:wrote|writes|has written|authored|published|made|created) (?={_THIS}\b|[\"“']?[A-Z])|\bby whom\b|"
        rf"\bwho(?: is|'s|s| was) {_THIS} (?:by|from)\b|\bwritten by\b(?=\W*$)|"
        r"\bwhose (?:notes?|papers?|articles?|essays?|posts?|books?|poems?|stor(?:y|ies)) (?:is|are|was|were)\b",
    ),
    (
        "affiliation",
        rf"\baffiliat\w+\b|\bwhere (?:do|did|does) {_WRITERS} work\b|"
        rf"\bwhere (?:are|is|were|was) {_WRITERS} (?:from|based)\b|\bwhom? (?:do|did|does) {_WRITERS} work for\b|"
        r"\b(?:which|what) (?:universit\w+|institut\w+|compan\w+|lab\w*|organi[sz]ations?) "
        rf"(?:are|is|do|does|did|were|was) {_WRITERS}\b",
    ),
    (
        "date",
        r"\b(?:when|(?:what|which) year) (?:was|were|did) [^.?!]{1,80} (?:come out|published|appear|released)(?=\W*$)|"
        rf"\bwhen (?:was|were|did) {_THIS} (?:be(?:en)? )?"
        r"(?:published|written|released|appear\w*|come out|made|created|"
        r"submitted|presented)\b|\b(?:what|which) year (?:was|is|did) " + _THIS + r"\b(?: (?:published|written|from|"
        r"released|appear))?|\b(?:publication|release) (?:date|year)\b|\b(?:date|year) of (?:publication|"
        + _NOUN
        + r")\b|"
        rf"\bhow old is {_THIS}\W*$|"
        rf"\bwhen (?:and|or) (?:in (?:which|what) \w+|where|by whom) (?:was|did|were) {_THIS}\b",
    ),
    (
        "venue",
        r"\b(?:which|what) (?:journal|conference|venue|magazine|publisher|proceedings)\b|"
        rf"\bwhere (?:was|were|did) {_THIS} (?:published|presented|appear)\w*\b|\bpublished (?:where|in which)\b",
    ),
    (
        "outline",
        r"\btable of contents\b|\boutline\b|\b(?:which|what) sheets\b|"
        r"\b(?:list|name|what are|which are|show(?: me)?|give(?: me)?|how many)\b[^.?!]{0,30}"
        r"\b(?:parts|chapters|sections|headings|contents|sheets)\b|\bhow is "
        + _THIS
        + r" (?:structured|organi[sz]ed|divided)\b",
    ),
    (
        "definitions",
        rf"\b(?:what|which) (?:\w+ )?(?:{KIND_NAMES}) (?:are|is|do|does|exist|can)\b[^.?!]{{0,30}}"
        r"(?:\b(?:there|here|defined|declared|implemented|exist|exported|raised?|thrown?|have|has|contain|define|"
        rf"provide|export|offer|include|declare)\b(?: in {_THIS})?|\b(?:in|of) {_THIS})(?=\W*$)|"
        rf"\b(?:what|which) (?:\w+ )?(?:{KIND_NAMES}) (?:does|do) {_THIS} \w+(?=\W*$)|"
        rf"\b(?:list|name|show(?: me)?|give me) (?:all )?(?:of )?(?:the |its )?(?:\w+ )?(?:{KIND_NAMES})"
        rf"(?: (?:in|of|from|defined in) {_THIS}| there are| defined)?(?=\W*$)|"
        rf"\b(?:what|which) (?:{KIND_NAMES}) exist\b",
    ),
    (
        "fields",
        r"\b(?:what|which|list|name|show)\b[^.?!]{0,25}\b(?:columns?|fields|column names|headers?)\b"
        r"(?=[^.!]{0,40}$)",
    ),
    (
        "findings",
        r"\b(?:main|key|central|principal|most important|overall)? ?(?:findings?|takeaways?)\b|"
        r"\b(?:main|key|overall) results?\b|\bresults? of (?:the |this )?" + _NOUN + r"\b|"
        rf"\bwhat (?:do|did|does) (?:they|he|she|we|you|the authors?|{_THIS}) "
        r"(?:find|found|show|discover|learn)\b"
        r"(?=\W*$)|\bbottom line\b",
    ),
    (
        "conclusion",
        rf"\bconclusions?\b|\bwhat (?:do|did|does) (?:they|he|she|we|you|the authors?|{_THIS}) conclude\b(?=\W*$)",
    ),
    (
        "method",
        r"\b(?:what|which)\b[^.?!]{0,20}\b(?:methods?|approach\w*|techniques?|algorithms?|architectures?|contributions?|"
        r"models?|methodolog\w+)\b[^.?!]{0,30}\b(?:propos\w*|introduc\w*|present\w*|suggest\w*|develop\w*|us(?:e|ed))\b"
        r"(?=[^.!]{0,20}$)|\b(?:method|methodology|approach|contributions?) of " + _THIS + r"\b|"
        r"\bmain (?:idea|contribution|method)s?\b|\bhow does " + _THIS + r" work\b(?=\W*$)|"
        rf"\bwhat (?:do|does|did) (?:they|the authors?|{_THIS}) (?:propose|introduce|present)\b",
    ),
    (
        "problem",
        rf"\b(?:what|which) (?:\w+ )?(?:problems?|questions?|issues?|challenges?) (?:does|do|did|is|are) {_THIS}|"
        r"\bresearch questions?\b|\b(?:goals?|aims?|purposes?|objectives?|motivations?|hypothes[ei]s) of "
        + _THIS
        + r"\b|"
        rf"\bwhy (?:was|is|did) {_THIS} (?:written|important)\b|\bproblem statement\b|"
        rf"\bwhat (?:does|do) {_THIS} (?:try|aim|want) to\b",
    ),
    (
        "summary",
        r"\bsummar\w*\b|\btl;?\s?dr\b|\boverview\b|\bgist\b|\babstracts?\b|\bsynopsis\b|\bin a nutshell\b|\bbrief me\b|"
        r"\b(?:main|key|central|important) (?:points?|ideas?|topics?|themes?|messages?|arguments?|statements?)\b|"
        rf"\bwhat(?: is|'s|s| are) (?:the|this|that|these|those|my) {_NOUN}\b[^.?!]{{0,60}}\babout\b|"
        rf"\bwhat(?: is|'s|s| are| was|re| does| do)? {_THIS}(?: in (?:this|the|my) \w+)?(?: all)? (?:about|for|do)\b"
        r"(?=\W*$)|"
        rf"\bwhat(?: is|'s|s| does| do) {_PROJECT}(?: do| for| about)?(?=\W*$)|"
        rf"\b(?:one|a) (?:line|sentence|word)s? (?:on|about|for|per) {_THIS}|"
        rf"\bwhat(?: is|'s|s| are| was|re)? {_THIS}(?: all)? about\b|\babout (?:what|which topic)\b|"
        r"\bwhat(?: is|'s|s| are| was) [^?!]{1,60} about(?=\W*$)|"
        rf"\bwhat (?:does|do|did) {_THIS} (?:say|cover|discuss|describe|deal with|talk about|contain|tell)\b(?=\W*$)|"
        rf"\b(?:describe|explain|present|review|skim|recap|condense|digest) {_THIS}(?=\W*$)|\btopics?\b|"
        r"\bwhat(?: is|'s|s| are) in (?:here|there|" + _THIS + r")\b",
    ),
)
# Compiling all patterns takes 40 ms: those of an aspect wait for a question with one of these.
_SIGNS: dict[Aspect, str] = {
    "authors": "author wr who whom whose made creat publish by",
    "date": "when year date old",
    "definitions": (
        "class struct record function method procedure routine subroutine exception error interface protocol trait "
        "enum table view"
    ),
    "findings": "find found takeaway result show discover learn bottom",
    "method": "method approach techni algorithm architect contribution model idea how propos introduc present",
    "problem": "problem question issue challenge goal aim purpose objective motivation hypothes why try want",
    "summary": (
        "summar tl overview gist abstract synops nutshell brief point idea topic theme messag argument statement about "
        "say cover discuss describ deal talk contain tell explain present review skim recap condense digest in for do "
        "line sentence word project repo package librar tool app code program software module"
    ),
}


@cache
def _pattern(aspect: Aspect) -> re.Pattern[str]:
    return re.compile(dict(_PATTERNS)[aspect], re.IGNORECASE)


def _aspects(text: str) -> list[Aspect]:
    said = re.findall(r"\w+", text.casefold())
    found: list[Aspect] = []
    for aspect, _ in _PATTERNS:
        signs = tuple(_SIGNS.get(aspect, "").split())
        may_ask = not signs or any(word.startswith(signs) for word in said)
        if may_ask and _pattern(aspect).search(text):
            found.append(aspect)
    return found


_OF_WORK = (
    r"(?: (?:in|for|to|by|from) (?:the|this|their|its) (?:evaluations?|experiments?|training|tests?|study|work))?"
)
_ABOUT_PARTS: tuple[tuple[Aspect, str], ...] = (
    ("funding", r"\b(?:funded|financed|sponsored|paid for|funding|funders?|sponsors?|grants?)\b(?: (?:sources?|by))?"),
    (
        "limitations",
        r"\b(?:limitations?|limits (?=of (?:the|this|their)\b)|drawbacks?|shortcomings?|weaknesse?s?|caveats?|"
        r"threats to validity)\b",
    ),
    (
        "future",
        r"\b(?:future|further) (?:work|research|directions?|plans?|studies)\b|\bopen (?:questions?|problems?)\b",
    ),
    (
        "data",
        r"\b(?:what|which|list|name)\b[^.?!]{0,20}\b(?:data ?sets?|benchmarks?|corpus|corpora)\b[^.?!]{0,25}"
        rf"\b(?:us(?:e|ed|ing)|evaluat\w+|train(?:ed)?|test(?:ed)?|experiment\w*)(?: (?:with|on|for))?\b{_OF_WORK}"
        r"|\b(?:on|with) (?:what|which) (?:data ?sets?|data|benchmarks?|corpus|corpora)\b[^.?!]{0,25}"
        rf"\b(?:train(?:ed)?|evaluat\w+|test(?:ed)?|us(?:e|ed))\b{_OF_WORK}"
        rf"|\b(?:trained|evaluated|tested) (?:it )?on (?:what|which)\b(?: (?:data ?sets?|data))?{_OF_WORK}",
    ),
    ("licence", r"\blicen[cs]e[ds]?(?: under)?\b|\bcopyright\b"),
    (
        "code",
        r"\b(?:code|implementation|software|source) (?:is |be |was )?(?:(?:publicly|freely) )?"
        r"(?:available|public|released|open.?sourced?|found|downloaded)\b|"
        r"\bwhere (?:is|are|can i (?:find|get|download)) (?:the |their |its )?"
        r"(?:source )?code\b(?=\W*$)|\bopen.?source\b(?=\W*$)",
    ),
)
"""Aspects that a part of a document tells; the words of a pattern do not say which document is meant."""
_PARTS = tuple((aspect, re.compile(pattern, re.IGNORECASE)) for aspect, pattern in _ABOUT_PARTS)

# Words that say which document is meant, or how the answer is to look, and not what the question is about.
_FORM = """
    paper papers article articles document documents doc docs file files text texts book books poem poems story novel
    play report reports note notes study work thesis dissertation manuscript preprint publication essay post page pages
    pdf pdfs manual guide spec presentation slide slides spreadsheet table sheet chapter letter contract agreement
    minute transcript email mail folder collection vault repo repository project
    package library tool app application software codebase source sources content contents
    author authors writer they people researcher researchers person names name called
    write wrote written publish published publication appear appeared release released submit submitted present
    presented date year month day old come came made create created
    journal conference venue magazine publisher proceedings
    meeting talk lecture notebook video interview thread conversation discussion podcast episode course lesson module
    script program readme changelog log recipe proposal offer invoice memo message attachment workbook website blog
    affiliation affiliated university institute institution company lab
    title subtitle titled headline
    abstract summary summarise summarize summaries overview gist synopsis nutshell brief briefly short shortly
    tldr tl dr
    point points topic topics theme themes message messages argument arguments idea ideas statement main key central
    important principal overall most general generally whole entire full
    finding findings find found conclusion conclusions conclude result results takeaway takeaways discover learn show
    bottom line
    method methods methodology approach approaches technique algorithm propose proposed introduce introduced suggest
    use used develop developed contribution contributions
    problem problems question questions issue issues challenge solve address tackle research goal aim purpose objective
    motivation hypothesis try want
    part parts section sections heading headings outline structure structured organised organized divided contain
    column columns field fields header headers
    list give tell say describe explain cover discuss deal talk read me please kindly can could you one two three four
    five six seven eight nine ten sentence sentences paragraph words word bullet bullets simple terms plain english
"""


@cache
def _stems(text: str) -> frozenset[str]:
    """Return the stems of the words of `text`: of `_FORM` in 25 ms, which most questions do not need."""
    return frozenset(stem(word) for word in text.split())


@dataclass(frozen=True, slots=True)
class DocumentQuestion:
    """A question about whole documents.

    `aspects` are what it asks for, `subject` the stems that name the documents, if any; `points_back` is set if a
    pronoun does ("who wrote it?"). `terms` are the stems of the question that say more. `of_project` is set if it asks
    about a project, which its README describes. `files` are the stems of each file name in it, `kinds` the kinds of
    definitions in source code that it asks for. `sides` are the parts of subject and files that "and" joins, if any.
    """

    aspects: tuple[Aspect, ...]
    subject: frozenset[str]
    points_back: bool
    terms: frozenset[str] = frozenset()
    of_project: bool = False
    files: tuple[frozenset[str], ...] = ()
    kinds: frozenset[str] = frozenset()
    sides: tuple[frozenset[str], ...] = ()

    def named(self, names: Mapping[str, frozenset[str]]) -> list[str]:
        """Return the documents that it names, in the order of `names`: the stems of each one's title, file and authors.

        Of documents that a file name in the question fits, those with just that name go before others. If none is
        named in full they are those that each side of an "and" names, or else the only one most of whose name the
        question says: "the operating systems lab manual", if that is two thirds of at least two stems.
        """
        if not self.subject and not self.files:
            return []
        fitting = [
            each
            for each, terms in names.items()
            if self.subject <= terms and (not self.files or any(file <= terms for file in self.files))
        ]
        return (
            [each for each in fitting if names[each] in self.files]
            or (self._joined(names) if self.files else [])
            or fitting
            or self._joined(names)
            or self._nearest(names)
        )

    def _joined(self, names: Mapping[str, frozenset[str]]) -> list[str]:
        """Return the documents that the sides name, if each side names one."""
        found = [[each for each, terms in names.items() if side <= terms] for side in self.sides]
        return [each for each in names if any(each in those for those in found)] if all(found) else []

    def _nearest(self, names: Mapping[str, frozenset[str]]) -> list[str]:
        shares = {each: len(self.subject & terms) / len(self.subject) for each, terms in names.items() if self.subject}
        best = max(shares.values(), default=0.0)
        found = [each for each, share in shares.items() if share == best]
        return found if len(self.subject) > 1 and best >= _MOST_OF_NAME and len(found) == 1 else []


def read_document_question(text: str) -> DocumentQuestion | None:
    """Return what `text` asks about whole documents; `None` if it asks for nothing of that kind.

    Words that are left over are its `subject`: a question is about a whole document only if they are in the document's
    title, so the caller has to compare them.
    """
    flat = " ".join(text.split())
    aspects = _aspects(_QUOTED_FILE.sub("this file", flat))
    rest = flat
    for aspect, pattern in _PARTS:
        if pattern.search(flat):
            aspects.append(aspect)
            rest = pattern.sub(" ", rest)
    if not aspects:
        return None
    if "affiliation" in aspects and not _pattern("authors").search(_pattern("affiliation").sub(" ", flat)):
        aspects = [each for each in aspects if each != "authors"]  # "authors" only says whose
    form = _stems(_FORM)
    files = tuple(frozenset(content_terms(re.sub(r"[_.+-]+", " ", name))) for name in _FILE_NAME.findall(rest))
    said = content_terms(_FILE_NAME.sub(" ", rest))
    kinds = kinds_in(flat) if "definitions" in aspects else frozenset()
    if kinds:
        form |= _stems(KIND_WORDS)
    subject = frozenset(term for term in said if term not in form and not term.isdigit())
    terms = frozenset(term for term in content_terms(flat) if term not in form)
    of_project = not subject and re.search(rf"\b{_PROJECT}\b", flat, re.IGNORECASE) is not None
    points_back = bool(_POINTS_BACK & set(words(flat)))
    return DocumentQuestion(
        tuple(aspects), subject, points_back, terms, of_project, files, kinds, _sides(rest, subject | _of_files(files))
    )


def _of_files(files: Sequence[frozenset[str]]) -> frozenset[str]:
    return frozenset[str]().union(*files)


def _sides(text: str, subject: frozenset[str]) -> tuple[frozenset[str], ...]:
    """Return what of the subject stands on each side of "and"; nothing if it all stands on one."""
    said = (terms_of(re.sub(r"[_.+-]+", " ", side)) & subject for side in _JOINED.split(text))
    sides = tuple(side for side in said if side)
    return sides if len(sides) > 1 else ()


def title_terms(title: str) -> frozenset[str]:
    """Return the stems by which a question may name a document with this title: "AeroPython" for "Aero Python" too."""
    said = words(title)
    return terms_of(title) | {stem(one + other) for one, other in pairwise(said)}


_MOST_OF_NAME = 2 / 3
_JOINED = re.compile(r",|&|\b(?:and|or)\b", re.IGNORECASE)
_FILE_NAME = re.compile(r"\b[\w+-]+(?:\.[\w+-]+)*\.(?:[A-Za-z][A-Za-z0-9]{1,4}|(?<=\w\w\.)[chrR])\b")
_QUOTED_FILE = re.compile(rf"[\"“'`]?{_FILE_NAME.pattern}[\"”'`]?")
_POINTS_BACK = frozenset(("it", "its", "this", "that", "they", "their", "them", "these", "those"))
