"""The events of a run: numbered, heard, kept, and followed from any number."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import anyio
import pytest

from asky.errors import StorageError
from asky.events import (
    Envelope,
    Event,
    FileRead,
    Noted,
    TextStreamed,
    ToolReturned,
    Warned,
)
from asky.runs.access import Access
from asky.runs.context import RunContext, running
from asky.runs.feed import RunFeed, stored_events
from asky.storage.database import Database
from asky.storage.events import EventStore, StoredEvent
from asky.storage.runs import RunStore
from asky.storage.sessions import SessionStore
from asky.values import Answer, Failure, Usage
from tests.support.run_contexts import run_context

AT = "2026-01-02T03:04:05.000006Z"
KEY = "sk-0123456789abcdef"


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    opened = Database(tmp_path / "asky.db")
    yield opened
    opened.close()


def begin(database: Database) -> str:
    return RunStore(database).start(question="q", mode="standard", model="m", session_id=None).id


def kept_feed(database: Database, run_id: str, **given: Any) -> RunFeed:
    feed = RunFeed(run_id, EventStore(database), **given)
    feed.start_writing()
    return feed


def answered(run_id: str) -> Answer:
    return Answer(run_id, None, "standard", "q", "m", "whole", (), (), (), (), Usage())


async def followed(feed: RunFeed, after: int = 0) -> list[Envelope]:
    return [each async for each in feed.follow(after)]


def words(envelopes: list[Envelope]) -> list[str]:
    return [each.event.text for each in envelopes if isinstance(each.event, TextStreamed)]


# numbers


def emit_from_threads(feed: RunFeed, threads: int = 8, each: int = 200) -> None:
    ready = threading.Barrier(threads)

    def work(name: int) -> None:
        ready.wait()
        for number in range(each):
            feed.emit(TextStreamed(f"{name} {number}"))

    workers = [threading.Thread(target=work, args=(name,)) for name in range(threads)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()


def test_events_of_several_threads_are_numbered_without_gaps_and_heard_one_after_the_other(database: Database) -> None:
    heard: list[Event] = []
    under_way, overlaps = [0], [0]

    def listen(event: Event) -> None:
        under_way[0] += 1
        overlaps[0] += under_way[0] > 1
        threading.Event().wait(0.00001)  # lets other threads on
        heard.append(event)
        under_way[0] -= 1

    run = begin(database)
    feed = kept_feed(database, run, listen=listen)
    emit_from_threads(feed)
    feed.flush()
    feed.close()
    envelopes = anyio.run(followed, feed)
    assert [each.seq for each in envelopes] == list(range(1, 1601))
    assert [each.event for each in envelopes] == heard
    assert overlaps == [0]
    for name in range(8):  # and those of each thread in its own order
        own = [text for text in words(envelopes) if text.startswith(f"{name} ")]
        assert own == [f"{name} {number}" for number in range(200)]
    assert [each.seq for each in EventStore(database).after(run, 0, limit=2000)] == list(range(1, 1601))


def test_what_is_written_while_threads_emit_has_no_gaps_and_nothing_twice(database: Database) -> None:
    run = begin(database)
    feed = kept_feed(database, run)
    emitting = threading.Thread(target=emit_from_threads, args=(feed,))
    emitting.start()
    while emitting.is_alive():
        feed.flush()
    feed.flush()
    assert [each.seq for each in EventStore(database).after(run, 0, limit=2000)] == list(range(1, 1601))


# following


def test_a_run_is_followed_from_any_number_while_it_goes_on(database: Database) -> None:
    feed = kept_feed(database, begin(database))
    seen: dict[int, list[Envelope]] = {0: [], 2: [], 5: []}

    async def follow(after: int) -> None:
        async for each in feed.follow(after):
            seen[after].append(each)

    async def main() -> None:
        for number in range(1, 4):
            feed.emit(TextStreamed(str(number)))
        async with anyio.create_task_group() as group:
            for after in seen:
                group.start_soon(follow, after)
            await anyio.wait_all_tasks_blocked()
            assert [words(each) for each in seen.values()] == [["1", "2", "3"], ["3"], []]  # before it has ended
            await anyio.to_thread.run_sync(feed.emit, TextStreamed("4"))
            await anyio.wait_all_tasks_blocked()
            assert words(seen[0]) == ["1", "2", "3", "4"]
            for number in range(5, 8):
                feed.emit(TextStreamed(str(number)))
            feed.close()

    anyio.run(main)
    for after, envelopes in seen.items():
        assert [each.seq for each in envelopes] == list(range(after + 1, 8))


def test_a_run_that_has_ended_is_followed_from_any_number(database: Database) -> None:
    feed = kept_feed(database, begin(database))
    for number in range(1, 4):
        feed.emit(TextStreamed(str(number)))
    feed.close()
    assert [words(anyio.run(followed, feed, after)) for after in (0, 2, 3, 9)] == [["1", "2", "3"], ["3"], [], []]


def test_followers_in_several_event_loops_come_to_the_end(database: Database) -> None:
    feed = kept_feed(database, begin(database))
    seen: list[list[Envelope]] = []
    followers = [threading.Thread(target=lambda: seen.append(anyio.run(followed, feed))) for _ in range(3)]
    for each in followers:
        each.start()
    emit_from_threads(feed, threads=2, each=50)
    feed.close()
    for each in followers:
        each.join(timeout=60)
    assert [len(each) for each in seen] == [100, 100, 100]


def test_a_follower_that_leaves_holds_up_nobody(database: Database) -> None:
    feed = kept_feed(database, begin(database))

    async def leave_early() -> int:
        async for each in feed.follow():
            return each.seq
        return 0

    feed.emit(TextStreamed("1"))
    assert anyio.run(leave_early) == 1
    feed.emit(TextStreamed("2"))  # its event loop is closed
    feed.close()
    assert words(anyio.run(followed, feed)) == ["1", "2"]


# listeners and warnings


def test_a_listener_that_raises_hears_nothing_more_and_a_warning_says_so(database: Database) -> None:
    heard: list[Event] = []

    def listen(event: Event) -> None:
        heard.append(event)
        if event == Noted("2"):
            raise LookupError("of the caller")

    context = run_context(database, listen)
    answer = answered(context.id)

    async def main() -> Answer:
        async def work(start_writing: Callable[[Answer], None]) -> None:
            for number in range(4):
                context.emit(Noted(str(number)))
            start_writing(answer)

        async with running(context, work) as run:
            return await run.result()

    assert anyio.run(main) is answer
    assert heard == [Noted("0"), Noted("1"), Noted("2")]
    warning = "a listener failed with LookupError and receives no more events"
    assert context.warnings == [warning]
    events = [each.event for each in anyio.run(followed, context.feed)]
    assert events == [*heard, Warned(warning, topic="listener"), Noted("3")]


def test_of_warnings_of_one_topic_or_with_one_message_the_first_counts(database: Database) -> None:
    heard: list[Event] = []
    run = begin(database)
    feed = kept_feed(database, run, listen=heard.append)
    wanted = [Warned("no model", "get one", "embedder"), Warned("slow"), Warned("no model")]
    told = [wanted[0], Warned("it is still not there", topic="embedder"), wanted[1], Warned("slow", "wait"), wanted[2]]
    for each in told:
        feed.emit(each)
    feed.flush()
    feed.close()
    assert feed.warnings == ["no model", "slow", "no model"]
    assert heard == [each.event for each in anyio.run(followed, feed)] == wanted
    assert [each.fields["message"] for each in EventStore(database).after(run, 0)] == feed.warnings
    later = kept_feed(database, begin(database))
    later.emit(wanted[0])
    assert later.warnings == ["no model"]  # each run has its own


# keeping


def test_nothing_is_written_before_the_run_is_in_the_store_and_all_of_it_then(database: Database) -> None:
    run = begin(database)
    feed, events = RunFeed(run, EventStore(database)), EventStore(database)
    feed.emit(Noted("before"))
    feed.flush()
    assert events.last(run) == 0
    feed.start_writing()
    feed.emit(Noted("after"))
    assert events.last(run) == 1
    feed.flush()
    assert [each.fields["message"] for each in events.after(run, 0)] == ["before", "after"]


def test_a_run_that_is_replayed_keeps_nothing(database: Database) -> None:
    run = begin(database)
    feed = RunFeed(run, None)
    feed.start_writing()
    feed.emit(Noted("again"))
    feed.flush()
    feed.close()
    assert EventStore(database).last(run) == 0
    assert [each.event for each in anyio.run(followed, feed)] == [Noted("again")]


def test_secrets_are_masked_in_what_is_kept_and_paths_of_usable_files_hidden(database: Database) -> None:
    run = begin(database)
    feed = kept_feed(database, run, mask=lambda text: text.replace(KEY, "***"))
    failure = Failure("s", "c", f"refused {KEY}", hint=f"unset {KEY}")
    for event in (
        Warned(f"bad key {KEY}", f"unset {KEY}"),
        ToolReturned("c1", "t", KEY, failure),
        FileRead("/home/me/a.md", "indexed"),
        FileRead("/home/me/b.md", "unchanged"),
        FileRead("/home/me/c.pdf", "encrypted", f"it needs {KEY}"),
    ):
        feed.emit(event)
    feed.flush()
    fields = [each.fields for each in EventStore(database).after(run, 0)]
    assert KEY not in str(fields)
    assert (fields[0]["message"], fields[1]["failure"]["hint"]) == ("bad key ***", "unset ***")
    assert [each["path"] for each in fields[2:]] == [None, None, "/home/me/c.pdf"]
    assert fields[4]["why"] == "it needs ***"


def test_what_is_not_unicode_is_kept(database: Database) -> None:
    run = begin(database)
    feed = kept_feed(database, run)
    odd = FileRead("/docs/caf\udce9.xyz", "unsupported", "中\u2028\x00")
    feed.emit(odd)
    feed.flush()
    feed.close()

    async def read() -> list[Event]:
        return [each.event async for each in stored_events(EventStore(database), run, 0)]

    assert anyio.run(read) == [odd]


class BrokenStore(EventStore):
    """Cannot be written to once."""

    def __init__(self, database: Database) -> None:
        super().__init__(database)
        self.has_failed = threading.Event()

    def append(self, run_id: str, events: Iterable[StoredEvent]) -> None:
        if not self.has_failed.is_set():
            self.has_failed.set()
            raise StorageError("the disk is full")
        super().append(run_id, events)


def test_events_that_cannot_be_written_now_are_written_later_and_the_run_goes_on(database: Database) -> None:
    run = begin(database)
    store = BrokenStore(database)
    feed = RunFeed(run, store)
    feed.start_writing()
    context = RunContext(feed, Access())
    answer = answered(run)

    async def work(start_writing: Callable[[Answer], None]) -> None:
        context.emit(Noted("1"))
        assert await anyio.to_thread.run_sync(store.has_failed.wait, 60)
        context.emit(Noted("2"))
        start_writing(answer)

    async def main() -> Answer:
        async with running(context, work) as live:
            return await live.result()

    assert anyio.run(main) is answer
    assert [each.fields["message"] for each in store.after(run, 0)] == ["1", "2"]


# earlier processes, and later versions


def test_events_of_an_earlier_process_come_from_the_store_and_numbers_go_on(database: Database) -> None:
    run, events = begin(database), EventStore(database)
    earlier = kept_feed(database, run)
    for number in range(1, 1101):  # more than are read at once
        earlier.emit(TextStreamed(str(number)))
    earlier.flush()
    feed = RunFeed(run, events, after=events.last(run))
    feed.start_writing()
    feed.emit(TextStreamed("1101"))
    feed.flush()
    feed.emit(TextStreamed("1102"))
    feed.close()
    assert words(anyio.run(followed, feed)) == [str(number) for number in range(1, 1103)]  # those in both once
    assert [each.seq for each in anyio.run(followed, feed, 1099)] == [1100, 1101, 1102]
    assert words(anyio.run(followed, feed, 1101)) == ["1102"]


def test_events_of_a_later_version_are_passed_over(database: Database) -> None:
    run, events = begin(database), EventStore(database)
    failure = {"subject": "s", "code": "c", "message": "m", "hint": None, "retryable": True}
    returned = {"call_id": "c1", "name": "t", "summary": "u"}
    events.append(
        run,
        [
            StoredEvent(1, AT, "noted", {"message": "1", "is_detail": False, "colour": "blue"}),
            StoredEvent(2, AT, "dreamt", {"of": "sheep"}),
            StoredEvent(3, AT, "noted", {"words": "3"}),
            StoredEvent(4, AT, "tool_returned", returned | {"failure": failure | {"blame": "nobody"}}),
            StoredEvent(5, AT, "tool_returned", returned | {"failure": {"why": "unknown"}}),
            StoredEvent(6, AT, "noted", {"message": "6"}),
        ],
    )
    feed = RunFeed(run, events, after=6)
    feed.start_writing()
    feed.emit(Noted("7"))
    feed.close()
    kept = Failure("s", "c", "m", retryable=True)
    assert [(each.seq, each.event) for each in anyio.run(followed, feed)] == [
        (1, Noted("1")),
        (4, ToolReturned("c1", "t", "u", kept)),
        (6, Noted("6")),
        (7, Noted("7")),
    ]


# warnings of a session


def test_what_an_earlier_run_of_the_session_has_warned_about_is_marked_as_repeated(database: Database) -> None:
    session, other = SessionStore(database).open("sea", mode="research"), SessionStore(database).open("x", mode="lean")
    events = EventStore(database)

    def warned(session_id: str, *warnings: Warned) -> list[Event]:
        run = RunStore(database).start(question="q", mode="standard", model="m", session_id=session_id)
        heard: list[Event] = []
        feed = kept_feed(
            database, run.id, listen=heard.append, warned_before=lambda topic: events.has_warned(session_id, topic)
        )
        for each in warnings:
            feed.emit(each)
        feed.flush()
        assert feed.warnings == [each.message for each in warnings]
        return heard

    first, second, bare = Warned("9 left", topic="coverage"), Warned("5 left", topic="coverage"), Warned("cut")
    assert warned(session.id, first, bare) == [first, bare]
    assert warned(session.id, second, bare) == [replace(second, is_repeat=True), replace(bare, is_repeat=True)]
    assert warned(other.id, second) == [second]
