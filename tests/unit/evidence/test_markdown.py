from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from asky.evidence.export.markdown import answer_markdown, as_written
from tests.support.rendering import loaded_by

HOSTILE = (
    "![beacon](http://evil.test/p.png)",
    "<img src=http://evil.test/x.png onerror=alert(1)>",
    "[c](javascript:alert(1))",
    '"><script src=http://evil.test/s.js></script>',
    "```\n![x](http://evil.test/)\n```",
    "<!-- <img src=http://evil.test/> -->",
    "[x]: http://evil.test/ \n![x]",
    "\\![x](http://evil.test/)",
)


def answer(text: str) -> dict[str, Any]:
    citation = {
        "n": 1, "title": text, "section": text, "page": None, "page_label": text, "url": f"http://a.test/{text}",
        "path": None, "quote": text,
    }  # fmt: skip
    return {"question": text, "answer": "Two tides [1].", "citations": [citation], "stopped_by": None}


@pytest.mark.parametrize("text", HOSTILE)
def test_what_sources_and_questions_hold_is_shown_and_does_nothing(text: str) -> None:
    assert loaded_by(answer_markdown(answer(text))) == []
    assert (
        loaded_by(answer_markdown(answer(text) | {"citations": [answer(text)["citations"][0] | {"url": None}]})) == []
    )


@given(st.text(alphabet="![](){}<>\"'`~*_#&\\\n\t abc:/.=x1-+|$", max_size=60))
def test_no_text_makes_anybody_load_anything(text: str) -> None:
    assert loaded_by(answer_markdown(answer(text))) == []


def test_an_ordinary_answer_reads_well() -> None:
    plain = answer("Spring tides") | {"answer": "Two [1]."}
    plain["citations"][0] |= {"url": "https://a.test/tides_1", "section": "Causes", "page": 3, "page_label": None}
    assert answer_markdown(plain) == (
        "# Spring tides\n\nTwo [1].\n\n## Sources\n\n"
        "1. Spring tides, Causes, p. 3 - <https://a.test/tides_1>\n   > Spring tides\n"
    )
    cut = answer_markdown(plain | {"stopped_by": "length"})
    assert "Two [1].\n\n⚠ *This answer is not complete: it reached the limit of the model's reply.*\n\n## S" in cut
    assert as_written("1. first") == "1\\. first"
    assert as_written("- first") == "\\- first"
