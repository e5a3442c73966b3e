"""Detection of elements hidden by a page's own style sheets, as far as plain selectors go: no style engine, no
guessing.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

_SHEET_BYTES = 1024 * 1024  # total of all sheets of a page
_SELECTOR_CHARS = 200
_RULES_OF_A_KEY = 200
# Sheets within these never apply, or not if scripts run.
_WRAPS = ((b"<noscript", b"</noscript"), (b"<script", b"</script"), (b"<template", b"</template"), (b"<!--", b"-->"))
_MEDIA = re.compile(r"""\bmedia\s*=\s*(?:"([^"]*)|'([^']*)|([^\s>]+))""")
_COMMENT = re.compile(r"/\*.*?(?:\*/|\Z)", re.DOTALL)
_BRACE = re.compile(r"([{}])")
_COMPOUND = re.compile(r"\*?(?:[_a-z][\w-]*)?(?:[.#]-?[_a-z][\w-]*)*", re.IGNORECASE)
_PART = re.compile(r"[.#]?-?[_a-z][\w-]*", re.IGNORECASE)
_COMBINATOR = re.compile(r"[\s>+~]+")
# Not opacity, positions beyond the window, or transparent colour: pages fade text in, slide it in, and fill letters
# with a gradient. Source: over 649 pages these three properties cost no set any F1; with opacity a page loses .02, with
# positions readability's pages fall from .9454 to .9451; both of them in `style` attributes too, wcxb by .001.
_DECLARATION = re.compile(r"(?:^|;)\s*(display|visibility|font-size)\s*:\s*([^;!]{1,40})(!\s*important)?")
_NO_SIZE = re.compile(r"0+(?:\.0*)?(?:px|pt|r?em|%)?")


@dataclass(frozen=True, slots=True)
class _Rule:
    """The effect of a declaration on elements that have all of `parts`: `a`, `.b`, `#c`. The highest rank decides."""

    parts: frozenset[str]
    rank: tuple[bool, int, int, int]
    name: str
    hides: bool


class Sheets:
    """The rules of a page's `style` elements that hide something.

    A rule hides if its selector is one compound of a tag, classes and an id, and it has no condition. Elements that any
    rule shows again, for a state, a position in the page or a window width, do not count as hidden: menus, folded
    answers, columns for phones.
    """

    def __init__(self, html: str) -> None:
        self._always: dict[str, list[_Rule]] = defaultdict(list)
        self._sometimes: dict[str, list[_Rule]] = defaultdict(list)  # only those that show
        self._known: dict[tuple[str, str | None, str | None], bool] = {}
        blocks = [
            (selectors, styles, is_conditional or is_nested)
            for sheet, is_conditional in _sheets(html)
            for selectors, body, is_nested in _blocks(_COMMENT.sub(" ", sheet))
            if (styles := _declarations(body))
        ]
        # Almost every rule sets a font size, and hardly any sets none: rules that show are relevant only if one hides.
        hiding = {
            name for _, styles, is_conditional in blocks for name in styles if styles[name][0] and not is_conditional
        }
        for order, (selectors, styles, is_conditional) in enumerate(blocks):
            if not hiding.isdisjoint(styles):
                for selector in selectors.split(","):
                    self._add(selector.strip(), styles, order, is_conditional=is_conditional)
        self._hiding = {key for key, rules in self._always.items() if any(rule.hides for rule in rules)}
        self.hide_something = bool(self._hiding)
        self.hide_by_name = all(key[:1] in (".", "#") for key in self._hiding)  # and nothing by its tag alone

    def hide(self, tag: str, attribute: Callable[[str], str | None]) -> bool:
        """Return whether the rules hide an element with such attributes."""
        names, name = attribute("class"), attribute("id")
        like = (tag, names, name)
        if like not in self._known:
            has = {tag, *(f".{word}" for word in (names or "").split())}
            self._known[like] = self._hide(has if not name else {*has, f"#{name.strip()}"})
        return self._known[like]

    def _hide(self, has: set[str]) -> bool:
        if self._hiding.isdisjoint(has):
            return False
        last: dict[str, _Rule] = {}
        for rule in _matching(self._always, has):
            if rule.name not in last or last[rule.name].rank <= rule.rank:
                last[rule.name] = rule
        hiding = {rule.name for rule in last.values() if rule.hides}
        return bool(hiding) and bool(hiding - {rule.name for rule in _matching(self._sometimes, has)})

    def _add(self, selector: str, styles: dict[str, tuple[bool, bool]], order: int, *, is_conditional: bool) -> None:
        if not selector or len(selector) > _SELECTOR_CHARS:
            return
        is_plain = _COMPOUND.fullmatch(selector) is not None
        compound = selector if is_plain else _COMBINATOR.split(selector)[-1].partition(":")[0]
        parts = frozenset(part if part[0] in ".#" else part.lower() for part in _PART.findall(compound))
        key = max(parts, key=lambda part: (part[0] == "#", part[0] == ".", part), default="")
        ids, classes = (sum(part[0] == mark for part in parts) for mark in "#.")
        is_heeded = is_plain and not is_conditional
        rules = (self._always if is_heeded else self._sometimes)[key]
        for name, (hides, is_important) in styles.items():
            if parts and (is_heeded or not hides) and len(rules) < _RULES_OF_A_KEY:
                rules.append(_Rule(parts, (is_important, ids, classes, order), name, hides))


def _matching(rules: Mapping[str, list[_Rule]], has: set[str]) -> Iterator[_Rule]:
    return (rule for key in has for rule in rules.get(key, ()) if rule.parts <= has)


def _sheets(html: str) -> Iterator[tuple[str, bool]]:
    """Yield the texts of `style` elements that apply on a screen, and whether only on some."""
    source = html.encode("utf-8")  # lower-casing bytes takes a tenth of the time, and never changes the length
    lower = source.lower()
    left, end = _SHEET_BYTES, 0
    is_within = [False] * len(_WRAPS)
    while left > 0 and (start := lower.find(b"<style", end)) >= 0:
        for number, wrap in enumerate(_WRAPS):
            opened, closed = (lower.rfind(mark, end, start) for mark in wrap)
            is_within[number] = opened > closed if max(opened, closed) >= 0 else is_within[number]
        begin = lower.find(b">", start) + 1
        end = lower.find(b"</style", begin)
        if not begin or end < 0:
            return
        media = _MEDIA.search(lower[start:begin].decode("utf-8"))
        screens = "".join(media.groups("")).strip() if media else "all"
        if not any(is_within) and screens != "print":
            yield source[begin:end][:left].decode("utf-8", "replace"), screens not in ("", "all", "screen")
            left -= end - begin


def _blocks(sheet: str) -> Iterator[tuple[str, str, bool]]:
    """Yield the selectors and the body, in lower case, of each rule that may hide or show something.

    Also whether it is nested in another block, mostly a condition.
    """
    open_: list[str] = []
    *pieces, _ = _BRACE.split(sheet)
    for text, brace in zip(pieces[::2], pieces[1::2], strict=True):
        if brace == "{":
            open_.append(text)
        elif open_:
            before, body = open_.pop(), text.lower()
            # Most rules use none of these, and are skipped in a fifth of the time.
            if "display" in body or "visibility" in body or "font-size" in body:
                selectors = before.rpartition(";")[2].strip()
                if not selectors.startswith("@"):
                    yield selectors, body, bool(open_)


def _declarations(body: str) -> dict[str, tuple[bool, bool]]:
    """Return for each property that can hide whether it does, and whether that is important."""
    styles: dict[str, tuple[bool, bool]] = {}
    for name, text, important in _DECLARATION.findall(body):
        value = text.strip()
        hides = value in ("none", "hidden", "collapse") or (name == "font-size" and bool(_NO_SIZE.fullmatch(value)))
        styles[name] = (hides, bool(important))
    return styles
