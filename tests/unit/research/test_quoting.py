"""What the built-in model writes about several topics."""

from __future__ import annotations

from collections.abc import Sequence

import anyio

from asky.evidence.passages import parse_passages
from asky.llm.extractive.model import ExtractiveModel
from asky.llm.port import ABSTENTION, Message, Reply, TextDelta
from asky.research.writing.quoting import TopicQuoter, quoting_messages
from asky.values import Evidence, Location, Source, Span, source_id

MARKER = "0123456789abcdef"


def passage(key: str, text: str) -> Evidence:
    source = Source(source_id(key), "note", f"file:///{key}.md", key)
    return Evidence(key, source, 1, "0" * 64, Span(0, len(text)), text, Location())


def written(*topics: tuple[str, Sequence[Evidence]]) -> str:
    async def main() -> str:
        model = TopicQuoter(ExtractiveModel(read_passages=parse_passages))
        messages: Sequence[Message] = [Message("system", "Quote."), *quoting_messages(topics, MARKER)]
        text, reply = "", None
        async for item in model.stream(messages, ()):
            if isinstance(item, TextDelta):
                text += item.text
            else:
                reply = item
        assert isinstance(reply, Reply)
        assert reply.message.content == text
        return text

    return anyio.run(main)


RYE = passage("P0001", "Rye bread is made of rye flour and sourdough.")
OATS = passage("P0002", "Oat porridge is cooked in milk for ten minutes.")


def test_each_topic_has_a_heading_and_quotes_and_a_passage_is_quoted_once() -> None:
    text = written(
        ("rye bread", (RYE,)),
        ("bread of rye", (RYE,)),
        ("oat porridge", (OATS, RYE)),
    )
    assert text == (
        "### Rye bread\n\nRye bread is made of rye flour and sourdough. [P0001]\n\n"
        "### Oat porridge\n\nOat porridge is cooked in milk for ten minutes. [P0002]"
    )


def test_a_topic_on_which_the_passages_say_nothing_is_left_out() -> None:
    assert written(("quantum tunnelling of electrons", (RYE,))) == ABSTENTION
    assert written(("rye", ())) == ABSTENTION


def test_of_a_long_list_the_items_about_the_topic_are_quoted() -> None:
    items = "\n".join(f"- Loaf {number} of wheat" for number in range(20))
    text = written(("loaf of rye", (passage("P0001", f"The loaves:\n\n{items}\n- Rye loaf"),)))
    assert text.count("\n- ") <= 8
