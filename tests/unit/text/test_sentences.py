"""Sentence boundaries, by what stands around the stop and by the form of the lines."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from asky.text.sentences import sentence_spans
from tests.support.timing import check_linear

PARAGRAPHS = Path(__file__).parents[2] / "fixtures" / "sentences"
"""For each language, a paragraph a line; ` ‖ ` stands between sentences."""


def sentences(text: str) -> list[str]:
    return [text[span.start : span.end] for span in sentence_spans(text)]


@pytest.mark.parametrize(
    "text",
    [
        "Dr. Smith met Mrs. Jones vs. Brown.",
        "He read J. R. R. Tolkien at night.",
        "We follow Smith et al. (2020) here.",
        "See Fig. 3, Sec. IV and No. 5 of vol. 2.",
        "It took ca. 10 ml, e.g. The Example, i.e. Nothing.",
        "It came on Jan. 5 from the accession no. DQ288927.",
        "The U.S. Army and the Ph.D. Committee met at 5 p.m. Eastern time.",
        "In Farm Bureau v. Babbitt it was said.",
        "It costs $3.50 or 1,000.25 units.",
        "Look at https://example.org/a.b/c.d?x=1. or at asky.text.sentences here",
        '"Is it really so?" he asked.',
        "They sang Yahoo! in unison.",
        "Maybe... it was not so.",
        "He waited . . . and left.",
        "The rates were: 1. Luxembourg (20%); 2. Japan (23%); 3. Austria.",
        "Iron (c. 1200) came late.",
        "Bitte lesen Sie Ihren Zähler bis zum 31. Mai ab.",
        "Ab 31. 8. ist das Büro im 2. Stock zu, am 1. und 2. Weihnachtstag auch.",
        "Im 19. Jahrhundert, z. B. Anfang 1850, lebten dort u. a. Weber.",
        "Hr. Dipl.-Ing. Meier wohnt gem. § 5 Abs. 2 Nr. 1 in der Goethestr. 7.",
        "Er zahlt 2,4 Mio. Euro einschl. der Steuer.",
        "M. Dupont et MM. Durand citent, p. ex. Paul, l'art. 12 du chap. III.",
        "Le site date de 50 av. J.-C. environ (réf. 4, c.-à-d. Blanc).",
        "« Quelle surprise ! » s'exclame Mlle Morel.",
        "El Sr. García vende en EE. UU. y, p. ej. Madrid, según la pág. 34 y el núm. 7.",
        "Il Sig. Rossi e l'Ing. Conti, p. es. Carlo, citano gli artt. 3 e 4.",
        "Dhr. Jansen en mevr. De Boer kopen bijv. Goudse kaas, noten, enz. naar smaak.",
        "It was written by J. De Vries and M. Le Pen.",
    ],
)
def test_a_stop_that_ends_no_sentence_does_not_cut(text: str) -> None:
    assert sentences(text) == [text]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("One is here. Two is there.", ["One is here.", "Two is there."]),
        ("Really? Yes! Good.", ["Really?", "Yes!", "Good."]),
        ("The answer is no. We left.", ["The answer is no.", "We left."]),
        ("It grew in the U.S. The company moved.", ["It grew in the U.S.", "The company moved."]),
        ("So says Smith et al. However, it fails.", ["So says Smith et al.", "However, it fails."]),
        ("Take vitamin C. The end.", ["Take vitamin C.", "The end."]),
        ("It was built in 2010. 5 people came.", ["It was built in 2010.", "5 people came."]),
        ('She said "Stop." Then she left.', ['She said "Stop."', "Then she left."]),
        ("(It rained.) We stayed.", ["(It rained.)", "We stayed."]),
        ("“It rained.” We stayed.", ["“It rained.”", "We stayed."]),
        ("**It rained.** We stayed.", ["**It rained.**", "We stayed."]),
        ("It stopped... Then nothing.", ["It stopped...", "Then nothing."]),
        ("It stopped… Then nothing.", ["It stopped…", "Then nothing."]),
        ("nothing happened. all was quiet.", ["nothing happened.", "all was quiet."]),
        ("a wing in air . the wing lifts . it is so .", ["a wing in air .", "the wing lifts .", "it is so ."]),
        ("It is so.[1] It is not.[2, 3] End.", ["It is so.[1]", "It is not.[2, 3]", "End."]),
        ("It is so. [P7f3a, P09c2] It is not. [3]", ["It is so. [P7f3a, P09c2]", "It is not. [3]"]),
        ("1. First thing. Second thing.", ["1. First thing.", "Second thing."]),
        ("I am 12. Peter is 13.", ["I am 12.", "Peter is 13."]),
        ("Er kam am 3. Die Tür war zu.", ["Er kam am 3.", "Die Tür war zu."]),
        ("Äpfel, Birnen usw. Dazu passt Eis.", ["Äpfel, Birnen usw.", "Dazu passt Eis."]),
        ("Er nahm Vitamin C. Die Ärztin riet dazu.", ["Er nahm Vitamin C.", "Die Ärztin riet dazu."]),
        ("»Das ist so.« Er ging.", ["»Das ist so.«", "Er ging."]),
        ("„Ja.“ Dann ging er.", ["„Ja.“", "Dann ging er."]),
        ("« C'est ainsi. » Il partit.", ["« C'est ainsi. »", "Il partit."]),
        ("Er rief: »Komm.« »Nein.«", ["Er rief: »Komm.«", "»Nein.«"]),
        ("Vende la sociedad S. A. La sede está aquí.", ["Vende la sociedad S. A.", "La sede está aquí."]),
        ("Leave it for 1 hr. The resin settles.", ["Leave it for 1 hr.", "The resin settles."]),
        ("It is 5 mm. The rest is 3 mm.", ["It is 5 mm.", "The rest is 3 mm."]),
    ],
)
def test_a_stop_that_ends_a_sentence_cuts_after_its_closers(text: str, expected: list[str]) -> None:
    assert sentences(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("今日は。元気ですか？「はい。」そうです。", ["今日は。", "元気ですか？", "「はい。」", "そうです。"]),
        ("यह एक है। यह दो है।", ["यह एक है।", "यह दो है।"]),
        ("ما هذا؟ هذا كتاب۔", ["ما هذا؟", "هذا كتاب۔"]),
        ("本当?嘘です。", ["本当?", "嘘です。"]),
    ],
)
def test_stops_of_other_scripts_need_no_white_space_after_them(text: str, expected: list[str]) -> None:
    assert sentences(text) == expected


def test_the_lines_of_a_wrapped_paragraph_are_one_sentence() -> None:
    text = "The model was trained on a large set of\npages that was gathered by the Second\nWorld Library in that year."
    assert sentences(text) == [text]


def test_a_year_or_a_number_at_the_start_of_a_wrapped_line_is_no_list_item() -> None:
    text = "The results that are shown in Section\n3. Then we turn to the second part of it."
    assert sentences(text) == ["The results that are shown in Section\n3.", "Then we turn to the second part of it."]


def test_headings_list_items_and_table_rows_are_units_of_their_own() -> None:
    text = (
        "# Title\nText one is here. Text two\nwraps on here.\n- item one\n* item two. More\n1. first\n2) second\n"
        "(a) third\n| a | b |\n|---|---|\n| 1 | 2 |\nx\ty\nEnd."
    )
    assert sentences(text) == [
        "# Title",
        "Text one is here.",
        "Text two\nwraps on here.",
        "- item one",
        "* item two.",
        "More",
        "1. first",
        "2) second",
        "(a) third",
        "| a | b |",
        "|---|---|",
        "| 1 | 2 |",
        "x\ty",
        "End.",
    ]


def test_a_blank_line_ends_a_sentence_and_an_underline_stays_with_its_heading() -> None:
    assert sentences("Title\n=====\nBody of it\n\n \t\nnext part") == ["Title\n=====", "Body of it", "next part"]


def test_a_short_line_before_a_full_one_is_a_heading_of_its_own() -> None:
    text = (
        "1 Introduction\nRetrieval systems serve many people, and they are known to be quite slow when\nused at scale."
    )
    assert sentences(text)[0] == "1 Introduction"


@pytest.mark.parametrize("line_break", ["\n", "\r\n", "\r", "\u2028"])
def test_every_kind_of_line_break_counts_once(line_break: str) -> None:
    text = line_break.join(["# Title", "It wraps here", "and ends.", "", "next"])
    assert sentences(text) == ["# Title", f"It wraps here{line_break}and ends.", "next"]


@pytest.mark.parametrize("text", ["", "  \n\t ", "\n\n\n"])
def test_white_space_alone_holds_no_sentence(text: str) -> None:
    assert sentence_spans(text) == []


@pytest.mark.parametrize("text", ["...", "?", "a.", "."])
def test_a_lone_stop_is_kept(text: str) -> None:
    assert sentences(text) == [text]


def _boundaries(language: str) -> tuple[int, int, int]:
    """Return how many boundaries of a language's paragraphs are found, too many, and missed."""
    right = extra = missed = 0
    for line in (PARAGRAPHS / f"{language}.txt").read_text("utf-8").splitlines():
        parts = line.split(" ‖ ")
        starts = {sum(len(part) + 1 for part in parts[:number]) for number in range(1, len(parts))}
        found = {span.start for span in sentence_spans(" ".join(parts))} - {0}
        right, extra, missed = right + len(starts & found), extra + len(found - starts), missed + len(starts - found)
    return right, extra, missed


@pytest.mark.parametrize("language", ["de", "en", "es", "fr", "it", "nl"])
def test_the_boundaries_of_letters_minutes_recipes_and_news_are_found(language: str) -> None:
    right, extra, missed = _boundaries(language)
    assert extra <= 0.07 * right
    assert missed <= 2


_WORDS = st.sampled_from(
    ["z.", "B.", "31.", "Mai", "Nr.", "«", "»", "„Ja.“", "J.-C.", "l'art.", "etc.", "Die", "EE.", "XIV."]
)
ODD = st.lists(_WORDS, max_size=30).map(" ".join) | st.text(
    alphabet=st.sampled_from(list("aAbZ1.!?…。、 \n\t\r-#|*[]()\"'P0é́👍漢\u200d\u2028")), max_size=200
)


@given(ODD | st.text(max_size=200))
def test_the_spans_are_in_order_trimmed_and_leave_out_only_white_space(text: str) -> None:
    spans = sentence_spans(text)
    position = 0
    for span in spans:
        assert text[position : span.start].strip() == ""
        assert position <= span.start < span.end
        assert text[span.start : span.end] == text[span.start : span.end].strip()
        position = span.end
    assert text[position:].strip() == ""


@pytest.mark.parametrize(
    "piece", ["a", ".", ". ", "a. ", ".)", '."', "((", ". [1] ", "|\n", "1. ", "\t", " ", "-", "- \n", "\n", ".\u00a0"]
)
def test_the_time_is_linear_in_the_text(piece: str) -> None:
    check_linear(lambda chars: sentence_spans(piece * (chars // len(piece))), 15_000)


def test_a_bullet_behind_a_word_that_takes_a_number_begins_an_item() -> None:
    assert sentences("- check the version\n- see part\n- order cables") == [
        "- check the version", "- see part", "- order cables",
    ]  # fmt: skip


@pytest.mark.parametrize(
    "stamp",
    ["28.03.24, 18:02 -", "[28/03/2024, 18:02:11]", "2024-03-28T18:02:11Z", "2024-03-28 18:02", "Mar  8 18:02:11 host"],
)
def test_an_entry_of_a_log_or_a_chat_begins_with_its_time(stamp: str) -> None:
    assert len(sentences(f"{stamp} Ann: I have the key\n{stamp} Ben: where is it kept\n{stamp} Ann: here")) == 3
