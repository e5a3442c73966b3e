"""Invisible characters, and where a writing system needs them.

They can encode instructions for a model between the letters of a text that looks harmless to a reader: a byte per
variation selector, a bit per zero-width space. Those that no script needs are removed; of the others one is kept where
it changes the rendering, and a run of them never is.

Source: Default_Ignorable_Code_Point, StandardizedVariants, emoji-variation-sequences and the Core Specification of
Unicode 16, chapters 9, 13, 16, 18 and 23.
"""

from __future__ import annotations

import re
from functools import cache

_UNSEEN = "\u17b4\u17b5\u202a-\u202e\u2060-\u206f\ufeff\ufff0-\ufffb"
UNSEEN = _UNSEEN + "\U000e0000-\U000e00ff\U000e01f0-\U000e0fff"
"""Never needed, as the inside of a character class: bidirectional overrides and isolates, word joiners, byte order
marks, invisible operators, annotations, tags, and two vowels of Khmer that Unicode itself discourages.
"""

_FILLERS = "\u115f\u1160\u3164\uffa0"
_FORMS = "\u180b-\u180d\u180f"  # Mongolian variation selectors
_MARKS = f"\u00ad\u034f\u061c{_FORMS}\u180e\u200b-\u200f\ufe00-\ufe0f"
_HIDING = _MARKS + "\U000e0100-\U000e01ef"

# Joining scripts (Arabic to Mandaic, Mongolian, Phags-pa, Adlam and others) and those of India and its neighbours,
# where a joiner or a non-joiner determines how letters are shaped.
_JOINED = (
    "\u0600-\u061b\u061d-\u109f\u1700-\u17b3\u17b6-\u180a\u1810-\u1aff\u1b00-\u1c4f\u1cd0-\u1cff\ua800-\ua95f"
    "\ua980-\uaadf\uabc0-\uabff\ufb50-\ufdff\ufe70-\ufefc\U00010a00-\U00011fff\U0001e900-\U0001e95f"
)
# Thai, Lao, Tibetan, Myanmar, Khmer, Tai, Balinese, Javanese: without spaces, a line breaks at zero-width ones.
_UNSPACED = "\u0e00-\u0fff\u1000-\u109f\u1780-\u17b3\u17b6-\u17ff\u1950-\u1aaf\u1b00-\u1b7f\ua980-\ua9df\uaa60-\uaadf"
_PICTURES = "#*0-9\u00a9\u00ae\u203c\u2049\u2100-\u2bff\u3030\u303d\u3297\u3299\U0001f000-\U0001faff"
_IDEOGRAPHS = "\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
# Also: slashed zero, mathematics, punctuation between ideographs, Myanmar, Phags-pa, Manichaean, hieroglyphs.
_VARIED = (
    f"{_IDEOGRAPHS}0\u1000-\u109f\u2018\u2019\u201c\u201d\u2200-\u22ff\u2a00-\u2aff\u3000-\u303f\ua840-\ua87f\uff00-\uff9f"
    "\U00010ac0-\U00010aff\U00013000-\U0001345f"
)
_MONGOLIAN = "\u1810-\u18af"
_HEBREW = "\u0590-\u05ff"
_JAMO = "\u1100-\u115e\u1161-\u11ff\ua960-\ua97c\ud7b0-\ud7fb"

# Each looks around from behind the suspect. The neighbours of a kept character are themselves never removed, or kept by
# the same rule; so a kept one stays kept.
_NEEDED = rf"""
      (?<=[{_JOINED}][\u200c\u200d])
    | (?<=[{_PICTURES}][\ufe0e\ufe0f])
    | (?<=[{_VARIED}][\ufe00-\ufe06])
    | (?<=[{_IDEOGRAPHS}][\U000e0100-\U000e01ef])
    | (?<=[{_MONGOLIAN}][{_FORMS}\u180e]) | (?<=[{_MONGOLIAN}][{_FORMS}]\u180e)
    | (?:(?<=[{_PICTURES}]\u200d) | (?<=[{_PICTURES}]\ufe0f\u200d))(?=[{_PICTURES}])
    | (?<=[{_UNSPACED}]\u200b)
    | (?<=[{_HEBREW}]\u034f)
    | (?<=[{_JAMO}][\u115f\u1160]) | (?<=[\u115f\u1160])(?=[{_JAMO}])
    | (?<![{_HIDING}][{_HIDING}])(?:
          (?<=[\u200c\u200d])(?=[{_JOINED}])
        | (?<=\u200b)(?=[{_UNSPACED}])
        | (?<=[\u061c\u200e\u200f])(?!(?<=[A-Za-z0-9][{_HIDING}])[{_HIDING}]*[A-Za-z0-9])
      )
"""
_LINE_END = re.compile(r"[ \t]*(?:[\n\f]|\Z)")


@cache
def unneeded(others: str = "") -> re.Pattern[str]:
    """Return a pattern of the invisible characters that are not needed where they stand, and of the class `others`.

    It is compiled on first use, which takes 5 ms: most texts are ASCII.
    """
    # Planes 1 to 16 have one range in the first class: each is compared with every character of a clean text.
    first = f"{others}{_UNSEEN}{_MARKS}{_FILLERS}\U000e0000-\U000e0fff"
    return re.compile(f"[{first}](?:(?<=[{others}{UNSEEN}])|(?!{_NEEDED}))", re.VERBOSE)


def stand_in(found: re.Match[str]) -> str:
    """Return the replacement for a character that `unneeded()` found in its text.

    A Hangul blank becomes a space. A soft hyphen at the end of a printed line is visible, and becomes a hyphen; any
    other would only prevent its word from being found. All others are removed.
    """
    char, before = found[0], found.string[max(0, found.start() - 1) : found.start()]
    if char in _FILLERS:
        return " "
    return "-" if char == "\u00ad" and before.isalnum() and _LINE_END.match(found.string, found.end()) else ""
