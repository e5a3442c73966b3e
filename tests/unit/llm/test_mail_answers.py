"""Questions about mails are answered from the lines above them; other questions are not."""

from __future__ import annotations

import time
from dataclasses import dataclass

import pytest

from asky.llm.extractive.mail_answers import answer_about_mails
from asky.llm.extractive.questions import read_question
from asky.llm.extractive.scoring import Scorer
from asky.llm.extractive.units import read_units
from asky.values import Location


@dataclass(frozen=True)
class Passage:
    text: str
    location: Location = Location()  # noqa: RUF009 - a frozen value
    title: str = "quay.mbox"
    key: str = "P0001"
    authors: str = ""
    file: str = ""
    linked_from: str = ""
    sections: tuple[tuple[int, str], ...] = ()


def head(sender: str, to: str, date: str, subject: str) -> str:
    return f"From: {sender} <{sender.split()[0].lower()}@quay.test>\nTo: {to}\nDate: {date}\nSubject: {subject}"


ROOF = head("Mara Lind", "Ole Berg", "Sun, 03 May 2026 09:12:00 +0200 (2026-05-03)", "Roof of the boathouse")
PRICE = head("Ole Berg", "Mara Lind", "Mon, 04 May 2026 18:01:00 +0200 (2026-05-04)", "Re: Roof of the boathouse")
PLAN = head("Mara Lind", "Ole Berg, Tove Nyman", "Mon, 11 May 2026 08:30:00 +0200", "Re: Roof of the boathouse")
PARTY = head("Tove Nyman", "all@quay.test", "Mon, 01 Jun 2026 12:00:00 +0200 (2026-06-01)", "Summer party")
SLATES = "The slates on the north side are loose, and two gutters have to be replaced."
COSTS = "The roofer wants 4,300 euros for the slates."
COPPER = "The copper flashing is to be ordered from Hadsel Metall."
PIER = "The party is on 20 June at the old pier."
QUOTED = "The quoted gutters are green and made of zinc."

_PLAN = "Re: Roof of the boathouse (Mara Lind, 11 May 2026)"
_COSTS = "Re: Roof of the boathouse (Ole Berg, 4 May 2026)"
BOX = (
    Passage(f"{ROOF}\n\nHello Ole,\n\n{SLATES}\n\nMara", Location("Roof of the boathouse (Mara Lind, 3 May 2026)")),
    Passage(
        f"{PRICE}\n\n{COSTS}\n\nQuoted from Mara:\n\n{QUOTED}",
        Location(_COSTS),
        sections=((len(PRICE) + len(COSTS) + 4, f"{_COSTS} › Quoted from Mara"),),
    ),
    Passage(f"{PLAN}\n\nThe rafters at the first bay were checked by the carpenters.", Location(_PLAN)),
    Passage(f"{COPPER} Nothing else is needed for now.", Location(_PLAN)),
    Passage(f"{PARTY}\n\n{PIER}", Location("Summer party (Tove Nyman, 1 June 2026)")),
    Passage("A slate roof lasts eighty years if the nails are copper.", title="roofs.txt"),
)


def ask(question: str, *passages: Passage) -> list[str]:
    shown = passages or BOX
    scorer = Scorer(shown, read_units(shown))
    asked = read_question(question)
    units = answer_about_mails(asked, shown, scorer, scorer.score(asked))
    for unit in units:
        assert shown[unit.passage].text[unit.span.start : unit.span.end] == unit.text
    return [unit.text for unit in units]


@pytest.mark.parametrize(
    ("question", "heads"),
    [
        ("Who sent the message about the roof?", [ROOF, PRICE, PLAN]),
        ("Who wrote the mail on the summer party?", [PARTY]),
        ("When was the mail on the summer party sent?", [PARTY]),
        ("What is the subject of Tove's mail?", [PARTY]),
        ("what is the subject of tove's mail?", [PARTY]),
        ("What is the subject of the mail from Ole Berg?", [PRICE]),
        ("Who got the mail about the summer party?", [PARTY]),
        ("To whom did Tove write the mail?", [PARTY]),
        ("Which mails are from Ole?", [PRICE]),
        ("Which mails did Mara send in May?", [ROOF, PLAN]),
        ("Which mails came in June 2026?", [PARTY]),
        ("When did Mara write to Tove?", [PLAN]),
        ("When did Mara write about the flashing?", [PLAN]),
        ("Who wrote about the copper flashing?", [PLAN]),
        ("What is the date of Ole's mail about the roof?", [PRICE]),
        ("Who sent the mail of 2026-05-04?", [PRICE]),
        ("Who sent the mail of May 11, 2026?", [PLAN]),
    ],
)
def test_who_wrote_to_whom_when_and_about_what_is_told_by_the_lines_above(question: str, heads: list[str]) -> None:
    assert ask(question) == heads


@pytest.mark.parametrize(
    ("question", "told"),
    [
        ("What did Mara write on 3 May about the roof?", [ROOF, SLATES]),
        ("what did mara write on 3 may?", [ROOF, SLATES]),
        ("What did Ole say about the slates?", [PRICE, COSTS]),
        ("What did Ole answer?", [PRICE, COSTS]),
        ("What did Mara write about the flashing?", [PLAN, COPPER]),
        ("What is in the mail of 1 June 2026?", [PARTY, PIER]),
        ("What does the mail about the summer party say?", [PARTY, PIER]),
    ],
)
def test_what_somebody_wrote_is_told_with_the_lines_above_it(question: str, told: list[str]) -> None:
    assert ask(question) == told


@pytest.mark.parametrize(
    "question",
    [
        "What does the roofer want for the slates?",
        "When is the party?",
        "Who is Tove?",
        "How long does a roof last?",
        "What did Hadsel say about Mara?",
        "What did Mara write on 9 May?",
        "What did Mara write on 3 May 2025?",
        "Who sent the message about the crane?",
        "Who wrote Hamlet?",
        "What was the roof made of?",
        "When did the Romans write laws?",
    ],
)
def test_another_question_or_another_mail_gets_nothing(question: str) -> None:
    assert ask(question) == []


def test_a_mail_without_sections_is_what_stands_below_its_head() -> None:
    printed = Passage(f"{ROOF}\n\n{SLATES}", title="printed.txt")
    assert ask("What did Mara write about the gutters?", printed) == [ROOF, SLATES]
    assert ask("Who wrote about the gutters?", printed) == [ROOF]
    german = "Von: Mara Lind\nGesendet: Sonntag, 3. May 2026\nAn: Ole\nBetreff: Roof"
    assert ask("Who sent the mail about the roof?", Passage(f"{german}\n\n{SLATES}")) == [german]


def test_many_recipients_are_left_out() -> None:
    many = head("Mara Lind", ", ".join(f"p{n}@quay.test" for n in range(90)), "Sun, 03 May 2026", "Roof")
    lines = ["From: Mara Lind <mara@quay.test>", "Date: Sun, 03 May 2026", "Subject: Roof"]
    assert ask("Who sent the mail about the roof?", Passage(f"{many}\n\n{SLATES}")) == lines


@pytest.mark.parametrize("word", ["A", "Aa ", "who mail ", "what did ", "3 May ", "to A", "the mail "])
def test_a_question_of_any_words_takes_linear_time(word: str) -> None:
    began = time.process_time()
    ask(f"Who sent the mail {word * 2_000}!")
    assert time.process_time() - began < 3
