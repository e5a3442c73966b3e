"""Many answers with invented keys, and many clean ones, through the whole gate and through the stream."""

from __future__ import annotations

import random
import re
import unicodedata
from collections.abc import Callable

import pytest
from markdown_it import MarkdownIt
from markdown_it.token import Token

from asky.evidence.citations.markers import CitationStream
from asky.evidence.verification.checked_reply import CheckedReply, check_reply
from asky.values import Evidence, Location, Source, Span
from tests.support.examples import examples

pytestmark = pytest.mark.slow

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


def test_of_many_answers_with_invented_keys_none_is_shown_as_a_citation() -> None:
    choice = random.Random(1911)
    for _ in range(examples(1000)):
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


def test_of_many_clean_answers_none_raises_an_alarm() -> None:
    choice = random.Random(2020)
    for _ in range(examples(1000)):
        text = write(choice, lambda index: [SHOWN[index]])
        checked = check(text, choice)
        assert list(checked.warnings()) == [], text
        assert checked.faults == 0, checked.text
        assert {claim.verdict for claim in checked.claims} == {"supported"}, checked.text


# What reads as a citation and is none, `{}` being its number; with what may stand before it.
BRACKETED = [
    "[{}]", "[ {} ]", "[**{}**]", "[[{}]]", "\\[{}\\]", "[{}\n]", "[\u200b{}]", "[^{}]",
    "[{}, {}]", "[{} {}]", "[{}–{}]",
    "&#91;{}&#93;", "&lbrack;{}&rbrack;", "&#x5B;{}&rsqb;", "[{}&#93;",
    "[<!-- -->{}]", "[<b>{}</b>]", "[{}<!-- ] -->]",
    "【{}】", "［{}］", "⟦{}⟧", "〔{}〕", "⌊{}⌋",
    "[source {}]", "[Source: {}]", "[ref. {}]", "[see {}]", "[{}, p. 3]", "[source {}, pp. 3–4]", "[({})]", "[#{}]",
]  # fmt: skip
RAISED = ["{sup}", "&#{code};", "<sup>{}</sup>", "{circled}", "&#{circle_code};", " {circled}"]
LEGITIMATE = [
    "The field measures 5 km² and the box 3 m³ at 10⁻³ bar.",
    "In E = mc² and a² + b² = c² no number is a source.",
    "The ages come from ¹⁴C, and Ca²⁺ is an ion.",
    "See [p. 3], [Figure 2], [5 pages] and [the report of 2019] at 12:30.",
    "First ① mix, then ② bake, as step ③ says.",
    "AT&amp;T sells &lt;b&gt; tags for ½ of 1/2 the price (1).",
    "The row is `x[1] &#91;1&#93; day¹` in code.",
    "The force falls with the square of the distance, m<sup>2</sup> by m<sup>2</sup>.",
    "It covers 20 metres² or 60 square feet² (see [the notes](#notes)).",
]


def lookalike(choice: random.Random) -> str:
    number = choice.randint(1, 20)
    if choice.random() < 0.7:
        return choice.choice(["", " "]) + choice.choice(BRACKETED).format(number, number + 1)
    digit = choice.choice([1, 5, 6, 7, 8, 9])
    return choice.choice(RAISED).format(
        digit,
        sup="⁰¹²³⁴⁵⁶⁷⁸⁹"[digit],
        code={1: 185}.get(digit, 0x2070 + digit),
        circled=chr(0x245F + number),
        circle_code=0x245F + number,
    )


def as_read(markdown: str) -> str:
    """What a reader sees of a text, in plain characters, without code and without what is struck out."""
    parser = MarkdownIt("commonmark", {"html": True}).enable(["strikethrough", "table"])
    said: list[str] = []
    struck = 0

    def walk(tokens: list[Token]) -> None:
        nonlocal struck
        for token in tokens:
            struck += {"s_open": 1, "s_close": -1}.get(token.type, 0)
            if token.type == "html_inline" and token.content in ("<sup>", "</sup>") and not struck:
                said.append("^")
            if token.type in ("text", "softbreak") and not struck:
                said.append(token.content or " ")
            walk(token.children or [])
            said.append("\n" if token.block else "")

    walk(parser.parse(markdown))
    return "".join(said)


def read_marks(markdown: str) -> list[str]:
    """The numbers that read as citations: in square brackets of any kind, circled, or raised."""
    seen = re.sub("[\u200b-\u200d\u2060]", "", as_read(markdown))
    raised = re.findall(r"[⁰¹²³⁴⁵⁶⁷⁸⁹①-⑳]|\^\d+\^", seen)  # no sentence here has any
    plain = "".join(
        "[" if unicodedata.category(sign) == "Ps" and sign not in "({" else
        "]" if unicodedata.category(sign) == "Pe" and sign not in ")}" else unicodedata.normalize("NFKC", sign)
        for sign in seen
    )  # fmt: skip
    brackets = re.findall(
        r"\[+\s*((?:source|ref|see)?[\s.:#^(]*\d[\s\d,–)]*(?:, pp?\. [\d–]+)?)\s*\]+", plain, re.IGNORECASE
    )
    return raised + brackets


def test_of_many_answers_with_lookalikes_none_is_read_as_a_citation() -> None:
    choice = random.Random(1066)
    for _ in range(examples(1000)):
        written: list[str] = []
        lines = []
        for index in choice.sample(range(len(SENTENCES)), choice.randint(1, 4)):
            mark = lookalike(choice)
            written.append(mark)
            sentence = SENTENCES[index]
            known = f" [{SHOWN[index]}]" if choice.random() < 0.5 else ""
            body = f"{sentence[:-1]}{mark}.{known}" if choice.random() < 0.7 else f"{sentence}{known} {mark.strip()}"
            lines.append(choice.choice(FRAMES).format(body if "\n" not in mark else body.replace("\n", " ")))
        text = "\n\n".join(lines)
        assert read_marks(text), text
        checked = check(text, choice)
        assert len(checked.numbered.lookalikes) == len(written), (text, checked.text)
        assert len(checked.invented) == len(written)
        assert {int(mark) for mark in read_marks(checked.text)} == {each.n for each in checked.citations}, checked.text
        assert any(" like citations " in warning or " like a citation " in warning for warning in checked.warnings())
        assert checked.faults >= len(written)


@pytest.mark.extended
def test_of_many_clean_answers_with_powers_steps_and_brackets_none_raises_an_alarm() -> None:
    choice = random.Random(1789)
    for _ in range(examples(1000)):
        lines = choice.sample(LEGITIMATE, choice.randint(1, 4))
        text = "\n\n".join(choice.choice(FRAMES).format(line) for line in lines)
        checked = check(text, choice)
        assert checked.numbered.text == text
        assert checked.numbered.lookalikes == ()
        assert list(checked.warnings()) == []


HEADINGS = ["# {}", "## {}", "### {}", "**{}**", "**{}:**", "{}:", "{}\n---"]
CLEAN_HEADINGS = [
    "Overview", "1. Introduction", "1.2 Method", "Step 2", "Three facts", "3 key facts", "The answer in 80 words",
    "What the sources say", "Passage 2", "Phase 3: results",
]  # fmt: skip
HELD = {0: "The fire of 1911", 2: "A river of 6,650 kilometres", 4: "A meeting in March 2020", 6: "40,000 books a year"}
INVENTED = {
    0: "The fire of 1912",
    2: "A river of 7,000 kilometres",
    4: "A meeting in May 2020",
    6: "50,000 books a year",
}


def section(choice: random.Random, heading: str, index: int) -> str:
    line = choice.choice(HEADINGS).format(heading)
    return f"{line}\n\n{choice.choice(['', '- '])}{SENTENCES[index]} [{SHOWN[index]}]\n"


def test_of_many_headings_that_state_nothing_or_what_is_held_below_none_raises_an_alarm() -> None:
    choice = random.Random(1848)
    for _ in range(examples(500)):
        index = choice.choice(list(HELD))
        text = section(choice, choice.choice(CLEAN_HEADINGS), 1) + "\n" + section(choice, HELD[index], index)
        checked = check(text, choice)
        assert list(checked.warnings()) == [], text
        assert checked.faults == 0, checked.text


def test_of_many_headings_with_an_invented_number_each_is_noticed() -> None:
    choice = random.Random(1918)
    for _ in range(examples(1000)):
        index = choice.choice(list(INVENTED))
        checked = check(section(choice, INVENTED[index], index), choice)
        assert any("numbers that no cited passage contains" in warning for warning in checked.warnings()), checked.text


@pytest.mark.parametrize("before", ["", "- ", "> ", "text "])
@pytest.mark.parametrize("left", ["", "~", "~~", "~ "])
@pytest.mark.parametrize("right", ["", "~", "~~", " ~~"])
def test_a_struck_key_never_opens_a_block_of_code_that_hides_the_rest(before: str, left: str, right: str) -> None:
    text = f"{before}{left}[P0000]{right} Note.\n\nThe moon weighs 999 tonnes and lives in Paris [{SHOWN[0]}]."
    checked = check(text, random.Random(1))
    assert "~~~" not in checked.text
    assert checked.claims[-1].verdict != "supported"
    assert checked.claims[-1].text.startswith("The moon weighs")
