"""What asky adds to a model's own time: start-up, memory, and the way of a token from the endpoint to the screen."""

from __future__ import annotations

import os
import select
import subprocess
import time
from pathlib import Path

import pytest

from tests.bench.measure import MIB, measure_python
from tests.support.asky_command import ASKY, ROOT, clean_environment
from tests.support.endpoint import Answer, Endpoint, Wire

pytestmark = pytest.mark.slow

MOST_UNITS = 9.5  # measured: 7.6 to 8.2 times `import click`
QUESTION = ("-L", "-m", "openai:test-model", "What makes the tides?")


def environ_of(endpoint: Endpoint) -> dict[str, str]:
    return {"OPENAI_BASE_URL": endpoint.base_url, "OPENAI_API_KEY": "sk-test", "TERM": "xterm-256color"}


def test_a_lean_call_costs_350_ms_of_cpu_and_60_mb_with_the_start_of_the_process(tmp_path: Path) -> None:
    with Endpoint("The moon does, and the sun a little.") as endpoint:
        runs, units = [], []
        for _ in range(5):
            runs.append(measure_python(("-m", "asky", *QUESTION), tmp_path, environ=environ_of(endpoint)))
            units.append(measure_python(("-c", "import click"), tmp_path).cpu_s)
    cpu_s = min(run.cpu_s for run in runs)  # what else the machine does only adds to it
    peak = max(run.peak_bytes for run in runs)
    limit_s = max(0.35, MOST_UNITS * min(units))  # 350 ms, or more where the machine is slow or busy
    print(f"\na lean call: {cpu_s * 1000:.0f} ms of CPU (limit {limit_s * 1000:.0f}), {peak / MIB:.0f} MiB")
    assert cpu_s <= limit_s
    assert peak <= 60e6


def test_the_first_token_is_on_the_screen_30_ms_after_it_left_the_endpoint(tmp_path: Path) -> None:
    delays: list[float] = []
    # Wall time on a shared machine: others can only make it longer, and five runs that they leave alone are enough.
    while len(delays) < 25 and sum(delay < 0.03 for delay in delays) < 5:
        delays.append(_first_token_s(tmp_path))
    print(f"\nfirst token: {', '.join(f'{delay * 1000:.1f}' for delay in sorted(delays))} ms")
    assert sum(delay < 0.03 for delay in delays) == 5


def _first_token_s(home: Path) -> float:
    """Seconds from the release of the first token by the endpoint to its first byte on a terminal."""
    with Endpoint(Answer("Moonlight " * 20, delta_chars=10, wire=Wire(gated=True))) as endpoint:
        screen, terminal = os.openpty()
        process = subprocess.Popen(
            [*ASKY, *QUESTION],
            stdin=subprocess.DEVNULL,
            stdout=terminal,
            stderr=subprocess.DEVNULL,
            env=clean_environment(home, environ_of(endpoint)),
            cwd=ROOT,
        )
        os.close(terminal)
        try:
            endpoint.wait_for_requests(1)
            endpoint.step()  # the role, without text
            endpoint.wait_for_bytes(1)
            began = time.perf_counter()
            endpoint.step()
            _wait_for(screen, b"Moonlight")
            return time.perf_counter() - began
        finally:
            process.kill()
            process.wait()
            os.close(screen)


def _wait_for(screen: int, wanted: bytes) -> None:
    """Read until `wanted` has come."""
    seen = b""
    while wanted not in seen:
        assert select.select([screen], [], [], 60)[0], f"only {seen!r} appeared"
        seen += os.read(screen, 4096)
