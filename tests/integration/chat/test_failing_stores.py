"""What a run leaves where the store fails under it, as on a full disk."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import anyio
import pytest

from asky.errors import RateLimited, StorageError, StoreFull
from asky.llm.port import Message
from asky.storage.runs import RunStore
from tests.integration.chat.recorded_runs import TWO, Room, Talking, same_again
from tests.integration.chat.test_answering import SEARCH, Citing
from tests.support.models import ScriptedModel, Turn


@pytest.fixture
def room(tmp_path: Path) -> Iterator[Room]:
    opened = Room(tmp_path)
    yield opened
    opened.store.close()


def fill(room: Room, table: str, kind: str) -> None:
    """Have no more room for rows of that kind."""
    with room.store.database.write() as connection:
        connection.execute(
            f"CREATE TRIGGER no_room BEFORE INSERT ON {table} WHEN NEW.kind = '{kind}'"
            " BEGIN SELECT RAISE(ABORT, 'database or disk is full'); END"
        )


def free(room: Room) -> None:
    with room.store.database.write() as connection:
        connection.execute("DROP TRIGGER no_room")


def test_a_run_whose_failure_cannot_be_written_is_interrupted_and_its_session_can_go(room: Room) -> None:
    fill(room, "ledger", "failed")
    with pytest.raises(RateLimited):
        room.ask(ScriptedModel(SEARCH, RateLimited("come back later")))
    assert room.runs.find(None).status == "interrupted"
    assert room.remove_session() == 1


def test_a_stopped_run_whose_end_cannot_be_written_is_interrupted_and_can_be_taken_up(room: Room) -> None:
    fill(room, "ledger", "cited")
    cut, raised = ScriptedModel(SEARCH, Turn("The moon raises two", hangs=True)), []

    async def ask() -> None:
        try:
            await room._answer(cut, room.question())
        except StorageError as error:
            raised.append(error.code)

    async def main() -> None:
        async with anyio.create_task_group() as group:
            group.start_soon(ask)
            while len(cut.sent) < 2:
                await anyio.lowlevel.checkpoint()
            group.cancel_scope.cancel()

    anyio.run(main)
    assert raised == ["disk_full"]
    assert room.runs.find(None).status == "interrupted"
    free(room)
    same_again(room, room.resume(Talking(SEARCH)))


def test_a_run_that_cannot_begin_or_go_on_is_held_by_nobody(room: Room) -> None:
    folder = room.store.database.path.parent / "running"
    fill(room, "step", "begun")
    with pytest.raises(StoreFull):
        room.ask(Citing(TWO))
    assert list(folder.iterdir()) == []
    free(room)
    room.ask(Citing(TWO))
    room.crash_after(3)
    fill(room, "ledger", "resumed")
    with pytest.raises(StoreFull):
        room.resume(Citing(TWO))
    assert room.runs.find(None).status == "interrupted"
    free(room)
    same_again(room, room.resume(Citing(TWO)))


def test_a_run_that_is_stopped_as_it_begins_has_an_end(room: Room) -> None:
    """The store is held by another writer until the user has stopped the run."""
    stopped, waits = threading.Event(), threading.Event()

    def hold() -> None:
        with room.store.database.write():
            waits.set()
            assert stopped.wait(120)

    holding = threading.Thread(target=hold)
    holding.start()
    assert waits.wait(120)

    async def main() -> None:
        async with anyio.create_task_group() as group:
            group.start_soon(room._answer, Citing(TWO), room.question())
            await anyio.lowlevel.checkpoint()
            await anyio.lowlevel.checkpoint()
            group.cancel_scope.cancel()
            stopped.set()

    anyio.run(main)
    holding.join()
    run = room.runs.find(None)
    assert (run.status, room.kept[-1].stopped_by) == ("cancelled", "cancelled")
    RunStore(room.store.database).take_up(run.id)  # nobody holds it


def test_what_a_step_held_that_could_not_be_written_is_kept_with_the_failure(room: Room) -> None:
    fill(room, "step", "ran")
    with pytest.raises(StoreFull):
        room.ask(Citing(TWO))
    steps = room.runs.steps.of(room.runs.find(None).id)
    assert [each.kind for each in steps] == ["begun", "prepared", "called", "set aside"]
    state = steps[-1].data["state"]
    assert (state["queries"], len(state["shown"])) == (["moon tides"], 2)
    free(room)
    answer = room.resume(Talking(SEARCH))
    assert {each.key for each in answer.citations} < {each["key"] for each in state["shown"]}
    same_again(room, answer)


def test_a_note_that_went_with_a_call_which_could_not_be_written_is_not_lost(room: Room) -> None:
    room.notes = [["Leave the sun out."]]
    fill(room, "step", "called")
    with pytest.raises(StoreFull):
        room.ask(Citing(TWO))
    free(room)
    model = Talking(SEARCH)
    room.resume(model)
    assert any(_says(each, "Leave the sun out.") for each in model.sent[-1][0])


def _says(message: Message, words: str) -> bool:
    return message.role == "user" and words in message.content
