"""The second passage of an answer: that of a document whose title stands in the first.

"Killing Pablo is a book by Mark Bowden" says half of where its author was born; the passage of the document called
"Mark Bowden" says the rest.
"""

from __future__ import annotations

from collections.abc import Sequence

from asky.llm.extractive.questions import ParsedQuestion
from asky.llm.extractive.scoring import ScoredUnit, Scorer, holds
from asky.llm.extractive.units import PassageText, Unit
from asky.text.titles import Words, fold, forms_of, has_capitals_of, tells, title_words

FORMS = frozenset({"time", "number", "person", "place"})
"""What an answer may be asked for that is recognised by its form."""

_OF_FORM = 0.3


def bridged_units(
    question: ParsedQuestion, scored: Sequence[ScoredUnit], scorer: Scorer, passages: Sequence[PassageText]
) -> list[Unit]:
    """Return the unit that has all names of the question, and the sentence that it leads to; empty if none is needed.

    One is needed if the best of `scored` has none of the names: whoever was born there, it need not be the director.
    """
    if not scored or not question.names or question.names & scorer.terms_around([scored[0].unit]):
        return []
    named = [each.unit for each in scored if question.names <= scorer.terms_around([each.unit])]
    if not named:
        return []
    linked = linked_units(question, named[:1], scorer, passages)
    return [named[0], *linked] if linked else []


def linked_units(
    question: ParsedQuestion, chosen: Sequence[Unit], scorer: Scorer, passages: Sequence[PassageText]
) -> list[Unit]:
    """Return the sentence, if any, that adds what `chosen` lacks, of a passage that one of `chosen` leads to.

    Its title stands in one of them, or search found it by a link from their source.

    It has a word of the question that none of `chosen` has, with its title and headings, and the form that is asked
    for if there is one. A title that the question names already leads nowhere.
    """
    sentences = [unit for unit in chosen if unit.kind == "sentence"]
    if not sentences or question.document is not None:
        return []
    lacking = question.terms - frozenset[str]().union(*(scorer.terms_around([unit]) for unit in chosen))
    titles = {passages[unit.passage].title for unit in chosen}
    linked = {
        number
        for number, passage in enumerate(passages)
        if passage.title not in titles
        and (passage.linked_from in titles or _is_mentioned(passage.title, sentences, question.text))
    }
    found = [unit for unit in scorer.quotable if unit.passage in linked and unit.kind == "sentence"]
    scored = [(_value(question, lacking, unit, scorer), unit) for unit in found]
    best = max(scored, key=lambda each: each[0], default=None)
    return [best[1]] if best is not None and best[0] > 0 else []


def _value(question: ParsedQuestion, lacking: frozenset[str], unit: Unit, scorer: Scorer) -> float:
    """Return how much of what is lacking a unit has; 0 if it has no word of it or not the form that is asked for."""
    share = scorer.share(lacking, unit.terms) if lacking else 0.0
    form = holds(question, unit) if question.kind in FORMS else 0.0
    if not share or (question.kind in FORMS and not form):
        return 0.0
    return share + _OF_FORM * form


def _is_mentioned(title: str, units: Sequence[Unit], question: str) -> bool:
    """Return whether a title stands in one of the units, with its capitals, and not in the question."""
    asked = title_words(question)
    forms = [form for form in forms_of(title) if tells(form)]
    return any(
        _stands_in(form, title_words(unit.text)) and not _stands_in(form, asked) for form in forms for unit in units
    )


def _stands_in(title: Words, text: Words) -> bool:
    wanted, length = fold(title), len(title)
    return any(
        fold(text[at : at + length]) == wanted and has_capitals_of(title, text[at : at + length])
        for at in range(len(text) - length + 1)
    )
