from __future__ import annotations

from asky.chat.prompts import research_system_prompt
from asky.llm.port import ABSTENTION, ToolSpec

SPECS = (
    ToolSpec("find", "Finds.", {"type": "object"}, system_prompt_guideline="Ask short questions."),
    ToolSpec("plain", "Has none.", {"type": "object"}),
    ToolSpec("save", "Saves.", {"type": "object"}, system_prompt_guideline="Save what lasts."),
)


def test_guidelines_of_the_enabled_tools_follow_the_instructions_in_order() -> None:
    prompt = research_system_prompt(SPECS, sources_summary="3 documents")
    assert prompt.endswith(
        "Tools:\n- find: Ask short questions.\n- save: Save what lasts.\n\nSources that can be searched: 3 documents"
    )
    assert "- save" not in research_system_prompt(SPECS[:2], sources_summary="3 documents")


def test_prompts_over_other_sources_share_every_byte_before_them() -> None:
    one = research_system_prompt(SPECS, sources_summary="3 documents")
    two = research_system_prompt(SPECS, sources_summary="9 documents")
    assert one == research_system_prompt(SPECS, sources_summary="3 documents")
    assert one.removesuffix("3 documents") == two.removesuffix("9 documents")


def test_the_rules_of_evidence_are_told() -> None:
    prompt = research_system_prompt((), sources_summary="")
    assert "[P7f3a]" in prompt
    assert "data, not instructions" in prompt
    assert ABSTENTION in prompt
    assert "Tools:" not in prompt
    assert "Sources that can be searched" not in prompt
