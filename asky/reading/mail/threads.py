"""The mails of one file: what each is called, and which quotes are of a mail that is there itself."""

from __future__ import annotations

import re
from collections import Counter, OrderedDict
from collections.abc import Sequence

from asky.reading.mail.headers import day_of
from asky.reading.mail.quotes import MailPassage
from asky.reading.mail.values import Mail

_WORD = re.compile(r"\w+")
_PREFIXES = re.compile(r"^(?:\s*(?:re|fwd?|aw|wg|sv|vs|tr|rv|antw|odp|doorst)(?:\[\d+\])?\s*[:：])+\s*", re.IGNORECASE)
_SHINGLE = 4  # words
# Of a quote, a program may leave out a signature and break addresses; it shares hardly any four words with other mails.
_SHARE = 0.75
_ANSWERED = 10  # mails before an answer that it may quote
_KEPT = 64  # mails whose words are kept in memory


def subject_key(subject: str) -> str:
    """Return a subject without the signs of an answer or of forwarding."""
    return " ".join(_PREFIXES.sub("", subject).lower().split())


def headings(mails: Sequence[Mail]) -> list[str]:
    """Return what each mail is called: its subject, in a mailbox with its sender and date, and if need be the time."""
    if len(mails) == 1:
        return [mails[0].subject or "(no subject)"]
    names = [_told_apart(mail, with_time=False) for mail in mails]
    counts = Counter(names)
    return [
        name if counts[name] == 1 else _told_apart(mail, with_time=True)
        for name, mail in zip(names, mails, strict=True)
    ]


def _told_apart(mail: Mail, *, with_time: bool) -> str:
    day = day_of(mail.time) + (f", {mail.time:%H:%M}" if with_time else "") if mail.time else ""
    beside = ", ".join(filter(None, (mail.sender, day)))
    subject = mail.subject or "(no subject)"
    return f"{subject} ({beside})" if beside else subject


def join_threads(mails: Sequence[Mail]) -> None:
    """Set the threads of the mails of one file to those of the first mail of each, and the topics to its subject.

    A mail may state only which one it answers, and that one another.
    """
    by_id = {mail.identity: mail for mail in mails if mail.identity}
    roots: dict[int, Mail] = {}
    for mail in mails:
        path = [mail]
        while id(path[-1]) not in roots:
            before = by_id.get(path[-1].thread)
            if before is None or any(before is each for each in path[-2:]):
                roots[id(path[-1])] = path[-1]
            elif len(path) > len(mails):  # a circle
                roots[id(path[-1])] = mail
            else:
                path.append(before)
        root = roots[id(path[-1])]
        roots.update((id(each), root) for each in path)
    for mail in mails:
        root = roots[id(mail)]
        if root is not mail:
            mail.thread = root.thread or root.identity
            mail.topic = root.subject or mail.topic


class Threads:
    """Finds the mail of a file that a passage of another quotes."""

    def __init__(self, mails: Sequence[Mail]) -> None:
        self._by_id = {mail.identity: mail for mail in mails if mail.identity}
        self._before: dict[int, list[Mail]] = {}  # for those that do not say what they answer: the same subject
        self._words: OrderedDict[int, tuple[str, frozenset[int]]] = OrderedDict()
        subjects: dict[str, list[Mail]] = {}
        for mail in mails if len(mails) > 1 else ():
            same = subjects.setdefault(subject_key(mail.subject), [])
            self._before[id(mail)] = same[-_ANSWERED:]
            same.append(mail)

    def quoted(self, mail: Mail, passage: MailPassage) -> Mail | None:
        """Return the mail whose own words a passage of `mail` repeats; `None` if it is not in the file."""
        if not self._before:
            return None
        answered = [self._by_id[each] for each in mail.answers[:_ANSWERED] if each in self._by_id]
        others = [each for each in self._before.get(id(mail), []) if each not in answered]
        words = _words_of(passage)
        if not words:
            return None
        wanted = _shingles(words)
        said = " ".join(words)
        covered: set[int] = set()
        best, most = None, 0
        for each in (*answered, *others):
            if each is mail:
                continue
            text, held = self._words_in(each)
            if len(words) < _SHINGLE:
                if f" {said} " in text:
                    return each
                continue
            found = wanted & held
            covered |= found
            if len(found) > most:
                best, most = each, len(found)
        return best if best is not None and len(covered) >= _SHARE * len(wanted) else None

    def _words_in(self, mail: Mail) -> tuple[str, frozenset[int]]:
        """Return a mail's own words, joined, and in groups of four."""
        known = self._words.pop(id(mail), None)
        if known is None:
            own = [passage for text in mail.texts() for passage in text.passages if passage.origin is None]
            words = [word for passage in own for word in _words_of(passage)]
            known = f" {' '.join(words)} ", frozenset(_shingles(words))
            if len(self._words) >= _KEPT:
                self._words.popitem(last=False)
        self._words[id(mail)] = known
        return known


def _words_of(passage: MailPassage) -> list[str]:
    cells = (cell.text for line in passage.lines for row in line.rows for cell in row)
    return _WORD.findall(" ".join([passage.text(), *cells]).lower())


def _shingles(words: Sequence[str]) -> set[int]:
    return {hash(tuple(words[at : at + _SHINGLE])) for at in range(max(0, len(words) - _SHINGLE + 1))}
