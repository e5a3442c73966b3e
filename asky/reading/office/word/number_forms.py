"""Numbers as lists and notes write them (ECMA-376, part 1, 17.18.59)."""

from __future__ import annotations

from asky.reading.office.blocks import numeral

_KINDS = {"lowerRoman": "i", "upperRoman": "I", "lowerLetter": "aa", "upperLetter": "AA"}
_ONE_NAMES = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen"
    " seventeen eighteen nineteen"
)
_TEN_NAMES = "_ _ twenty thirty forty fifty sixty seventy eighty ninety"
_ONES, _TENS = tuple(_ONE_NAMES.split()), tuple(_TEN_NAMES.split())
_ORDINALS = {"one": "first", "two": "second", "three": "third", "five": "fifth", "eight": "eighth", "nine": "ninth"}
_SIGNS = "*†‡§"
_ALPHABETS = {
    "russianLower": "абвгдежзиклмнопрстуфхцчшщыэюя",
    "russianUpper": "АБВГДЕЖЗИКЛМНОПРСТУФХЦЧШЩЫЭЮЯ",
    "hebrew2": "אבגדהוזחטיכלמנסעפצקרשת",
    "arabicAlpha": "أبتثجحخدذرزسشصضطظعغفقكلمنهوي",
    "aiueoFullWidth": "アイウエオカキクケコサシスセソタチツテトナニヌネノハヒフヘホマミムメモヤユヨラリルレロワヲン",
    "iroha": "イロハニホヘトチリヌルヲワカヨタレソツネナラムウヰノオクヤマケフコエテアサキユメミシヱヒモセスン",
    "ganada": "가나다라마바사아자차카타파하",
    "chosung": "ㄱㄴㄷㄹㅁㅂㅅㅇㅈㅊㅋㅌㅍㅎ",
}
_MAX_REPEATS = 30  # of a letter: after "z" comes "aa", and Word begins again after 780
_CHINESE = "〇一二三四五六七八九"
_CHINESE_NAMES = (
    "chineseCounting chineseCountingThousand taiwaneseCounting taiwaneseCountingThousand japaneseCounting"
    " ideographDigital japaneseDigitalTenThousand koreanCounting"
)
_CHINESE_FORMS = frozenset(_CHINESE_NAMES.split())
_CIRCLED = "①②③④⑤⑥⑦⑧⑨⑩⑪⑫⑬⑭⑮⑯⑰⑱⑲⑳"


def counted_form(count: int, form: str) -> str:
    """Return a number in a form such as `upperRoman`, or like "001, 002"; a decimal number in any other form."""
    if form in ("none", "bullet"):
        return ""
    if form in _KINDS:
        return numeral(count, _KINDS[form])
    if (alphabet := _ALPHABETS.get(form)) and 0 < count <= _MAX_REPEATS * len(alphabet):
        repeats, place = divmod(count - 1, len(alphabet))
        return alphabet[place] * (repeats + 1)
    if form == "decimalZero":
        return f"{count:02d}"
    if form == "ordinal":
        return f"{count}{_ending(count)}"
    if form in ("cardinalText", "ordinalText") and 0 < count < 100:
        return _words(count, is_ordinal=form == "ordinalText").capitalize()
    if form == "chicago" and 0 < count <= _MAX_REPEATS * len(_SIGNS):
        return _SIGNS[(count - 1) % len(_SIGNS)] * ((count - 1) // len(_SIGNS) + 1)
    if form in _CHINESE_FORMS and 0 < count < 100:
        return _chinese(count)
    if form.startswith("decimalEnclosedCircle") and 0 < count <= len(_CIRCLED):
        return _CIRCLED[count - 1]
    if "," in form and (first := form.partition(",")[0].strip()).isdecimal() and len(first) <= 9:
        return f"{count:0{len(first)}d}"
    return str(count)


def _ending(count: int) -> str:
    return "th" if count % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(count % 10, "th")


def _words(count: int, *, is_ordinal: bool) -> str:
    if count < len(_ONES):
        first, last = "", _ONES[count]
    else:
        tens, ones = divmod(count, 10)
        first, last = (f"{_TENS[tens]}-", _ONES[ones]) if ones else ("", _TENS[tens])
    if is_ordinal:
        last = _ORDINALS.get(last) or f"{_ordinal_stem(last)}th"
    return first + last


def _chinese(count: int) -> str:
    tens, ones = divmod(count, 10)
    lead = "" if not tens else "十" if tens == 1 else f"{_CHINESE[tens]}十"
    return lead + (_CHINESE[ones] if ones else "")


def _ordinal_stem(word: str) -> str:
    if word.endswith("y"):
        return f"{word[:-1]}ie"
    return f"{word[:-2]}f" if word.endswith("ve") else word
