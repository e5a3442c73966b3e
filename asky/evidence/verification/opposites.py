"""Opposite words: "grew" and "levelled off", "higher" and "lower", "before" and "after".

A word stands at a pole of an axis; two sentences that are otherwise the same are opposite if they stand at different
poles of one axis. The list is closed: words that most readers of English know as opposites in reports and papers.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from asky.text.terms import stem

_AXES: Mapping[str, tuple[str, ...]] = {
    "course": (
        "grow grows grew grown growing growth rise rises rose risen rising increase increases increased increasing "
        "climb climbs climbed climbing surge surges surged gain gains gained soar soars soared expand expands expanded",
        "fall falls fell fallen falling drop drops dropped dropping decline declines declined declining decrease "
        "decreases decreased decreasing shrink shrinks shrank shrunk shrinking reduce reduces reduced reducing dwindle "
        "dwindled plunge plunged slump slumped contract contracted",
        "level levels levelled leveled levelling leveling plateau plateaued stagnate stagnated flat unchanged stable "
        "stabilised stabilized steady",
    ),
    "amount": ("more higher greater larger bigger", "less fewer lower smaller"),
    "extent": ("most highest greatest largest biggest maximum", "least fewest lowest smallest minimum"),
    "time": ("before earlier prior", "after later following"),
    "place": ("above over upper", "below under beneath"),
    "order": ("first", "last final"),
    "speed": ("faster quicker fastest", "slower slowest"),
    "quality": ("better best improve improves improved", "worse worst worsen worsens worsened"),
    "meridian": ("north northern", "south southern"),
    "parallel": ("east eastern", "west western"),
    "assent": (
        "accept accepts accepted approve approves approved allow allows allowed permit permits permitted support "
        "supports supported",
        "reject rejects rejected refuse refuses refused forbid forbids forbade forbidden prohibit prohibits prohibited "
        "ban bans banned oppose opposes opposed",
    ),
    "outcome": ("win wins won succeed succeeds succeeded pass passed", "lose loses lost fail fails failed"),
    "sign": ("positive positively", "negative negatively"),
    "truth": ("true correct", "false incorrect wrong"),
    "trade": ("import imports imported", "export exports exported"),
    "deal": ("buy buys bought", "sell sells sold"),
    "state": ("open opens opened", "close closes closed"),
    "bounds": ("start starts started begin begins began", "end ends ended stop stops stopped"),
    "frequency": ("always", "never"),
    "presence": ("include includes included including", "exclude excludes excluded excluding"),
}
Pole = tuple[str, int]

POLES: Mapping[str, Pole] = {
    word: (axis, pole) for axis, poles in _AXES.items() for pole, listed in enumerate(poles) for word in listed.split()
}
"""A word, casefolded, to its axis and its pole there."""

_STEMS: Mapping[str, frozenset[str]] = {
    axis: frozenset(stem(word) for listed in poles for word in listed.split()) for axis, poles in _AXES.items()
}


def poles_of(read: Sequence[str]) -> frozenset[Pole]:
    """Return the poles at which the words of a sentence stand."""
    return frozenset(POLES[word] for word in read if word in POLES)


def opposed_axes(one: frozenset[Pole], other: frozenset[Pole]) -> Iterator[frozenset[str]]:
    """Yield the stems of the words of each axis on which two sentences stand at one pole each, and not the same."""
    for axis, pole in one:
        there = [other_pole for other_axis, other_pole in other if other_axis == axis]
        if len(there) == 1 and there[0] != pole and sum(name == axis for name, _ in one) == 1:
            yield _STEMS[axis]
