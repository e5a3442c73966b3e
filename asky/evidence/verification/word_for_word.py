"""Recognition of claims that stand word for word in a passage.

Such a claim is one whole unit of the passage, or several in a row: sentences, headings, list items, rows of a table,
settings. A part of a unit is none, as what stands around it may turn it round ("It is false that ..."), nor is an item
without the line above its list that does ("Never:"). The same letters, digits and signs stand in the same order.
Only what a reader does not read may differ: markup and references, white space, the forms of dashes and quotation
marks, hyphens inside words and at line ends, ligatures, the final stop unless it is a question mark, quotation marks
around the whole, and the case of the first letter. A number alone, "yes" and "no" say nothing without their question.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache

from asky.evidence.citations.markers import masked_lookalikes
from asky.evidence.plain_text import HIDDEN, addresses, without_markup
from asky.evidence.verification.records import row_lines
from asky.text.plain import plain
from asky.text.sentences import TIME_STAMP, sentence_spans
from asky.text.terms import STOP_WORDS
from asky.values import Span

_MAX_FOUND = 50
"""Places at which a claim is looked for. It keeps the time linear for a claim that a passage repeats without end."""

_MARKER = re.compile(
    r"(?:>[ \t]?)*(?:#{1,6}\s+|(?:[-*+•◦▪‣·●○■□–—]|\(?\d{1,3}[.)]|\(?[A-Za-z]\)|\([ivx]{1,5}\))\s+(?:\[[ xX]\]\s+)?)?"
)
_NUMBER_MARKER = re.compile(r"\(?\d{1,3}[.)]\s+")
_UNDERLINE = re.compile(r"\n[ \t]*(?:=+|-+)[ \t]*$|[ \t]+#+[ \t]*$")
_LINE = re.compile(r"\S[^\n]*")
_PROPERTIES = re.compile(r"---\n(?:.*\n)*?---(?:\n|\Z)")
_LOOKALIKE = re.compile(r"[\[\]【】&^<①-⑳⁰-⁹¹²³]")
_MARKUP = re.compile(r"[\[\]\\&*_=^`]")
_AUTOLINK = re.compile(r"<((?:https?://|www\.)[^\s<>]+)>", re.IGNORECASE)
_TIMES = re.compile(r"(?<=\d)\s?(?<!\*)\*(?!\*)\s?(?=\d)")
_STRUCK = re.compile(r"~~|</?(?:del|s|strike)\b[^<>\n]{0,80}>", re.IGNORECASE)
_NO_TAG = re.compile(
    r"<(?!/?(?:abbr|a|bdi|bdo|blockquote|big|br|b|center|cite|code|dd|dfn|div|dl|dt|em|figcaption|figure|font|h[1-6]|hr|img|ins|"
    r"i|kbd|li|mark|ol|pre|p|q|samp|section|small|span|strong|sub|sup|table|tbody|td|th|thead|tr|tt|ul|u|var)\b"
    r"|[^\s<>@]{1,80}@[^\s<>@]{1,80}>)"
)
"""A sign that begins neither a tag nor an address, but may look like it: `delete <name>`."""
_HIDES = re.compile(r"[<~×]|%%")
"""What `plain` would leave out or join with its neighbours."""
_SIGNS = str.maketrans(
    dict.fromkeys("\u00ad\u200b\u200c\u200d\u2060\ufeff", "")
    | dict.fromkeys("“”„‟«»", '"')
    | dict.fromkeys("‘’‚‛‹›`´", "'")
    | {"…": "...", "‐": "-", "‑": "-", "−": "-"}
)
_FOLDED = re.compile(r"[\ufb00-\ufb06\uff01-\uff5e]")  # ligatures and wide forms
_BETWEEN_DIGITS = re.compile(r"(?<=\d)\s*[‒–—―]\s*(?=\d)|(?<=\d)-\s+(?=\d)")
_DASH = re.compile(r"\s*[‒–—―]\s*(?!\d)|(?<=\S)[‒–—―]")
_HYPHEN = re.compile(r"(?<=[^\W\d_]{2})-(?:\s+(?=[^\W\d_A-Z])|(?=[^\W\d_]{2}))")  # not that of a formula, "x-y"
_NAMES_ITEMS = re.compile(r"\b(?:following|below|these|such as)\b", re.IGNORECASE)
_ENDED = re.compile(r"""[.!?:;…。！？]["')\]]{0,3}$""")
_BARS = re.compile(r"\s*\|\s*")
_STOPS = " ,.;:!"
_QUOTES = "\"'"
_SAYS_NOTHING = frozenset({"yes", "no", "true", "false", "ja", "nein", "nee", "oui", "non", "si", "sí", "sì"})
_WORD = re.compile(r"[^\W\d_]+")
_TURNS_ROUND = re.compile(
    r"\b(?:not|no|nobody|never|none|neither|nor|cannot|without|false\w*|untrue|wrong\w*|incorrect\w*|mistaken\w*|myths?|"
    r"lies?|lied|den(?:y|ies|ied|ying)|doubt\w*|reject\w*|refut\w*|disproved?|disproves|except\w*|exclud\w*|avoid\w*|"
    r"unless|if|whether|hoax\w*|misconceptions?|alleg\w*|supposed\w*|claim\w*)\b|n['’]t\b",
    re.IGNORECASE,
)
"""Words around a part of a sentence, or above a list, that may turn round what it says."""


@dataclass(frozen=True, slots=True)
class _Unit:
    """A unit at `span`, without its `marker`, which is that of a list item, heading or quotation; `text` as compared.

    `under` is the text before it that may turn it round: the line that introduces it, or begins its sentence.
    """

    span: Span
    text: str
    marker: str
    is_row: bool
    under: str = ""

    @property
    def is_item(self) -> bool:
        return bool(self.marker) and self.marker[0] not in "#>"


@dataclass(frozen=True, slots=True)
class _Joined:
    """Units as one text, with the places where the bare part of one begins and ends."""

    text: str
    begins: dict[int, int]
    ends: dict[int, int]


class WholeUnits:
    """The units of a passage, in which any number of claims can be looked for; they are read on first use."""

    def __init__(self, text: str) -> None:
        self._text = text

    def find(self, claim: str, *, written: str = "", answer: str = "") -> Span | None:
        """Return the characters of the passage that `claim` repeats word for word, or `None`; near-linear time.

        `claim` is its plain text. `written` is the claim with its links and addresses, which the passage must have;
        `answer` is the text that it is part of, where an introduction may stand before it.
        """
        wanted = _compared(claim)
        if not _says_something(wanted) or any(each not in self._text for each in addresses(written)):
            return None
        marker = _NUMBER_MARKER.match(wanted)
        found = self._find(wanted, "", answer)
        return found or (self._find(wanted[marker.end() :], marker[0].strip(), answer) if marker else None)

    def contain(self, claim: str) -> bool:
        """Return whether `claim` is a part of a unit whose other words do not turn it round."""
        wanted = _compared(claim)
        wanted = wanted[slice(*_bare(wanted))]
        if not _says_something(wanted):
            return False
        for unit in self._units:
            at = unit.text.find(wanted)
            if at < 0 or unit.under:
                continue
            around = unit.text[:at], unit.text[at + len(wanted) :]
            is_cut = around[0][-1:].isalnum() or around[1][:1].isalnum()
            if not is_cut and not any(map(_TURNS_ROUND.search, around)):
                return True
        return False

    def _find(self, wanted: str, marker: str, answer: str) -> Span | None:
        bare = wanted[slice(*_bare(wanted))]
        if not bare:
            return None
        for joined in self._joined:
            for form in dict.fromkeys((bare, bare[0].swapcase() + bare[1:])):
                for first, last in _places(joined, form):
                    unit = self._units[first]
                    if marker in ("", unit.marker) and (not unit.under or _stands_before(unit.under, form, answer)):
                        return Span(unit.span.start, self._units[last].span.end)
        return None

    @cached_property
    def _units(self) -> list[_Unit]:
        return list(_read_units(self._text))

    @cached_property
    def _joined(self) -> list[_Joined]:
        """The units in one or two forms: without the markup that this module knows, and as a page would show them."""
        forms = [each.text for each in self._units]
        shown = [self._shown(each) for each in self._units]
        return [_join(each) for each in ([forms] if shown == forms else [forms, shown])]

    def _shown(self, unit: _Unit) -> str:
        source = self._text[unit.span.start : unit.span.end]
        if not _MARKUP.search(source) or _HIDES.search(source) or _TIMES.search(source):
            return unit.text
        return _compared(plain(source))


def _read_units(text: str) -> Iterator[_Unit]:
    before: _Unit | None = None
    lead = ""
    for span, is_row in _spans(text):
        found = _MARKER.match(text, span.start, span.end)
        begin = found.end() if found else span.start
        source = _UNDERLINE.sub("", text[begin : span.end])
        if not source.strip():
            continue
        form, marker = _compared(source), text[span.start : begin].strip()
        unit = _Unit(Span(begin, begin + len(source)), form, marker, is_row or "|" in form or "\t" in source)
        goes_on = before is not None and text.count("\n", before.span.end, span.start) <= 1
        if before is None or marker[:1] == "#":
            lead = ""
        elif _introduces(before, unit) and _TURNS_ROUND.search(before.text):
            lead = before.text
        elif not goes_on and not (unit.is_item and before.is_item):
            lead = ""
        is_begun = goes_on and before is not None and _is_begun(before, unit)
        yield replace(unit, under=lead or (before.text if is_begun and before is not None else ""))
        before = unit


def _introduces(before: _Unit, unit: _Unit) -> bool:
    """Return whether a unit says what those after it are: it ends in a colon, or names the items of a list."""
    names_items = unit.is_item and not before.is_item and _NAMES_ITEMS.search(before.text) is not None
    return names_items or before.text.endswith((":", "："))


def _is_begun(before: _Unit, unit: _Unit) -> bool:
    """Return whether the line above may begin the sentence: it has no stop, and a word that needs one to follow."""
    if before.is_row or unit.is_row or before.marker or unit.marker or _ENDED.search(before.text):
        return False
    if TIME_STAMP.match(unit.text):
        return False
    return _TURNS_ROUND.search(before.text) is not None or before.text.rpartition(" ")[2] in STOP_WORDS


def _spans(text: str) -> Iterator[tuple[Span, bool]]:
    """Yield the sentences of a text and the other units that `sentence_spans` knows; rows of records one by one.

    Rows are also the lines of a note's properties. The second value says whether it is such a row.
    """
    front = _PROPERTIES.match(text)
    rows = row_lines(text) | {each.start() for each in _LINE.finditer(text, 0, front.end() if front else 0)}
    for span in sentence_spans(text):
        lines = [Span(*each.span()) for each in _LINE.finditer(text, span.start, span.end)]
        if any(line.start in rows for line in lines):
            yield from ((line, True) for line in lines)
        else:
            yield span, False


def _join(forms: list[str]) -> _Joined:
    begins, ends = dict[int, int](), dict[int, int]()
    at = 0
    for number, form in enumerate(forms):
        begin, end = _bare(form)
        begins.setdefault(at + begin, number)
        ends[at + end] = number
        at += len(form) + 1
    return _Joined(" ".join(forms), begins, ends)


def _places(joined: _Joined, wanted: str) -> Iterator[tuple[int, int]]:
    """Yield the first and last unit of each place where whole units say `wanted`."""
    at = -1
    for _ in range(_MAX_FOUND):
        at = joined.text.find(wanted, at + 1)
        if at < 0:
            return
        if at in joined.begins and at + len(wanted) in joined.ends:
            yield joined.begins[at], joined.ends[at + len(wanted)]


def _stands_before(lead: str, form: str, answer: str) -> bool:
    """Return whether what introduces a claim stands before it in an answer, as it does in the passage."""
    seen = _compared_answer(answer)
    return 0 <= seen.find(lead) < seen.rfind(form)


@lru_cache(maxsize=1)  # many claims of one answer, one after the other
def _compared_answer(answer: str) -> str:
    return _compared(answer)


def _bare(form: str) -> tuple[int, int]:
    """Return where a compared text begins and ends without its final stop and quotation marks around the whole."""
    begin, end = 0, _without_stop(form, len(form))
    if end - begin > 1 and form[0] == form[end - 1] and form[0] in _QUOTES and form.count(form[0], 0, end) == 2:
        begin, end = 1, _without_stop(form, end - 1)
    return begin, end


def _without_stop(form: str, end: int) -> int:
    bare = len(form[:end].rstrip(_STOPS))
    return end if ".." in form[bare:end] else bare


def _says_something(form: str) -> bool:
    return any(word.casefold() not in _SAYS_NOTHING for word in _WORD.findall(form))


def _compared(text: str) -> str:
    """Return a text on one line in the form in which it is compared."""
    text = masked_lookalikes(text).replace(HIDDEN, "") if _LOOKALIKE.search(text) else text
    text = _NO_TAG.sub("< ", _STRUCK.sub("\x01", _TIMES.sub("×", _AUTOLINK.sub(r"\1", text))))
    text = unicodedata.normalize("NFC", without_markup(text)).translate(_SIGNS)
    text = _FOLDED.sub(lambda found: unicodedata.normalize("NFKC", found[0]), text)
    text = _HYPHEN.sub("", _DASH.sub(" - ", _BETWEEN_DIGITS.sub("-", text)))
    if "|" in text:
        text = _BARS.sub("; ", text).strip("; \n")
    return " ".join(text.split())
