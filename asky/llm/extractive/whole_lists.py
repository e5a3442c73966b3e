"""The other members of a list that one unit of an answer is a member of: who asks for several wants all of them."""

from __future__ import annotations

import re
from collections.abc import Sequence

from asky.llm.extractive.questions import PLURAL, ParsedQuestion
from asky.llm.extractive.scoring import Scorer
from asky.llm.extractive.units import RECORDS, Unit
from asky.text.terms import terms_of

_SEVERAL = re.compile(
    r"^\W*(?:what|which|who|whose|where) (?:else )?(?:are|were|have|all)\b|\ball (?:of )?(?:the|our|my|its|their)?\b"
    rf"|\b(?:what|which) {PLURAL}\b(?! (?:is|was|has|does)\b)"
    r"|\bwho (?:attend|came|comes|was present|were present|took part|participat)|\bsteps\b|\beach\b|\bevery\b",
    re.IGNORECASE,
)
_LABEL = re.compile(r"\W{0,3}(?P<label>[A-Z][\w-]*(?: [\w-]+){0,2})\W{0,2}:\s")
_MAX_ITEMS = 15  # of a list: one of dozens of things is not the answer as a whole


def asks_several(question: ParsedQuestion) -> bool:
    """Return whether the question asks for several things, by its form: "What are the risks?", "Which ports ...?"."""
    return question.kind in ("list", "steps") or _SEVERAL.search(question.text) is not None


def members_with(unit: Unit, question: ParsedQuestion, scorer: Scorer) -> list[Unit]:
    """Return the quotable units that make up a list with `unit`, it included, in the order of the passages.

    Those are what begins with the same label, if the question names it ("Action: ..."; that of a row names its column),
    or the items beside it.
    """
    label = _LABEL.match(unit.text)
    if label is not None and unit.kind not in RECORDS and terms_of(label["label"]) & question.terms:
        same = (_LABEL.match(each.text) for each in scorer.quotable)
        found = [each for each, other in zip(scorer.quotable, same, strict=True) if other and other[1] == label[1]]
    elif unit.kind == "item":
        found = _run(unit, scorer)
        found = found if len(found) <= _MAX_ITEMS else [unit]
    else:
        found = [unit]
    return found


def _run(unit: Unit, scorer: Scorer) -> list[Unit]:
    """Return the items around one, up to what is neither an item nor a sentence between two items."""
    before, after = _side(unit, scorer, back=True), _side(unit, scorer, back=False)
    return [*reversed(before), unit, *after]


def _side(unit: Unit, scorer: Scorer, *, back: bool) -> list[Unit]:
    found: list[Unit] = []
    between: Sequence[Unit] = ()
    other = scorer.before(unit) if back else scorer.after(unit)
    while other is not None and other.quotable and other.kind in ("item", "sentence") and len(between) <= 1:
        if other.kind == "item":
            found += [*between, other]
            between = ()
        else:
            between = [*between, other]
        other = scorer.before(other) if back else scorer.after(other)
    return found
