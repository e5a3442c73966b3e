"""Whatever a model writes: nothing in it is active, and writing it again changes nothing."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from asky.notes.harmless import harmless
from asky.notes.section import present_body, replace_section
from tests.support.active_content import SCRIPTS, URLS, WIKILINKS, active
from tests.support.examples import examples

PIECES = [
    "\n", "\n", "\n\n", "> ", "- ", "1. ", "* ", "  ", "    ", "\t", "# ", "## ", "```", "~~~", "`", "``", "*",
    "**", "_", "~~", "[", "]", "(", ")", "](", "[[", "]]", "![", "!", "|", "|---|", "a|b\n-|-\n", "---", "===", "<",
    ">", "<b>", "<!--", "-->", "%", "%%", "<%", "%>", "$", "$$", "\\", "&lt;", "&#37;", "&", "#", "#t", "^", " ^id",
    "[^1]", "[^1]: ", "::", ":", "=", "$=", "http://e.test/", "https://a.test/page", "www.", "x", "text ", "é", "5",
    "[ ] ", "Tides",
    "[!n]", "dataview", "js\n", "(http://e.test)", "(https://a.test/page)", "{", "\u202e", "\x00", "'", '"',
]  # fmt: skip
answers = st.lists(st.sampled_from(PIECES) | st.sampled_from(sorted(SCRIPTS.values())), max_size=25).map("".join)


def written(markdown: str) -> str:
    return harmless(markdown, urls=URLS, wikilinks=WIKILINKS)


@pytest.mark.slow
@settings(max_examples=examples(500))
@given(answers)
def test_nothing_active_is_written_and_writing_it_again_changes_nothing(answer: str) -> None:
    text = written(answer)
    assert written(text) == text
    assert active(text) == []
    if text.strip():
        assert present_body(replace_section(b"# Note\n\n## Research\n\nmine\n\n## Next\n", text)) is not None
