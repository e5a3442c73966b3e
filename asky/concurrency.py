"""The one place where work fans out or leaves the event loop.

Orchestration and the network are async; compute and disk are plain functions. `gather` runs many coroutines under a
cap, `in_thread` runs one plain function without holding up the others.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import Any, TypeVar

import anyio
import anyio.to_thread

from asky.errors import AskyError
from asky.values import Failure

Item = TypeVar("Item")
Result = TypeVar("Result")


async def gather(
    items: Sequence[Item],
    worker: Callable[[Item], Awaitable[Result]],
    *,
    limit: int,
    subject: Callable[[Item], str] = str,
) -> list[Result | Failure]:
    """Await `worker(item)` for every item, at most `limit` at a time; the results are in the order of `items`.

    An `AskyError` of one item becomes a `Failure` about `subject(item)` in its place, and the others go on. Any other
    exception cancels the rest and is raised as itself, never in an exception group. Cancelling the caller cancels all.

    Raises `ValueError` when `limit` is below 1.
    """
    if limit < 1:
        raise ValueError(f"limit must be at least 1, not {limit}")
    results: dict[int, Result | Failure] = {}
    crashes: list[Exception] = []
    waiting = iter(enumerate(items))

    async def drain() -> None:
        for index, item in waiting:
            try:
                results[index] = await worker(item)
            except AskyError as error:
                results[index] = failure(error, subject(item))
            except Exception as error:  # noqa: BLE001 - raised below; a task group would wrap it
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
    """Run `function(*args)` in a worker thread and return what it returns, or raise what it raises.

    Cancelling the caller takes effect at once: the thread is left to finish on its own and its result is dropped, so
    `function` must leave things whole when nobody waits for it. `limiter` caps how many run together (40 by default).
    The threads are not daemons: a process that must end at once has to leave by `os._exit`.
    """
    return await anyio.to_thread.run_sync(partial(function, *args), abandon_on_cancel=True, limiter=limiter)


def failure(error: AskyError, subject: str) -> Failure:
    """`error` as a value about `subject`."""
    return Failure(subject, error.code, error.message, error.hint, error.retryable)


def error_of(value: Failure) -> AskyError:
    """The error that `failure` made a value of, as far as the value tells: of the most general class with its code."""
    kind = next((each for each in _error_classes() if each.code == value.code), AskyError)
    error = kind(value.message, hint=value.hint)
    error.retryable = value.retryable
    return error


def _error_classes() -> list[type[AskyError]]:
    """All of them, the general before the special."""
    classes: list[type[AskyError]] = [AskyError]
    for each in classes:
        classes += each.__subclasses__()
    return classes
