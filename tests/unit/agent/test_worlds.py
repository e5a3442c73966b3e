"""The default rule on some worlds of development; `tests/quality/test_stopping.py` has all of them."""

from __future__ import annotations

from asky.agent.items import entity_key, fact_keys
from asky.agent.stopping import AnyMeasure, stopping_rule
from tests.quality.stopping import measure, ruled, worlds
from tests.support.worlds import DEVELOPMENT, MAX_CYCLES, entity, make_world, run_world, statement


def test_wordings_of_a_fact_are_one_item_but_for_the_last() -> None:
    facts = range(0, 900, 9)
    keys = [fact_keys([statement(fact, wording) for wording in range(4)]) for fact in facts]
    assert all(len(set(each[:3])) == 1 and each[3] != each[0] for each in keys)
    assert len({each[0] for each in keys}) == len(facts)
    assert len({entity_key(entity(fact, wording), "place") for fact in range(9) for wording in range(4)}) == 3


def test_a_world_is_the_same_each_time_and_a_run_never_forgets() -> None:
    assert run_world(make_world(4)) == run_world(make_world(4))
    run = run_world(make_world(4))
    assert list(run.recall) == sorted(run.recall)
    assert len(run.records) <= MAX_CYCLES
    assert [each.cycle for each in run.records] == list(range(1, len(run.records) + 1))


def test_an_empty_world_has_nothing_to_find_and_is_given_up() -> None:
    run = run_world(make_world(1, kind="empty"))
    assert run.stopped_by(stopping_rule()) == 3
    assert {record.facts for record in run.records} == {0}


def test_the_default_saves_fetches_and_seldom_stops_too_early() -> None:
    runs = worlds(range(60), DEVELOPMENT)
    default, any_one = (measure(runs, ruled(rule)) for rule in (stopping_rule(), AnyMeasure()))
    assert default.gain.mean >= -0.001
    assert default.fetches.mean <= 0.71
    assert default.early <= 4 / 60  # the three bursts, and one other
    assert any_one.early >= 11 / 60
