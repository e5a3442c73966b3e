"""Recognition of greetings, thanks and other words that ask nothing."""

from __future__ import annotations

from asky.text.terms import words

SMALL_TALK_REPLY = "What would you like to know from your sources?"
YOU_ARE_WELCOME = "You are welcome."
_MAX_WORDS = 6
_THANKS = frozenset(
    """
    thanks thank thankyou thx ty tysm cheers danke dank dankeschön merci gracias grazie obrigado obrigada bedankt tak
    tack
    """.split()  # noqa: SIM905 - easier to read and to change than quoted words
)
_SMALL_TALK = _THANKS | frozenset(
    """
    great good nice cool ok okay k perfect awesome hi hello hey bye goodbye morning evening afternoon night well done
    lovely wonderful brilliant excellent super hallo bonjour hola ciao gut genau d'accord vale
    """.split()  # noqa: SIM905
)
_ANSWERS = frozenset("yes no yeah yep nope sure ja nein oui non sí".split())  # noqa: SIM905
_FILLERS = frozenset(
    """
    you so very much a lot for that this it it's that's all the your help to now then indeed really i'm sounds works
    got beaucoup vielen vielmals sehr schön schon muchas mille molto bien bon je
    """.split()  # noqa: SIM905
)


def is_small_talk(text: str) -> bool:
    """Return whether `text` is a greeting, thanks, an assent or "no", for which nothing has to be searched."""
    return _consists_of(text, _SMALL_TALK | _ANSWERS)


def needs_no_answer(text: str) -> bool:
    """Return whether `text` is small talk, and no "yes" or "no", which may answer what was said before."""
    return is_small_talk(text) and _ANSWERS.isdisjoint(words(text))


def is_thanks(text: str) -> bool:
    """Return whether `text` is small talk that thanks for something."""
    return is_small_talk(text) and not _THANKS.isdisjoint(words(text))


def _consists_of(text: str, wanted: frozenset[str]) -> bool:
    said = words(text)
    is_short = 0 < len(said) <= _MAX_WORDS and not text.rstrip().endswith(("?", "？"))
    return is_short and wanted.issuperset(set(said) - _FILLERS) and not wanted.isdisjoint(said)
