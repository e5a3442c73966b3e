"""Synthetic worlds of sources, and runs of the agent through them, with its real order of reading, items and measures.

A world has sources that state facts about entities, each fact under a sub-question; a search that ranks sources by what
they say, with noise; reprints, sources that fail, and pages about something else. A run reads some sources each cycle,
those of all offered that the agent would read first, until nothing is offered or its budget ends it. What a rule does
is then read off the run, because when it stops does not change what came before.
"""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import accumulate
from typing import Literal

from asky.agent.items import circular_citations, entity_key, fact_keys
from asky.agent.reading_order import SearchRanking, order_pages
from asky.agent.saturation import calculate_saturation
from asky.agent.stopping import CycleRecord, StoppingRule

Kind = Literal["ordinary", "burst", "trickle", "tiny", "empty"]
KINDS: tuple[Kind, ...] = (*["ordinary"] * 14, "burst", "trickle", "tiny", "tiny", "empty", "empty")
"""The kinds of worlds, each as often as it is drawn.

An ordinary world is drawn from the ranges. In a burst, one source that is hard to find states a tenth to a fifth of
all facts, and nothing else states them; in a trickle every source adds a fact or two; a tiny one has one to three
sources; in an empty one no source states anything.
"""

FIXED_CYCLES = 5
MAX_CYCLES = 20
QUERIES = 3
"""Queries of a cycle; each is answered with `RESULTS` sources."""
ATTEMPTS = 2
"""How often a sub-question is asked before others that have facts already, if it has none."""
RESULTS = 10

Range = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Ranges:
    """What the parameters of worlds are drawn from.

    `sources`, those that state facts, and `overlap`, how many sources state a fact on average, are drawn evenly on a
    logarithmic scale. `skew` is the exponent of Zipf's law over the facts. `reprints`, `failing` and `reworded` are
    shares: of sources that have a copy, of those that cannot be read, and of statements that are not recognised as the
    fact that they state. `search_noise` is the deviation of a score, where a source about the question with five facts
    scores 1.8 and one about something else -.3, on average.
    """

    sources: Range = (5, 40)
    facts_per_source: Range = (5, 14)
    overlap: Range = (2, 12)
    skew: Range = (0, 1.2)
    questions: Range = (1, 5)
    reprints: Range = (0, 0.25)
    failing: Range = (0, 0.2)
    irrelevant: Range = (20, 60)
    search_noise: Range = (0.4, 1.4)
    reworded: Range = (0, 0.05)
    fetches_per_cycle: Range = (5, 8)


DEVELOPMENT = Ranges()
HELD_OUT = Ranges(
    sources=(4, 50),
    facts_per_source=(4, 17),
    overlap=(1.8, 15),
    skew=(0, 1.5),
    questions=(1, 7),
    reprints=(0, 0.35),
    failing=(0, 0.3),
    irrelevant=(10, 80),
    search_noise=(0.3, 1.6),
    reworded=(0, 0.07),
    fetches_per_cycle=(4, 9),
)
"""Every range is wider, nearly all at both ends."""
HARDER = replace(
    HELD_OUT,
    sources=(8, 60),
    facts_per_source=(4, 20),
    overlap=(1.7, 15),
    questions=(1, 8),
    reprints=(0, 0.4),
    failing=(0, 0.35),
    irrelevant=(10, 100),
    search_noise=(0.3, 1.8),
    reworded=(0, 0.08),
)
"""More sources and more that goes wrong: five cycles are too few in one world of ten."""


@dataclass(frozen=True, slots=True)
class Source:
    """A page: the facts that it states, each with the number of its wording, and what it cites."""

    address: str
    facts: tuple[tuple[int, int], ...]
    cites: tuple[str, ...]
    prominence: float
    fails: bool = False
    original: str | None = None


@dataclass(frozen=True, slots=True)
class World:
    """Sources, the sub-question of each fact, and how searches and cycles go."""

    kind: Kind
    sources: tuple[Source, ...]
    question_of: tuple[int, ...]
    questions: int
    search_noise: float
    fetches_per_cycle: int
    seed: int

    @property
    def facts(self) -> frozenset[int]:
        """The facts that sources state which can be read."""
        return frozenset(fact for source in self.sources if not source.fails for fact, _ in source.facts)


@dataclass(frozen=True, slots=True)
class Run:
    """A run to the end of its budget: a record for each cycle, and the share of the world's facts found by then."""

    world: World
    records: tuple[CycleRecord, ...]
    recall: tuple[float, ...]

    def fetches(self, cycles: int) -> int:
        """The sources tried in the first `cycles`."""
        return sum(record.fetches for record in self.records[:cycles])

    def stopped_by(self, rule: StoppingRule) -> int:
        """The cycles after which `rule` stops, all of them if it never does."""
        stops = (number for number in range(1, len(self.records)) if rule.decide(self.records[:number]).should_stop)
        return next(stops, len(self.records))


def make_world(seed: int, ranges: Ranges = DEVELOPMENT, kind: Kind | None = None) -> World:
    """The world of a seed: of a kind that is drawn too, if none is given."""
    draw = random.Random(seed)
    kind = kind or draw.choice(KINDS)
    count = round(_even_log(draw, ranges.sources))
    per_source, overlap = draw.uniform(*ranges.facts_per_source), _even_log(draw, ranges.overlap)
    skew = draw.uniform(*ranges.skew)
    if kind == "trickle":
        per_source, overlap, skew = draw.uniform(1.5, 3), draw.uniform(1.1, 1.5), 0.0
    elif kind in ("tiny", "empty"):
        count = draw.randint(1, 3) if kind == "tiny" else 0
    questions = draw.randint(*map(int, ranges.questions))
    total = max(3, round(count * per_source / overlap))
    question_of = [draw.randrange(questions) for _ in range(total)]
    choices = _Choices(question_of, questions, skew)
    stated = [choices.draw_facts(draw, round(draw.lognormvariate(math.log(per_source), 0.5))) for _ in range(count)]
    if kind == "burst":
        hidden = range(total, total + math.ceil(total * draw.uniform(0.12, 0.25)))
        question_of += [draw.randrange(questions)] * len(hidden)
        stated.append(frozenset(hidden))
    return World(
        kind,
        tuple(_sources(draw, ranges, stated, has_hidden=kind == "burst")),
        tuple(question_of),
        questions,
        draw.uniform(*ranges.search_noise),
        draw.randint(*map(int, ranges.fetches_per_cycle)),
        seed,
    )


def _even_log(draw: random.Random, bounds: Range) -> float:
    return math.exp(draw.uniform(*map(math.log, bounds)))


class _Choices:
    """Draws what sources state: mostly facts under one sub-question, by Zipf's law with an exponent of `skew`."""

    _FOCUS = 0.7

    def __init__(self, question_of: Sequence[int], questions: int, skew: float) -> None:
        every = range(len(question_of))
        self._facts = [[fact for fact in every if question_of[fact] == question] for question in range(questions)]
        self._weights = [list(accumulate((fact + 1) ** -skew for fact in facts)) for facts in self._facts]

    def draw_facts(self, draw: random.Random, count: int) -> frozenset[int]:
        """At least one fact, at most about `count`."""
        asked = [question for question, facts in enumerate(self._facts) if facts]
        own, found = draw.choice(asked), set[int]()
        for _ in range(3 * max(count, 1)):
            question = own if draw.random() < self._FOCUS else draw.choice(asked)
            found.update(draw.choices(self._facts[question], cum_weights=self._weights[question]))
            if len(found) >= count:
                break
        return frozenset(found)


def _sources(
    draw: random.Random, ranges: Ranges, stated: Sequence[frozenset[int]], *, has_hidden: bool
) -> Iterator[Source]:
    """The sources that state something, reprints of them, and those that state nothing."""
    addresses = [f"https://source{number}.example/page" for number in range(len(stated))]
    failing, reworded, reprints = (draw.uniform(*each) for each in (ranges.failing, ranges.reworded, ranges.reprints))
    for number, (address, facts) in enumerate(zip(addresses, stated, strict=True)):
        is_hidden = has_hidden and number == len(stated) - 1
        wordings = tuple(
            (fact, _OTHER if draw.random() < reworded else draw.randrange(_OTHER)) for fact in sorted(facts)
        )
        cites = [f"https://other{draw.randrange(1_000)}.example/", *draw.sample(addresses, min(2, len(addresses)))]
        source = Source(
            address,
            wordings,
            tuple(cites),
            _HIDDEN if is_hidden else draw.gauss(0, 0.5),
            fails=not is_hidden and draw.random() < failing,
        )
        yield source
        if not is_hidden and draw.random() < reprints:
            copy = f"https://reprint{number}.example/page"
            yield replace(source, address=copy, prominence=draw.gauss(0, 0.5), fails=False, original=address)
    for number in range(draw.randint(*map(int, ranges.irrelevant))):
        yield Source(f"https://irrelevant{number}.example/", (), (), draw.gauss(-0.3, 0.5))


def run_world(world: World, cycles: int = MAX_CYCLES) -> Run:
    """Run through a world until nothing is offered any more, or the budget of cycles ends it."""
    search = _Search(world)
    read: list[list[Source]] = []
    unread: list[int] = []
    for _ in range(cycles):
        chosen = search.next_cycle()
        if not chosen and not search.offered:
            break
        read.append(chosen)
        unread.append(len(search.offered))
    return Run(world, tuple(_records(read, unread)), tuple(_recall(world, read)))


class _Search:
    """Offers sources for the sub-questions in words that change: those without facts first, then the least asked."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._draw = random.Random(-world.seed - 1)
        topics = [Counter(world.question_of[fact] for fact, _ in each.facts) for each in world.sources]
        self._relevance = [[math.log1p(topic[question]) for question in range(world.questions)] for topic in topics]
        self._tried: set[int] = set()
        self._answered: set[int] = set()
        self._asked: Counter[int] = Counter()
        self._rankings: list[SearchRanking] = []
        self.offered: set[int] = set()
        """The sources that were offered and are not read yet."""

    def next_cycle(self) -> list[Source]:
        """The best sources of all that were offered so far for the sub-questions of this cycle, which are then read."""
        asked = set[int]()
        for _ in range(QUERIES):
            question = min(range(self._world.questions), key=lambda each: (each not in self._open(), self._asked[each]))
            self._asked[question] += 1
            asked.add(question)
            self._query(question)
        ranked = [int(index) for index, _ in order_pages(self._rankings, asked)]
        chosen = [index for index in ranked if index not in self._tried][: self._world.fetches_per_cycle]
        self._tried.update(chosen)
        self.offered.difference_update(chosen)
        sources = [self._world.sources[index] for index in chosen]
        facts = (fact for source in sources if not source.fails for fact, _ in source.facts)
        self._answered.update(self._world.question_of[fact] for fact in facts)
        return sources

    def _open(self) -> Collection[int]:
        """The sub-questions without a fact that are worth another query."""
        every = range(self._world.questions)
        return [each for each in every if each not in self._answered and self._asked[each] < ATTEMPTS]

    def _query(self, question: int) -> None:
        noise, gauss = self._world.search_noise, self._draw.gauss
        scores = [
            (self._relevance[index][question] + source.prominence + gauss(0, noise), index)
            for index, source in enumerate(self._world.sources)
        ]
        best = [index for _, index in sorted(scores, reverse=True)[:RESULTS]]
        self._rankings.append(SearchRanking(question, [str(index) for index in best]))
        self.offered.update(index for index in best if index not in self._tried)


def _recall(world: World, read: Sequence[Sequence[Source]]) -> Iterator[float]:
    found: set[int] = set()
    for sources in read:
        found.update(fact for source in sources if not source.fails for fact, _ in source.facts)
        yield len(found) / len(world.facts) if world.facts else 1.0


def _records(read: Sequence[Sequence[Source]], unread: Sequence[int]) -> Iterator[CycleRecord]:
    """The records of the cycles, from what the sources say in words."""
    stated = [(source, each) for sources in read for source in sources if not source.fails for each in source.facts]
    keys = fact_keys([statement(*each) for _, each in stated])
    fact_of = {each: key for (_, each), key in zip(stated, keys, strict=True)}
    entities: set[str] = set()
    stating: dict[str, set[str]] = {}
    known: list[Source] = []
    tried = failed = 0
    for cycle, (sources, left) in enumerate(zip(read, unread, strict=True), 1):
        entities_before, facts_before = len(entities), len(stating)
        tried += len(sources)
        failed += sum(each.fails for each in sources)
        for source in (each for each in sources if not each.fails):
            known.append(source)
            entities.update(entity_key(entity(*each), "place") for each in source.facts)
            for each in source.facts:
                stating.setdefault(fact_of[each], set()).add(source.original or source.address)
        times = Counter(map(len, stating.values()))
        same_as = {source.address: source.original for source in known if source.original}
        citations = circular_citations({source.address: source.cites for source in known}, same_as)
        yield CycleRecord(
            cycle=cycle,
            fetches=len(sources),
            new_entities=len(entities) - entities_before,
            entities=len(entities),
            new_facts=len(stating) - facts_before,
            facts=len(stating),
            facts_seen_once=times[1],
            facts_seen_twice=times[2],
            sources=len({address for addresses in stating.values() for address in addresses}),
            unread=left,
            metrics=calculate_saturation(
                entities_before,
                len(entities),
                facts_before,
                len(stating),
                *citations,
                tried - failed,
                tried - failed + left,
            ),
        )


_SYLLABLES = ("ka", "lo", "mi", "tu", "re", "sa", "no", "vi", "be", "du")
_THINGS = ("corals", "turtles", "visitors")
_OTHER = 3
_HIDDEN = -1.5
"""How far behind others of its relevance a source is that is hard to find."""


def entity(fact: int, wording: int) -> str:
    """The name of the entity that a fact is about, in one of its spellings."""
    number = fact // len(_THINGS)
    name = "".join(_SYLLABLES[number // 10**place % 10] for place in (2, 1, 0)).capitalize()
    return (f"{name} Reef", f"the {name} reef", f"{name.upper()} REEF", f"{name} reef")[wording]


@cache
def statement(fact: int, wording: int) -> str:
    """A fact in words. The last wording is one that nothing short of understanding takes for the same fact."""
    name, thing = entity(fact, 0), _THINGS[fact % len(_THINGS)]
    share, year = 1 + fact * 7 % 97, 1950 + fact * 3 % 71
    return (
        f"The {name} lost {share} percent of its {thing} in {year}.",
        f"In {year}, {share}% of the {thing} were lost by the {name}.",
        f"In {year} the {name} reportedly lost {share} per cent of {thing}.",
        f"By {year} hardly more than {100 - share} in a hundred {thing} were left at the {name}, surveys say.",
    )[wording]
