from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from asky.research.writing.tool_result_placeholder import RESEARCHED, tool_result_placeholder

WRITTEN = {"success": True, "path": "notes/test.md", "topics_researched": 3}


@pytest.mark.parametrize(
    "fields",
    [
        WRITTEN,
        WRITTEN | {"written_to": "notes/test.research.md"},
        WRITTEN | {"success": False, "error": "nothing was written: the user did not approve the change"},
    ],
)
def test_a_research_into_a_note_keeps_how_it_ended_and_does_not_ask_for_another(fields: dict[str, Any]) -> None:
    stub = tool_result_placeholder(json.dumps(fields | {"preview": "p" * 900}), "research_note")
    assert json.loads(stub) == {"left_out": RESEARCHED} | fields
    assert "call the tool again" not in stub


def test_what_a_note_tool_returned_that_is_no_object_leaves_no_text() -> None:
    assert json.loads(tool_result_placeholder("[1, 2]" + " " * 300, "research_note")) == {"left_out": RESEARCHED}
    assert json.loads(tool_result_placeholder("not JSON " * 90, "research_note")) == {"left_out": RESEARCHED}


def test_the_first_line_says_what_was_looked_up_unless_it_is_data() -> None:
    assert json.loads(tool_result_placeholder("3 pages read:\n" + "x" * 900, "find"))["about"] == "3 pages read:"
    assert "about" not in json.loads(
        tool_result_placeholder("<data 9f3c2a71 page>\n" + "x" * 900 + "\n</data 9f3c2a71>", "find")
    )


@given(st.text(max_size=600), st.sampled_from(["find", "research_note"]))
def test_a_stub_is_never_longer_and_has_no_stub_of_its_own(content: str, tool: str) -> None:
    stub = tool_result_placeholder(content, tool)
    assert len(stub) <= len(content)
    assert tool_result_placeholder(stub, tool) == stub
