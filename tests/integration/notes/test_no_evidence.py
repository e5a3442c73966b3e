"""What asky has written into a note is no evidence, in any product."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path

import anyio
import pytest

from asky.app.agent.requests import ResearchRequest
from asky.app.requests import AskRequest
from asky.notes.section import replace_section
from tests.support.note_lab import NoteLab

INVENTED = "The Kestrel barrage makes 900 GWh of electricity a year and was invented by a model."
OWN = "The Kestrel barrage stands in the fog of the estuary."
BELOW = "The Kestrel barrage has a lift for boats."
QUESTION = "How much electricity does the Kestrel barrage make a year?"


@pytest.fixture
def lab(tmp_path: Path) -> Iterator[NoteLab]:
    with NoteLab(tmp_path) as opened:
        written = replace_section(f"# Alpha\n\n{OWN}\n\n## Next\n\n{BELOW}\n".encode(), f"### Kestrel\n\n{INVENTED}")
        opened.put("Alpha.md", written.decode())
        opened.put("Plain.txt", replace_section(f"{OWN}\n".encode(), INVENTED).decode())
        opened.put(
            "Beta.md",
            "# Kestrel barrage\n\nWhere does the Kestrel barrage stand, and how much electricity does it make?\n",
        )
        yield opened


def test_research_into_another_note_does_not_cite_it(lab: NoteLab) -> None:
    result = lab.research("Beta.md", vault_only=True, dry_run=True)
    assert "900 GWh" not in result.diff
    assert OWN in result.diff


def test_no_answer_from_the_vault_cites_it(lab: NoteLab) -> None:
    async def main() -> list[str]:
        await lab.asky.notes.index(embed=False)
        texts = [f"{each.hit.text}" for each in await lab.asky.notes.find_notes("Kestrel 900 GWh model", n_results=9)]
        request = AskRequest(question=QUESTION, documents=(lab.vault,))
        async with lab.asky.chat.start(request) as run:
            answer = await run.result()
        texts += [answer.text, *(each.quote for each in answer.citations)]
        asked = ResearchRequest(query=QUESTION, privacy_mode="local_only", vault=True)
        async with lab.asky.agent.start(asked) as run:
            answer = await run.result()
        return [*texts, answer.text, *(each.statement for each in lab.asky.agent.report(answer.run).facts)]

    texts = anyio.run(main)
    assert not any("900 GWh" in each for each in texts)
    assert any(OWN in each for each in texts)


def test_a_note_is_read_whole_and_taken_back(lab: NoteLab) -> None:
    assert INVENTED in anyio.run(partial(lab.asky.notes.read_note, "Alpha.md"))
    assert INVENTED in anyio.run(partial(lab.asky.notes.read_note, "Plain.txt"))
