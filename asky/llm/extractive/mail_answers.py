"""Questions about mails: who wrote one, to whom, when and about what; and what somebody wrote in one.

They are answered from the lines above a mail, which are quoted as such, and from what stands below those that fit: by
the sender, the day and the subject that the question names. Other questions never get these lines.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from asky.llm.extractive.questions import ParsedQuestion
from asky.llm.extractive.scoring import ScoredUnit, Scorer
from asky.llm.extractive.selection import MAX_RECORDS, MAX_SENTENCES, MAX_WORDS
from asky.llm.extractive.units import PassageText, Unit, is_mail_head
from asky.text.terms import terms_of
from asky.values import Span

_ENOUGH = 0.5  # of the words of the subject that is asked for, in the subject of a mail with one of its sentences
_NEAR = 0.9  # of the best mail
_MAX_HEAD_CHARS = 400  # of the lines above a mail that are quoted whole; more has many recipients

_MAIL = r"(?:e-?mails?|mails?|messages?|letters?|repl(?:y|ies)|threads?)"
_WRITE = r"(?:wr[io]te|written|sen[dt]|mail(?:ed)?|e-?mail(?:ed)?|repl(?:y|ied)|answer(?:ed)?|forward(?:ed)?)"
_NO_NOUN = r"(?<! the)(?<! a)(?<! an)(?<! this)(?<! that)(?<! which)"
_ASKS_HEAD = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"\b(?:who|whom|whose|when|on (?:which|what) (?:day|date))\b(?=.*\b{_MAIL}\b).*\b(?:{_WRITE}|from|got|gets?|"
        r"receive[ds]?|arrived?|com(?:e|es)|came|addressed)\b",
        rf"\bwho {_WRITE} (?:to|about)\b",
        rf"\bwhen (?:did|was|has|had)\b.*\b{_WRITE}\b(?! by)",
        rf"\b(?:subjects?|senders?|dates?|recipients?|addressees?)\b.*\b{_MAIL}\b",
        rf"\b(?:which|what|how many) (?:\w+ ){{0,2}}{_MAIL} (?:are|is|were|was|did|do|does|has|have|came|come)\b",
        rf"^\s*(?:list|show|name)\b.*\b{_MAIL}\b",
    )
)
_ASKS_TEXT = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"\bwhat (?:did|does|has|had|do) (?P<who>[^?]{{1,80}}?){_NO_NOUN} (?:{_WRITE}|say|said|tell|told|ask(?:ed)?|"
        r"report(?:ed)?|want(?:ed)?)\b",
        rf"\bwhat (?:is|was|stands|stood|does|do|did)\b.*\b{_MAIL}\b",
    )
)
_MAIL_WORD = re.compile(rf"\b{_MAIL}\b", re.IGNORECASE)
_PERSON = r"((?:[A-Z][\w'’-]*\s){0,4}[A-Z][\w'’-]*)"
_TO = re.compile(
    rf"\b(?:to|reach(?:ed)?) {_PERSON}|\bdid {_PERSON}\s(?:get|receive)\b|\b{_PERSON}\s(?:got|gets|received)\b"
)
_WORDS_OF_MAILS = terms_of(
    "mail email message letter thread reply wrote write written sent send sender subject date day recipient addressee"
    " answer say said tell told get got receive ask report forward came come arrive list show name stand line want"
)
_LINE = re.compile(r"^(?:>[ \t]?)*([^:\n]{1,20}):[ \t]+([^\n]*)", re.MULTILINE)
_NAMES = {
    "from": ("from", "von", "de"),
    "to": ("to", "cc", "bcc", "an", "à"),
    "date": ("date", "sent", "datum", "gesendet", "envoyé"),
    "subject": ("subject", "betreff", "objet"),
}
_DOMAIN = re.compile(r"@[\w.-]+")
_MONTHS = "jan feb mar apr may jun jul aug sep oct nov dec".split()  # noqa: SIM905
_MONTH = (
    r"(jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sep(?:t|tember)?|oct(?:ober)?|"
    r"nov(?:ember)?|dec(?:ember)?)\b\.?"
)
_DAYS = re.compile(
    rf"\b(?P<y1>\d{{4}})-(?P<m1>\d\d)-(?P<d1>\d\d)(?!\d)"
    rf"|\b(?P<d2>\d{{1,2}})(?:st|nd|rd|th|\.)?(?: of)? (?P<m2>{_MONTH})(?:,? (?P<y2>\d{{4}}))?"
    rf"|\b(?P<m3>{_MONTH}) (?P<d3>\d{{1,2}})(?:st|nd|rd|th)?\b(?:,? (?P<y3>\d{{4}}))?"
    rf"|\b(?:in|of|during) (?P<m4>{_MONTH})(?: (?P<y4>\d{{4}}))?(?! ?\d)"
    r"|\b(?P<d5>\d{1,2})\.(?P<m5>\d{1,2})\.(?P<y5>\d{4})\b",
    re.IGNORECASE,
)
_NOT_WRITTEN_HERE = re.compile(r"(?:^|› )(?:Quoted (?:from|message)\b|Attachment: |Attached message: )")

_Day = tuple[int | None, int, int | None]  # year, month, day


@dataclass(frozen=True, slots=True)
class _Message:
    """A mail: the lines above it, and what of its own words was found."""

    head: Unit
    sender: frozenset[str]
    recipients: frozenset[str]
    subject: frozenset[str]
    days: Sequence[_Day]
    body: list[Unit] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class _Wanted:
    """The mails that a question means: by whom, to whom, of which days and about what, each as far as it says."""

    senders: frozenset[str]
    recipients: frozenset[str]
    days: Sequence[_Day]
    subject: frozenset[str]


def answer_about_mails(
    question: ParsedQuestion,
    passages: Sequence[PassageText],
    scorer: Scorer,
    scored: Sequence[ScoredUnit],
) -> list[Unit]:
    """Return what answers a question about mails; nothing if it is another question, or no mail fits."""
    asks_head = any(pattern.search(question.text) for pattern in _ASKS_HEAD)
    asks_text = next(filter(None, (pattern.search(question.text) for pattern in _ASKS_TEXT)), None)
    if not asks_head and asks_text is None:
        return []
    wanted = _wanted(question, messages := _messages(passages, scorer.units))
    teller = asks_text.groupdict().get("who") if asks_text and not asks_head else None
    if teller and not _MAIL_WORD.search(teller) and not wanted.senders & terms_of(teller):
        return []  # somebody else said it, perhaps in a mail
    fitting = list(_fitting(wanted, messages, scorer))
    if asks_head:
        return [line for each in fitting for line in _lines_of(each.head)][:MAX_RECORDS]
    chosen: list[Unit] = []
    for each in fitting[:MAX_SENTENCES]:
        most = max(1, MAX_SENTENCES // len(fitting))
        body = _about(wanted.subject, each, scorer, scored)
        told = list(_fitting_words(body, most, MAX_WORDS // len(fitting)))
        chosen += [*_lines_of(each.head), *told] if told else []
    return chosen


def _messages(passages: Sequence[PassageText], units: Sequence[Unit]) -> list[_Message]:
    """Return the mails whose heads were found, each with its own words: those of its section, no quotes."""
    found: list[_Message] = []
    by_place: dict[tuple[str, str, str], _Message] = {}
    above: dict[int, _Message] = {}
    for unit in units:
        if is_mail_head(unit):
            message = _message(unit)
            found.append(message)
            above[unit.passage] = message
            by_place.setdefault(_place(passages[unit.passage], unit), message)
    for unit in units:
        if unit.quotable and not is_mail_head(unit) and not _NOT_WRITTEN_HERE.search(unit.section):
            place = _place(passages[unit.passage], unit)
            owner = by_place.get(place) if unit.section else above.get(unit.passage)
            if owner is not None:
                owner.body.append(unit)
    return found


def _place(passage: PassageText, unit: Unit) -> tuple[str, str, str]:
    return passage.title, passage.file, unit.section


def _message(head: Unit) -> _Message:
    values: dict[str, str] = {}
    for name, value in _LINE.findall(head.text):
        kind = next((kind for kind, names in _NAMES.items() if name.strip().lower() in names), "")
        values[kind] = f"{values.get(kind, '')} {value}".strip()
    people = {kind: terms_of(_DOMAIN.sub(" ", values.get(kind, ""))) for kind in ("from", "to")}
    days = [day for day, _ in _days_in(values.get("date", ""))]
    return _Message(head, people["from"], people["to"], terms_of(values.get("subject", "")), days)


def _days_in(text: str) -> Iterator[tuple[_Day, str]]:
    """Yield the days and months that a text names, with what it calls them."""
    for match in _DAYS.finditer(text):
        found = {name[0]: value for name, value in match.groupdict().items() if value is not None}
        month = found["m"][:3].lower()
        number = int(month) if month.isdigit() else _MONTHS.index(month) + 1
        yield (int(found["y"]) if "y" in found else None, number, int(found["d"]) if "d" in found else None), match[0]


def _wanted(question: ParsedQuestion, messages: Sequence[_Message]) -> _Wanted:
    dated = list(_days_in(question.text))
    of_days = terms_of(" ".join(name for _, name in dated))
    people = frozenset[str]().union(*(each.sender | each.recipients for each in messages)) & question.terms - of_days
    reached = terms_of(" ".join(name for match in _TO.findall(question.text) for name in match))
    subject = question.terms - people - _WORDS_OF_MAILS - of_days
    return _Wanted(people - reached, people & reached, [day for day, _ in dated], subject)


def _fitting(wanted: _Wanted, messages: Sequence[_Message], scorer: Scorer) -> Iterator[_Message]:
    """Yield the mails by whom, to whom, of the day and about what the question says, in the order of the passages."""
    left = [
        each
        for each in messages
        if wanted.senders <= each.sender
        and wanted.recipients <= each.recipients
        and all(any(_is_on(day, other) for other in each.days) for day in wanted.days)
    ]
    near = {id(each): _nearness(wanted.subject, each, scorer) for each in left}
    best = max(near.values(), default=0.0)
    if best >= _ENOUGH:
        yield from (each for each in left if near[id(each)] >= _NEAR * best)


def _is_on(asked: _Day, day: _Day) -> bool:
    return all(wanted is None or wanted == known for wanted, known in zip(asked, day, strict=True))


def _nearness(subject: frozenset[str], message: _Message, scorer: Scorer) -> float:
    """Return the share of the words that a mail has in its subject and one of its sentences; 1 without words."""
    if not subject:
        return 1.0
    held = [message.subject, *(message.subject | unit.terms for unit in message.body)]
    return max(scorer.share(subject, each) for each in held)


def _about(subject: frozenset[str], message: _Message, scorer: Scorer, scored: Sequence[ScoredUnit]) -> Sequence[Unit]:
    """Return what a mail says: in order, or about what its subject does not say the best of it first."""
    more = subject - message.subject
    shares = [scorer.share(more, unit.terms) for unit in message.body] if more else []
    best = max(shares, default=0.0)
    if not best:
        return message.body
    near = {id(unit) for unit, share in zip(message.body, shares, strict=True) if share >= _NEAR * best}
    return [each.unit for each in scored if id(each.unit) in near] or [u for u in message.body if id(u) in near]


def _fitting_words(units: Sequence[Unit], most: int, max_words: int) -> Iterator[Unit]:
    """Yield the first units, at least one, of that many words."""
    words = 0
    for number, unit in enumerate(units[:most]):
        words += len(unit.text.split())
        if number and words > max_words:
            return
        yield unit


def _lines_of(head: Unit) -> Iterator[Unit]:
    """Yield what stands above a mail, without its recipients if these are many."""
    if len(head.text) <= _MAX_HEAD_CHARS:
        yield head
        return
    for match in _LINE.finditer(head.text):
        if match[1].strip().lower() not in _NAMES["to"] and len(match[0]) <= _MAX_HEAD_CHARS:
            start = head.span.start + match.start()
            yield replace(head, span=Span(start, start + len(match[0])), text=match[0])
