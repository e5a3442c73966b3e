"""Question analysis: sub-questions, terms and the form of the answer. Pure functions over text."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from asky.llm.extractive.tasks import TASK_WORDS, TaskState, asked_tasks
from asky.text.document_questions import DocumentQuestion, read_document_question
from asky.text.languages import function_words, languages_of
from asky.text.terms import content_terms, terms_of, words

AnswerKind = Literal["person", "time", "number", "place", "reason", "list", "steps"]

SUMMARY_QUERIES = ("introduction and overview", "summary and conclusions")
MAX_QUERY_CHARS = 400
MAX_QUERIES = 6
_MAX_QUESTION_CHARS = 2_000  # anything beyond is pasted text, not a question
_MAX_PARTS = 4
_MAX_NEW_NAMES = 3
_WEAK = frozenset(
    """
    use get got tell pleas exact actual happen mean make made want need work thing come give take say know put let kind
    sort way case mani much
    """.split()  # noqa: SIM905 - easier to read and to change than quoted words
)  # stems that no answer needs to repeat
_PLACE_IN_CODE = re.compile(
    r"\b(?:where|in (?:which|what) (?:file|function|class|method|module)) (?:is|are)\b[^?]*"
    r"\b(?P<verb>(?:implement|defin|declar|comput|calculat|check|verifi|validat|handl|pars|initiali[sz]|configur|"
    r"generat|convert|determin|enforc|process)ed|set|built|chosen)\W*$",
    re.IGNORECASE,
)  # code does what it does without a word for it, but a name that is said in full has a definition
_IDENTIFIER = re.compile(r"[a-z][A-Z]|\w_\w|\w\(")

_INTERROGATIVES = r"(?:who|whom|whose|what|when|where|why|which|how)"
_ADDRESS = re.compile(r"\b[a-z][a-z0-9+.-]*://\S+|\bwww\.\S+", re.IGNORECASE)
# What a question has in place of the path of a folder (`asky.research.local.targets`), or calls what it asks.
_PLACE = re.compile(
    r"\bthe attached documents\b|\ba local path\b"
    r"|\b(?:the|this|these|my|our|your)\s+(?:documents?|files?|docs?)(?=\s+(?:say|says|state|states|tells?|mentions?)\b)",
    re.IGNORECASE,
)
_SENTENCE_BREAK = re.compile(r"[?;？；\n]+")
_SECOND_QUESTION = re.compile(rf",?\s+and\s+(?={_INTERROGATIVES}\b)", re.IGNORECASE)
_ASKS = re.compile(
    rf"\b{_INTERROGATIVES}\b|^\s*(?:is|are|was|were|do|does|did|has|have|had|can|could|will|would|should)\b",
    re.IGNORECASE,
)
_OF_THING = 2  # words: "open day date and who makes the tea"
_STATES = re.compile(r"\b(?:is|are|was|were|do|does|did|have|has|had|can|could|will|would|\w+ed)\b", re.IGNORECASE)
_NAME = r"[^?.;,]{2,80}?"
_END = r"(?=[?.;,]|$)"
_YES_NO = r"(?:are|were|is|was|do|does|did|have|has)"
_COMPARISONS = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"\b(?:between|compare)\s+({_NAME})\s+(?:and|with|to|versus)\s+({_NAME}){_END}",
        rf"({_NAME})\s+(?:compared\s+(?:to|with)|versus|vs\.?)\s+({_NAME}){_END}",
        rf"^{_YES_NO}\s+(?:both\s+)?({_NAME})\s+and\s+({_NAME})\s+(?=both\b|the same\b|from\b|located\b|in\b)",
        rf",\s*({_NAME})\s+or\s+({_NAME}){_END}",
    )
)
_OWNS = re.compile(r"\w{3,}['’]s$")  # not "What's", whose word is a stop word
_PRONOUN = re.compile(r"\b(?:it|its|they|them|their|he|him|his|she|her|this|that|these|those)\b", re.IGNORECASE)
_NAME_WORD = r"(?:(?:[A-Z]\.)+|[A-Z][\w'’-]*)"
_CAPITALISED = re.compile(
    rf"(?<![.!?]\s)(?<!^)\b{_NAME_WORD}(?:\s+(?:of|the|de|la|von|van|al|for)\s+{_NAME_WORD}|\s+{_NAME_WORD}|\s+\d+\b)*"
)

_NO_VERB = r"(?!(?:do|does|did|is|are|was|were|has|have|had|can|will|this|its|his)\b)"
PLURAL = rf"(?:{_NO_VERB}\w+\s+){{0,3}}?{_NO_VERB}\w+[^s\W]s"
"""Up to four words that may name several things, as a regular expression."""
_WHICH = r"\b(?:what|which)\s+(?:\w+\s+)?"
_KIND_PATTERNS: tuple[tuple[AnswerKind, str], ...] = (
    ("time", r"\bwhen\b|\b(?:what|which)\s+(?:year|date|day|month|decade|century|season|time)\b"),
    ("number", r"\bhow\s+(?:many|much|old|long|far|tall|high|deep|big|large|fast|often|wide|heavy)\b"),
    ("number", rf"{_WHICH}(?:percent|percentage|number|share|proportion|amount|population|size|price|cost)\b"),
    ("person", r"\b(?:who|whom|whose)\b"),
    ("place", rf"\bwhere\b|{_WHICH}(?:city|country|state|town|place|island|river|county|region|continent|capital)\b"),
    ("reason", rf"\bwhy\b|{_WHICH}(?:cause|causes|caused|reason|reasons)\b"),
    ("steps", r"\bhow\s+(?:do|can|should|could|would|to)\b"),
    (
        "list",
        rf"^\s*(?:list|name|enumerate|show)\b|\bwhich\s+{PLURAL}\b"
        rf"|\bwhat\s+{PLURAL}\s+(?:are|were|do|did|can|have|does)\b",
    ),
)
_KINDS = tuple((kind, re.compile(pattern, re.IGNORECASE)) for kind, pattern in _KIND_PATTERNS)


@dataclass(frozen=True, slots=True)
class ParsedQuestion:
    """A parsed question.

    `parts` are its sub-questions in the order asked, each able to stand alone; empty if it asks one thing. `terms` are
    its distinct content terms, and `names` those of capitalised words and numbers. `document` is what it asks about
    documents as a whole, if anything, and `tasks` which tasks of them it asks for; its `terms` are then the others.
    """

    text: str
    parts: tuple[str, ...]
    terms: frozenset[str]
    names: frozenset[str]
    kind: AnswerKind | None
    document: DocumentQuestion | None
    tasks: TaskState | None = None


def read_question(text: str, named: Collection[str] = ()) -> ParsedQuestion:
    """Parse the question in `text`; the `named` documents, if it has their names in quotes, are not its subject.

    White space is collapsed; control characters, lone surrogates and all text beyond 2,000 characters are left out.
    """
    lines = "".join(c if c.isprintable() or c.isspace() else " " for c in text[:_MAX_QUESTION_CHARS])
    flat = " ".join(lines.split())
    flat = " ".join(_ADDRESS.sub(" ", flat).split()) or flat  # no sentence is about an address
    document = read_document_question(flat)
    if named and document is None:
        lines, flat = without_places(lines, named), " ".join(without_places(flat, named).split())
    parts = () if document is not None and not document.subject else _parts(_ADDRESS.sub(" ", lines))
    tasks = asked_tasks(flat)
    terms = terms_of(flat) - (terms_of(TASK_WORDS) if tasks else frozenset())
    if (of_code := _PLACE_IN_CODE.search(flat)) is not None and not _IDENTIFIER.search(flat):
        terms -= terms_of(of_code["verb"])
    if document is not None and document.subject and "summary" in document.aspects:
        terms &= document.subject
    return ParsedQuestion(
        flat, parts, (terms - _WEAK) or terms, _names_and_numbers(flat), answer_kind(flat), document, tasks
    )


def in_its_language(question: ParsedQuestion) -> ParsedQuestion:
    """Return a question that is not English without the function words of its language among its terms."""
    left = question.terms - terms_of(" ".join(function_words(languages_of(question.text) - {"en"})))
    return replace(question, terms=left or question.terms)


def without_places(text: str, names: Collection[str]) -> str:
    """Return a question without the `names` of documents in quotes, and other words for these.

    They say where to look, not what for. A question of nothing else is returned as it is.
    """
    quoted = [re.escape(each) for each in names if f'"{each}"'.casefold() in text.casefold()]
    rest = re.sub(rf'"(?:{"|".join(quoted)})"', " ", text, flags=re.IGNORECASE) if quoted else text
    rest = _PLACE.sub(" ", rest)
    return rest if terms_of(rest) - _WEAK else text


def _names_and_numbers(text: str) -> frozenset[str]:
    """Return the terms of words with a capital, except the first unless it owns something ("Ann's"), and of numbers."""
    first, *others = text.split() or [""]
    named = [word for word in others if word[:1].isupper()]
    if first[:1].isupper() and _OWNS.search(first):
        named.append(first)
    return frozenset(term for word in named for term in content_terms(word)) | frozenset(
        term for term in content_terms(text) if term[:1].isdigit()
    )


def queries(question: ParsedQuestion) -> list[str]:
    """Return the search queries: the whole question, then its parts; at most 6, of at most 400 characters each."""
    more = SUMMARY_QUERIES if question.document is not None and not question.document.subject else question.parts
    wanted = [shorten(query) for query in (question.text, *more)]
    return [query for query in dict.fromkeys(wanted) if query][:MAX_QUERIES]


def follow_up(unanswered: Sequence[ParsedQuestion], found: Sequence[str]) -> list[str]:
    """Return the next queries: the words of each unanswered question, with the first names in the texts `found`.

    Empty if there is no question or no name that it does not contain already. The same limits as `queries`.

    Source: pseudo-relevance feedback, in its simplest form: a first search finds names that a second needs.
    """
    wanted = []
    for question in unanswered:
        question_words = set(words(question.text))
        new = [
            name
            for text in found
            for name in names(text)
            if content_terms(name) and not set(words(name)) <= question_words
        ]
        if new:
            about = [word for word in question.text.split() if content_terms(word)]
            wanted.append(shorten(" ".join([*dict.fromkeys(new[:_MAX_NEW_NAMES]), *about])))
    return list(dict.fromkeys(wanted))[:MAX_QUERIES]


def shorten(query: str) -> str:
    """Return `query` cut after the last word within the length limit of a query."""
    if len(query) <= MAX_QUERY_CHARS:
        return query
    cut = query[:MAX_QUERY_CHARS]
    return cut.rsplit(None, 1)[0] if " " in cut else cut


def answer_kind(question: str) -> AnswerKind | None:
    """Return the form of the answer that the question words require; the first kind that fits."""
    return next((kind for kind, pattern in _KINDS if pattern.search(question)), None)


def names(text: str) -> list[str]:
    """Return the runs of capitalised words in `text` that do not begin a sentence, in order, distinct."""
    return list(dict.fromkeys(match.group().strip(" .'’-") for match in _CAPITALISED.finditer(text)))


def sub_questions(text: str) -> tuple[str, ...]:
    """Return the questions that `text` asks one after the other, each able to stand alone; none for a single one.

    Each begins as a question does: the sides of a comparison and the sentences of a description are none.
    """
    parts = read_question(text).parts
    return parts if all(_ASKS.match(part) for part in parts) else ()


def _parts(text: str) -> tuple[str, ...]:
    """Return the sub-questions of `text`, or none if there are fewer than two."""
    pieces = [piece for sentence in _SENTENCE_BREAK.split(text) for piece in _split_at_and(sentence)]
    found = [piece for piece in pieces if content_terms(piece)]
    if len(found) == 1:
        found = list(_sides(found[0]))
    elif found:
        found = [found[0], *(_with_subject(piece, found[0]) for piece in found[1:])]
    distinct = list(dict.fromkeys(found))[:_MAX_PARTS]
    return tuple(distinct) if len(distinct) > 1 else ()


def _split_at_and(sentence: str) -> list[str]:
    """Split `sentence` before "and who", "and when", ... if the part before asks something too, or names a thing."""
    flat = " ".join(sentence.split())
    first, *others = _SECOND_QUESTION.split(flat)
    names_thing = len(content_terms(first)) >= _OF_THING and not _STATES.search(first)
    return [first, *others] if names_thing or _ASKS.search(first) else [flat]


def _sides(question: str) -> Iterator[str]:
    """Yield a comparison as one question about each side."""
    for pattern in _COMPARISONS:
        match = pattern.search(question)
        if match is None or _ASKS.match(match.group(2)):
            continue
        rest = (question[: match.start()] + " " + question[match.end() :]).split()
        about = " ".join(word for word in rest if content_terms(word))
        for side in match.groups():
            yield f"{' '.join(side.split())} {about}".strip()
        return


def _with_subject(piece: str, first: str) -> str:
    """Return `piece` with the subject of `first`, if it only refers to it ("and who built it")."""
    if not _PRONOUN.search(piece) and len(content_terms(piece)) > 1:
        return piece
    known = set(words(piece))
    subject = [name for name in names(first) if not set(words(name)) <= known]
    return f"{piece} {' '.join(subject) or ' '.join(word for word in first.split() if content_terms(word))}"
