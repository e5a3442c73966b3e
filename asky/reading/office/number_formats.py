"""Number formats of workbooks: a value as its format shows it, and dates as ISO dates.

Sources: ECMA-376 part 1, 18.8.30 (built-in formats) and 18.8.31 (codes); Microsoft, "Number format codes" (support.
microsoft.com) for conditions, fractions and scaling. Signs of decimals and thousands are those of English.

A date is as precise as its format: `2026-03-02`, `2026-03`, `2026`; what the order of day and month, two digits of a
year or the settings of a computer would make of it, plays no part. Times and durations stand as the format has them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from asky.reading.office.dates_of_formats import DateCode
from asky.reading.office.digits import Digits, general

_MAX_CODE = 1_000  # characters; Excel allows 255
_TOKEN = re.compile(
    r"""
    "(?P<quoted>[^"]*)"? | \\(?P<escaped>.) | (?P<space>_.) | (?P<fill>\*.)
    | \[\$(?P<currency>[^\]-]*)(?:-(?P<locale>[^\]]*))?\]
    | \[(?P<elapsed>h+|m+|s+)\](?P<parts>(?<=s\])\.0+)?
    | \[(?P<condition>(?:<=|>=|<>|<|>|=)\s?-?\d{1,20}(?:\.\d{1,20})?(?:E[+-]?\d{1,3})?)\]
    | \[[^\]]*\]
    | (?P<general>General|Standard)
    | (?P<half>AM/PM|A/P)
    | (?P<date>y+|m+|d+|h+|s+(?:\.0+)?|e+(?![+-])|g+|b+|a{3,4}(?!\w))
    | (?P<power>E[+-])
    | (?P<digit>[0\#?])
    | (?P<sign>[.,%/@])
    | (?P<literal>.)
    """,
    re.VERBOSE | re.IGNORECASE | re.DOTALL,
)
_NOTHING = "0.,-%"
"""What a number that is rounded to nothing consists of: it has no sign then."""
_TESTS: dict[str, Callable[[float, float], bool]] = {
    "<": lambda value, limit: value < limit,
    "<=": lambda value, limit: value <= limit,
    ">": lambda value, limit: value > limit,
    ">=": lambda value, limit: value >= limit,
    "=": lambda value, limit: value == limit,
    "<>": lambda value, limit: value != limit,
}
_ACCOUNT = '_-* #,##0{0}_-;-* #,##0{0}_-;_-* "-"_-;_-@_-'
_BUILT_IN = {
    0: "General",
    1: "0",
    2: "0.00",
    3: "#,##0",
    4: "#,##0.00",
    5: "$#,##0;-$#,##0",
    6: "$#,##0;-$#,##0",
    7: "$#,##0.00;-$#,##0.00",
    8: "$#,##0.00;-$#,##0.00",
    9: "0%",
    10: "0.00%",
    11: "0.00E+00",
    12: "# ?/?",
    13: "# ??/??",
    14: "m/d/yyyy",
    15: "d-mmm-yy",
    16: "d-mmm",
    17: "mmm-yy",
    18: "h:mm AM/PM",
    19: "h:mm:ss AM/PM",
    20: "h:mm",
    21: "h:mm:ss",
    22: "m/d/yyyy h:mm",
    37: "#,##0;-#,##0",
    38: "#,##0;-#,##0",
    39: "#,##0.00;-#,##0.00",
    40: "#,##0.00;-#,##0.00",
    41: _ACCOUNT.format(""),
    42: _ACCOUNT.format(""),
    43: _ACCOUNT.format(".00"),
    44: _ACCOUNT.format(".00"),
    45: "mm:ss",
    46: "[h]:mm:ss",
    47: "mm:ss.0",
    48: "##0.0E+0",
    49: "@",
    # Dates and times of East Asia, whose codes depend on the language.
    **dict.fromkeys([*range(27, 32), 36, *range(50, 55), 57, 58], "yyyy-mm-dd"),
    **dict.fromkeys([32, 34, 55], "h:mm"),
    **dict.fromkeys([33, 35, 56], "h:mm:ss"),
}


def built_in(number: int) -> str:
    """Return the code of a format that files refer to by number alone; `General` for one that is not known."""
    return _BUILT_IN.get(number, "General")


@dataclass(frozen=True, slots=True)
class _Section:
    """A part of a code between semicolons, for the values that fulfil `test`; `show` gets their amount."""

    show: Callable[[float], str]
    test: Callable[[float], bool] | None = None
    drops_sign: bool = False  # of its condition: it holds for negative values alone
    text: tuple[str, str] | None = None  # what stands around the text that `@` shows
    is_date: bool = False


class NumberFormat:
    """A compiled format code."""

    def __init__(self, code: str, *, since_1904: bool = False) -> None:
        self._sections = [_section(tokens, since_1904) for tokens in _split(code[:_MAX_CODE])][:4]
        plain = [each for each in self._sections if each.text is None]
        last = self._sections[-1]
        self._text = last.text if len(self._sections) == 4 or last.text is not None else ("", "")
        self._hides_text = len(self._sections) == 4 and last.text is None
        self._numbers = (plain or [_Section(general)])[:3]
        self.is_date = any(each.is_date for each in self._numbers)
        self._has_tests = any(each.test is not None for each in self._numbers)

    def number(self, value: float) -> str:
        """Return a number as it is shown; "" where the format hides it."""
        section, drops_sign = self._choose(value)
        if section.is_date:
            return section.show(value)
        shown = section.show(abs(value))
        has_sign = value < 0 and not drops_sign and shown.strip(_NOTHING)
        return f"-{shown}" if has_sign else shown

    def text(self, text: str) -> str:
        """Return a text as it is shown, with what the format puts around it."""
        if self._hides_text or self._text is None:
            return ""
        before, after = self._text
        return f"{before}{text}{after}" if before or after else text

    def _choose(self, value: float) -> tuple[_Section, bool]:
        sections = self._numbers
        if self._has_tests:
            for each in sections:
                if each.test is None or each.test(value):
                    return each, each.drops_sign or (each.test is None and value < 0 and len(sections) == 2)
            return _Section(general), False
        if value < 0 and len(sections) > 1:
            return sections[1], True
        return sections[2 if value == 0 and len(sections) > 2 else 0], False


@lru_cache(maxsize=1_024)
def number_format(code: str, *, since_1904: bool = False) -> NumberFormat:
    """Return the compiled format of a code, for the date system of 1900 or of 1904."""
    return NumberFormat(code, since_1904=since_1904)


def shown_number(value: float, code: str, *, since_1904: bool = False) -> str:
    """Return a number as the format `code` shows it."""
    return number_format(code, since_1904=since_1904).number(value)


Token = tuple[str, str]
"""The kind of a sign in a code, and its text."""


def _split(code: str) -> list[list[Token]]:
    """Return the signs of each section of a code."""
    sections: list[list[Token]] = [[]]
    for match in _TOKEN.finditer(code):
        kind = match.lastgroup or "note"
        text = match[kind] if match.lastgroup else ""
        if kind == "literal" and text == ";":
            sections.append([])
        elif kind in ("currency", "locale"):
            sections[-1] += [("literal", match["currency"]), ("locale", match["locale"] or "")]
        elif kind in ("elapsed", "parts"):
            sections[-1].append(("elapsed", match["elapsed"] + (match["parts"] or "")))
        elif kind in ("quoted", "escaped", "space"):
            sections[-1].append(("literal", " " if kind == "space" else text))
        elif kind not in ("note", "fill"):
            sections[-1].append((kind, text))
    return sections


def _section(tokens: Sequence[Token], since_1904: bool) -> _Section:
    kinds = {kind for kind, _ in tokens}
    condition = next((text for kind, text in tokens if kind == "condition"), "")
    test, drops_sign = _test(condition)
    if ("sign", "@") in tokens:
        at = tokens.index(("sign", "@"))
        around = (_literals(tokens[:at]), _literals(tokens[at + 1 :]))
        return _Section(general, test, drops_sign, text=around)
    if kinds & {"date", "elapsed"}:
        return _Section(DateCode(tokens, since_1904=since_1904).show, test, is_date=True)
    if "general" in kinds:
        at = next(number for number, (kind, _) in enumerate(tokens) if kind == "general")
        before, after = _literals(tokens[:at]), _literals(tokens[at + 1 :])
        return _Section(lambda value: f"{before}{general(value)}{after}", test, drops_sign)
    if "digit" not in kinds:
        whole = _literals(tokens)
        return _Section(lambda _: whole, test, drops_sign)
    return _Section(Digits(tokens).show, test, drops_sign)


def _test(condition: str) -> tuple[Callable[[float], bool] | None, bool]:
    sign = condition.rstrip("0123456789.-+Ee ")
    if not sign:
        return None, False
    limit, compare = float(condition[len(sign) :]), _TESTS[sign]
    return (lambda value: compare(value, limit)), (sign in ("<", "<=", "=") and limit < 0) or (
        sign == "<" and not limit
    )


def _literals(tokens: Sequence[Token]) -> str:
    return "".join(text for kind, text in tokens if kind in ("literal", "sign"))
