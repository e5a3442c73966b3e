"""Numbers by the digits of a format code: decimals, thousands, per cent, powers of ten, fractions."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import ROUND_HALF_UP, Context, Decimal
from fractions import Fraction

_EXACT = 1e15  # the digits that workbooks keep
_MOST = 1e21  # beyond it all digits but 15 are zeros
_MAX_PLACES = 30  # of the decimals that Excel shows
_GENERAL_CHARS = 11  # of a number without a format, its point included
_ROUNDED = Context(prec=400, rounding=ROUND_HALF_UP)


def general(value: float) -> str:
    """Return a number without a format: integers whole up to 15 digits, others in 11 characters like Excel.

    Excel shows integers of 12 digits and more by their power of ten; the digits of an article's number are kept here.
    """
    if value != value or value in (float("inf"), float("-inf")):
        return str(value)
    amount = abs(value)
    if value == int(value) and amount < _EXACT:
        return str(int(value))
    if 1e-4 <= amount < 1e11:
        places = _GENERAL_CHARS - 1 - len(str(int(amount)))
        text = f"{amount:.{max(places, 0)}f}"
        text = text.rstrip("0").rstrip(".") if "." in text else text
    else:
        text = f"{Decimal(f'{amount:.15g}').normalize():f}"
        if len(text) > _GENERAL_CHARS or amount >= _EXACT:
            digits, _, power = f"{amount:.14e}".partition("e")
            digits = digits if amount >= _EXACT else f"{float(digits):.5f}"
            text = f"{digits.rstrip('0').rstrip('.')}E{power[0]}{power[1:].lstrip('0').rjust(2, '0')}"
    return f"-{text}" if value < 0 else text


def _exact(value: float) -> Decimal:
    """Return the number that is meant: workbooks keep 15 digits, and the others are noise of the binary form."""
    return Decimal(f"{value:.15g}")


class Digits:
    """The section of a code that has places for digits, as tokens of kinds `digit`, `sign`, `power` and `literal`."""

    def __init__(self, tokens: Sequence[tuple[str, str]]) -> None:
        tokens = [(kind, text) for kind, text in tokens if kind in ("digit", "sign", "power", "literal")]
        places = [number for number, (kind, _) in enumerate(tokens) if kind == "digit"]
        self._before = _text(tokens[: places[0]])
        self._scale = 2 * sum(token == ("sign", "%") for token in tokens)
        self._tokens = tokens
        self._power = next((number for number, (kind, _) in enumerate(tokens) if kind == "power"), None)
        slash = [number for number, token in enumerate(tokens) if token == ("sign", "/")]
        self._slash = slash[0] if slash and places[0] < slash[0] and self._power is None else None
        point = next((n for n, token in enumerate(tokens) if token == ("sign", ".") and n >= places[0] - 1), None)
        after = _text(tokens[places[-1] + 1 :])
        self._after = after.lstrip(",")
        last_whole = max((n for n in places if point is None or n < point), default=places[0])
        if point is not None and point < places[0]:
            self._before = _text(tokens[:point])
        whole = [] if point is not None and point < places[0] else tokens[places[0] : last_whole + 1]
        scaled = tokens[last_whole + 1 : point] if point is not None else tokens[places[-1] + 1 :]
        for token in scaled if whole else ():
            if token != ("sign", ","):
                break
            self._scale -= 3
        after_point = tokens[point + 1 : places[-1] + 1] if point is not None else []
        if point is not None:  # `0.0,` scales as well
            for token in tokens[places[-1] + 1 :]:
                if token != ("sign", ","):
                    break
                self._scale -= 3
        self._groups = ("sign", ",") in whole
        self._whole = [token for token in whole if token != ("sign", ",")]
        self._decimals = after_point
        self._places = min(sum(kind == "digit" for kind, _ in after_point), _MAX_PLACES)
        self._least = sum(text == "0" for kind, text in self._whole if kind == "digit")
        self._has_point = point is not None
        self._is_plain = all(kind == "digit" for kind, _ in [*self._whole, *after_point])
        self._optional = len(after_point) - len(_text(after_point, "digit").rstrip("#?")) if self._is_plain else 0

    def show(self, value: float) -> str:
        """Return an amount, from 0, as the code shows it."""
        if not value < _MOST:
            return general(value)
        if self._power is not None:
            return self._by_power(value)
        if self._slash is not None:
            return self._as_fraction(value)
        number = _exact(value)
        if self._scale:
            number = number.scaleb(self._scale, _ROUNDED)
        digits = f"{number.quantize(Decimal(1).scaleb(-self._places), context=_ROUNDED):f}"
        whole, _, decimals = digits.partition(".")
        whole = "" if whole == "0" else whole
        if not self._is_plain:
            return f"{self._before}{self._placed(whole)}{self._decimals_placed(decimals)}{self._after}"
        whole = whole.rjust(self._least, "0")
        if self._groups and len(whole) > 3:
            first = len(whole) % 3 or 3
            whole = ",".join([whole[:first], *(whole[at : at + 3] for at in range(first, len(whole), 3))])
        if self._optional:
            kept = len(decimals) - self._optional
            decimals = decimals[:kept] + decimals[kept:].rstrip("0")
        point = "." if decimals and self._has_point else ""
        return f"{self._before}{whole}{point}{decimals}{self._after}"

    def _placed(self, digits: str) -> str:
        """Return the digits before the point in their places, with the literals between them."""
        shown: list[str] = []
        left = digits
        count = 0
        first = next((n for n, (kind, _) in enumerate(self._whole) if kind == "digit"), 0)
        for number in range(len(self._whole) - 1, -1, -1):
            kind, text = self._whole[number]
            if kind != "digit":
                shown.append(text if left or "0" in _text(self._whole[:number], "digit") else "")
                continue
            take = left if number == first else left[-1:]
            left = "" if number == first else left[:-1]
            for digit in reversed(take or ("0" if text == "0" else "")):
                if self._groups and count and count % 3 == 0:
                    shown.append(",")
                shown.append(digit)
                count += 1
        return "".join(reversed(shown))

    def _decimals_placed(self, decimals: str) -> str:
        needed = len(decimals.rstrip("0"))
        shown, used = "", 0
        for kind, text in self._decimals:
            if kind != "digit":
                shown += text
                continue
            digit = decimals[used : used + 1]
            shown += digit if text == "0" or used < needed else ""
            used += 1
        return f".{shown}" if self._has_point and shown else shown

    def _by_power(self, value: float) -> str:
        assert self._power is not None
        before, after = self._tokens[: self._power], self._tokens[self._power + 1 :]
        step = max(sum(kind == "digit" for kind, _ in before[: _index(before, ("sign", "."))]), 1)
        number = _exact(value).scaleb(2 * sum(token == ("sign", "%") for token in before))
        power = number.adjusted() if number else 0
        power -= power % step
        places = Decimal(1).scaleb(-self._power_places(before))
        amount = number.scaleb(-power).quantize(places, context=_ROUNDED)
        if amount >= Decimal(10) ** step:
            amount, power = (amount / Decimal(10) ** step).quantize(places, context=_ROUNDED), power + step
        digits = sum(text == "0" for kind, text in after if kind == "digit")
        sign = "-" if power < 0 else "+" if self._tokens[self._power][1].endswith("+") else ""
        last = max((n for n, (kind, _) in enumerate(after) if kind == "digit"), default=-1)
        return f"{self._before}{amount:f}E{sign}{abs(power):0{max(digits, 1)}d}{_text(after[last + 1 :])}"

    def _power_places(self, before: Sequence[tuple[str, str]]) -> int:
        return min(sum(kind == "digit" for kind, _ in before[_index(before, ("sign", ".")) :]), _MAX_PLACES)

    def _as_fraction(self, value: float) -> str:
        """Return a number as a fraction; its whole part is shown if the code has digits for it, apart by a space."""
        assert self._slash is not None
        left, right = self._tokens[: self._slash], self._tokens[self._slash + 1 :]
        end = max(n for n, (kind, _) in enumerate(left) if kind == "digit")
        start = end
        while start and left[start - 1][0] == "digit":
            start -= 1
        has_whole = any(kind == "digit" for kind, _ in left[:start])
        digits = ""
        for kind, text in right:
            if kind != "digit" and not (kind == "literal" and text.isdecimal()):
                break
            digits += text
        rest = _text(right[len(digits) :])
        exact = Fraction(_exact(value))
        whole = int(exact) if has_whole else 0
        if digits.isdecimal() and digits.strip("0"):
            below = int(digits[:6])
            above = int((exact - whole) * below + Fraction(1, 2))
        else:
            part = (exact - whole).limit_denominator(10 ** min(max(len(digits), 1), 6) - 1)
            above, below = part.numerator, part.denominator
        if has_whole and above >= below:
            whole, above = whole + 1, 0
        if not above:
            return f"{self._before}{whole}{rest}"
        return f"{self._before}{f'{whole} ' if whole else ''}{above}/{below}{rest}"


def _index(tokens: Sequence[tuple[str, str]], token: tuple[str, str]) -> int:
    return next((number for number, each in enumerate(tokens) if each == token), len(tokens))


def _text(tokens: Sequence[tuple[str, str]], only: str = "") -> str:
    return "".join(text for kind, text in tokens if not only or kind == only)
