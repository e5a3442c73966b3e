"""Sentences that stand beside a table, whatever they say of its rows: as quotations they are never in doubt.

They have what a table does not show in the same form: dates, amounts in other units, brackets for negative numbers,
differences and per cents.
"""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from asky.evidence.verification.verify import verify_answer, verify_claim
from asky.evidence.verification.word_for_word import WholeUnits
from tests.support.examples import examples

LABELS = st.lists(
    st.sampled_from(
        [
            "Net sales",
            "Cost of sales",
            "Operating income",
            "Research",
            "Net cash used",
            "Shares",
            "Chair",
            "North",
            "Oak",
        ]
    ),
    min_size=2,
    max_size=5,
    unique=True,
)
COLUMNS = st.lists(
    st.sampled_from(["2019", "2020", "2021", "Total", "Change", "Price", "Q4"]), min_size=2, max_size=4, unique=True
)
CELLS = st.one_of(
    st.integers(2, 99_999).map(lambda each: f"{each:,}"),
    st.integers(2, 9_999).map(lambda each: f"({each:,})"),
    st.integers(2, 99_999).map(lambda each: f"${each / 10:,.1f}"),
    st.integers(1, 99).map(lambda each: f"{each} %"),
    st.sampled_from(["good", "n/a", "true", "false", "-"]),
)
NUMBERS = st.integers(2, 99_999)
SAID = [
    "{row} was ${n:,} million in {column}, against ${m:,} million in the year before.",
    "{row} of {column} came to ${n} billion.",
    "On 3 March {year}, the board set {row} of {column} to {n:,}.",
    "The difference in {row} between {column} and the year before is {n:,}.",
    "{row} fell by {p} % in {column}.",
    "{row} in {column} was (${n:,}) thousand, a loss.",
    "In {column}, {row} did not reach {n:,} euros.",
    "{row}: {n:,} in {column}, or {p} per cent of the whole",
    "About {p} percent of {row} ({column}) had no {other}.",
    "{row}",
]
SENTENCES = st.builds(
    lambda said, n, m, p, year: (said, {"n": n, "m": m, "p": p, "year": year}),
    st.sampled_from(SAID),
    NUMBERS,
    NUMBERS,
    st.integers(1, 99),
    st.integers(1990, 2030),
)


@st.composite
def reports(draw: st.DrawFn) -> tuple[str, list[str]]:
    """A report with a table, and its sentences."""
    rows, columns = draw(LABELS), draw(COLUMNS)
    cells = [[draw(CELLS) for _ in columns] for _ in rows]
    table = [f"| Item | {' | '.join(columns)} |", f"|---|{'---|' * len(columns)}"]
    table += [f"| {row} | {' | '.join(each)} |" for row, each in zip(rows, cells, strict=True)]
    sentences = [
        said.format(
            row=draw(st.sampled_from(rows)),
            column=draw(st.sampled_from(columns)),
            other=rows[0],
            **numbers,
        )
        for said, numbers in draw(st.lists(SENTENCES, min_size=1, max_size=5))
    ]
    between = draw(st.integers(0, len(sentences)))
    blocks = [*sentences[:between], "\n".join(table), *sentences[between:]]
    return "\n\n".join(blocks), sentences


@given(reports())
@settings(max_examples=examples(400))
def test_a_sentence_beside_a_table_is_quoted(report: tuple[str, list[str]]) -> None:
    text, sentences = report
    for sentence in sentences:
        check = verify_claim(sentence, [text], question="What about the table?")
        assert check.verdict == "supported", (sentence, check)
        assert check.checks["quotation"], sentence
    answer = "\n\n".join(f"{sentence} [1]" for sentence in sentences)
    assert {claim.verdict for claim in verify_answer(answer, {1: text})} <= {"supported"}


@given(reports(), NUMBERS)
@settings(max_examples=examples(400))
def test_a_sentence_with_another_number_is_no_quotation(report: tuple[str, list[str]], number: int) -> None:
    text, sentences = report
    for sentence in sentences:
        digits = next((word for word in sentence.split() if word.strip("$(),.").replace(",", "").isdigit()), None)
        if digits is None:
            continue
        altered = sentence.replace(digits, digits.replace(digits.strip("$(),."), f"{number:,}"), 1)
        if altered not in text:
            assert WholeUnits(text).find(altered) is None, altered
