"""The command on a real pseudo-terminal that is smaller than the answer."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

import pexpect  # type: ignore[import-untyped] # it has no types
import pyte
import pytest

from tests.support.asky_command import ASKY, clean_environment
from tests.support.endpoint import Answer, Endpoint

COLUMNS, ROWS = 60, 12
TABLE = "| bay | range |\n|---|--:|\n" + "".join(f"| Bay {n} | **{n}** m |\n" for n in range(1, 31))
CODE = "```python\n" + "".join(f"print({n})\n" for n in range(30)) + "```\n"


MIXED = """# The tides

They have **two** causes:

- the moon, which pulls
  - on the near side of the earth
    - and on the far side
- the `sun`

| heavenly body | height of its tide |
|---|---:|
| moon | about 54 centimetres |
| sun | about 25 centimetres |

```python
print("the range of the tide today")
```

See [the tables](https://x.test/tides).
"""


def on_terminal(
    answer: str, home: Path, columns: int = COLUMNS, more: Mapping[str, str] = MappingProxyType({})
) -> tuple[list[str], str]:
    """All rows that were shown, those that have scrolled off too, and what was sent for them."""
    screen = pyte.HistoryScreen(columns, ROWS, history=1000, ratio=1)
    with Endpoint(Answer(answer, delta_chars=7)) as endpoint:
        environ = {
            "ASKY_PROVIDERS__LAB__BASE_URL": endpoint.base_url,
            "ASKY_MODELS__NEAR__PROVIDER": "lab",
            "ASKY_MODELS__NEAR__ID": "test-model",
            "TERM": "xterm-256color",
            **more,
        }
        child = pexpect.spawn(
            ASKY[0],
            [*ASKY[1:], "-L", "-m", "near", "Hello?"],
            env=clean_environment(home, environ),
            encoding="utf-8",
            dimensions=(ROWS, columns),
            timeout=300,
        )
        child.expect(pexpect.EOF)
        child.close()
    assert child.exitstatus == 0, child.before
    pyte.Stream(screen).feed(re.sub(r"\x1b\]8;[^\x1b]*\x1b\\\\", "", child.before))  # pyte prints links as text
    off = ["".join(row[column].data for column in range(columns)) for row in screen.history.top]
    return [row.rstrip() for row in (*off, *screen.display)], child.before


@pytest.mark.extended
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


NO_UTF8 = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}


@pytest.mark.few(1)
@pytest.mark.parametrize("columns", [100, 40, 20])
@pytest.mark.parametrize(
    "more", [{}, {"NO_COLOR": "1"}, {"TERM": "dumb"}, NO_UTF8], ids=["colour", "no colour", "dumb", "ascii"]
)
def test_at_any_width_an_answer_is_laid_out_and_breaks_between_words(
    more: dict[str, str], columns: int, tmp_path: Path
) -> None:
    lines, sent = on_terminal(MIXED, tmp_path, columns, more)
    assert not any(sign in line for line in lines for sign in ("```", "|---", "**", "# "))
    shown = {word for line in lines for word in line.split()}
    words = set(re.findall(r"[A-Za-z0-9]+", re.sub(r"`.*?`|```.*?```|\(.*?\)", "", MIXED, flags=re.DOTALL)))
    assert words - {"python"} <= {word.strip("().,:") for word in shown}
    assert any(line.startswith(" - the moon" if more == NO_UTF8 else " • the moon") for line in lines)
    assert ("heavenly body: moon" in lines) == (columns == 20)
    if more.keys() & {"NO_COLOR", "TERM"}:
        assert re.search(r"\x1b\[[0-9;]*m", sent) is None


@pytest.mark.extended
def test_links_are_for_the_terminal_if_it_shows_them(tmp_path: Path) -> None:
    asked = {"FORCE_HYPERLINK": "1", "NO_COLOR": "1"}
    lines, sent = on_terminal(MIXED, tmp_path, 100, asked)
    assert set(re.findall(r"\x1b\]8;id=\w+;([^\x1b]+)\x1b", sent)) == {"https://x.test/tides"}
    assert "See the tables (https://x.test/tides)." in lines
    assert "\x1b]8;" not in on_terminal(MIXED, tmp_path, 100)[1]
