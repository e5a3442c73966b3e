"""The authors of a paper, read from the lines below its title."""

from __future__ import annotations

import re
from collections.abc import Sequence

from asky.reading.pages.letters import compose_accents
from asky.reading.pages.lines import Line, PageLines
from asky.reading.pages.paragraphs import KNOWN_HEADING

_SEPARATORS = re.compile(r"[;,•·|&]|\s{3,}|\band\b|\bAND\b|\bwith\b")
_MARKS = re.compile(r"[\d*∗⋆†‡§¶∥♯#⊥✉�]+|\([^)]*\)|\[[^\]]*\]")
_EMAIL = re.compile(r"\{[^}]*\}\s*@\S+|\S+@\S+|https?://\S+|\S+\.(?:edu|com|org)\b")
_BY = re.compile(r"^(?:by|authors?\s*:)\s+", re.IGNORECASE)
_PARTICLE = r"(?:van|von|der|den|de|del|della|di|da|dos|du|la|le|el|al|bin|ibn|ten|ter|zu|st\.?)"
_WORD = r"(?:[A-ZÀ-ÖØ-ÞŁŚŠŽČĆĐ][\w’'´`¨˜ˆ-]*\.?|[A-Z]\.(?:-?[A-Z]\.)*|d’\w+|'t)"
_NAME = re.compile(
    rf"(?:{_PARTICLE}\s+)*{_WORD}(?:\s+(?:{_PARTICLE}\s+)*{_WORD}){{1,4}}(?:,?\s+(?:Jr|Sr|I{{2,3}})\.?)?"
)
_NO_NAME = re.compile(
    r"\b(?:universit|institut|departe?ment|dept|college|school|laborator|facult|center|centre|research|google|facebook"
    r"|microsoft|deepmind|openai|nvidia|academy|hospital|division|group|inc\b|ltd\b|gmbh|corp|foundation|agency|council"
    r"|observator|physics|mathematics|science|engineering|technolog|studies|street|road|avenue|box\b|usa\b|u\.s\.|united"
    r"|kingdom|china|germany|france|japan|italy|canada|india|spain|california|new york|new jersey|massachusetts|ecole"
    r"|école|dipartimento|departamento|collaboration|member|fellow|ieee|abstract|keywords|corresponding|email|e-mail"
    r"|equal|contribution|draft|version|proceedings|journal|conference|workshop|track|volume|dated|hong kong|san \w+$"
    r"|los angeles|south \w+$|north \w+$|statistics|computing|computer|systems|learning|network|health|innovation"
    r"|software|review|repository|archive|editor|reviewers?|license|published|submitted|authors?|warning|open)",
    re.IGNORECASE,
)
_STOP = re.compile(
    r"(?:\d{1,2}|[IVX]+)?\.?\s*(?:abstract|summary|introduction|keywords?|index terms|contents)\b"
    r"|(?:abstract|summary)[.:—–-]",
    re.IGNORECASE,
)
_MAX_LINES = 60
_MAX_LINE_CHARS = 400
_PROSE_WORDS = 8
_NO_AUTHOR = re.compile(r"user|admin|root|unknown|owner|author|microsoft|latex|scanner|anonymous|\bdell\b|\bhp\b", re.I)
_MAX_FILE_CHARS = 2000


def authors_below(page: PageLines, title: Sequence[Line]) -> list[str]:
    """Return the names on the lines below the title, in order, without marks, addresses and affiliations.

    Names end at the abstract, a heading or prose. Only lines in the type of the first names count: affiliations are
    smaller, or hold words that names do not.
    """
    lower = max(line.base for line in title)
    below = [line for line in page.upright if line.base > lower + 2 and line not in title]
    parts: list[str] = []
    style: tuple[float, bool] | None = None
    wrapped = False
    for line in sorted(below[:_MAX_LINES], key=lambda each: (round(each.base / 3), each.x0)):
        text = line.text.strip()
        if len(text) > _MAX_LINE_CHARS or _STOP.match(text) or KNOWN_HEADING.fullmatch(text) or _is_prose(text):
            break
        if style is not None and (abs(style[0] - line.size) > 0.03 * line.size or style[1] != line.bold):
            continue
        here = _parts(line)
        if not here or not _are_names(here, wrapped):
            wrapped = False
            continue
        style = style or (line.size, line.bold)
        if wrapped:
            parts[-1:] = [f"{parts[-1]} {here[0]}"]
            here = here[1:]
        parts += here
        wrapped = text[-1].isalnum() or text[-1] == "." if _is_begun(parts[-1]) else False
    return list(dict.fromkeys(_cased(part) for part in parts if _NAME.fullmatch(part)))


def authors_of_file(given: str, printed: Sequence[str], text: str) -> list[str]:
    """Return the authors that the file names if the first page bears them out or names none, else the printed ones."""
    given = " ".join(given[:_MAX_FILE_CHARS].split())
    if not given or _NO_AUTHOR.search(given):
        return list(printed)
    split = re.split(r"\s*;\s*|\s+and\s+|\s+&\s+", given)
    names = [part.strip() for part in split]
    if len(names) == 1 and given.count(",") and all(" " in part.strip() for part in given.split(",")):
        names = [part.strip() for part in given.split(",")]
    names = [name for name in names if name]
    if not printed:
        return names
    shown = text.casefold()
    borne_out = all(name.split(",")[0].split()[-1].casefold() in shown for name in names)
    return names if borne_out and len(names) >= len(printed) else list(printed)


def _is_prose(text: str) -> bool:
    words = text.split()
    small = sum(word[0].islower() and len(word) > 1 for word in words)
    return len(words) >= _PROSE_WORDS and small > 0.5 * len(words) and not _EMAIL.search(text)


def _parts(line: Line) -> list[str]:
    """Return what stands between commas, marks and the word and."""
    text, end, pieces = line.text, 0, []
    for start, stop in line.raised:
        pieces += [text[end:start], ";"]
        end = stop
    plain = _EMAIL.sub(";", compose_accents("".join([*pieces, text[end:]])))
    plain = _BY.sub("", _MARKS.sub(";", plain).strip())
    found = [" ".join(part.split()).strip(" .:-–—") for part in _SEPARATORS.split(plain)]
    return [f"{part}." if re.search(r"\b[A-Z]$", part) and "." in part else part for part in found if len(part) > 1]


def _are_names(parts: Sequence[str], wrapped: bool) -> bool:
    foreign = sum(_NO_NAME.search(part) is not None for part in parts)
    names = wrapped + sum(_NAME.fullmatch(part) is not None and _NO_NAME.search(part) is None for part in parts)
    if foreign and (names < 2 or foreign > 1):
        return False
    begun = _is_begun(parts[-1])
    return names > 0 and names + begun >= 0.6 * len(parts)


def _is_begun(part: str) -> bool:
    """Return whether a name may go on in the next line: it is one word, or ends in an initial."""
    return re.fullmatch(rf"{_WORD}|.*\b[A-Z]\.?", part) is not None


def _cased(name: str) -> str:
    """Return a name in capitals with only its first letters large."""
    return re.sub(r"[^\W\d_]+", lambda match: match[0].capitalize(), name) if name.isupper() else name
