from __future__ import annotations

import pytest

from asky.text.document_questions import read_document_question


@pytest.mark.parametrize(
    ("question", "aspects"),
    [
        ("Summarise this paper", ("summary",)),
        ("summarize it please", ("summary",)),
        ("tl;dr", ("summary",)),
        ("Give me a short overview in three sentences", ("summary",)),
        ("What is this about?", ("summary",)),
        ("what's the article about", ("summary",)),
        ("What does this document say?", ("summary",)),
        ("What are the key points?", ("summary",)),
        ("What is the abstract?", ("summary",)),
        ("What is the title?", ("title",)),
        ("Who wrote it?", ("authors",)),
        ("who are the authors of this paper", ("authors",)),
        ("Who is the author?", ("authors",)),
        ("When was it published?", ("date",)),
        ("What year was this paper published?", ("date",)),
        ("When and in which journal did this appear?", ("date", "venue")),
        ("Who wrote this paper and where do they work?", ("authors", "affiliation")),
        ("where do the authors work", ("affiliation",)),
        ("Where are the authors from?", ("affiliation",)),
        ("where does the author of this paper work", ("affiliation",)),
        ("Which university are they from?", ("affiliation",)),
        ("who do the authors work for", ("affiliation",)),
        ("What method do the authors propose?", ("method",)),
        ("What are the main findings?", ("findings",)),
        ("What do they conclude?", ("conclusion",)),
        ("What problem does this paper solve?", ("problem",)),
        ("What is the goal of this study?", ("problem",)),
        ("List the chapters", ("outline",)),
        ("what is report.pdf about?", ("summary",)),
        ("whats this paper about", ("summary",)),
        ("main points of this presentation", ("summary",)),
        ("summarise the meeting", ("summary",)),
        ("What's in this notebook?", ("summary",)),
        ("what's this talk about?", ("summary",)),
        ("What is each file in this folder for?", ("summary",)),
        ("what does each of these people do?", ("summary",)),
        ("Give me one line on each page of the manual", ("summary",)),
        ("Which sheets are there?", ("outline",)),
        ("who funded this work?", ("funding",)),
        ("what are the limitations of the approach", ("limitations",)),
        ("What future work do they suggest?", ("future",)),
        ("Which datasets were used?", ("data",)),
        ("what datasets do they use for the evaluation?", ("data",)),
        ("what licence is it under?", ("licence",)),
        ("Is the code available?", ("code",)),
        ("What columns does this file have?", ("fields",)),
    ],
)
def test_questions_about_a_document_as_a_whole_are_recognised(question: str, aspects: tuple[str, ...]) -> None:
    found = read_document_question(question)
    assert found is not None
    assert (found.aspects, found.subject) == (aspects, frozenset())


@pytest.mark.parametrize(
    "question",
    [
        "How many GPUs were used?",
        "Why was the account locked?",
        "What is the difference between A and B?",
        "Who proposed RAPT?",
        "What do the authors find about rare words in long texts of lawyers?",
        "Which datasets were used to train the retrievers of lawyers?",
        "Who funded the mill at Clare?",
        "What was it trained on?",
        "Is the port available?",
        "How do I prune an apple tree?",
        "",
    ],
)
def test_other_questions_are_not(question: str) -> None:
    found = read_document_question(question)
    assert found is None or found.subject


@pytest.mark.parametrize("question", ["what is this project?", "What does this tool do?", "summarise the repo"])
def test_a_question_about_a_project_is_recognised(question: str) -> None:
    found = read_document_question(question)
    assert found is not None
    assert found.of_project
    assert found.aspects == ("summary",)


def test_the_words_that_name_a_document_are_its_subject() -> None:
    found = read_document_question("Who wrote The Waste Land?")
    assert found is not None
    assert found.aspects == ("authors",)
    assert found.named({"land": frozenset({"wast", "land", "eliot"}), "mill": frozenset({"mill"})}) == ["land"]
    assert not found.points_back
    assert (read_document_question("And who wrote it?") or found).points_back


@pytest.mark.parametrize(
    ("question", "aspects"),
    [
        ("what does termui.py do?", ("summary",)),
        ('explain "core.py"', ("summary",)),
        ("what is in types.py?", ("summary",)),
        ("what is report-final.pdf for?", ("summary",)),
        ("who wrote main.c?", ("authors",)),
        ("how does parser.go work?", ("method",)),
    ],
)
def test_a_file_is_asked_about_by_its_name(question: str, aspects: tuple[str, ...]) -> None:
    found = read_document_question(question)
    assert found is not None
    assert found.aspects == aspects
    assert len(found.files) == 1
    assert found.subject == frozenset()


@pytest.mark.parametrize(
    ("question", "kinds"),
    [
        ("which exceptions are there?", {"exception"}),
        ("what functions are in globals.py?", {"function"}),
        ("List all classes", {"class"}),
        ("which classes does types.py define?", {"class"}),
        ("what exceptions can it raise?", {"exception"}),
        ("list the methods of this module", {"function"}),
    ],
)
def test_a_question_for_definitions_is_recognised(question: str, kinds: set[str]) -> None:
    found = read_document_question(question)
    assert found is not None
    assert "definitions" in found.aspects
    assert found.kinds == kinds
    assert found.subject == frozenset()


@pytest.mark.parametrize(
    "question",
    [
        "which functions are most important for a judge?",
        "what classes are taught on Monday?",
        "which errors are caused by dust?",
        "what is e.g. the price of oats in this table?",
    ],
)
def test_other_questions_ask_for_no_definitions(question: str) -> None:
    found = read_document_question(question)
    assert found is None or not found.kinds


def test_documents_are_named_by_their_files_and_authors() -> None:
    one = read_document_question('summarise "jose.00021.pdf" and notes_2024.md')
    assert one is not None
    assert one.subject == frozenset()
    names = {
        "cfd": frozenset({"cfd", "jose", "00021", "pdf"}),
        "note": frozenset({"note", "2024", "md"}),
        "other": frozenset({"cfd", "jose", "00022", "pdf"}),
    }
    assert one.named({"cfd": names["cfd"], "other": names["other"]}) == ["cfd"]
    assert one.named(names) == ["note"], "the name of the file alone goes before"
    other = read_document_question("in short what is Barzegari's paper about?")
    assert other is not None
    assert other.subject == frozenset({"barzegari"})


def test_a_document_is_also_named_by_most_of_its_title() -> None:
    asked = read_document_question("what year did the operating systems lab manual paper come out")
    assert asked is not None
    names = {
        "manual": frozenset({"laboratori", "manual", "oper", "system", "comput"}),
        "climate": frozenset({"climat", "system", "narrat"}),
        "stars": frozenset({"starblast", "blast"}),
    }
    assert asked.named(names) == ["manual"]
    in_part = read_document_question("what year did the operating systems oats manual come out")
    assert in_part is not None
    assert in_part.named(names) == ["manual"]
    assert in_part.named({**names, "other": names["manual"]}) == [], "two are as near"
    assert asked.named({"climate": names["climate"]}) == []
    one_word = read_document_question("summarise the lab story of Clare")
    assert one_word is not None
    assert one_word.named({"mill": frozenset({"mill"})}) == []
