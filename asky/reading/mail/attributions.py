"""Who wrote what a mail quotes: the line above a quote, and the header lines of a mail that is passed on in the text.

Mail programs write such lines in the language of their user, so what decides is their form: a verb of writing, a date
and an address, with a colon at the end; or three fields below each other, one of which names the sender.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from asky.reading.mail.headers import MONTHS, day_of, time_of

_MAX_CHARS = 400  # of an attribution, which may be wrapped
_VERB = re.compile(
    r"\b(?:wrote|writes|quoting|zitat von|citando|said|says|schrieb|schreibt|a écrit|écrit|escribió|escribio"
    r"|ha scritto|scrisse|schreef|escreveu"
    r"|skrev|skrifaði|kirjoitti|pisze|napisała?|napsala?|írta|a scris|yazdı|пишет|писала?|написала?|έγραψε|写道|寫道)\b"
    r"|さん(?:は|が)?書きました|のメール|님이 작성",
    re.IGNORECASE,
)
_ADDRESS = re.compile(r"[<\[(]*(?:mailto:)?([\w.+%'-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,8})[>\])]*")
_DATE = re.compile(
    r"\d{4}年\s?\d{1,2}月\s?\d{1,2}日|\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,2}[-/.]\s?\d{1,2}[-/.]\s?\d{2,4}"
    r"|\d{1,2}(?:\.|st|nd|rd|th)?\s(?:de\s)?[^\W\d_]{3,12}\.?,?(?:\sde)?\s\d{4}"
    r"|[^\W\d_]{3,12}\.?\s\d{1,2}(?:st|nd|rd|th)?,?\s\d{4}"
)
_TIME = re.compile(
    r"\b\d{1,2}[:.h]\d\d(?:[:.]\d\d)?(?:\s?[AaPp]\.?[Mm]\b\.?)?(?:\s?(?:Uhr|(?:GMT|UTC)?[+-]\d\d:?\d\d|[A-Z]{3,4}\b))*"
)
_OPENERS = frozenset(
    "on am le el il op em den dne w dnia il giorno at um à alle ore a las om às kl klo uhr by von from".split()  # noqa: SIM905
)
_WEEKDAY = re.compile(r"[^\W\d_]{2,12}[.,]*(?=\s*\Z)")
_PRONOUNS = frozenset({"you", "i", "he", "she", "they", "du", "sie", "ich", "er", "tu", "vous", "il", "elle"})
_CLOSED = (":", "：", "写道", "寫道")

_ENGLISH = tuple(month[:3] for month in MONTHS)

_LABELS = {
    "from": "from von de da van fra från od от 发件人 寄件者 差出人 보낸사람",
    "date": "date sent gesendet datum envoyé enviado fecha data inviato verzonden sendt dato skickat дата отправлено"
    " 发送时间 寄件日期 送信日時 日付 日期 날짜 wysłano",
    "to": "to an à para pour aan til till a do кому 收件人 宛先 받는사람",
    "subject": "subject betreff objet asunto assunto oggetto onderwerp emne ämne temat тема 主题 主旨 件名 제목",
    "": "cc bcc kopie copie cópia copia reply-to antwort importance priority attachments anlagen organization"
    " newsgroups importanza wichtigkeit 抄送 копия",
}
_FIELDS = {label: name for name, labels in _LABELS.items() for label in labels.split()}
_FIELD = re.compile(r"[*_]{0,2}([^\W\d_][\w -]{0,18}?)[ \t]?[*_]{0,2}[:：][*_]{0,2}[ \t\xa0|]*(\S[^\n]*)?$")
_RULE = re.compile(r"[-_=*#\s]{3,}")
_FORWARDED = re.compile(
    r"forward|weitergeleitet|transf[ée]r|reenvia|encaminhad|inoltrat|doorgestuurd|videresend|vidarebeford|пересла"
    r"|przekazan|転送|转发|轉寄",
    re.IGNORECASE,
)
_BEGIN = re.compile(
    r"[-_*=>\s]{2,}[^\W\d_][\w'’ ]{3,58}[-_*=\s]{2,}$|Begin forwarded message:?$"
    r"|Anfang der weitergeleiteten (?:Nachricht|E-Mail):?$|Début du (?:message réexpédié|message transféré)\s?:?$"
    r"|Inizio messaggio inoltrato:?$",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Authorship:
    """Who wrote a text, and when in words; "" for what is not known."""

    who: str = ""
    when: str = ""
    is_forwarded: bool = False

    @property
    def label(self) -> str:
        """Return what a quote of it is named: `Quoted from Ada Byrne, 2 March 2026`."""
        named = ", ".join(filter(None, (self.who, self.when)))
        verb = "Forwarded" if self.is_forwarded else "Quoted"
        return f"{verb} from {named}" if named else f"{verb} message"


def attribution(text: str) -> Authorship | None:
    """Return who wrote the quote that follows a line such as `On Tue, 3 Mar 2026, Ada <ada@x.org> wrote:`.

    `None` if it is no such line.
    """
    text = " ".join(text.split())
    if not text or len(text) > _MAX_CHARS or not text.endswith(_CLOSED):
        return None
    verb, address, date = _VERB.search(text), _ADDRESS.search(text), _DATE.search(text)
    if verb is None and not (address and date):
        return None
    if verb and not address and not date and len(text.split()) > 6:
        return None
    name = _name(text, verb, address, date)
    if not name and address is None:
        return None
    return Authorship(name or (address[1] if address else ""), day(date[0]) if date else "")


def is_certain(text: str) -> bool:
    """Return whether an attribution says so much that what follows is a quote even if nothing marks it."""
    return all(pattern.search(text) for pattern in (_VERB, _ADDRESS, _DATE))


def day(written: str) -> str:
    """Return a date as `2 March 2026`, or as it is written if its language or order is not known."""
    iso = re.fullmatch(r"(\d{4})[-/.年]\s?(\d{1,2})[-/.月]\s?(\d{1,2})日?", written)
    german = re.fullmatch(r"(\d{1,2})\.\s?(\d{1,2})\.\s?(\d{4})", written)
    numbers = iso.groups() if iso else german.groups()[::-1] if german else None
    if numbers:
        written = f"{int(numbers[2])} {_month(int(numbers[1]))} {numbers[0]}"
    american = re.fullmatch(r"([^\W\d_]+)\.?\s(\d{1,2})\w*,?\s(\d{4})", written)
    time = time_of(f"{american[2]} {american[1][:3]} {american[3]} 00:00" if american else f"{_short(written)} 00:00")
    return day_of(time) if time else written


def _month(number: int) -> str:
    return _ENGLISH[number - 1] if 0 < number <= len(_ENGLISH) else "?"


def _short(written: str) -> str:
    """Return `2 Mar 2026` of `2nd March 2026`."""
    words = re.fullmatch(r"(\d{1,2})(?:\.|st|nd|rd|th)?\s(?:de\s)?([A-Za-z]{3,9})\.?,?(?:\sde)?\s(\d{4})", written)
    return f"{words[1]} {words[2][:3]} {words[3]}" if words and words[2][:3].title() in _ENGLISH else written


def _name(text: str, verb: re.Match[str] | None, address: re.Match[str] | None, date: re.Match[str] | None) -> str:
    """Return the name in an attribution: before the address, after the verb, or before it."""
    if address:
        part = text[verb.end() if verb and verb.end() <= address.start() else 0 : address.start()]
        quoted = re.search(r"[\"“]([^\"”]{1,80})[\"”]\s*$", part)
        if quoted:
            return quoted[1].strip()
        if name := _cleaned(part):
            return name
    if verb:
        after = _cleaned(_ADDRESS.sub(" ", text[verb.end() :]).rstrip(" :："))
        return after or _cleaned(_ADDRESS.sub(" ", text[: verb.start()]))
    return _cleaned(_ADDRESS.sub(" ", text[date.end() :])) if date else ""


def _cleaned(part: str) -> str:
    """Return a name without dates, times and the words around it."""
    part = _TIME.sub(",", _DATE.sub(",", part))
    pieces = [piece.strip(" \t\"'“”<>()[]:：-") for piece in part.split(",")]
    words = next((piece for piece in reversed(pieces) if piece), "").split()
    while words and (words[0].lower().strip(".,") in _OPENERS or (not words[0][0].isalpha() and len(words) > 1)):
        del words[0]
    while words and words[-1].lower() in _OPENERS:
        del words[-1]
    name = " ".join(words)
    if name.lower() in _PRONOUNS:
        return ""
    return name if name and not any(character.isdigit() for character in name) and len(words) < 8 else ""


@dataclass(frozen=True, slots=True)
class HeadBlock:
    """The header lines of a mail within a text: where they begin and end, and who wrote what follows."""

    begin: int
    end: int
    lines: tuple[str, ...]
    origin: Authorship


def field_of(line: str) -> tuple[str, str] | None:
    """Return the kind and value of a header line, `("from", "Ada")`; `None` for any other line."""
    if ":" not in line[:24] and "：" not in line[:24]:
        return None
    found = _FIELD.fullmatch(line.strip())
    if found is None:
        return None
    label = found[1].strip().lower().replace(" ", "")
    kind = _FIELDS.get(label, _FIELDS.get(found[1].strip().lower().partition(" ")[0]))
    return None if kind is None else (kind, (found[2] or "").strip())


def head_block(lines: Sequence[str], at: int) -> HeadBlock | None:
    """Return the header lines that begin at `at` in the lines of a text, with a line above that announces them.

    One empty line may stand between two of them, and the recipients may be wrapped.
    """
    begin, forwarded = at, False
    if is_beginning(lines[at]):
        forwarded = _FORWARDED.search(lines[at]) is not None
        at = _next_said(lines, at + 1)
    first = field_of(lines[at]) if at < len(lines) else None
    if first is None or first[0] == "":
        return None
    found: dict[str, str] = {}
    shown: list[str] = []
    end = number = at
    while number < len(lines) and len(shown) < 12:
        each = field_of(lines[number])
        if each is not None:
            found.setdefault(each[0], each[1])
            shown.append(" ".join(lines[number].replace("*", "").split()).replace(": |", ":"))
            number = end = number + 1
        elif not lines[number].strip() and number + 1 < len(lines) and field_of(lines[number + 1]) and len(found) < 4:
            number += 1
        elif shown and _is_continued(lines, number):
            shown[-1] += f" {lines[number].strip()}"
            number = end = number + 1
        else:
            break
    is_announced = begin != at or "subject" in found or "@" in found.get("from", "")  # not the legs of a journey
    if not found.get("from") or len(found) < 3 or not is_announced or _is_set_in(lines, at, end):
        return None
    return HeadBlock(
        begin, end, tuple(shown), Authorship(sender_of(found["from"]), _when(found.get("date", "")), forwarded)
    )


def _is_set_in(lines: Sequence[str], begin: int, end: int) -> bool:
    """Return whether header lines are only cited in a text that goes on: they are indented, and it is not."""
    below = _next_said(lines, end)
    return lines[begin][:1].isspace() and below < len(lines) and not lines[below][:1].isspace()


def _is_continued(lines: Sequence[str], at: int) -> bool:
    """Return whether a line within header lines goes on with the recipients of the one above."""
    below = lines[at + 1] if at + 1 < len(lines) else ""
    return "@" in lines[at] and (not below.strip() or field_of(below) is not None)


def may_begin_quote(line: str) -> bool:
    """Return whether a line that nothing marks as quoted may begin the header lines of a mail, or name an author."""
    if "@" in line and line.rstrip().endswith(_CLOSED):
        return True
    return (":" in line[:24] or "：" in line[:24]) and field_of(line) is not None


def is_beginning(line: str) -> bool:
    """Return whether a line announces a mail in the text: `---------- Forwarded message ---------`."""
    line = line.strip()
    return len(line) < 100 and line[:1] in "-_*=BADI" and _BEGIN.match(line) is not None


def is_rule(line: str) -> bool:
    """Return whether a line only parts what is above from what is below."""
    return _RULE.fullmatch(line) is not None


def sender_of(value: str) -> str:
    """Return the name in a field such as `Ada Byrne <ada@x.org>`, else the address."""
    address = _ADDRESS.search(value)
    name = _ADDRESS.sub(" ", value)
    name = " ".join(name.replace('"', " ").replace("'", " ").split()).strip(" ;,<>[]()")
    return name or (address[1] if address else "")


def _when(value: str) -> str:
    time = time_of(value)
    if time:
        return day_of(time)
    date = _DATE.search(value)
    return day(date[0]) if date else ""


def _next_said(lines: Sequence[str], at: int) -> int:
    while at < len(lines) and not lines[at].strip():
        at += 1
    return at
