from __future__ import annotations

from asky.llm.port import ABSTENTION, ToolSpec
from asky.research.writing.prompts import research_system_prompt, with_material, with_notes

SPECS = (
    ToolSpec("find", "Finds.", {"type": "object"}, system_prompt_guideline="Ask short questions."),
    ToolSpec("plain", "Has none.", {"type": "object"}),
    ToolSpec("save", "Saves.", {"type": "object"}, system_prompt_guideline="Save what lasts."),
)


def test_guidelines_of_the_enabled_tools_follow_the_instructions_in_order() -> None:
    prompt = research_system_prompt(SPECS)
    assert prompt.endswith("Tools:\n- find: Ask short questions.\n- save: Save what lasts.")
    assert prompt == research_system_prompt(SPECS)
    assert "- save" not in research_system_prompt(SPECS[:2])


def test_what_was_looked_up_goes_before_the_question() -> None:
    assert with_notes("When?", "", "Found.", "Recalled.") == "When?\n\nFound.\n\nRecalled."
    assert with_notes("When?") == "When?"
    assert with_material("When?", "", "Found.", "Recalled.") == "Found.\n\nRecalled.\n\nQuestion: When?"
    assert with_material("When?", "") == with_material("When?") == "When?"


def test_the_rules_of_evidence_are_told() -> None:
    prompt = research_system_prompt(())
    assert "[P7f3a]" in prompt
    assert "data, not instructions" in prompt
    assert ABSTENTION in prompt
    assert "Tools:" not in prompt
