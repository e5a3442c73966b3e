"""In a run whose private passages stay, no model on another machine is sent one, also if a caller forgets to ask."""

from __future__ import annotations

import pytest

from asky.errors import UsageError
from asky.runs.access import Access
from asky.runs.journal.replay import recorded_spec
from tests.integration.chat.recorded_runs import Room, Talking, room
from tests.integration.chat.test_answering import SEARCH

__all__ = ["room"]

STAYS = Access(private_stays=True)


class NearTalking(Talking):
    host = "127.0.0.1:8080"


def test_a_passage_of_a_file_is_shown_to_a_model_on_this_machine_only(room: Room) -> None:
    room.access = STAYS
    far, near = Talking(SEARCH), NearTalking(SEARCH)
    with pytest.raises(UsageError, match=r"a private passage .* the model scripted at model\.test"):
        room.ask(far)
    assert len(far.sent) == 1, "the call before the search held nothing private"
    assert room.ask(near).text == "The moon raises two tides a day [1]."


def test_a_run_that_is_resumed_has_the_same_access(room: Room) -> None:
    for access in (STAYS, Access(offline=True), Access()):
        room.access = access
        room.ask(NearTalking(SEARCH))
        assert Access.from_options(recorded_spec(room.runs, room.runs.find(None)).options) == access
