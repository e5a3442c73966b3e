"""The numbered events of one run: stored, and followed from any number while the run is in progress."""

from __future__ import annotations

import threading
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import suppress
from dataclasses import replace
from datetime import datetime, timezone
from typing import TYPE_CHECKING, Any

import anyio

from asky.concurrency import in_thread
from asky.errors import StorageError, UsageError
from asky.events import (
    Envelope,
    Event,
    FileRead,
    Listener,
    Warned,
    decode_event,
    event_fields,
    event_name,
    ignore,
)
from asky.storage.events import EventStore, StoredEvent

if TYPE_CHECKING:
    import asyncio

FLUSH_S = 1.0
"""Seconds between two writes: the longest delay with which another process sees an event."""
_USABLE = ("indexed", "unchanged")


def _never(_: str) -> bool:
    """Return that nothing has been warned about before."""
    return False


def _now() -> str:
    return datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


class RunFeed:
    """The events of the run `run_id`; `listen` receives them one after the other.

    Events are emitted from any thread, numbered at once from `after + 1`, and written by the next `flush`. `store` is
    `None` for a replayed run, whose events are not stored. `mask` hides secrets in texts before they are written.
    `warned_before` returns whether an earlier run of the session has warned about a topic. `warnings` are the messages
    of the warnings so far, in order.

    A listener that raises receives no more events, and a warning is emitted: its errors do not fail the run.
    """

    def __init__(
        self,
        run_id: str,
        store: EventStore | None,
        *,
        listen: Listener = ignore,
        mask: Callable[[str], str] = str,
        after: int = 0,
        warned_before: Callable[[str], bool] = _never,
    ) -> None:
        self._warned_before = warned_before
        self.run_id = run_id
        self.warnings: list[str] = []
        self._store = store
        self._listen = listen
        self._mask = mask
        self._lock = threading.Lock()
        self._notifying = threading.RLock()  # listeners are called one event at a time, and may emit
        self._writing = threading.Lock()
        self._topics: set[str] = set()
        self._first = after + 1
        self._events: list[Envelope] = []
        self._written = 0
        self._is_stored = False
        self._is_closed = False
        self._wakers: list[tuple[asyncio.AbstractEventLoop, anyio.Event]] = []

    def emit(self, event: Event) -> None:
        """Number `event` and pass it to the listener and the followers.

        Of warnings with the same topic, or the same message if they have none, only the first is emitted.
        """
        with self._notifying:
            if isinstance(event, Warned):
                topic = event.topic or event.message
                if topic in self._topics:
                    return
                self._topics.add(topic)
                event = replace(event, is_repeat=event.is_repeat or self._is_repeat(topic))
            self._add(event)
            self._wake()
            self._notify(event)

    def _is_repeat(self, topic: str) -> bool:
        try:
            return self._warned_before(topic)
        except StorageError:  # rather say it twice
            return False

    def _add(self, event: Event) -> None:
        with self._lock:
            if isinstance(event, Warned):
                self.warnings.append(event.message)
            self._events.append(Envelope(self.run_id, self._first + len(self._events), _now(), event))

    def _notify(self, event: Event) -> None:
        try:
            self._listen(event)
        except Exception as error:  # noqa: BLE001 - a listener is the caller's code
            self._listen = ignore
            self.emit(
                Warned(f"a listener failed with {type(error).__name__} and receives no more events", topic="listener")
            )

    # writing

    def start_writing(self) -> None:
        """Write the events so far in the open transaction, and later ones with each `flush`: the run is now stored.

        Raises `UsageError` if another process has continued the run since this feed was created.
        """
        if self._store is not None and self._store.last(self.run_id) >= self._first:
            raise UsageError(f"another process has continued run {self.run_id} meanwhile", hint="resume it again")
        self._write()
        self._is_stored = True

    def flush(self) -> None:
        """Write the events since the last write; must not be called within a transaction."""
        if self._is_stored:
            self._write()

    def _write(self) -> None:
        if self._store is None:
            return
        with self._writing:  # not the lock of `emit`, which a thread with an open transaction may need
            new = self._events[self._written :]
            if new:
                self._store.append(self.run_id, [self._stored(each) for each in new])
                self._written += len(new)

    async def flush_regularly(self, until: anyio.Event) -> None:
        """Write new events every `FLUSH_S` seconds until that event; failed writes are repeated with the next.

        It is not ended by cancelling its task: what asyncio keeps of a cancelled task in a group refers to itself, and
        to the run, whose memory would be free only once Python looks for such circles.
        """
        while not until.is_set():
            with anyio.move_on_after(FLUSH_S):
                await until.wait()
            if self._written < len(self._events):
                with suppress(StorageError):  # a lasting error also fails the writes of the run itself
                    await in_thread(self.flush)

    def _stored(self, envelope: Envelope) -> StoredEvent:
        return StoredEvent(
            envelope.seq, envelope.at, event_name(envelope.event), public_fields(envelope.event, self._mask)
        )

    def close(self) -> None:
        """End the feed: its followers stop after the last event."""
        self._is_closed = True
        self._wake()

    # following

    async def follow(self, after: int = 0) -> AsyncIterator[Envelope]:
        """Yield the events after number `after`, in order and without gaps, until the run has ended.

        Those of an earlier process of the run are read from the store.
        """
        if after < self._first - 1 and self._store is not None:
            async for each in stored_events(self._store, self.run_id, after, before=self._first):
                yield each
        place = max(0, after - self._first + 1)
        while True:
            is_closed, changed = self._is_closed, self._waker()
            while place < len(self._events):
                place += 1
                yield self._events[place - 1]
            if is_closed:
                return
            await changed.wait()

    def _waker(self) -> anyio.Event:
        """Return an event that is set when there are new events, or when the feed is closed."""
        import asyncio  # already imported by anyio

        changed = anyio.Event()
        with self._lock:
            self._wakers.append((asyncio.get_running_loop(), changed))
        if self._is_closed:
            changed.set()
        return changed

    def _wake(self) -> None:
        with self._lock:
            wakers, self._wakers = self._wakers, []
        for loop, changed in wakers:
            with suppress(RuntimeError):  # the loop is closed
                loop.call_soon_threadsafe(changed.set)


async def stored_events(
    store: EventStore, run_id: str, after: int, *, before: int | None = None
) -> AsyncIterator[Envelope]:
    """Yield the stored events of a run with numbers above `after` and below `before`, in order.

    Events unknown to this version are left out.
    """
    while found := await in_thread(store.after, run_id, after):
        for each in found:
            after = each.seq
            if before is not None and after >= before:
                return
            with suppress(ValueError):  # from a later version
                yield Envelope(run_id, each.seq, each.at, decode_event(each.name, each.fields))


def public_fields(event: Event, mask: Callable[[str], str] = str) -> dict[str, Any]:
    """Return the fields of `event` as JSON, as they are stored and shown to others.

    Secrets are masked. The path of a local file is included only if the file could not be used.
    """
    fields = event_fields(event)
    if isinstance(event, FileRead) and event.verdict in _USABLE:
        fields["path"] = None
    return {name: _masked(value, mask) for name, value in fields.items()}


def _masked(value: Any, mask: Callable[[str], str]) -> Any:
    if isinstance(value, str):
        return mask(value)
    if isinstance(value, dict):
        return {name: _masked(item, mask) for name, item in value.items()}
    if isinstance(value, Iterable):
        return [_masked(item, mask) for item in value]
    return value
