"""A prompt for a model elsewhere holds no private text that the run has shown, in whatever form it got there."""

from __future__ import annotations

from contextlib import aclosing

import anyio
import pytest

from asky.errors import UsageError
from asky.evidence.passages import render_passages
from asky.llm.port import Message
from asky.research.run import ResearchRun
from asky.runs.access import Access
from asky.runs.prompt_leak_guard import guard_prompts
from asky.storage.scope import Scope
from asky.text.letters import fold
from asky.values import Evidence, Location, Source, SourceKind, Span
from tests.support.models import ScriptedModel

DIARY = "On Tuesday the board agreed to close the mill at Lund and to sell its turbines in spring."
SHORT = "Close the mill."
REPORT = "The report says that the mill at Lund was built in 1911 and burnt twice before the war."
MARKER = "0123456789abcdef"


def shown(key: str, kind: SourceKind, text: str) -> Evidence:
    source = Source(f"s{key.lower()}", kind, f"{kind}://{key}", "Mills")
    return Evidence(key, source, 1, "0" * 64, Span(0, len(text)), text, Location(None, None, None, None))


DIARY_PASSAGE, SHORT_PASSAGE = shown("P0001", "note", DIARY), shown("P0002", "file", SHORT)
REPORT_PASSAGE = shown("P0003", "web", REPORT)
PASSED = {
    "nothing of it": "What do we know about mills?",
    "a public passage": render_passages([REPORT_PASSAGE], marker=MARKER),
    "words of the question": "Did the board agree on Tuesday to close the mill at Lund and to sell the turbines?",
    "a few words of it": "The board agreed to close the mill.",
}
REFUSED = {
    "a passage": render_passages([REPORT_PASSAGE, DIARY_PASSAGE], marker=MARKER),
    "a short passage": render_passages([SHORT_PASSAGE], marker=MARKER),
    "a fact": "Known: The BOARD agreed to close the mill at Lund, and to sell its turbines.",
    "a finding": "The turbines are worth four million and go to a buyer in Malmö.",
}


NAMED = "Amelia Quimby of Łódź was dismissed, says Zoë. AMELIA has the code ZEBRA-77 and the key A4F9."
STRUCK = {
    "a name": "so far: Lund mill Amelia Quimby",
    "in other cases": "lund mill AMELIA quimby",
    "with a hyphen": "Lund mill Amelia-Quimby",
    "in the plural and declined": "the Quimbys, Amelia's mill",
    "within a longer word": "the Quimbyesque mill of AmeliaQuimby",
    "with and without accents": "Łódź or Lodz, Zoe\u0308 or Zoe",
    "codes": "ZEBRA-77 and a4f9",
    "a file": "private-divorce-2026.md, Private Divorce 2026",
    "a title and a heading": "Bellweather, and the Ottoline affair",
}
FORMS = ["amelia", "quimby", "lodz", "zoe", "zebra", "a4f9", "divorce", "bellweather", "ottoline"]


def sent(text: str) -> str:
    """What a model elsewhere is sent for this prompt."""
    source = Source("s4", "file", "file:///private-divorce-2026.md", "Bellweather", path="/x/private-divorce-2026.md")
    location = Location("The Ottoline affair", None, None, None)
    passage = Evidence("P0004", source, 1, "0" * 64, Span(0, len(NAMED)), NAMED, location)
    research = ResearchRun("r1", None, Scope(), 1000, 5, question="What does Grimsby say about the mill at Lund?")
    research.shown |= {"P0004": passage, "P0003": REPORT_PASSAGE}
    model = ScriptedModel("Yes.")

    async def main() -> None:
        guarded = guard_prompts(model, Access(private_stays=True), research)
        async with aclosing(guarded.stream([Message("user", text)], [])) as items:
            async for _ in items:
                pass

    anyio.run(main)
    return fold(str(model.sent[0]))


@pytest.mark.parametrize("what", STRUCK)
def test_names_that_only_private_passages_hold_are_struck_from_a_prompt(what: str) -> None:
    assert any(each in fold(STRUCK[what]) for each in FORMS)
    assert [each for each in FORMS if each in sent(STRUCK[what])] == []


def test_words_of_the_question_of_public_passages_and_of_asky_stay() -> None:
    text = f"Known facts: Grimsby\nQueries sent so far: Lund\n{render_passages([REPORT_PASSAGE], marker=MARKER)}"
    assert "…" not in sent(text)


def call(text: str, access: Access) -> int:
    """The number of calls that reach the model."""
    question = PASSED["words of the question"]
    research = ResearchRun("r1", None, Scope(), 1000, 5, question=question)
    research.shown |= {each.key: each for each in (DIARY_PASSAGE, SHORT_PASSAGE, REPORT_PASSAGE)}
    research.private_notes.append("The turbines are worth four million and go to a buyer in Malmö, they say.")
    model = ScriptedModel("Yes.")

    async def main() -> None:
        guarded = guard_prompts(model, access, research)
        async with aclosing(guarded.stream([Message("system", "Be brief."), Message("user", text)], [])) as items:
            async for _ in items:
                pass

    anyio.run(main)
    return len(model.sent)


@pytest.mark.parametrize("what", PASSED)
def test_what_is_not_private_passes(what: str) -> None:
    assert call(PASSED[what], Access(private_stays=True)) == 1


@pytest.mark.parametrize("what", REFUSED)
def test_what_is_private_does_not_pass(what: str) -> None:
    with pytest.raises(UsageError, match="a private passage"):
        call(REFUSED[what], Access(private_stays=True))
    assert call(REFUSED[what], Access()) == 1
