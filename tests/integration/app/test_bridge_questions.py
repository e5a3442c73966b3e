"""Questions whose answer stands in a document that only another one leads to."""

from __future__ import annotations

from pathlib import Path

import pytest

from asky import AskRequest
from asky.app.schemas.search import hit_object
from asky.app.search import describe_place
from tests.support.lab import Lab

QUESTION = "Where was the director of Silver Harbour born?"
PERSON = "---\naliases: [Ines Brandt]\n---\n\nShe was born in Tromsø, as the child of a baker.\n"
NOTES = {
    "Silver Harbour.md": "# Silver Harbour\n\nA film of 1961 whose director was [[people/ines-brandt|Ines]].\n",
    "people/ines-brandt.md": PERSON,
    "people/olav-lie.md": "# Olav Lie\n\nHe was born in Bergen and painted boats.\n",
    "people/mari-dahl.md": "# Mari Dahl\n\nShe was born in Oslo. Her plays are short.\n",
    "Golden Bay.md": "# Golden Bay\n\nA film of 1958 about fishing, by [[people/olav-lie|Olav]].\n",
}


def write_vault(folder: Path) -> Path:
    for name, text in NOTES.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    return folder


@pytest.mark.anyio
async def test_a_bridge_question_is_answered_with_both_notes_cited(lab: Lab) -> None:
    vault = write_vault(lab.home / "vault")
    async with lab.open() as asky:
        answer = await asky.chat.ask(AskRequest(question=QUESTION, documents=(vault,)))
    assert "Tromsø" in answer.text
    assert {Path(each.source.path or "").name for each in answer.citations} >= {"Silver Harbour.md", "ines-brandt.md"}


@pytest.mark.anyio
async def test_search_says_what_a_hit_is_linked_from(lab: Lab) -> None:
    vault = write_vault(lab.home / "vault")
    async with lab.open() as asky:
        hits = await asky.search.search(QUESTION, documents=(vault,))
    (found,) = [each for each in hits if each.source.path == str(vault / "people" / "ines-brandt.md")]
    assert found.linked_from == "Silver Harbour"
    assert hit_object(found)["linked_from"] == "Silver Harbour"
    assert describe_place(found).endswith(" · linked from Silver Harbour")
