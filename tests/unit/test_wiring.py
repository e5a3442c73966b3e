"""The services of a process: what they take from the configuration."""

from __future__ import annotations

from pathlib import Path

import anyio
import pytest

from asky.config.loader import load_config
from asky.config.schema import Obstacles
from asky.errors import Interrupted, Unreachable
from asky.events import Event, Warned
from asky.net.breaker import Breaker, CircuitOpen
from asky.wiring import Services


def test_a_configured_folder_that_is_not_there_is_named_and_left_out(tmp_path: Path) -> None:
    there, gone = tmp_path / "there", tmp_path / "gone"
    there.mkdir()
    environ = {"HOME": str(tmp_path), "ASKY_HOME": str(tmp_path / "asky")}
    flags = {"research.local_document_roots": [str(gone), str(there)]}
    config = load_config(environ=environ, cwd=tmp_path, flags=flags)
    heard: list[Event] = []
    with Services(config, environ, listener=heard.append) as services:
        assert services.roots().paths == (there,)
    assert heard == [Warned(f"{gone} does not exist", hint="it is listed in research.local_document_roots")]


def test_parts_that_are_closed_start_no_reader(tmp_path: Path) -> None:
    environ = {"HOME": str(tmp_path), "ASKY_HOME": str(tmp_path / "asky")}
    services = Services(load_config(environ=environ, cwd=tmp_path), environ)
    services.close()
    with pytest.raises(Interrupted):
        services.readers.read(b"x", name="a", media_type="text/plain")


def test_a_search_service_rests_after_as_many_failures_as_the_obstacles_say(tmp_path: Path) -> None:
    environ = {"HOME": str(tmp_path), "ASKY_HOME": str(tmp_path / "asky")}

    async def failures_before_rest(breaker: Breaker, key: str) -> int:
        for failures in range(20):
            try:
                await fail(breaker, key)
            except CircuitOpen:
                return failures
            except Unreachable:
                continue
        raise AssertionError

    async def fail(breaker: Breaker, key: str) -> None:
        async with breaker.guard(key):
            raise Unreachable("no answer")

    with Services(load_config(environ=environ, cwd=tmp_path), environ) as services:
        for obstacles, expected in ((None, 3), (Obstacles(), 5), (Obstacles(breaker_failures=2), 2)):
            web = services.web(obstacles=obstacles)
            assert web is services.web(obstacles=obstacles)
            assert anyio.run(failures_before_rest, web.breaker, str(expected)) == expected
