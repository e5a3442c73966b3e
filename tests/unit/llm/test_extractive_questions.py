from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from asky.llm.extractive.questions import (
    MAX_QUERIES,
    MAX_QUERY_CHARS,
    SUMMARY_QUERIES,
    follow_up,
    names,
    queries,
    read_question,
    sub_questions,
    without_places,
)
from tests.support.timing import check_linear


@pytest.mark.parametrize(
    ("question", "parts"),
    [
        ("When did the mill burn?", ()),
        ("Who wrote Dune? When did Frank Herbert die?", ("Who wrote Dune", "When did Frank Herbert die")),
        ("Explain the retry policy; list the time limits", ("Explain the retry policy", "list the time limits")),
        ("When was the mill built and who built it?", ("When was the mill built", "who built it mill built")),
        ("Who founded Acme Corp, and when was it sold?", ("Who founded Acme Corp", "when was it sold Acme Corp")),
        ("What is the difference between cats and dogs?", ("cats difference", "dogs difference")),
        ("Compare FTS5 with Chroma.", ("FTS5", "Chroma")),
        ("How does Python compared to Ruby handle threads", ("How does Python", "Ruby handle threads")),
        (
            "Are Sutera and Rhodotypos both types of shrub?",
            ("Sutera types shrub", "Rhodotypos types shrub"),
        ),
        (
            "Which dog was bred in Germany, the Weimaraner or the Bracco Italiano?",
            ("the Weimaraner dog bred Germany", "the Bracco Italiano dog bred Germany"),
        ),
        ("Peter, who is a clerk, and Mary live where?", ()),
        ("Anna is married to a painter and what kind of activist?", ()),
        ("The battle was fought between France and what other country?", ()),
        ("Open day date and who makes the tea?", ("Open day date", "who makes the tea")),
        ("salt and pepper", ()),
        ("谁写了红楼梦？什么时候？", ("谁写了红楼梦", "什么时候")),
        ("", ()),
        ("??? ;;; and who", ()),
    ],
)
def test_a_question_is_taken_apart_where_it_asks_several_things(question: str, parts: tuple[str, ...]) -> None:
    assert read_question(question).parts == parts


@pytest.mark.parametrize(
    ("question", "kind"),
    [
        ("When did it burn?", "time"),
        ("In what year did it burn?", "time"),
        ("How many mills burned?", "number"),
        ("What percentage burned?", "number"),
        ("Who built it?", "person"),
        ("Where is it?", "place"),
        ("In which small town is it?", "place"),
        ("Why did it burn?", "reason"),
        ("How does it work?", None),
        ("mill fire", None),
    ],
)
def test_the_form_of_the_answer_follows_from_the_words_that_ask(question: str, kind: str | None) -> None:
    assert read_question(question).kind == kind


@pytest.mark.parametrize(
    "question", ["Summarise the documents", "give me an overview", "What is this about?", "What are the main points?"]
)
def test_a_request_for_a_summary_is_recognised_and_searches_for_overviews(question: str) -> None:
    read = read_question(question)
    assert read.document is not None
    assert (read.document.aspects, read.document.subject) == (("summary",), frozenset())
    assert queries(read) == [question, *SUMMARY_QUERIES]


@pytest.mark.parametrize("question", ["Summarise the mill fire", "What is the report about the mill about?", "mill"])
def test_a_question_with_a_subject_is_no_request_for_a_summary_of_everything(question: str) -> None:
    document = read_question(question).document
    assert document is None or "mill" in document.subject


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("What is a tide and how does bread rise?", ("What is a tide", "how does bread rise")),
        ("Who built the dam? When was it opened?", ("Who built the dam", "When was it opened built dam")),
        ("What makes the tides?", ()),
        ("What is the difference between a mutex and a semaphore?", ()),
        ("Graph algorithms; decomposition of graphs", ()),
        ("What is a module (I don't want it all; only how types are checked)?", ()),
    ],
)
def test_only_what_begins_as_a_question_is_one_of_several(question: str, expected: tuple[str, ...]) -> None:
    assert sub_questions(question) == expected


def test_the_whole_question_is_searched_for_first_and_then_its_parts() -> None:
    assert queries(read_question("Who  built it?\nWhen did the mill burn?")) == [
        "Who built it? When did the mill burn?",
        "Who built it",
        "When did the mill burn",
    ]


def test_a_follow_up_adds_the_names_that_the_best_texts_brought() -> None:
    question = read_question("In what year did the owner of the mill die?")
    assert follow_up([question], ["The mill belonged to Ada Byrne of Clare."]) == [
        "Ada Byrne of Clare year owner mill die?"
    ]
    assert follow_up([question], ["It was a large mill."]) == []
    assert follow_up([read_question("When did Ada Byrne die?")], ["The mill of Ada Byrne burned."]) == []
    assert follow_up([], ["The mill belonged to Ada Byrne."]) == []


@pytest.mark.parametrize(
    ("question", "about"),
    [
        ('What does "Private divorce.md" say about the wall?', "What does say about the wall?"),
        ('Is the wall in "private DIVORCE.md" high, says "private divorce"?', "Is the wall in high, says ?"),
        ("What do the attached documents say about the wall?", "What do say about the wall?"),
        ("What does the document say about the wall?", "What does say about the wall?"),
        ("Do these files mention a wall?", "Do mention a wall?"),
        ('What does "asyncio.run" do?', 'What does "asyncio.run" do?'),
        ("Which file holds the wall?", "Which file holds the wall?"),
        ('What does "private divorce.md" say?', 'What does "private divorce.md" say?'),
        ("What does the document say?", "What does the document say?"),
    ],
)
def test_where_to_look_is_not_what_a_question_is_about(question: str, about: str) -> None:
    found = without_places(question, ["Private divorce.md", "private divorce", ""])
    assert " ".join(found.split()) == about


def test_names_are_capitalised_runs_inside_a_sentence() -> None:
    assert names("The mill of Ada Byrne, near Clare. It burned under King John of England in Clare.") == [
        "Ada Byrne",
        "Clare",
        "King John of England",
    ]


@given(st.text(max_size=3000))
def test_queries_keep_their_limits_and_are_text_that_can_be_sent(text: str) -> None:
    question = read_question(text)
    found = queries(question)
    assert len(found) <= MAX_QUERIES
    assert all(0 < len(query) <= MAX_QUERY_CHARS for query in found)
    assert bool(found) == bool(question.text)
    "".join(found).encode("utf-8")
    for query in follow_up([question], [text]):
        assert 0 < len(query) <= MAX_QUERY_CHARS


@pytest.mark.parametrize("unit", ["between ", "a, ", "A. ", "x", "Are a and ", "A of "])
def test_awkward_questions_are_read_in_linear_time(unit: str) -> None:
    def read(chars: int) -> None:
        text = unit * (chars // len(unit))
        queries(read_question(text))
        follow_up([read_question(text)], [text])

    check_linear(read, 1_000)


@pytest.mark.parametrize(
    ("question", "terms"),
    [
        ("Where is the token checked?", {"token"}),
        ("in which file are the settings parsed", {"set"}),
        ("Where is the retry delay defined?", {"retri", "delay"}),
        ("Where was the ship built?", {"ship", "built"}),
        ("Where is the mill?", {"mill"}),
    ],
)
def test_the_verb_of_a_place_in_code_needs_no_mention(question: str, terms: set[str]) -> None:
    assert terms <= read_question(question).terms
    assert not {"check", "pars", "defin"} & read_question(question).terms
