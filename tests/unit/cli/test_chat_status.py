from __future__ import annotations

import pytest

from asky.app.conversation import ConversationStatus
from asky.cli.chat.status import spent_words, status_line

STATUS = ConversationStatus("fast", "research", "sea", web="on", tokens=12_345, cost_usd=0.01234)
WHOLE = "fast | research | web on | 12,345 tokens, 0.0123 USD | sea"


def test_everything_is_told_where_there_is_room() -> None:
    assert status_line(STATUS, len(WHOLE)) == WHOLE


@pytest.mark.parametrize(
    ("columns", "line"),
    [
        (len(WHOLE) - 1, "fast | research | web on | 12,345 tokens, 0.0123 USD"),
        (30, "fast | research | web on"),
        (15, "fast | research"),
        (14, "fast"),
        (3, "fas"),
    ],
)
def test_facts_that_do_not_fit_are_left_out_whole(columns: int, line: str) -> None:
    assert status_line(STATUS, columns) == line


def test_a_wide_name_takes_two_cells_a_character() -> None:
    wide = ConversationStatus("速い", "lean", None, web="off")
    assert status_line(wide, 11) == "速い | lean"
    assert status_line(wide, 10) == "速い"


def test_a_name_cannot_steer_the_terminal() -> None:
    hostile = ConversationStatus("a\x1b[2Jb", "lean", "x\ny", web="off")
    assert status_line(hostile, 80) == "ab | lean | web off | 0 tokens | x y"


def test_a_cost_is_told_where_it_is_known() -> None:
    assert spent_words(1, None) == "1 token"
    assert spent_words(1000, 0.0) == "1,000 tokens"
    assert spent_words(1000, 1.5) == "1,000 tokens, 1.5000 USD"
