"""Counts the steps of all tasks of an event loop, to interrupt something at each of them in turn."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Generator, Iterator
from contextlib import contextmanager
from typing import Any


class _Stepped(Coroutine[Any, Any, Any]):
    """A coroutine that tells of each step that it takes: from one `await` that waits for something to the next."""

    def __init__(self, inner: Coroutine[Any, Any, Any], step: Callable[[], None]) -> None:
        self._inner = inner
        self._step = step

    def send(self, value: Any) -> Any:
        self._step()
        return self._inner.send(value)

    def throw(self, *raised: Any) -> Any:
        self._step()
        return self._inner.throw(*raised)

    def close(self) -> None:
        self._inner.close()

    def __await__(self) -> Generator[Any, Any, Any]:
        return self._inner.__await__()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)  # whether it runs, which anyio looks at


class Steps:
    """How many steps the tasks have taken that were made since counting began."""

    def __init__(self) -> None:
        self.taken = 0


@contextmanager
def counted_steps(at: Callable[[int], None]) -> Iterator[Steps]:
    """Count the steps of tasks that the running loop makes in the body; `at` is called between two of them.

    It gets the number of the step before.
    """
    loop, steps = asyncio.get_running_loop(), Steps()

    def step() -> None:
        steps.taken += 1
        loop.call_soon(at, steps.taken)

    def make(
        on: asyncio.AbstractEventLoop, coroutine: Coroutine[Any, Any, Any] | Generator[Any, None, Any], **more: Any
    ) -> asyncio.Task[Any]:
        assert isinstance(coroutine, Coroutine)
        return asyncio.Task(_Stepped(coroutine, step), loop=on, **more)

    loop.set_task_factory(make)
    try:
        yield steps
    finally:
        loop.set_task_factory(None)
