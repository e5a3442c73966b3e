from __future__ import annotations

from dataclasses import dataclass, replace

import pytest

from asky.llm.extractive.answer import quote_units
from asky.llm.extractive.document_answers import answer_about_documents, authors_in_metadata
from asky.llm.extractive.units import read_units
from asky.text.document_questions import read_document_question
from asky.values import Location


@dataclass(frozen=True)
class Passage:
    text: str
    location: Location = Location()  # noqa: RUF009 - a frozen value
    title: str = "On the Burning of Mills"
    key: str = "P0001"
    authors: str = "Ada Byrne; Bob Clare"
    file: str = ""
    linked_from: str = ""
    sections: tuple[tuple[int, str], ...] = ()


FRONT = Passage(
    "On the Burning\nof Mills\n\nAda Byrne1, Bob Clare2\n1University of Ennis 2Clare Mills Ltd.\n\n"
    "arXiv:1234.56789v1 [cs.ML] 2 Mar 2015",
    Location("On the Burning of Mills", 1),
)
ABSTRACT = Passage(
    "Abstract\n\nMills burn, and nobody knew why. We propose Dustwatch, a new method to measure flour dust. Our results"
    " show that dust causes 9 of 10 fires.",
    Location("Abstract", 1),
)
METHODS = Passage("2 Methods\n\nWe counted the sparks of every wheel.", Location("2 Methods", 2))
END = Passage(
    "3 Conclusions\n\nThe experiments confirm that a clean mill does not burn. Millers should sweep every day.",
    Location("3 Conclusions", 9),
)
PAPER = (FRONT, ABSTRACT, METHODS, END)


def answer(question: str, *passages: Passage) -> list[str]:
    asked = read_document_question(question)
    assert asked is not None
    shown = passages or PAPER
    units = answer_about_documents(asked, shown, read_units(shown))
    for unit in units:
        assert shown[unit.passage].text[unit.span.start : unit.span.end] == unit.text
    return [unit.quote for unit in units]


def test_the_title_is_quoted_as_the_page_has_it() -> None:
    assert answer("What is the title?") == ["On the Burning of Mills"]


def test_the_authors_are_the_lines_with_their_names() -> None:
    assert answer("Who wrote it?") == ["Ada Byrne1, Bob Clare2"]
    assert answer("Who wrote it?", Passage("On Mills\n\nby Ada Byrne and Bob Clare\n\nText.", authors="")) == [
        "by Ada Byrne and Bob Clare"
    ]


def test_names_before_an_abstract_are_quoted_though_no_metadata_has_them() -> None:
    front = replace(FRONT, authors="")
    assert "Ada Byrne1, Bob Clare2" in answer("Who wrote it?", front, replace(ABSTRACT, authors=""))[0]
    assert answer("Who wrote it?", Passage("On Mills\n\nAda Byrne\n\nAbstract\n\nMills burn.", title="On Mills")) == [
        "Ada Byrne"
    ]


@pytest.mark.parametrize("authors", ["Solène Kervadec", ""])
def test_the_beginning_of_a_text_names_no_author(authors: str) -> None:
    page = Passage("The Otter\n\nThe otter is back. It was gone since 1978.", title="The Otter", authors=authors)
    assert answer("Who wrote the article?", page) == []
    asked = read_document_question("Who wrote the article?")
    assert asked is not None
    told = list(authors_in_metadata(asked, [page], read_units([page])))
    assert told == ([("The Otter", "Solène Kervadec")] if authors else [])


def test_a_line_that_only_begins_like_a_byline_is_none() -> None:
    found = answer("Who wrote it?", Passage("Fires fell\nby a significant margin.\n\nMore text.", authors=""))
    assert "by a significant margin." not in found


def test_who_and_where_are_answered_together() -> None:
    found = answer("Who wrote this paper and where do they work?")
    assert "Ada Byrne1, Bob Clare2" in found[0]
    assert any("University of Ennis" in each for each in found)


def test_the_date_is_the_line_that_says_what_was_dated() -> None:
    assert answer("When was it published?") == ["arXiv:1234.56789v1 [cs.ML] 2 Mar 2015"]


def test_a_summary_is_the_abstract_without_its_heading() -> None:
    found = answer("Summarise this paper")
    assert found[:2] == [
        "Mills burn, and nobody knew why.",
        "We propose Dustwatch, a new method to measure flour dust.",
    ]
    assert "Ada Byrne" not in " ".join(found)


def test_of_a_long_abstract_what_is_proposed_and_found_goes_first_and_keeps_its_place() -> None:
    background = " ".join(f"Mills of kind {number} have burned since the year of the fire." for number in range(9))
    paper = Passage(
        f"Abstract\n\n{background} We propose Dustwatch, a new method to measure flour dust. Sparks are common. Our "
        "results show that dust causes 9 of 10 fires.",
        Location("Abstract", 1),
    )
    found = answer("What is this paper about?", FRONT, paper)
    assert found[0].startswith("Mills of kind 0")
    assert found[-2:] == [
        "We propose Dustwatch, a new method to measure flour dust.",
        "Our results show that dust causes 9 of 10 fires.",
    ]


def test_the_method_is_what_the_authors_propose() -> None:
    assert answer("What method do the authors propose?")[0] == (
        "We propose Dustwatch, a new method to measure flour dust."
    )


def test_findings_are_results_of_abstract_and_conclusion() -> None:
    found = answer("What are the main findings?")
    assert found[:2] == [
        "Our results show that dust causes 9 of 10 fires.",
        "The experiments confirm that a clean mill does not burn.",
    ]


def test_the_conclusion_is_the_section_of_that_name_without_its_figures() -> None:
    end = Passage(
        "3 Conclusions\n\nA clean mill does not burn.\n\n| 1 | 24.88 | 7.42% |\n\nFigure 4: Fires in each year of the "
        "century.\n\nMillers should sweep every day.",
        Location("3 Conclusions", 9),
    )
    assert answer("What is the conclusion?", FRONT, ABSTRACT, end) == [
        "A clean mill does not burn.",
        "Millers should sweep every day.",
    ]
    assert answer("What is the conclusion?", FRONT, ABSTRACT)[0] == "Our results show that dust causes 9 of 10 fires."


@pytest.mark.parametrize(
    "heading", ["5. SUMMARY & CONCLUSIONS", "4 Discussion and conclusions", "VI. Concluding remarks"]
)
def test_a_section_with_the_conclusion_may_be_called_so(heading: str) -> None:
    end = Passage(f"{heading}\n\nA clean mill does not burn.", Location(heading, 9))
    assert answer("What are the conclusions?", FRONT, ABSTRACT, end) == ["A clean mill does not burn."]


@pytest.mark.parametrize(
    ("question", "heading", "told"),
    [
        ("who funded this work?", "Acknowledgements", "We were supported by the Council of Mills."),
        ("what are the limitations?", "5 Limitations", "Only mills of one county were visited."),
        ("what future work do they suggest?", "4 Future work", "Windmills are to be counted."),
        ("which datasets do they use?", "2.1 Data", "We use the datasets of two millers."),
        ("what licence is it under?", "Licence", "This text is under a Creative Commons licence."),
        ("is the code available?", "Code availability", "The source code is available from the authors."),
    ],
)
def test_what_a_section_of_its_own_tells_is_taken_from_there(question: str, heading: str, told: str) -> None:
    section = Passage(f"{heading}\n\n{told} We thank the cook.", Location(heading, 8))
    found = answer(question, *PAPER, section)
    assert found[0] == told
    assert "Ada" not in " ".join(found)


@pytest.mark.parametrize(
    "question", ["who funded this work?", "which datasets do they use?", "what licence is it under?"]
)
def test_what_no_sentence_tells_is_not_made_up(question: str) -> None:
    assert answer(question) == []


def test_an_outline_is_the_headings_of_the_passages() -> None:
    assert answer("List the sections") == ["Abstract", "2 Methods", "3 Conclusions"]


def test_the_columns_of_a_table_are_its_first_line() -> None:
    rows = Passage("month; region; units\nmonth: 2024-03; region: West; units: 56", title="sales.csv", authors="")
    assert answer("What columns does this file have?", rows) == ["month; region; units"]


def test_the_tables_of_a_workbook_are_told_by_their_names_and_columns() -> None:
    rows = "\n".join(f"Berth: A{n}; Boat: Skua {n}" for n in range(1, 6))
    berths = Passage(f"Berths\nBerth; Boat\n{rows}", title="Dues", authors="")
    tariff = Passage("Tariff\nClass; Price\nClass: small; Price: 38\nClass: large; Price: 60", title="Dues", authors="")
    heads = ["Berths", "Berth; Boat", "Tariff", "Class; Price"]
    assert answer("Which columns are there?", berths, tariff, berths) == heads
    assert answer("What is this file about?", berths, tariff) == [*heads, *rows.split("\n")[:3]]


def test_a_date_is_quoted_once() -> None:
    stamp = Passage("arXiv:1234.56789v1 [cs.ML] 2 Mar 2015", Location(None, 1))
    assert answer("When was it published?", FRONT, stamp) == ["arXiv:1234.56789v1 [cs.ML] 2 Mar 2015"]
    book = Passage("A Farewell to Arms (1929)", Location(None, 2))
    assert answer("When was it published?", FRONT, book) == ["arXiv:1234.56789v1 [cs.ML] 2 Mar 2015"]


def test_each_of_several_documents_is_answered_from_and_those_that_are_not_meant_are_not() -> None:
    other = Passage("Tides\n\nTides rise and fall twice a day in most places.", title="Tides", authors="")
    both = answer("What are these papers about?", *PAPER, other)
    assert "Tides rise and fall twice a day in most places." in both
    assert answer("What is the paper on tides about?", *PAPER, other) == [
        "Tides rise and fall twice a day in most places."
    ]
    assert answer("What is the paper on castles about?", *PAPER, other) == []


@pytest.mark.parametrize("question", ["Summarise this", "Who wrote it?", "What is the title?", "List the chapters"])
def test_nothing_is_made_of_nothing(question: str) -> None:
    asked = read_document_question(question)
    assert asked is not None
    assert answer_about_documents(asked, [], []) == []


def test_slides_are_summarised_by_the_list_on_each() -> None:
    slides = [
        Passage(
            "Library reopening\n\n- Steering group\n- Hanneke Visser", Location("Library reopening", 1), "library.pptx"
        ),
        Passage("Budget\n\n- Total 2.46 million euro\n- Reserve 155,000", Location("Budget", 2), "library.pptx"),
        Passage("Timeline\n\n- Shelves: 8 September\n- Opening: 11 October", Location("Timeline", 3), "library.pptx"),
    ]
    found = " ".join(answer("main points of this presentation", *slides))
    assert "2.46 million" in found
    assert "11 October" in found


def code(text: str, section: str | None = None, title: str = "mill.py") -> Passage:
    return Passage(text, Location(section), title, authors="")


MODULE = (
    code('"""Mills that grind.\n\nThey stand at Clare. Nobody knows why.\n\n.. autodata:: x\n"""\n\nimport stones'),
    code('class Mill(Building):\n    """A mill."""', "Mill"),
    code("def _open() -> None:\n    pass", "_open"),
    code("class MillError(Exception):\n    pass", "MillError"),
    code("class Fire(MillError):\n    pass", "Fire"),
)


@pytest.mark.parametrize("question", ["what does mill.py do?", "summarise mill.py", "how does mill.py work?"])
def test_a_file_of_code_is_described_by_its_docstring_and_what_it_defines(question: str) -> None:
    assert answer(question, *MODULE) == [
        "Mills that grind.",
        "They stand at Clare.",
        "Nobody knows why.",
        "class Mill(Building):",
        "class MillError(Exception):",
        "class Fire(MillError):",
    ]


def test_definitions_are_listed_by_their_kind() -> None:
    assert answer("which exceptions are there?", *MODULE) == ["class MillError(Exception):", "class Fire(MillError):"]
    assert answer("list the functions", *MODULE) == ["def _open() -> None:"]
    assert answer("which enums are there?", *MODULE) == []


def test_prose_has_no_definitions() -> None:
    assert answer("which classes are there?") == []


@pytest.mark.parametrize(
    ("beginning", "quoted"),
    [
        ("// Package mill grinds.\npackage mill\n", ["// Package mill grinds."]),
        ("/* Grinds\n * oats. */\nint main() {\n", ["/* Grinds\n * oats. */"]),
        ("#!/bin/sh\n# Grinds oats.\nset -e\n", ["# Grinds oats."]),
        ("# Copyright 2020 Ada\n\n# Grinds oats.\nset -e\n", ["# Grinds oats."]),
        ("# Copyright 2020 Ada\nset -e\n", []),
    ],
)
def test_other_languages_say_what_a_file_is_for_in_their_first_comment(beginning: str, quoted: list[str]) -> None:
    assert answer("what does mill.go do?", code(beginning, title="mill.go")) == quoted


def test_who_wrote_code_is_said_by_lines_of_its_own() -> None:
    passage = code("# Copyright 2001 Ada Byrne\nimport x\n__author__ = 'Bob Clare'\n")
    assert answer("who wrote mill.py?", passage) == ["Copyright 2001 Ada Byrne", "__author__ = 'Bob Clare'"]
    assert answer("who wrote mill.py?", code("import x\n")) == []


def test_a_document_is_named_by_its_file_although_its_title_is_another() -> None:
    other = Passage("Tides rise twice a day. The moon draws them.", title="On Tides", file="tides.pdf", authors="")
    assert answer("what is tides.pdf about?", *PAPER, other) == ["Tides rise twice a day.", "The moon draws them."]
    assert answer("what is castles.pdf about?", *PAPER, other) == []


def test_where_the_authors_work_stands_between_the_title_and_the_summary() -> None:
    front = Passage(
        "On the Burning of Mills\n\nA. Byrne and B. Clare\n\n1 University of Ennis\n2 Clare Mills\n\n"
        "Summary\n\nMills burn.",
        Location("On the Burning of Mills", 1),
        authors="A. Byrne; B. Clare",
    )
    cited = Passage("References\n\nFlour, D. (2014). Sparks. Academy of Mills.", Location("References", 8))
    both = "A. Byrne and B. Clare 1 University of Ennis 2 Clare Mills"
    assert answer("Where do the authors work?", front, cited) == [both]
    assert answer("Who wrote it and where do they work?", front, cited) == [both]
    assert answer("Who wrote it?", front, cited) == ["A. Byrne and B. Clare"]


@pytest.mark.parametrize(("title", "said"), [("Aero Mill: a course", "AeroMill"), ("AeroMill: a course", "aero mill")])
def test_a_document_is_named_whether_its_name_is_written_as_one_word_or_two(title: str, said: str) -> None:
    paper = Passage(f"{title}\n\nAda Byrne\n\nAbstract\n\nMills burn.", title=title, authors="Ada Byrne")
    other = Passage("On Oats\n\nBob Clare\n\nAbstract\n\nOats grow.", title="On Oats", key="P0002", authors="Bob Clare")
    assert answer(f"Who wrote the {said} paper?", paper, other) == ["Ada Byrne"]


def _note(title: str, properties: str, authors: str, body: str = "It is old.") -> tuple[Passage, ...]:
    front = Passage(
        f"---\n{properties}\n---", Location("Properties"), title, f"P{len(title):04x}", authors, f"{title}.md"
    )
    return front, replace(front, text=f"# {title}\n\n{body}", location=Location(title), key=f"Pb{len(title):03x}")


GATES = _note("Gate log", "created: 2024-03-02\nAuthor: Mira Okonkwo", "Mira Okonkwo")
WEIRS = _note(
    "Weir study", 'aliases: [weirs]\nauthors:\n  - Jon Hale\n  - "Rosa Lind"\nyear: 2021', "Jon Hale; Rosa Lind"
)
KERBS = _note("Kerbs of Ennis", "author: Ada Byrne, Bob Clare\nstatus: draft", "Ada Byrne; Bob Clare")
HALL = _note("Hall", "tags: [x]\nauthor:\n- Ida Holm\n- Per Lund", "Ida Holm; Per Lund")
LOCK = _note("Lock", "tags: [lock]", "", "by Ruth Vane\n\nThe lock was built in 1820.")
NOTES = (*GATES, *WEIRS, *KERBS, *HALL, *LOCK)

OF_GATES, OF_WEIRS = "Author: Mira Okonkwo", 'authors:\n- Jon Hale\n- "Rosa Lind"'
OF_KERBS, OF_HALL = "author: Ada Byrne, Bob Clare", "author:\n- Ida Holm\n- Per Lund"


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("Who wrote the gate log?", [OF_GATES]),
        ("Who is the author of Weir study?", [OF_WEIRS]),
        ("who wrote Kerbs of Ennis", [OF_KERBS]),
        ("By whom is Hall.md?", [OF_HALL]),
        ("Whose note is Lock?", ["by Ruth Vane"]),
        ("Who wrote Gate log and Weir study?", [OF_GATES, OF_WEIRS]),
        ("Who are the authors of Kerbs of Ennis, the gate log and Lock?", [OF_GATES, OF_KERBS, "by Ruth Vane"]),
        ("Who wrote Gate log.md and Hall.md?", [OF_GATES, OF_HALL]),
        ("Who wrote these notes?", [OF_GATES, OF_WEIRS, OF_KERBS, OF_HALL, "by Ruth Vane"]),
        ("Who wrote Gate log and the harbour plan?", []),
    ],
)
def test_the_authors_of_notes_are_those_of_their_properties(question: str, expected: list[str]) -> None:
    assert answer(question, *NOTES) == expected


def test_an_answer_names_the_note_that_a_property_belongs_to() -> None:
    asked = read_document_question("Who wrote Gate log and Weir study?")
    assert asked is not None
    told = "".join(quote_units(answer_about_documents(asked, NOTES, read_units(NOTES)), NOTES))
    assert told.splitlines() == [
        "- Gate log: Author: Mira Okonkwo [P0008]",
        "",
        '- Weir study: authors: - Jon Hale - "Rosa Lind" [P000a]',
    ]


def test_code_above_the_first_heading_names_no_author() -> None:
    code = Passage(
        "Sluice\n\n>>> from sluice import gate\n>>> gate(4)\n'shut'\n\nIntroduction\n\nSluice shuts gates.",
        title="Sluice",
    )
    assert answer("Who is the author?", replace(code, authors="")) == []


def test_the_columns_of_a_table_in_a_text_are_those_of_its_head() -> None:
    fees = Passage(
        "# Fees\n\n| Berth | Fee |\n|---|---|\n| A1 | 120 |\n\nBoats pay in May.\n\nBerth | Owner\n--- | ---\nA1 | Ida"
    )
    assert answer("Which columns does the table have?", replace(fees, title="Fees", authors="")) == [
        "| Berth | Fee |",
        "Berth | Owner",
    ]
