"""Concurrency primitives: the only place that fans out work or leaves the event loop.

Orchestration and the network are async; compute and disk access are plain functions. `gather` runs many coroutines
under a cap; `in_thread` runs one plain function without blocking the others.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from asky.errors import AskyError, StorageError
from asky.values import Failure

if TYPE_CHECKING:
    import anyio

Item = TypeVar("Item")
Result = TypeVar("Result")


async def gather(
    items: Sequence[Item],
    worker: Callable[[Item], Awaitable[Result]],
    *,
    limit: int,
    subject: Callable[[Item], str] = str,
) -> list[Result | Failure]:
    """Await `worker(item)` for every item, at most `limit` at a time; return the results in the order of `items`.

    If an item raises an `AskyError`, its result is a `Failure` about `subject(item)`, and the others continue. A
    `StorageError` is about no item: it cancels the rest and is raised as is, never in an exception group, and so is any
    other exception. Cancelling the caller cancels all.

    Raises `ValueError` if `limit` is below 1.
    """
    if limit < 1:
        raise ValueError(f"limit must be at least 1, not {limit}")
    import anyio  # imported on use: many callers of this module never become asynchronous

    results: dict[int, Result | Failure] = {}
    crashes: list[Exception] = []
    waiting = iter(enumerate(items))

    async def drain() -> None:
        for index, item in waiting:
            try:
                results[index] = await worker(item)
            except Exception as error:  # noqa: BLE001 - raised below; a task group would wrap it
                if isinstance(error, AskyError) and not isinstance(error, StorageError):
                    results[index] = failure(error, subject(item))
                    continue
                crashes.append(error)
                group.cancel_scope.cancel()
                return

    async with anyio.create_task_group() as group:
        for _ in range(min(limit, len(items))):
            group.start_soon(drain)
    if crashes:
        raise crashes[0]
    return [results[index] for index in range(len(items))]


async def in_thread(
    function: Callable[..., Result], *args: Any, limiter: anyio.CapacityLimiter | None = None
) -> Result:
    """Run `function(*args)` in a worker thread; return its result or raise its exception.

    Cancelling the caller takes effect at once: the thread finishes on its own and its result is dropped, so `function`
    must leave consistent state even if no one waits for it. `limiter` caps how many run concurrently (40 by default).
    The threads are not daemons: a process that must end at once has to call `os._exit`.
    """
    import anyio.to_thread

    return await anyio.to_thread.run_sync(partial(function, *args), abandon_on_cancel=True, limiter=limiter)


def failure(error: AskyError, subject: str) -> Failure:
    """Return `error` as a `Failure` about `subject`."""
    return Failure(subject, error.code, error.message, error.hint, error.retryable)


def error_of(value: Failure) -> AskyError:
    """Rebuild the error that `failure` converted, using the most general class with its code."""
    kind = next((each for each in _error_classes() if each.code == value.code), AskyError)
    error = kind(value.message, hint=value.hint)
    error.retryable = value.retryable
    return error


def _error_classes() -> list[type[AskyError]]:
    """Return all error classes, general before special."""
    classes: list[type[AskyError]] = [AskyError]
    for each in classes:
        classes += each.__subclasses__()
    return classes
