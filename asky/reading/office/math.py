"""Formulas as one line of text: `E = mc^2`, `(a+b)/2`, `√(x)`; those of Office (OMML) and those of MathML."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lxml.etree import _Element as Element

_LEFT_OUT = frozenset(("annotation", "annotation-xml", "mphantom"))


def math_text(element: Element) -> str:
    """Return a formula as text on one line; parts of a kind that is not known are written one after the other."""
    return " ".join(_text(element).split())


def _text(element: Element) -> str:
    kind = _local(element)
    if not kind or kind in _LEFT_OUT or kind.endswith("Pr"):  # the last are properties
        return ""
    if kind == "t":
        return element.text or ""
    write = _WRITERS.get(kind)
    if write is not None:
        return write(element)
    parts = [_text(each) for each in element]
    return "".join([element.text or "", *parts]) if kind in _TOKENS else _joined(parts)


def _joined(parts: Iterable[str]) -> str:
    """Return parts in a row; what follows an exponent or an index does not run into it."""
    text, is_open = "", False
    for part in parts:
        text += f" {part}" if is_open and part[:1].isalnum() else part
        if part:
            is_open = part[-1].isalnum() and ("^" in part or "_" in part)
    return text


def _parts(element: Element, *names: str) -> list[str]:
    """Return the texts of the named children, as Office names them, or of the children in order, as MathML does."""
    children = [each for each in element if _local(each) not in _LEFT_OUT and not _local(each).endswith("Pr")]
    named = {_local(each): each for each in reversed(children)}
    if any(name in named for name in names):
        return [_text(named[name]) if name in named else "" for name in names]
    texts = [_text(each) for each in children]
    return [*texts, *[""] * len(names)][: len(names)]


def _fraction(element: Element) -> str:
    above, below = _parts(element, "num", "den")
    return f"{_grouped(above)}/{_grouped(below)}"


def _raised(element: Element) -> str:
    base, above = _parts(element, "e", "sup")
    return f"{base}^{_grouped(above)}" if above.strip() else base


def _lowered(element: Element) -> str:
    base, below = _parts(element, "e", "sub")
    return f"{base}_{_grouped(below)}" if below.strip() else base


def _both(element: Element) -> str:
    base, below, above = _parts(element, "e", "sub", "sup")
    return _with_limits(base, below, above)


def _sum(element: Element) -> str:
    sign = _property(element, "naryPr", "chr", "∫")
    body, below, above = _parts(element, "e", "sub", "sup")
    return f"{_with_limits(sign, below, above)} {body}"


def _with_limits(base: str, below: str, above: str) -> str:
    lower = f"_{_grouped(below)}" if below.strip() else ""
    upper = f"^{_grouped(above)}" if above.strip() else ""
    return f"{base}{lower}{upper}"


def _root(element: Element) -> str:
    body, degree = _parts(element, "e", "deg")
    return f"{_grouped(degree)}√({body})" if degree.strip() else f"√({body})"


def _square_root(element: Element) -> str:
    return f"√({''.join(_text(each) for each in element)})"


def _bracketed(element: Element) -> str:
    left, right = _property(element, "dPr", "begChr", "("), _property(element, "dPr", "endChr", ")")
    parts = _property(element, "dPr", "sepChr", "|").join(_text(each) for each in element if _local(each) == "e")
    return f"{left}{parts}{right}"


def _fenced(element: Element) -> str:
    inner = ", ".join(_text(each) for each in element)
    return f"{element.get('open', '(')}{inner}{element.get('close', ')')}"


def _function(element: Element) -> str:
    name, body = _parts(element, "fName", "e")
    return f"{name} {body}"


def _limit(element: Element) -> str:
    base, limit = _parts(element, "e", "lim")
    return f"{base}_{_grouped(limit)}" if limit.strip() else base


def _matrix(element: Element) -> str:
    rows = [", ".join(_text(cell) for cell in row) for row in element if _local(row) in ("mr", "mtr", "mlabeledtr")]
    return f"[{'; '.join(rows)}]"


def _lines(element: Element) -> str:
    return "; ".join(_text(each) for each in element if _local(each) == "e")


def _first(element: Element) -> str:
    return next((_text(each) for each in element if _local(each)), "")


def _property(element: Element, properties: str, name: str, default: str) -> str:
    """Return the sign that the properties of an element of Office state; "" where they state an empty one."""
    found = element.find(f"{{*}}{properties}/{{*}}{name}")
    if found is None:
        return default
    return next((value for key, value in found.attrib.items() if str(key).endswith("val")), "")


def _grouped(text: str) -> str:
    text = text.strip()
    return text if text.isalnum() or (text[:1] == "(" and text.find(")") == len(text) - 1) else f"({text})"


def _local(element: Element) -> str:
    return element.tag.rpartition("}")[2] if isinstance(element.tag, str) else ""


_TOKENS: Sequence[str] = ("mi", "mn", "mo", "mtext", "ms")
_WRITERS: Mapping[str, Callable[[Element], str]] = MappingProxyType(
    {
        "f": _fraction,
        "mfrac": _fraction,
        "sSup": _raised,
        "msup": _raised,
        "sSub": _lowered,
        "msub": _lowered,
        "sSubSup": _both,
        "msubsup": _both,
        "munderover": _both,
        "munder": _limit,
        "limLow": _limit,
        "limUpp": _raised,
        "mover": lambda element: _parts(element, "e")[0],
        "acc": lambda element: _parts(element, "e")[0],
        "nary": _sum,
        "rad": _root,
        "mroot": _root,
        "msqrt": _square_root,
        "d": _bracketed,
        "mfenced": _fenced,
        "func": _function,
        "m": _matrix,
        "mtable": _matrix,
        "eqArr": _lines,
        "semantics": _first,
    }
)
