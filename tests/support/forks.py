"""Processes that begin in a moment: forks of one that has loaded what is heavy, and has no threads."""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable
from multiprocessing.connection import Connection
from multiprocessing.context import ForkServerProcess
from typing import Any

_CONTEXT = multiprocessing.get_context("forkserver")
_CONTEXT.set_forkserver_preload(["chromadb", "chromadb.api.rust", "tests.support.store_world"])
_PATIENCE_S = 300


def fork(target: Callable[..., object], *arguments: Any) -> ForkServerProcess:
    """A process that has begun to run `target`, a function of a module of `tests.support`."""
    process = _CONTEXT.Process(target=target, args=arguments)
    process.start()
    return process


def result_of(target: Callable[..., Any], *arguments: Any) -> tuple[int | None, Any]:
    """The exit code of a process that ran `target`, and what that returned; `None` where it came to no end."""
    receiver, sender = _CONTEXT.Pipe(duplex=False)
    with receiver:
        process = fork(_send, sender, target, arguments)
        sender.close()
        try:
            result = receiver.recv()
        except EOFError:
            result = None
        process.join(_PATIENCE_S)
    return process.exitcode, result


def _send(sender: Connection, target: Callable[..., Any], arguments: tuple[Any, ...]) -> None:
    with sender:
        sender.send(target(*arguments))
