"""What the first keystroke costs, in CPU time."""

from __future__ import annotations

import resource
from pathlib import Path

import pytest

from tests.bench.measure import measure_python, on_this_machine
from tests.support.chatting import CTRL_D, Chatting


@pytest.mark.parametrize(
    ("arguments", "limit_s"),
    [(("--help",), 0.124), (("--version",), 0.124), (("config", "show"), 0.2)],
    ids=["help", "version", "config show"],
)
def test_light_commands_cost_a_small_multiple_of_importing_click(
    arguments: tuple[str, ...], limit_s: float, tmp_path: Path
) -> None:
    runs = [measure_python(("-m", "asky", *arguments), tmp_path) for _ in range(6)]  # the first one compiles
    least, limit = min(run.cpu_s for run in runs), on_this_machine(limit_s, tmp_path)
    print(f"\nasky {' '.join(arguments)}: {1000 * least:.0f} ms of CPU, at most {1000 * limit:.0f}")
    assert least <= limit


def test_a_chat_shows_its_prompt_within_550_ms_of_cpu(tmp_path: Path) -> None:
    def chat_cpu_s() -> float:
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        with Chatting(home=tmp_path) as chatting:
            chatting.see("| web addresses only")
            chatting.type(CTRL_D)
            assert chatting.end() == 0
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

    chat_cpu_s()  # compiles what is not compiled yet, and makes the store
    least, limit = min(chat_cpu_s() for _ in range(5)), on_this_machine(0.55, tmp_path)  # 6.6 to 7.3 units measured
    print(f"\nasky chat: {1000 * least:.0f} ms of CPU, at most {1000 * limit:.0f}")
    assert least <= limit
