"""Language detection by script and function words: just enough to tell that two texts differ."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Mapping
from functools import lru_cache
from types import MappingProxyType

_MAX_CHARS = 2_000  # some 300 words; the language is clear well before that
_MIN_LATIN = 0.75
_MIN_KANA = 0.1
_QUESTION_WORD_WEIGHT = 3.0
_MIN_SUM = 1.2
_MIN_SHARE = 0.06
_NEAR = 0.5

_LATIN = "latin"
_KANA = frozenset(("hiragana", "katakana"))
_HAN = ("chinese", "japanese")
_WORD = re.compile(r"[^\W\d_]+")

# The most common words of each language, and those that questions begin with. Words that are common nouns or names in
# other languages (dove, hoe, come, kim) are left out.
_WORDS = MappingProxyType(
    {
        "en": (
            "the a of and to in is that it for was with as are be by this from or an at have has not do does did can"
            " were their its i you we they there than but on if my your will about",
            "what how why which who when where whose",
        ),
        "de": (
            "der die das und ist nicht ein eine einen einem einer den dem des von zu mit auf für im in was wird werden"
            " sind sich auch bei es aus nach kann man oder als zum zur gibt wo sie wir ich muss",
            "wie warum wieso wer wann welche welcher welches woher",
        ),
        "fr": (
            "le la les de des du un une et est en que qui dans pour par sur pas ne il elle au aux avec ce cette ces"
            " sont se ou plus comment nous vous quoi",
            "pourquoi quel quelle quels quelles quand où combien",
        ),
        "es": (
            "el la los las de del y en que es un una por para con no se su lo al más son fue hay está como o entre",
            "qué cuál cuáles cómo quién cuándo dónde cuánto",
        ),
        "it": (
            "il lo la i gli le di del della dei delle e è in che un una per con non si da sono al alla nel nella"
            " dal anche cosa chi più o",
            "perché quale quali qual quando quanto",
        ),
        "pt": (
            "o a os as de do da dos das e é em que um uma para com não se por no na nos mais como são foi ao pelo pela"
            " porque onde ou",
            "qual quais quem quando quanto",
        ),
        "nl": (
            "de het een en van in is dat die op te zijn met voor niet aan er om ook als bij naar door wat worden wordt"
            " zij wij heeft uit of waar ons",
            "hoeveel waarom wie wanneer welke waardoor",
        ),
        "sv": (
            "och i att det en ett är som på för av med till den de inte om har var från kan eller men hur vi sig",
            "vad varför vem när vilken vilka vilket",
        ),
        "da": (  # and Norwegian
            "og i at det en et er som på for af av med til den de ikke om har var fra kan eller men så vi sig seg",
            "hvad hva hvordan hvorfor hvem hvornår når hvilken hvilke",
        ),
        "pl": (
            "i w na z że się nie do jest to o jak co czy po od dla przez są ale oraz ich być który która jego",
            "dlaczego jaka jaki jakie kto kiedy gdzie ile",
        ),
        "cs": (
            "a v na z že se ne do je to o jak co po od pro jsou ale i který která jako nebo při byl ve",
            "proč jaká jaký jaké kdo kdy kde kolik",
        ),
        "fi": (
            "ja on ei se että ovat kuin myös mutta oli tai joka hän niin sen ole jos kun",
            "mikä mitä miten miksi kuka milloin missä",
        ),
        "hu": (
            "a az és hogy nem egy is van mint volt meg ez csak vagy között ha el fel még már",
            "mi miért hogyan ki mikor milyen mennyi",
        ),
        "ro": (
            "și de la în cu nu este un o a care pe din pentru ce cum sunt mai se sau al ale prin fi unde",
            "când cine câte",
        ),
        "tr": (
            "ve bir bu da de için ile ne olan olarak daha gibi çok var değil her en kadar sonra ya",
            "nasıl neden nerede hangi nedir niçin niye",
        ),
        "id": (
            "yang dan di ke dari untuk dengan ini itu tidak adalah pada dalam akan oleh atau juga apa sebagai",
            "bagaimana mengapa siapa kapan apakah",
        ),
    }
)


def _weighed(lists: Mapping[str, tuple[str, str]]) -> Mapping[str, Mapping[str, float]]:
    """Return the weight of each word per language: one shared among its languages, three for a question word."""
    weights: dict[str, dict[str, float]] = {}
    for language, (common, question_words) in lists.items():
        for word in common.split():
            weights.setdefault(word, {})[language] = 1.0
        for word in question_words.split():
            weights.setdefault(word, {})[language] = _QUESTION_WORD_WEIGHT
    return {word: {language: weight / len(held) for language, weight in held.items()} for word, held in weights.items()}


_WEIGHTS = MappingProxyType(_weighed(_WORDS))


def languages_of(text: str) -> frozenset[str]:
    """Return the languages or scripts that `text` may be in; empty if it has no letters.

    A Latin text gives the codes of the languages whose function words it contains, several if they are similar, and all
    sixteen if it has too few such words to tell. Another script gives its own name; Han alone may be Chinese or
    Japanese, with kana it is Japanese. A text is Latin only if more than three quarters of its letters are, since names
    and terms stay Latin everywhere. Capitalized words count only at the beginning: "Los Angeles" is not Spanish. The
    first 2,000 characters are examined.

    Source: of 9,700 English documents of seven sets and 1,800 questions about them one page was taken for another
    language, which begins in it; of 52 pages in six languages none. A word counts one, shared among the languages that
    have it; texts in a language of the list score .07 to .8 per word, in nine others .007 to .11.
    """
    text = unicodedata.normalize("NFKC", text[:_MAX_CHARS])
    script = _script(text)
    if script == _LATIN:
        return _latin(text)
    return frozenset(_HAN if script == "cjk" else filter(None, (script,)))


def function_words(languages: frozenset[str]) -> frozenset[str]:
    """Return the function words that are known of these languages, by their `languages_of`."""
    return frozenset(word for word, of in _WEIGHTS.items() if not languages.isdisjoint(of))


def are_foreign(one: frozenset[str], other: frozenset[str]) -> bool:
    """Return whether two texts, by their `languages_of`, are certainly not in one language."""
    return bool(one) and bool(other) and one.isdisjoint(other)


def _script(text: str) -> str | None:
    scripts = Counter(_script_of(character) for character in text if character.isalpha())
    total = sum(scripts.values())
    if not total:
        return None
    if scripts[_LATIN] > _MIN_LATIN * total:
        return _LATIN
    kana = sum(scripts.pop(each, 0) for each in _KANA)
    if kana > _MIN_KANA * (kana + scripts["cjk"]):
        scripts["japanese"] = kana + scripts.pop("cjk", 0)
    del scripts[_LATIN]
    return max(scripts, key=lambda each: scripts[each])


@lru_cache(maxsize=4096)
def _script_of(character: str) -> str:
    """Return the first word of a character's Unicode name, which is its script."""
    return unicodedata.name(character, "").partition(" ")[0].lower()


def _latin(text: str) -> frozenset[str]:
    found = _WORD.findall(text)
    distinct = {word.lower() for place, word in enumerate(found) if place == 0 or word.islower()}
    sums: Counter[str] = Counter()
    for word in distinct:
        for language, weight in _WEIGHTS.get(word, {}).items():
            sums[language] += weight  # type: ignore[assignment]
    best = max(sums.values(), default=0.0)
    if best < max(_MIN_SUM, _MIN_SHARE * len(distinct)):
        return frozenset(_WORDS)
    return frozenset(language for language, value in sums.items() if value >= _NEAR * best)
