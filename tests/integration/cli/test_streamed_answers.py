"""The command on a real pseudo-terminal that is smaller than the answer."""

from __future__ import annotations

from pathlib import Path

import pexpect  # type: ignore[import-untyped] # it has no types
import pyte
import pytest

from tests.support.asky_command import ASKY, clean_environment
from tests.support.endpoint import Answer, Endpoint

COLUMNS, ROWS = 60, 12
TABLE = "| bay | range |\n|---|--:|\n" + "".join(f"| Bay {n} | **{n}** m |\n" for n in range(1, 31))
CODE = "```python\n" + "".join(f"print({n})\n" for n in range(30)) + "```\n"


def on_terminal(answer: str, home: Path) -> tuple[list[str], str]:
    """All rows that were shown, those that have scrolled off too, and what was sent for them."""
    screen = pyte.HistoryScreen(COLUMNS, ROWS, history=1000, ratio=1)
    with Endpoint(Answer(answer, delta_chars=7)) as endpoint:
        environ = {
            "ASKY_PROVIDERS__LAB__BASE_URL": endpoint.base_url,
            "ASKY_MODELS__NEAR__PROVIDER": "lab",
            "ASKY_MODELS__NEAR__ID": "test-model",
            "TERM": "xterm-256color",
        }
        child = pexpect.spawn(
            ASKY[0],
            [*ASKY[1:], "-L", "-m", "near", "Hello?"],
            env=clean_environment(home, environ),
            encoding="utf-8",
            dimensions=(ROWS, COLUMNS),
            timeout=300,
        )
        child.expect(pexpect.EOF)
        child.close()
    assert child.exitstatus == 0, child.before
    pyte.Stream(screen).feed(child.before)
    off = ["".join(row[column].data for column in range(COLUMNS)) for row in screen.history.top]
    return [row.rstrip() for row in (*off, *screen.display)], child.before


@pytest.mark.parametrize(
    ("answer", "rows", "updates"),
    [
        (CODE, [f"  print({n})" for n in range(30)], 8),
        (TABLE, [f" Bay {n}".ljust(15) + f"{n} m".rjust(6) for n in range(1, 31)], 32),  # its end is seen as it comes
    ],
    ids=["code", "table"],
)
def test_what_is_taller_than_the_terminal_is_rendered_all_the_same(
    answer: str, rows: list[str], updates: int, tmp_path: Path
) -> None:
    lines, sent = on_terminal(f"Here:\n\n{answer}\nThat is **all**.", tmp_path)
    start = lines.index("Here:")
    end = lines.index("That is all.")
    assert [line.split() for line in lines[start + 1 : end] if line.strip(" ─")][-len(rows) :] == [
        row.split() for row in rows
    ]
    assert not any("```" in line or "|" in line or "**" in line for line in lines)
    assert sent.count("\x1b[?2026h") == sent.count("\x1b[?2026l") <= updates
