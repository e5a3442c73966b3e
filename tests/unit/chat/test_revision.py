"""What a model is told of its answer's faults."""

from __future__ import annotations

from asky.evidence.verification.checked_reply import check_reply
from asky.research.revision import is_better, revision_prompt
from asky.values import Evidence, Location, Source, Span

TEXT = "The gauge stood at nine feet. The sea was calm."
SOURCE = Source("s1", "file", "file:///gauge", "Gauge", path="/gauge")
SHOWN = {"P7f3a": Evidence("P7f3a", SOURCE, 7, "hash", Span(0, len(TEXT)), TEXT, Location(), 0.5)}


def test_the_model_is_told_of_each_fault_once_and_shown_the_passages() -> None:
    reply = (
        "The gauge stood at ten feet [P7f3a]. Whales sing at night. It rained [P0000] &#91;4&#93;, it rained [P0000]"
        " &#91;4&#93;. See https://evil.test."
    )
    prompt = revision_prompt(
        check_reply(reply, SHOWN, lambda *_: Location(), claims_anything=True), SHOWN, marker="0123456789abcdef"
    )
    assert "does not hold ten" in prompt
    assert "“Whales sing at night.”: it cites nothing" in prompt
    assert prompt.count("[P0000] was never shown to you") == 1
    assert prompt.count("&#91;4&#93; cites nothing: only keys do.") == 1
    assert "No passage holds the address https://evil.test" in prompt
    assert TEXT in prompt


def test_an_answer_without_its_imitations_is_better() -> None:
    first, second = (
        check_reply(reply, SHOWN, lambda *_: Location(), claims_anything=True)
        for reply in ("The sea was calm [P7f3a] [4].", "The sea was calm [P7f3a].")
    )
    assert is_better(second, first)
    assert not is_better(first, second)
