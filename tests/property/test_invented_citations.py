"""A thousand answers with invented keys, and a thousand clean ones, through the whole gate and through the stream."""

from __future__ import annotations

import random
import re
from collections.abc import Callable

import pytest

from asky.chat.checking import CheckedReply, check_reply
from asky.evidence.markers import CitationStream
from asky.values import Evidence, Location, Source, Span

SENTENCES = [
    "The mill at Aarau burned down in 1911 and was rebuilt two years later.",
    "Yeast turns the sugar of the dough into carbon dioxide and alcohol.",
    "The Nile is 6,650 kilometres long and flows through eleven countries.",
    "A spring tide comes when the sun and the moon stand in one line.",
    "The committee met in Basel on 12 March 2020 and chose a new chair.",
    "Copper conducts heat 8 times better than iron does at room temperature.",
    "The library lends 40,000 books a year to readers of all ages.",
    "Swallows return to the same barn for up to 9 summers in a row.",
]
SHOWN = [f"P{number:04x}" for number in range(0x7F30, 0x7F30 + len(SENTENCES))]

# How a model may write one or several keys; `{0}` is a key or a list of them.
FORMS = ["[{0}]", " [{0}]", "**[{0}]**", " [[{0}]]", "【{0}】", " [source {0}]", " [see {0}]"]
# What may stand around a sentence with its citation.
FRAMES = ["{}", "- {}", "1. {}", "> {}", "* {}\n", "{}\n"]


def passages() -> dict[str, Evidence]:
    evidence = {}
    for key, sentence in zip(SHOWN, SENTENCES, strict=True):
        text = f"Some context comes first. {sentence} And something else follows at http://example.test/page."
        source = Source(f"s{key}", "file", f"file:///{key}", key)
        evidence[key] = Evidence(key, source, 1, "0" * 64, Span(0, len(text)), text, Location())
    return evidence


def write(choice: random.Random, keys_for: Callable[[int], list[str]]) -> str:
    """An answer of a few sentences, each with the keys that `keys_for` gives for it, in all the ways of models."""
    lines = []
    for index in choice.sample(range(len(SENTENCES)), choice.randint(1, 5)):
        keys = keys_for(index)
        if choice.random() < 0.3:
            keys = [key.upper().replace("P", "P", 1) for key in keys]
        joined = choice.choice([", ", "; ", " "]).join(keys)
        cited = choice.choice(FORMS).format(joined) if choice.random() < 0.8 else "".join(f"[{key}]" for key in keys)
        sentence = SENTENCES[index]
        body = f"{sentence[:-1]} {cited.strip()}." if choice.random() < 0.5 else f"{sentence} {cited.strip()}"
        lines.append(choice.choice(FRAMES).format(body))
    return "\n".join(lines)


def check(text: str, choice: random.Random) -> CheckedReply:
    """The reply after the gate, which must be the same however its text is cut on the way."""
    shown = passages()
    stream = CitationStream(shown)
    streamed, position = "", 0
    while position < len(text):
        step = choice.randint(1, 9)
        streamed += stream.feed(text[position : position + step])
        position += step
    streamed += stream.close()
    checked = check_reply(text, shown, lambda *_: Location(), claims_anything=True)
    assert streamed == checked.numbered.text
    return checked


def test_of_a_thousand_answers_with_invented_keys_none_is_shown_as_a_citation() -> None:
    choice = random.Random(1911)
    for _ in range(1000):
        invented: list[str] = []

        def keys_for(index: int, invented: list[str] = invented) -> list[str]:
            digits = choice.choice([4, 4, 5, 8])
            key = f"P{choice.randrange(16**digits):0{digits}x}"
            if key in SHOWN:
                return [SHOWN[index]]
            invented.append(key.lower())
            keys = [key] if choice.random() < 0.6 else [SHOWN[index], key]
            choice.shuffle(keys)
            return keys

        checked = check(write(choice, keys_for), choice)
        assert {citation.key for citation in checked.citations} <= set(SHOWN)
        assert {key.lower() for key in checked.numbered.unknown} == set(invented)
        numbers = {int(number) for number in re.findall(r"\[(\d+)\]", checked.text)}
        assert numbers == {citation.n for citation in checked.citations}
        assert any("never shown" in warning for warning in checked.warnings()) == bool(invented)


def test_of_a_thousand_clean_answers_none_raises_an_alarm() -> None:
    choice = random.Random(2020)
    for _ in range(1000):
        text = write(choice, lambda index: [SHOWN[index]])
        checked = check(text, choice)
        assert list(checked.warnings()) == [], text
        assert checked.faults == 0, checked.text
        assert {claim.verdict for claim in checked.claims} == {"supported"}, checked.text


@pytest.mark.parametrize("before", ["", "- ", "> ", "text "])
@pytest.mark.parametrize("left", ["", "~", "~~", "~ "])
@pytest.mark.parametrize("right", ["", "~", "~~", " ~~"])
def test_a_struck_key_never_opens_a_block_of_code_that_hides_the_rest(before: str, left: str, right: str) -> None:
    text = f"{before}{left}[P0000]{right} Note.\n\nThe moon weighs 999 tonnes and lives in Paris [{SHOWN[0]}]."
    checked = check(text, random.Random(1))
    assert "~~~" not in checked.text
    assert checked.claims[-1].verdict != "supported"
    assert checked.claims[-1].text.startswith("The moon weighs")
