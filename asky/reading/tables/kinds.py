"""What kind of value a cell of a table shows: a number, a date, a time, a code, an address, a sign, or words."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import Literal

Kind = Literal["", "number", "date", "time", "code", "address", "flag", "text"]
"""`""` for an empty cell and for one that says that there is nothing."""

NOT_COMPUTED = "(not computed)"
"""What follows a formula that stands for a value which the file does not hold: of which kind, nobody knows."""

_MAX_CHARS = 60  # a longer cell is a text
_SHARE = 0.7  # of the cells of a column that decide on its kind

_SIGNS = "- – — . .. … ? / -- --- n/a na n.a. n/d nd nil null none nan #n/a tbd tba missing unknown k.a. s.o. n.v.t."
_NOTHING = frozenset(_SIGNS.split())
_ANSWERS = "yes no true false y n x ja nein j oui non si sí nee sim não on off ✓ ✔ ✗ ✘ ☑ ☐ ☒"
_FLAGS = frozenset(_ANSWERS.split())
_MONEY = (
    r"[$€£¥₹₽₩₺]|\b(?:EUR|USD|GBP|CHF|SEK|NOK|DKK|JPY|CNY|AUD|CAD|NZD|PLN|CZK|HUF|ISK|INR|BRL|ZAR|kr|Kč|zł|Fr|Rs)\b\.?"
)
_NUMBER = re.compile(
    rf"\(?[<>≤≥≈~±+\-−–]? ?(?:{_MONEY})? ?[+\-−]?\d+(?:[ \u00a0\u202f]\d{{3}})*(?:[.,'’]\d+)*(?:[eE][+-]?\d+)?-?"
    rf"(?: ?(?:%|‰|°[CFK]?|{_MONEY}|[A-Za-zµμΩ]{{1,3}}[²³]?(?:/[A-Za-z]{{1,3}}[²³]?)?))?\)?(?: ?[*†‡])?"
)
_MONTH = (
    r"(?:jan|feb|m[aä]r|apr|ma[iyj]|jun|jul|aug|sep|o[ck]t|nov|de[csz]|janv|févr|avr|juin|juil|août|déc|ene|abr|ago|dic|gen"
    r"|mag|giu|lug|set|ott)"
)
_DATE = re.compile(
    r"(?:[^\W\d_]{2,10}[.,]{0,2} )?(?:"
    r"\d{4}[-/.]\d{1,2}(?:[-/.]\d{1,2})?|\d{1,2}[-/.]\d{1,2}[-/.](?:\d{4}|\d\d)|\d{1,2}/\d{4}|\d{1,2}\.\d{1,2}\."
    rf"|\d{{1,2}}(?:st|nd|rd|th|\.)?[ -](?:de |of )?{_MONTH}[^\W\d_]{{0,8}}\.?(?:,?[ -](?:de )?\d{{2,4}})?"
    rf"|{_MONTH}[^\W\d_]{{0,8}}\.?[ -]\d{{1,2}}(?:st|nd|rd|th)?(?:,? \d{{2,4}})?"
    r")(?:[T ,]+\d{1,2}:\d\d(?::\d\d)?(?:\.\d{1,6})?(?: ?[AaPp]\.?[Mm]\.?)?(?:Z| ?[+-]\d\d:?\d\d| UTC| CET)?)?",
    re.IGNORECASE,
)
_CLOCK = r"\d{1,3}[:.]\d\d(?::\d\d)?(?:[.,]\d{1,3})?(?: ?[ap]\.?m\.?| ?(?:uhr|h))?"
_TIME = re.compile(
    rf"{_CLOCK}(?: ?(?:-|–|to|bis) ?{_CLOCK})?|\d{{1,2}} ?[ap]\.?m\.?|\d{{1,2}} ?[-–] ?\d{{1,2}}"
    r"|P(?=\d|T\d)(?:\d+[YMWD])*(?:T(?:\d+[HMS])+)?|\d+ ?h(?: ?\d+ ?(?:m|min)?\.?)?"
    r"|\d+ ?(?:hrs?|min|sec|days?|hours?)\.?",
    re.IGNORECASE,
)
_ADDRESS = re.compile(r"[^\s@]+@[^\s@]+\.\w+|(?:https?://|www\.)\S+|\+\d[\d ()/-]{6,}")
_CODE = re.compile(r"(?=\D*\d)[\w./#+-]+")
_YEAR = re.compile(r"(?:19|20)\d\d(?:[/–-]\d\d(?:\d\d)?)?")


@lru_cache(maxsize=8_192)
def kind_of(value: str) -> Kind:
    """Return the kind of a cell's text, which is on one line; linear time."""
    if not value or (len(value) < 8 and value.casefold() in _NOTHING):
        return ""
    if value.startswith("=") and value.endswith(NOT_COMPUTED):
        return ""
    if len(value) > _MAX_CHARS:
        return "text"
    if not any(map(str.isdigit, value)):
        if value.casefold() in _FLAGS:
            return "flag"
        return "address" if _ADDRESS.fullmatch(value) else "text"
    if _TIME.fullmatch(value) and not _PLAIN_NUMBER.fullmatch(value):
        return "time"
    if _DATE.fullmatch(value) and not _YEAR.fullmatch(value):
        return "date"
    if _NUMBER.fullmatch(value):
        return "number"
    if _ADDRESS.fullmatch(value):
        return "address"
    return "code" if _CODE.fullmatch(value) else "text"


_PLAIN_NUMBER = re.compile(r"\d{1,3}\.\d\d(?:\.\d{1,3})?|\d{1,3}[.,]\d+")


def is_year(value: str) -> bool:
    """Return whether a value is a year of our time, or two joined: `2024`, `2023/24`."""
    return _YEAR.fullmatch(value) is not None


def kind_of_column(values: Iterable[str]) -> Kind:
    """Return the kind of most of the values of a column; "text" if there is none, "" for no values."""
    counts = Counter(kind for value in values if (kind := kind_of(value)))
    if not counts:
        return ""
    kind, number = counts.most_common(1)[0]
    return kind if number >= _SHARE * counts.total() else "text"


def is_counted(values: Sequence[str]) -> bool:
    """Return whether values are successive whole numbers, at least three: days of a month, hours, rounds."""
    numbers = [int(value) for value in values if value.isdecimal() and len(value) < 5]
    steps = (later - earlier for earlier, later in pairwise(numbers))
    return len(numbers) == len(values) > 2 and all(step == 1 for step in steps)


# Source: The International System of Units (SI Brochure, 9th edition), tables 2 to 8, and what people count by.
_UNITS = frozenset(
    """
    m cm mm km nm µm μm um in ft yd mi nmi kg g mg µg t lb lbs oz l ml cl dl hl gal m2 m² km2 km² ha cm2 cm² m3 m³
    cm3 cm³ s sec min h hr hrs ms d day days week weeks month months year years yr a w kw mw gw wh kwh mwh gwh j kj
    mj cal kcal v kv mv ma n kn pa hpa kpa mpa bar mbar psi k c f °c °f °k ° deg degc hz khz mhz ghz db lx lm cd mol
    mmol mol/l mmol/l mg/l g/l kg/m3 kg/m² m/s km/h mph knots kts rpm ppm ppb % ‰ pct percent pcs pc pieces piece
    stk units unit no. no nr count eur euro euros usd gbp chf sek nok dkk jpy € $ £ ¥ kr t€ m€ k€ mio bn b kb mb gb
    tb kib mib gib hours hour minutes seconds metres meters tonnes tons litres liters - – — text string int integer
    float double date datetime bool boolean varchar number
    """.split()  # noqa: SIM905 - a list literal of a hundred quoted words is harder to read and to change
)
_IN_BRACKETS = re.compile(r"[\[(]([^\])]{1,20})[\])]")


def unit_of(value: str) -> str | None:
    """Return the unit that a cell consists of, without brackets; `None` if it is anything else."""
    inner = _IN_BRACKETS.fullmatch(value)
    unit = (inner[1] if inner else value).strip()
    return unit if inner or unit.casefold() in _UNITS else None
