from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from asky.evidence.marks import without_marks, without_uncited_marks
from asky.evidence.plain_text import plain_text
from asky.evidence.verification.verify import mark_unsupported, verify_answer, verify_claim
from asky.values import Span, Verdict
from tests.support.timing import check_linear

TIDES = (
    "Tides are caused by the gravity of the moon. The highest tides of the world, of 16.3 metres, are measured in the "
    "Bay of Fundy in Canada. In 1922 a survey counted 1,400 boats there. The old mill was closed on 12 March 2020 "
    "because the tide did not reach its wheel any more."
)
SUN = "The sun adds about 46 percent to the pull of the moon."


def verdict(claim: str, *passages: str) -> Verdict:
    return verify_claim(claim, passages or (TIDES, SUN)).verdict


@pytest.mark.parametrize(
    "claim",
    [
        "Tides are caused by the gravity of the moon.",
        "The gravity of the moon causes the tides.",
        "The highest tides are measured in the Bay of Fundy.",
        "A survey counted 1400 boats in 1922.",
        "The mill was closed on March 12, 2020.",
        "The old mill was closed in March 2020.",
        "The sun adds 46% to the pull of the moon.",
        'The source says "the tide did not reach its wheel".',
    ],
)
def test_a_claim_in_the_words_of_its_passages_is_supported(claim: str) -> None:
    check = verify_claim(claim, (TIDES, SUN))
    assert check.verdict == "supported"
    assert 0.55 <= check.score <= 1


def test_every_sentence_of_a_passage_is_supported_by_it_in_full() -> None:
    for sentence in TIDES.split(". "):
        check = verify_claim(sentence, [TIDES])
        assert (check.verdict, check.score) == ("supported", 1.0)


def test_a_claim_with_another_number_in_the_same_sentence_is_contradicted() -> None:
    for claim in (
        "A survey counted 2,400 boats in 1922 there.",
        "The highest tides of the world, of 18 metres, are measured in the Bay of Fundy in Canada.",
        "The sun adds about 64 percent to the pull of the moon.",
        "The old mill was closed on 12 May 2020 because the tide did not reach its wheel any more.",
    ):
        check = verify_claim(claim, (TIDES, SUN))
        assert (check.verdict, check.checks["contradicted_by"]) == ("contradicted", "number"), claim
        assert check.score < 0.25


def test_a_claim_with_a_number_that_no_passage_holds_is_unsupported() -> None:
    check = verify_claim("Tides in the Bay of Fundy in Canada are measured by 25 people.", (TIDES, SUN))
    assert check.verdict == "unsupported"
    assert check.checks["missing_numbers"] == ["25"]


def test_a_small_number_word_that_may_count_what_the_claim_lists_leaves_it_partial() -> None:
    check = verify_claim("Two bodies, the moon and the sun, cause the tides by the gravity of the moon.", (TIDES, SUN))
    assert (check.verdict, check.checks["missing_numbers"]) == ("partial", ["Two"])


def test_a_number_with_another_unit_is_missing() -> None:
    assert verify_claim("The tides are 16.3 feet.", [TIDES]).checks["missing_numbers"] == ["16.3"]
    assert verify_claim("The tides are 16.3 meters.", [TIDES]).checks["missing_numbers"] == []


def test_a_number_without_a_unit_in_the_passage_may_have_that_of_the_claim() -> None:
    for claim in ("The tides are 16.3 metres.", "The tides are 16.3."):
        assert verify_claim(claim, ["The tides are 16.3 in height."]).checks["missing_numbers"] == []
    assert verify_claim("The tides are 16.3.", ["The tides are 16.3 metres."]).checks["missing_numbers"] == []


def test_numbers_and_quotations_beyond_the_fiftieth_count_as_missing() -> None:
    numbers = [str(number) for number in range(1001, 1054)]
    check = verify_claim(f"They are {' and '.join(numbers)}", [" and ".join(numbers)])
    assert check.checks["missing_numbers"] == numbers[50:]
    assert check.verdict == "unsupported"
    quotes = [f"the {letter}{number} of a word" for letter in "abcdef" for number in "abcdefghi"]
    said = " ".join(f'"{quote}"' for quote in quotes)
    check = verify_claim(f"They say {said}", [said])
    assert check.checks["missing_quotes"] == quotes[50:]
    assert check.verdict == "unsupported"


def test_the_parts_of_a_date_must_stand_together() -> None:
    text = "It opened on 3 May 1990. It closed on 12 June 1995."
    assert verify_claim("It opened on 3 June 1990.", [text]).checks["missing_numbers"] == ["June"]
    assert verify_claim("It opened on 1990-05-03.", [text]).checks["missing_numbers"] == []


def test_number_words_and_digits_are_the_same() -> None:
    assert verify_claim("It has twelve rooms.", ["It has 12 rooms."]).verdict == "supported"
    assert verify_claim("One of the boats sank.", ["A boat sank, one of the boats."]).checks["missing_numbers"] == []


@pytest.mark.parametrize(
    "power", ["10^6.6", "10⁶·⁶", "10⁶˙⁶", "10**6.6", "10^{6.6}", "$10^{6.6}$", "10 to the power of 6.6"]
)
def test_a_power_is_one_number_however_it_is_written(power: str) -> None:
    passage = "We find that there are 10^6.6 NEOs larger than a house."
    assert verdict(f"We find that there are {power} NEOs larger than a house.", passage) == "supported"
    assert verdict(passage, f"We find that there are {power} NEOs larger than a house.") == "supported"


@pytest.mark.parametrize("number", ["106.6", "10", "6.6", "10^6", "10^6.5", "4 million"])
def test_a_power_is_no_other_number(number: str) -> None:
    passage = "We find that there are 10^6.6 NEOs larger than a house."
    assert verdict(f"We find that there are {number} NEOs larger than a house.", passage) == "contradicted"


def test_a_negation_on_one_side_only_contradicts() -> None:
    text = "The drug reduces the risk of stroke in adults. The mill was not closed in winter."
    for claim in ("The drug does not reduce the risk of stroke in adults.", "The mill was closed in winter."):
        check = verify_claim(claim, [text])
        assert (check.verdict, check.checks["contradicted_by"]) == ("contradicted", "negation")


def test_a_sentence_that_agrees_outweighs_an_opposite_one() -> None:
    agrees, opposes = "The drug reduces the risk of stroke.", "The drug does not reduce the risk of stroke."
    for passages in ([f"{agrees} {opposes}"], [f"{opposes} {agrees}"], [agrees, opposes], [opposes, agrees]):
        for claim in (agrees, opposes):
            check = verify_claim(claim, passages)
            assert (check.verdict, check.checks["contradicted_by"]) == ("supported", None)


def test_a_negation_elsewhere_in_a_longer_sentence_does_not_contradict() -> None:
    text = "Cut the large potatoes into chunks with a sharp knife, being careful to not break the long sprouts."
    assert verdict("Cut the large potatoes into chunks with a sharp knife.", text) == "supported"
    both = "Balance is not only important for health but for work."
    assert verdict("Balance is important for health and work.", both) == "supported"


def test_a_quotation_that_no_passage_holds_makes_a_claim_unsupported() -> None:
    check = verify_claim('The survey found "the highest boats of the world" in 1922.', (TIDES, SUN))
    assert check.verdict == "unsupported"
    assert check.checks["missing_quotes"] == ["the highest boats of the world"]
    assert check.score < 0.25


@pytest.mark.parametrize(
    "claim",
    [
        'It is about "The Highest Tides and Boats" in the Bay of Fundy, tides of the world.',
        'To "What are the highest tides?": the highest tides of the world are in the Bay of Fundy.',
        'The "highest boats" in the Bay of Fundy, the highest tides of the world.',
        'The text says "the HIGHEST tides of the world ... in the Bay of Fundy," in Canada.',
    ],
)
def test_titles_questions_short_quotations_ellipses_and_case_raise_no_alarm(claim: str) -> None:
    assert verify_claim(claim, [TIDES]).checks["missing_quotes"] == []


def test_a_quotation_is_found_whatever_the_markup_and_the_references_on_either_side() -> None:
    passage = "Run `make demo` to _see_ the [first answer](https://x.test) [12] of the pro-\ngram."
    for quote in (
        "Run make demo to see the first answer of the program",
        "Run `make demo` to _see_ the first answer ~~[12?]~~",
    ):
        assert verify_claim(plain_text(f"It says: “{quote}.” [1]"), [passage]).checks["missing_quotes"] == []


def test_a_claim_about_something_else_is_unsupported() -> None:
    assert verdict("Volcanoes erupt when magma rises through cracks of the crust.") == "unsupported"


def test_a_claim_that_goes_beyond_its_passages_is_partial() -> None:
    assert verdict("Tides are caused by the gravity of distant galaxies and dark matter halos.") == "partial"


def test_without_passages_a_claim_is_uncited() -> None:
    assert verify_claim("Tides exist.", []).verdict == "uncited"


def test_a_claim_that_two_passages_hold_together_is_supported() -> None:
    claim = "Tides are caused by the gravity of the moon, and the sun adds 46 percent to the pull."
    assert verdict(claim, TIDES, SUN) == "supported"
    assert verdict(claim, TIDES) == "unsupported"  # no passage has the 46


@pytest.mark.parametrize("claim", ["", "It is what it is.", "the of and", "???"])
def test_a_claim_without_terms_is_not_supported(claim: str) -> None:
    assert verify_claim(claim, [TIDES]).verdict == "unsupported"


ANSWER = (
    "# Tides\n\nYes. Tides are caused by the gravity of the moon [1]. The survey counted 2,400 boats there in 1922 "
    "[1]. Nobody knows why.\n\n- The sun adds about 46 percent to the pull of the moon [2]\n"
    "- Volcanoes erupt daily [2]\n\nWhat else?\n"
)


def test_an_answer_is_checked_claim_by_claim_against_what_each_cites() -> None:
    claims = verify_answer(ANSWER, {1: TIDES, 2: SUN})
    assert [(claim.verdict, claim.citations) for claim in claims] == [
        ("supported", (1,)),
        ("contradicted", (1,)),
        ("uncited", ()),
        ("supported", (2,)),
        ("unsupported", (2,)),
    ]
    assert all(ANSWER[claim.span.start : claim.span.end] == claim.text for claim in claims)


def test_marks_are_added_and_nothing_else_is_changed() -> None:
    claims = verify_answer(ANSWER, {1: TIDES, 2: SUN})
    marked, moved = mark_unsupported(ANSWER, claims)
    assert marked == (
        "# Tides\n\nYes. Tides are caused by the gravity of the moon [1]. The survey counted 2,400 boats there in 1922 "
        "[1]. ⚠ contradicted Nobody knows why.\n\n- The sun adds about 46 percent to the pull of the moon "
        "[2]\n- Volcanoes erupt daily [2] ⚠ unsupported\n\nWhat else?\n"
    )
    assert [replace(claim, span=Span(0, 0)) for claim in moved] == [replace(claim, span=Span(0, 0)) for claim in claims]
    assert all(marked[claim.span.start : claim.span.end] == claim.text for claim in moved)
    assert without_marks(marked) == ANSWER


def test_a_heading_is_noticed_for_its_numbers_alone() -> None:
    def verdicts(heading: str) -> list[str]:
        return [claim.verdict for claim in verify_answer(f"{heading}\n\n{TIDES.split('.')[0]} [1].", {1: TIDES})]

    assert verdicts("## A survey of 1922") == ["supported", "supported"]
    assert verdicts("## A survey of 1923") == ["unsupported", "supported"]
    assert verdicts("## In 1922 a survey counted 1,500 boats") == ["contradicted", "supported"]
    assert verdicts("Three things about it:") == ["supported"]
    assert verdicts(
        "## Celebrations of choirs, clubs, orchestras, theatres, museums, libraries and schools in 1922"
    ) == ["supported"]
    assert verdicts("## The twelve surveys of 1922 counted 1,400 boats there:")[1:] == ["supported"]
    assert [claim.verdict for claim in verify_answer("## The moon weighs 999 tonnes", {1: TIDES})] == ["uncited"]


def test_a_small_number_in_a_heading_is_noticed_where_the_passages_have_another() -> None:
    text = "The moon raises two high tides a day."
    (first, _) = verify_answer("## The moon raises seven high tides a day\n\nIt does [1].", {1: text})
    assert (first.verdict, first.checks["missing_numbers"]) == ("contradicted", ["seven"])


def test_a_reference_in_a_passage_does_not_hide_a_quotation() -> None:
    (claim,) = verify_answer(
        'It says "the sea is very wide and blue" [1].', {1: "They say the sea¹ is very wide and blue."}
    )
    assert claim.checks["missing_quotes"] == []


def test_a_number_without_a_passage_cites_nothing() -> None:
    (claim,) = verify_answer("Tides exist [3].", {1: TIDES})
    assert (claim.verdict, claim.citations) == ("uncited", ())


@pytest.mark.parametrize(
    ("claim", "passage"),
    [
        ("1 2 3 ", "1 2 3 "),
        ("May 1 ", "May 2. "),
        ('"a b c d e" ', "a b c d "),
        ("word ", "word "),
        ("“", "“"),
        ("a. ", "a. "),
        ("5 km ", "5 miles "),
        ("not ", "not "),
        ("Foo is bar [1]. ", "Foo is bar. "),
    ],
)
def test_hostile_claims_and_passages_take_linear_time(claim: str, passage: str) -> None:
    def check(chars: int) -> None:
        long_claim, long_passage = claim * (chars // len(claim)), passage * (chars // len(passage))
        verify_claim(long_claim, [long_passage])
        verify_answer(f"{long_claim} [1].", {1: long_passage})

    check_linear(check, 1_500)


def test_a_claim_that_is_a_quotation_says_where_it_stands() -> None:
    answer = "The sun adds “about 46 percent” [2]. Tides are caused by the gravity of the moon [2][1]. A mill [1]."
    by_words, quoted, mill = verify_answer(answer, {1: TIDES, 2: SUN})
    assert by_words.checks["quotation"] is None  # its marks are not in the passage
    place = quoted.checks["quotation"]
    assert place["n"] == 1
    assert TIDES[place["start"] : place["end"]] == "Tides are caused by the gravity of the moon."
    assert mill.checks["quotation"] is None


def test_a_claim_without_a_citation_is_no_quotation() -> None:
    (claim,) = verify_answer("Tides are caused by the gravity of the moon.", {1: TIDES})
    assert "quotation" not in claim.checks


def test_an_answer_of_an_earlier_version_loses_the_marks_of_uncited_statements() -> None:
    def stored(text: str) -> dict[str, Any]:
        places = [(text.index(said), text.index(said) + len(said)) for said in ("It is.", "So it is.", "It rose.")]
        return {"run": "r", "answer": text, "claims": [{"start": start, "end": end} for start, end in places]}

    before = stored("It is. ⚠ uncited So it is. ⚠ unsupported\n\n- It rose. ⚠ uncited")
    assert without_uncited_marks(before) == stored("It is. So it is. ⚠ unsupported\n\n- It rose.")


BANK = """
The Reserve Bank raised its rate by 0.25 points to 4.1 % in June 2023. Governor Philip Lowe said inflation of 7 % was
still too high. Two of the nine members of the board voted to wait. Unemployment stood at 3.6 %, close to a 50-year low.
The bank expects prices to return to its target of 2 to 3 % by mid-2025. House prices in Sydney rose 1.8 % in May while
those in Hobart fell. The decision surprised most economists, who had expected no change.
"""


@pytest.mark.parametrize(
    "claim",
    [
        "In June 2023 the Reserve Bank raised its rate by a quarter point to 4.1%.",
        "According to Philip Lowe, inflation of 7 % was too high.",
        "The rate was raised to 4.1 % by the Reserve Bank in June 2023.",
        "Most economists had expected no change and were surprised.",
        "Unemployment was 3.6 percent, near a 50-year low.",
        "The bank expects to reach its target of 2–3 % by the middle of 2025.",
        "Prices of houses fell in Hobart but rose by 1.8 % in Sydney in May.",
        "The governor, Philip Lowe, said that inflation, at 7 %, was still too high.",
        "The decision was a surprise to most economists.",
    ],
)
def test_a_lightly_reworded_sentence_raises_no_alarm(claim: str) -> None:
    assert verdict(claim, BANK) == "supported"


def test_an_answer_of_a_few_words_is_judged_with_its_question() -> None:
    question = "What is the capital of France?"
    assert verify_claim("Paris", ["Paris is the capital of France."], question=question).verdict == "supported"
    other = "Paris Hilton sings in Berlin, and Rome was not built in a day."
    assert verify_claim("Paris", [other]).verdict == "supported"
    assert verify_claim("Paris", [other], question=question).verdict != "supported"
    question = "What share were boats?"
    assert verify_claim("42 %", ["42 % of the sales were boats."], question=question).verdict != "unsupported"
    assert verify_claim("42 %", ["42 % of the rain fell in May."], question=question).verdict != "supported"


def test_a_whole_sentence_of_few_words_is_judged_alone() -> None:
    passage = "To use the Markdown format:\n\n1. Open **Settings**.\n2. Under **Files and links**, disable Wikilinks."
    question = "How do wikilinks and embeds work?"
    for claim in ("To use the Markdown format:", "Open Settings."):
        assert verify_claim(claim, [passage], question=question).verdict == "supported"
    assert verify_claim("Markdown links.", [passage], question=question).verdict != "supported"


def test_a_number_of_the_question_or_of_what_is_known_of_a_passage_is_no_fault() -> None:
    claim = "The idol of 2021 sang the song of the old mill."
    passage = "The idol sang the song of the old mill."
    assert verify_claim(claim, [passage]).verdict == "unsupported"
    assert verify_claim(claim, [passage], question="Who sang in 2021?").verdict == "partial"
    assert verify_claim(claim, [passage], about="Idols, 2021").verdict == "supported"


def test_a_claim_with_the_wrong_citation_names_the_passage_that_supports_it() -> None:
    shown = [("Psun0", SUN), ("Ptides", TIDES), ("Pbread", "Bread rises because yeast makes gas.")]
    answer = "The highest tides of the world are in the Bay of Fundy [1]. Bread is baked in the dark [1]."
    claims = verify_answer(answer, {1: SUN}, others=shown)
    assert [(claim.verdict, claim.checks.get("better")) for claim in claims] == [
        ("unsupported", "Ptides"),
        ("unsupported", None),
    ]
    (right,) = verify_answer("The sun adds about 46 percent to the pull of the moon [1].", {1: SUN}, others=shown)
    assert "better" not in right.checks


@pytest.mark.parametrize(
    ("passage", "claim"),
    [
        ("The sign said “Halt”, and the boat stopped.", "“Halt”"),
        ("The sign said “Halt”, and the boat stopped.", "It says “Halt”."),
        ('He whispered: "Enough." Nobody answered.', '"Enough."'),
        ("Speaker 1: Fine.\nSpeaker 2: Good.", "“Fine.”"),
        ("The motto of the club is Onward.", "“Onward”"),
        ("The gate is called the *Moloch*, after a play.", "It is called “Moloch”."),
        ("Colour: Red\nOwner: Ida Holm", "“Red”"),
        ("| Gate | State |\n|---|---|\n| East | shut |", "The table says “shut”."),
    ],
)
def test_a_quotation_of_one_word_is_supported_whatever_was_asked(passage: str, claim: str) -> None:
    assert verify_claim(claim, [passage], question="Which expression did they choose there?").verdict == "supported"


@pytest.mark.parametrize(
    ("passage", "claim"),
    [
        ("The sign said “Halt”, and the boat stopped.", "“Stop”"),
        ("Nobody said “Halt”, and the boat went on.", "“Halt”"),
        ("The boat halted at the sign.", "“Halt”"),
        ("The sign said “Halt”, and the boat stopped.", "Ida said “Halt” to the miller."),
        ("There are 42 gates.", "“42”"),
    ],
)
def test_a_word_in_quotation_marks_that_is_not_quoted_is_judged_with_the_question(passage: str, claim: str) -> None:
    assert verify_claim(claim, [passage], question="Which expression did they choose there?").verdict != "supported"
