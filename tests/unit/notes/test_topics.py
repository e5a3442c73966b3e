"""The topics of a note: those of a model, and its key phrases."""

from __future__ import annotations

import json
from functools import partial
from typing import Any

import anyio
import pytest

from asky.errors import ProviderError
from asky.notes.topics import MAX_NOTE_CHARS, MAX_TOPICS, Topic, choose_topics, find_topics
from tests.support.models import ScriptedModel

MARKER = "0123456789abcdef"
NOTE = "Carbon taxes lower emissions. Rising temperatures are feared."


def chosen(model: ScriptedModel, note: str = NOTE, focus: str | None = None) -> tuple[Topic, ...]:
    return anyio.run(partial(choose_topics, model, note, focus, marker=MARKER)).value


def reply(*topics: Any) -> str:
    return json.dumps(topics)


CLIMATE = {"topic": "climate change", "context": "rising temperatures", "type": "concept"}
TAXES = {"topic": "carbon taxes", "context": "proposed policy", "type": "claim"}


def test_topics_come_in_the_order_of_the_model() -> None:
    model = ScriptedModel(reply(CLIMATE, TAXES))
    assert chosen(model) == (
        Topic("climate change", "rising temperatures", "concept"),
        Topic("carbon taxes", "proposed policy", "claim"),
    )


def test_a_code_fence_and_words_around_the_array_are_no_hindrance() -> None:
    assert chosen(ScriptedModel(f"Here they are:\n```json\n{reply(TAXES)}\n```"))[0].label == "carbon taxes"


def test_the_focus_and_the_note_are_shown_and_the_note_is_cut() -> None:
    model = ScriptedModel(reply(TAXES))
    chosen(model, "x" * MAX_NOTE_CHARS + "unseen", "carbon taxes")
    asked = model.sent[0][0][-1].content
    assert asked.startswith("Focus especially on: carbon taxes\n\n<data 0123456789abcdef note>")
    assert "unseen" not in asked


def test_at_most_ten_topics_are_kept_each_once() -> None:
    topics = [{**CLIMATE, "topic": f"topic number {number}"} for number in (1, 1, *range(2, 15))]
    found = chosen(ScriptedModel(reply(*topics)))
    assert [each.label for each in found] == [f"topic number {number}" for number in range(1, MAX_TOPICS + 1)]


@pytest.mark.parametrize(
    "first",
    [
        "Here are some topics: taxes and weather.",
        json.dumps({"topic": "no array"}),
        reply("taxes"),
        reply({"topic": " "}),
        reply({"topic": "one two three four five six seven eight nine", "context": "", "type": "claim"}),
    ],
    ids=["prose", "object", "strings", "empty label", "a quotation"],
)
def test_an_unusable_reply_is_corrected_once_and_then_an_error(first: str) -> None:
    model = ScriptedModel(first, reply(TAXES))
    assert [each.label for each in chosen(model)] == ["carbon taxes"]
    assert len(model.sent) == 2
    with pytest.raises(ProviderError, match="no usable JSON in two replies"):
        chosen(ScriptedModel(first, first))


def test_an_unknown_type_is_a_concept_and_an_empty_array_no_topic() -> None:
    assert chosen(ScriptedModel(reply({"topic": "testing", "type": "thing"}))) == (Topic("testing"),)
    assert chosen(ScriptedModel("[]")) == ()


VAULT_NOTE = """---
tags: [harbour, private-tag]
---
# Tidal power

A tidal barrage turns the tidal range into electricity. The tidal range of the harbour is nine metres.
The spring tide comes twice a month. %% secret thought %% Silt may fill the basin behind the tidal barrage.

- [ ] What does a barrage cost?

```dataview
TABLE without words
```
"""


def test_without_a_model_topics_are_the_title_questions_and_key_phrases_with_their_sentences() -> None:
    found = {each.label: each for each in find_topics(VAULT_NOTE, None, "Tidal power")}
    assert next(iter(found)) == "Tidal power"
    assert found["What does a barrage cost"].type == "question"
    phrase = next(label for label in found if "range" in label or "spring" in label.lower())
    assert phrase.split()[0] in found[phrase].context
    shown = " ".join(f"{each.label} {each.context}" for each in found.values())
    assert not any(hidden in shown for hidden in ("private-tag", "secret", "TABLE", "[ ]"))


def test_a_focus_comes_first_and_a_date_is_no_topic() -> None:
    found = find_topics(VAULT_NOTE, "spring tide", "2024-03-01")
    assert found[0] == Topic("spring tide", "The spring tide comes twice a month.", "concept")
    assert "2024" not in " ".join(each.label for each in found)


@pytest.mark.parametrize("note", ["", "---\ntags: a\n---\n", "```\ncode here and there\n```", "%% only a comment %%"])
def test_a_note_without_prose_has_no_topics(note: str) -> None:
    assert find_topics(note, None) == ()


def test_the_same_note_gives_the_same_topics() -> None:
    assert find_topics(VAULT_NOTE, None, "x") == find_topics(VAULT_NOTE, None, "x")
