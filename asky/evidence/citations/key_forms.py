"""The forms in which models write the key of a passage, and what they leave around it: each becomes `[P7f3a]`.

    (source: P7f3a)   【P7f3a†L3-L5】   [P7f3a, lines 3-5]   [1](#P7f3a)   <sup>P7f3a</sup>   \\cite{P7f3a}

A form begins with an opening sign, ends on the same line, and has at most 200 characters; text is held back from such
a sign until the form is known. A list at the end of an answer of sources that it has cited, whose lines begin with
their keys, is left out: asky writes its own. Code stays as it is.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterator

from asky.evidence.citations.pieces import CLOSE, OPEN
from asky.evidence.citations.rewriting import StreamRewriter

_FORM_CHARS = 200
_LISTED_CHARS = 4_000  # of a list of sources
_SPACE = r"[ \t\u00a0\u200b]{0,4}"
_KEY = r"P[0-9a-fA-F]{4,8}(?![0-9A-Za-z])"
_ANY_KEY = re.compile(_KEY, re.IGNORECASE)
_MARKS = r"[†‡@#^*_]{0,3}"
_NAMES = "see|also|sources?|passages?|keys?|refs?|references?|cite[ds]?|citations?|from|id|in"
_WORDS = rf"(?:(?:{_NAMES})\b[:.]?[ \t]{{0,2}}){{0,3}}"
_KEYS = rf"{_KEY}(?:{_SPACE}(?:[,;/&|+]|and)?{_SPACE}{_MARKS}{_KEY}){{0,9}}"
_RANGE = r"\d{1,6}(?:[ \t]?[-–—][ \t]?[lL]?\d{1,6})?"
_PLACE = rf"\b(?:lines?|ll?)\.?[ \t]?{_RANGE}|\b{_RANGE}|\bsources?\b"
# What is left out after the keys: lines, which nobody showed to the model, and marks.
_LEFT = rf"(?:[ \t]pp?\.?[ \t]?{_RANGE})?(?:[ \t]{{0,2}}(?:[,;:|@#†‡.*_/-]{{1,3}}|{_PLACE})){{0,6}}{_SPACE}"
_BODY = rf"{_SPACE}{_MARKS}{_WORDS}{_MARKS}(?P<KEYS>{_KEYS}){_LEFT}"
_TITLE = r"(?:[ \t]\"[^\"\n]{0,60}\")?"
_ANCHOR = rf"#?(?:[A-Za-z-]{{0,20}}-)?{_KEY}"
_FILE = r"(?:[\w.-]{1,40}/){0,3}[\w-]{1,40}\.[A-Za-z]\w{0,4}(?:#[\w-]{0,40})?"
_TARGET = rf"(?:[ \t]?\({_SPACE}<?(?:{_ANCHOR}|#[\w-]{{0,60}}|{_FILE})?>?{_TITLE}{_SPACE}\)|\{{#[\w-]{{0,60}}\}}|\[\])?"
_OPENING, _CLOSING = rf"(?:\\?[{re.escape(OPEN)}])", rf"(?:\\?[{re.escape(CLOSE)}])"


def _body(name: str) -> str:
    return _BODY.replace("KEYS", name)


_GROUPS = {
    "nested": rf"{_OPENING}{{2}}{_body('nested')}{_CLOSING}{_TARGET}{_CLOSING}{_TARGET}",
    "bracket": rf"{_OPENING}{{1,2}}\^?{_body('bracket')}{_CLOSING}{{1,2}}{_TARGET}",
    "link": (
        rf"\[(?P<label>[^\[\]\n]{{0,100}})\]"
        rf"\({_SPACE}<?#?(?:[A-Za-z-]{{0,20}}-)?(?P<link>{_KEY})>?{_TITLE}{_SPACE}\)"
    ),
    "tagged": (
        r"<(?P<tag>sup|sub|cite|ref|a|source|citation|span)\b[^<>\n]{0,80}>"
        rf"{_SPACE}(?:{_OPENING}|\(){{0,2}}{_body('tagged')}(?:{_CLOSING}|\)){{0,2}}{_SPACE}</(?P=tag)>"
    ),
    "empty": rf"<(?:ref|cite|source|citation)\b[ \t][^<>\n]{{0,40}}?(?P<empty>{_KEY})[^<>\n]{{0,20}}>",
    "angled": rf"<{_body('angled')}>",
    "inner": rf"\({_SPACE}{_WORDS}{_OPENING}{_body('inner')}{_CLOSING}{_SPACE}\)",
    "round": rf"\({_body('round')}\)",
    "curly": rf"(?:\\[a-z]{{1,12}})?\{{{{1,3}}{_body('curly')}\}}{{1,3}}",
    "raised": rf"\$?\^\{{?{_OPENING}?{_body('raised')}{_CLOSING}?(?:\^|\}}\$?)",
    "note": rf"\^{_OPENING}{_body('note')}{_CLOSING}",
    "sign": rf"(?:[†‡]{_SPACE}|[#@])(?P<sign>{_KEY})",
}
_FORM = re.compile("|".join(f"(?P<{name}_form>{pattern})" for name, pattern in _GROUPS.items()), re.IGNORECASE)
_OF_ANY_KEY = ("nested", "bracket", "link", "tagged", "empty")  # others are read only with keys that were shown
_OPENERS = re.compile(rf"[{re.escape(OPEN)}(<{{\\$^†‡#@]")
_SIGNS = re.compile(rf"[{re.escape(OPEN)}(<{{\\$^†‡#@*_ \t\u00a0\u200b]*")
_WORD = re.compile(r"[A-Za-z0-9]*")
_MAY_BEGIN = re.compile(rf"P[0-9a-f]{{0,8}}|(?:{_NAMES})|sup|sub|a|span|citation", re.IGNORECASE)
_NO_LINK = re.compile(r"\[[^\[\]\n]*\](?=[^\n]{2})(?![(\[{\]]|[ \t]?\()")
_MAY_GO_ON = re.compile(rf"[ \t]?[({{\[{re.escape(CLOSE)}\\]|[ \t]?\Z")
_MAY_PRECEDE = " \t*_(,;:.!?|>\"'"
_FENCE = re.compile(r"[ \t>]*(?:```|~~~)")
_HEADS = "sources|references|citations|footnotes|works cited"
_EMPHASIS = r"(?:\*{2}|__)?"
_LIST_HEAD = re.compile(
    rf"[ \t]*(?:#{{1,6}}[ \t]+)?{_EMPHASIS}(?:{_HEADS})[ \t]*:?{_EMPHASIS}:?[ \t]*"
    rf"(?:{_OPENING}{{0,2}}{_KEYS}[^\n]*)?",
    re.IGNORECASE,
)
_MAY_BE_HEAD = re.compile(r"[ \t]*(?:#{0,6}[ \t]*)(?:\*{0,2}|_{0,2})([A-Za-z ]{0,12})", re.IGNORECASE)
_LISTED = re.compile(
    rf"[ \t]*(?:[-*+•][ \t]+|\d{{1,3}}[.)][ \t]+)?[\\`*]{{0,3}}{_OPENING}{{0,2}}\^?[`*]{{0,2}}{_KEY}", re.IGNORECASE
)
_DEFINITION = re.compile(rf"[ \t]*\[\^?{_KEY}\]:[^\n]{{0,100}}(?<![.!?])\Z", re.IGNORECASE)
_MAY_BE_DEFINITION = re.compile(r"[ \t]*(?:\[(?:\^?(?:P[0-9a-f]{0,8}(?:\](?::.*)?)?)?)?)?\Z", re.IGNORECASE)
_FOOTNOTE = re.compile(
    rf"^[ \t]*\[(?P<mark>\^?\d{{1,3}})\]:?[ \t]+(?:{_WORDS})[\[(`]{{0,2}}(?P<keys>{_KEYS})[^\n]*(?:\n|\Z)",
    re.IGNORECASE | re.MULTILINE,
)
_FOOTNOTE_MARK = re.compile(r"\[(\^?\d{1,3})\]")
_CITING_LABEL = re.compile(rf"[\W\d_]*(?:{_NAMES}|links?|here)?[\W\d_]*", re.IGNORECASE)


def resolve_footnotes(text: str, shown: Container[str]) -> str:
    """Return an answer with keys in place of the numbers of footnotes that stand for them, and without these notes.

    `It rains.[^1]` with `[^1]: P7f3a` at the end is `It rains.[P7f3a]`; so is `[1]`, if the note begins with that.
    """
    keys: dict[str, str] = {}
    for note in _FOOTNOTE.finditer(text):
        named = [_normal(each) for each in _ANY_KEY.findall(note["keys"])]
        if all(each in shown for each in named):
            keys[note["mark"]] = f"[{', '.join(named)}]"
    if not keys:
        return text
    body = _FOOTNOTE.sub(lambda note: note[0] if note["mark"] not in keys else "", text)
    return _FOOTNOTE_MARK.sub(lambda mark: keys.get(mark[1], mark[0]), body).rstrip()


class KeyForms(StreamRewriter):
    """Writes the keys of an answer in brackets, whatever form they have. `shown` are those that may be cited."""

    def __init__(self, shown: Container[str]) -> None:
        super().__init__()
        self._shown = shown
        self._line = ""  # the beginning of the current line
        self._in_fence = False
        self._cited: set[str] = set()

    def _pieces(self, *, is_final: bool) -> Iterator[str]:
        while self._held:
            if not self._line and not self._in_fence:
                listed = self._list_of_sources(is_final=is_final)
                if listed is None:
                    return
                if listed:
                    self._pass(listed)  # asky lists the sources itself
                    continue
            newline = self._held.find("\n")
            end = newline + 1 if newline >= 0 else len(self._held)
            opener = None if self._in_fence else _OPENERS.search(self._held, 0, end)
            if opener is None:
                yield self._moved(end)
            elif opener.start():
                yield self._moved(opener.start())
            else:
                found = self._form(is_final=is_final)
                if found is None:
                    return
                yield found

    def _moved(self, end: int) -> str:
        """Take text as it is, and keep track of lines and fences."""
        text = self._pass(end)
        self._cited.update(map(_normal, _ANY_KEY.findall(text)))
        self._line = (self._line + text)[-_LISTED_CHARS:]
        if text.endswith("\n"):
            self._in_fence ^= _FENCE.match(self._line) is not None
            self._line = ""
        return text

    def _form(self, *, is_final: bool) -> str | None:
        """Return the form with which the held text begins, rewritten, or its first sign; `None` if it is not known."""
        window = self._held[:_FORM_CHARS].partition("\n")[0]
        is_whole = is_final or len(window) < len(self._held) or len(window) == _FORM_CHARS
        is_glued = window[:1] in ("#", "@") and bool(self._line[-1:].strip(_MAY_PRECEDE))
        if self._line.count("`") % 2 or is_glued or self._is_no_form(window, is_whole=is_whole):
            return self._moved(1)
        found = _FORM.match(window)
        if not is_whole and (found is None or _MAY_GO_ON.match(window, found.end())):
            return None
        rewritten = None if found is None else self._rewritten(found)
        if found is None or rewritten is None:
            return self._moved(1)
        self._line += self._pass(found.end())
        return rewritten

    def _is_no_form(self, window: str, *, is_whole: bool) -> bool:
        """Return whether what follows an opening sign rules out a form, whatever comes later."""
        signs = _SIGNS.match(window)
        assert signs is not None
        at = signs.end()
        word = _WORD.match(window, at)
        assert word is not None
        if word.end() == len(window) and not is_whole:
            return False
        may_begin = _MAY_BEGIN.fullmatch(word[0]) is not None
        if window[0] != "[" or "\n" in window:
            return not may_begin
        return not may_begin and _NO_LINK.match(window) is not None

    def _rewritten(self, found: re.Match[str]) -> str | None:
        name = next(each for each in _GROUPS if found[f"{each}_form"] is not None)
        keys = [_normal(each) for each in _ANY_KEY.findall(found[name])]
        if name not in _OF_ANY_KEY and not all(each in self._shown for each in keys):
            return None
        self._cited.update(keys)
        label = found["label"] if name == "link" else ""
        before = "" if not label or _CITING_LABEL.fullmatch(label) or _ANY_KEY.search(label) else f"{label} "
        return f"{before}[{', '.join(keys)}]"

    def _list_of_sources(self, *, is_final: bool) -> int | None:
        """Return the length of the held text if it is a list of sources that ends the answer, 0 if it is none.

        `None` if that is not known yet.
        """
        lines = self._held[:_LISTED_CHARS].split("\n")
        is_open = not is_final and len(self._held) < _LISTED_CHARS
        if len(lines) == 1 and is_open:
            return None if _may_be_head(lines[0]) else 0
        head, is_definition = _LIST_HEAD.fullmatch(lines[0]), _DEFINITION.match(lines[0]) is not None
        if head is None and not is_definition:
            return 0
        complete, kind = lines[1:-1] if is_open else lines[1:], _DEFINITION if is_definition else _LISTED
        if not all(not each.strip() or kind.match(each) for each in complete):
            return 0
        if is_open:
            return None
        listed = set(map(_normal, _ANY_KEY.findall(self._held)))
        is_known = bool(listed) and listed <= self._cited
        return len(self._held) if is_known and is_final and len(self._held) < _LISTED_CHARS else 0


def _normal(key: str) -> str:
    return "P" + key[1:].lower()


def _may_be_head(line: str) -> bool:
    """Return whether an incomplete line may become the head of a list of sources."""
    if _MAY_BE_DEFINITION.match(line):
        return True
    begun = _MAY_BE_HEAD.match(line)
    assert begun is not None
    word = begun[1].strip().lower()
    is_open = begun.end() == len(line)
    return any(head.startswith(word) if is_open else word == head for head in _HEADS.split("|"))
