from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from asky.agent.items import CitationCount, circular_citations, entity_key, fact_keys, origins
from tests.support.worlds import statement

ACQUIRED = "Acme Holdings acquired Beta Labs in 2019 for $1.4 million."
REEF = "Warm water bleached northern corals"
LONG = " ".join(f"the {letter}{other}ra of" for letter in "bcdfghk" for other in "aeiouy")


@pytest.mark.parametrize(
    ("one", "other", "kind"),
    [
        ("Apple Inc.", "the APPLE", "organization"),
        ("Müller GmbH & Co. KG", "Muller", "company"),
        ("Acme S.A.", "Acme Co., Ltd.", "Company"),
        ("Johnson & Johnson", "Johnson and Johnson", "organisation"),
        ("Caf\u00e9", "cafe\u0301", "product"),
        ("GPT-4", "gpt 4", "product"),
        ("J. R. Smith", "JR Smith", "person"),
        ("Kevlar™", "Kevlar", "product"),
        ("Mercury's", "Mercury", ""),
        ("Large Language Models", "large language model", "concept"),
        ("studies", "study", ""),
        ("boxes", "box", ""),
        ("viruses", "virus", ""),
        ("classes", "class", ""),
        ("1,000 islands", "1000 Islands", "place"),
    ],
)
def test_spellings_of_a_name_are_one_entity(one: str, other: str, kind: str) -> None:
    assert entity_key(one, kind) == entity_key(other, kind)


@pytest.mark.parametrize(
    ("one", "other", "kind"),
    [
        ("Paris", "Pari", "place"),
        ("AIDS", "aid", ""),
        ("C++", "C", ""),
        ("Python 3.11", "Python 311", ""),
        ("The Inc", "The", "organization"),
        ("Kim Co", "Kim", "person"),
        ("GPT-4", "GPT-3", ""),
    ],
)
def test_names_that_only_look_alike_are_two_entities(one: str, other: str, kind: str) -> None:
    assert entity_key(one, kind) != entity_key(other, kind)


@pytest.mark.parametrize(("name", "key"), [("The", "the"), ("Inc.", "inc"), ("!!!", "!!!"), ("", "")])
def test_a_name_keeps_its_last_word_whatever_it_is(name: str, key: str) -> None:
    assert entity_key(name, "organization") == key


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (ACQUIRED, "In 2019, Beta Labs was acquired by Acme Holdings for 1,400,000 dollars"),
        ("On 12 March 2020 the reef closed", "The reef closed on 2020-03-12."),
        ("The reef lost 35 % of its coral", "35 percent of corals were lost by the reef"),
        ("More than 5 million people use it", "It is used by more than five million people"),
        ("Łódź has a café", "ŁÓDŹ has cafes"),
        ("Warm water bleached corals", "Reportedly, warm water bleached corals"),
        (f"{REEF} reportedly", REEF),
        ("One swimmer drowned", "A swimmer drowned"),
    ],
)
def test_statements_that_say_the_same_are_one_fact(one: str, other: str) -> None:
    first, second = fact_keys([one, other])
    assert first == second


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (ACQUIRED, "Acme Holdings did not acquire Beta Labs in 2019 for $1.4 million."),
        (ACQUIRED, "Acme Holdings acquired Beta Labs in 2018 for $1.4 million."),
        (ACQUIRED, "Acme Holdings acquired Beta Labs in 2019 for €1.4 million."),
        ("On 12 March 2020 the reef closed", "On 12 May 2020 the reef closed"),
        ("GPT-4 passed the exam", "GPT-3 passed the exam"),
        ("Chrome is faster than Firefox", "Firefox is faster than Chrome"),
        ("Sales fell before the crisis", "Sales fell after the crisis"),
        (f"{REEF} rapidly", f"{REEF} slowly"),  # neither has a word more
        (REEF, f"{REEF} rarely"),  # turns the meaning
        ("Water bleached corals", "Water bleached corals reportedly"),  # they share three words
        (LONG, f"{LONG} reportedly"),  # more than a sentence
        ("Das Meer schadet vielen alten Korallen", "Das Meer schadet nicht vielen alten Korallen"),
    ],
)
def test_statements_that_differ_in_what_they_say_are_two_facts(one: str, other: str) -> None:
    first, second = fact_keys([one, other])
    assert first != second


@settings(max_examples=25)
@given(st.lists(st.tuples(st.integers(0, 12), st.integers(0, 3)), max_size=20), st.integers(0, 20))
def test_keys_do_not_depend_on_later_statements(stated: list[tuple[int, int]], cut: int) -> None:
    statements = [statement(*each) for each in stated]
    assert fact_keys(statements)[:cut] == fact_keys(statements[:cut])


@settings(max_examples=25)
@given(st.text("aS -.'&5½İß\u0301日\n", max_size=12))
def test_any_text_has_a_key_unless_it_is_blank(text: str) -> None:
    first, second = fact_keys([text, f" {text} "])
    assert first == second
    assert bool(first) == bool(entity_key(text)) == bool(text.strip(" \n\u0301"))


def test_statements_take_linear_time() -> None:
    def seconds(count: int) -> float:
        statements = [f"Warm water bleached corals of reef number {n}" for n in range(count)]
        statements += [" ".join(f"word{n}x{at}" for at in range(200)) for n in range(3)]
        fact_keys(statements)  # their reading is kept
        start = time.process_time()
        fact_keys(statements)
        return time.process_time() - start

    assert seconds(600) < 12 * seconds(150) + 0.05


def test_copies_of_a_text_have_one_origin() -> None:
    article = " ".join(f"sentence{n} tells of reef{n} and coral{n}" for n in range(80))
    pages = {f"https://{n}.example/": article for n in range(50)}
    pages |= {"https://mirror.example/": f"{article} more", "https://else.example/": "something else"}
    found = origins(pages)
    assert {first for address, first in found.items() if address != "https://else.example/"} == {"https://0.example/"}
    assert found["https://else.example/"] == "https://else.example/"


def test_citations_of_known_sources_are_circular_and_each_counts_once() -> None:
    citing = {
        "https://a.example/x": ["http://www.b.example/y/?utm_source=z", "https://b.example/y", "https://c.example/"],
        "https://b.example/y": ["https://a.example/x#part", "https://b.example/home"],
        "notes/mine.md": ["https://a.example/x"],
    }
    assert circular_citations(citing) == CitationCount(circular=3, total=4)


def test_reprints_cite_once_and_are_known_by_their_original() -> None:
    citing = {f"https://copy{n}.example/": ["https://b.example/", "https://copy0.example/"] for n in range(50)}
    citing["https://b.example/"] = ["https://copy7.example/", "https://unknown.example/"]
    same_as = {address: "https://original.example/" for address in citing if "copy" in address}
    assert circular_citations(citing, same_as) == CitationCount(circular=2, total=3)


def test_no_citations_are_none() -> None:
    assert circular_citations({}) == CitationCount(0, 0)
    assert circular_citations({"https://a.example/": []}) == CitationCount(0, 0)
