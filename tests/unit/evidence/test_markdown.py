from __future__ import annotations

import json
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from asky.evidence.export.markdown import answer_markdown, as_written
from tests.support.rendering import loaded_by

PROPERTY = re.compile(r'^(\w+): (".*")$', re.MULTILINE)
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
    run = "20260314-091502-7c1e55d0"
    return {
        "question": text, "answer": "Two tides [1].", "citations": [citation], "run": run, "model": text,
        "stopped_by": None,
    }  # fmt: skip


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
    plain = answer("Spring tides") | {"answer": "Two [1][2]: `x[1]`.\n\n[1]: so."}
    plain["citations"][0] |= {"url": "https://a.test/tides_1", "section": "Causes", "page": 3, "page_label": None}
    local = {"n": 2, "url": None, "path": "/docs/the tides (1).md", "section": None, "page_label": None}
    plain["citations"].append(plain["citations"][0] | local)
    assert answer_markdown(plain) == (
        '---\nquestion: "Spring tides"\ndate: 2026-03-14\nmodel: "Spring tides"\nrun: "20260314-091502-7c1e55d0"\n'
        'sources:\n  - "https://a.test/tides_1"\n  - "file:///docs/the%20tides%20%281%29.md"\n---\n\n'
        "# Spring tides\n\nTwo [^1][^2]\\: `x[1]`.\n\n[^1]\\: so.\n\n"
        "[^1]: [Spring tides, Causes, p. 3](<https://a.test/tides_1>)\n    > Spring tides\n\n"
        "[^2]: [Spring tides, p. 3](<file:///docs/the%20tides%20%281%29.md>)\n    > Spring tides\n"
    )
    cut = answer_markdown(plain | {"stopped_by": "length"})
    assert "so.\n\n⚠ *This answer is not complete: it reached the limit of the model's reply.*\n\n[^1]: " in cut
    assert as_written("1. first") == "1\\. first"
    assert as_written("- first") == "\\- first"


@pytest.mark.parametrize(
    "text", [*HOSTILE, 'a "quoted" \\ path: yes # no', "- one\n- two", "é 中文", "&amp; R&D", "null"]
)
def test_the_properties_are_yaml_with_the_texts_as_they_are(text: str) -> None:
    head = answer_markdown(answer(text)).split("\n---\n")[0]
    values = {name: json.loads(re.sub(r"\\x(..)", r"\\u00\1", value)) for name, value in PROPERTY.findall(head)}
    assert values["question"] == values["model"] == " ".join(text.split())


def test_the_answers_of_a_session_have_footnotes_of_their_own_and_no_properties() -> None:
    assert (
        answer_markdown(answer("Tides") | {"citations": []}, level=2, label="3-") == "## Tides\n\nTwo tides [^3-1].\n"
    )
