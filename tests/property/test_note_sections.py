"""Over 2,000 notes: asky inserts its part in the right place, changes nothing else, and does it once."""

from __future__ import annotations

import re

import pytest

from asky.notes.section import present_body, replace_section
from tests.support.notes import BODIES, inserted, made_note

_NOTES = 2_000
_AT_ONCE = 50
_INSERTED = re.compile(rb"\s*(?:## Research\s+)?%% asky:begin sha=\w{12} %%\s.*\s%% asky:end %%\s*", re.DOTALL)


@pytest.mark.few(12)
@pytest.mark.parametrize("first", range(0, _NOTES, _AT_ONCE))
def test_only_the_part_is_inserted_and_only_once(first: int) -> None:
    for seed in range(first, first + _AT_ONCE):
        note, body = made_note(seed), BODIES[seed % len(BODIES)]
        once = replace_section(note.data, body)
        at, new = inserted(note.data, once)
        assert _INSERTED.fullmatch(new), seed
        assert note.start - 2 <= at <= note.end, seed  # line ends may be those before or behind what is inserted
        assert new.count(b"## Research") == (not note.has_section), seed
        assert present_body(once) == body, seed
        assert replace_section(replace_section(once, body), body) == once, seed
