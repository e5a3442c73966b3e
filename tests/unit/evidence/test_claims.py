from __future__ import annotations

from collections.abc import Callable

import pytest

from asky.evidence.verification.claims import split_claims
from tests.support.timing import check_linear


def claims(answer: str) -> list[tuple[str, tuple[int, ...]]]:
    return [(answer[d.span.start : d.span.end], d.citations) for d in split_claims(answer)]


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("Foo does X [1]. Bar [2][3].", [("Foo does X [1].", (1,)), ("Bar [2][3].", (2, 3))]),
        ("Foo does X. [1] Bar does Y. [2]", [("Foo does X. [1]", (1,)), ("Bar does Y. [2]", (2,))]),
        ("Foo [2] does X [1], [2].", [("Foo [2] does X [1], [2].", (2, 1))]),
        ("Foo does X.\n\n[1]", [("Foo does X.\n\n[1]", (1,))]),
        ("Nobody cites this. It has none.", [("Nobody cites this.", ()), ("It has none.", ())]),
        ("Yes. Foo does X [1].", [("Yes. Foo does X [1].", (1,))]),
        ("Foo does X [1]. Indeed.", [("Foo does X [1].", (1,)), ("Indeed.", ())]),
        ("A `list[1]` holds\ntwo values [2].", [("A `list[1]` holds\ntwo values [2].", (2,))]),
        ("> Quoted words\n> go on [1].", [("Quoted words\n> go on [1].", (1,))]),
    ],
)
def test_sentences_are_claims_with_the_citations_that_end_or_follow_them(
    answer: str, expected: list[tuple[str, tuple[int, ...]]]
) -> None:
    assert claims(answer) == expected


def test_list_items_are_claims_and_their_sentences_share_the_citations_after_them() -> None:
    answer = (
        "- Paris\n* Lyon [1]\n1. **Speed.** It is fast. It is cheap [2].\n2) Nice is nice [3]. Bare.\n- [ ] Open [4]"
    )
    assert claims(answer) == [
        ("Paris", ()),
        ("Lyon [1]", (1,)),
        ("**Speed.** It is fast.", (2,)),
        ("It is cheap [2].", (2,)),
        ("Nice is nice [3].", (3,)),
        ("Bare.", ()),
        ("Open [4]", (4,)),
    ]


def test_table_rows_are_claims_and_heads_and_rules_are_not() -> None:
    answer = "| Name | Size |\n|------|:----:|\n| Moon | Small. Very [1] |\n| Sun | Large |\n\nAfter it [2]."
    assert claims(answer) == [("Moon | Small. Very [1]", (1,)), ("Sun | Large", ()), ("After it [2].", (2,))]
    assert split_claims(answer)[0].text == "Moon; Small. Very"


@pytest.mark.parametrize(
    "answer",
    [
        "# Heading [1]",
        "A heading\n=========",
        "A heading\n---",
        "---",
        "**A bold line**",
        "**Label:**",
        "```\nCode says X. Or Y [1].\n```",
        "Here is what the sources say:",
        "What is it?",
        "- [A page](https://x.test/a)\n- https://x.test/b\n- <https://x.test/c>",
        "[a]: https://x.test",
        "> ⚠ Stopped by the budget after 3 calls.",
        "⚠ 2 sentences are unsupported.",
        "I could not find an answer in the sources.",
        "The passages do not say when it began.",
        "The available documents don't explicitly mention a date.",
        "There is no information about this in the sources.",
        "[1]",
        "... !",
        "",
    ],
)
def test_what_needs_no_source_is_no_claim(answer: str) -> None:
    assert claims(answer) == []


@pytest.mark.parametrize(
    "answer",
    [
        "There is no evidence that vaccines cause autism.",
        "The sources do not say when, but it was 1912.",
        "It does not support plugins.",
        "The committee did not mention a date.",
        "Is it so? [1]",
        "He said this: [1]",
    ],
)
def test_what_looks_like_an_abstention_or_a_lead_in_but_states_something_is_a_claim(answer: str) -> None:
    assert len(claims(answer)) == 1


@pytest.mark.parametrize(
    "unit",
    [
        "a. ",
        "[1] ",
        "- ",
        "|",
        "| a |\n",
        "> ",
        "[",
        "[a](b) ",
        "a [1]. ",
        "A. [1] ",
        "_",
        "<a",
        "`",
        "# \n",
        "no evidence in ",
        "\n",
        "the sources ",
        "I could not ",
        "- a. b [1].\n",
        " ⚠ uncited",
        "the documents do not ",
        "a (!) ",
        "# 1911\n",
        "| ---a",
        "a:\n",
        "**1911**\n",
    ],
)
def test_hostile_answers_take_linear_time(unit: str) -> None:
    check_linear(lambda chars: split_claims(unit * (chars // len(unit))), 3_000)


@pytest.mark.parametrize("filling", [" ", "\t", "-", "#", "=", "|", "*", " (!)"])
def test_long_runs_of_one_sign_take_linear_time(filling: str) -> None:
    def split(before: str, after: str) -> Callable[[int], object]:
        return lambda chars: split_claims(before + filling * (chars // len(filling)) + after)

    for before in ("| a", "# a", "a: ", "a\n", "> ", "- a", "| "):
        for after in ("b", "]", "\n==="):
            check_linear(split(before, after), 1_500)


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("## The fire of 1911\n\nIt burned [1]. It fell [2].", ("## The fire of 1911", (1, 2))),
        ("The fire of 1911\n---\n\nIt burned [1].", ("The fire of 1911", (1,))),
        ("**40 % more boats**\n\nThere are more boats [1].", ("**40 % more boats**", (1,))),
        ("In May 2020:\n\n- It burned [1]\n- It fell [2]\n\nBut:\n- It rose [3]", ("In May 2020:", (1, 2))),
        ("# Of 1911\n## Fire\nIt burned [2].\n## End\nIt fell [1].\n# Else\nIt rose [3].", ("# Of 1911", (1, 2))),
        ("## It burned in 1911 [2]\n\nIt fell [1].", ("## It burned in 1911 [2]", (2,))),
        ("## 1. The fire of 1911. Its end ##\nIt fell [1].", ("## 1. The fire of 1911. Its end ##", (1,))),
        ("## The fire of 1911\n\n## End\n\nIt fell [1].", ("## The fire of 1911", ())),
        ("> ## The fire of 1911\n> It fell [1].", ("## The fire of 1911", (1,))),
        ("## The mill burned down [1]", ("## The mill burned down [1]", (1,))),
    ],
)
def test_a_heading_with_a_quantity_or_a_citation_is_a_claim_with_the_citations_below_it(
    answer: str, expected: tuple[str, tuple[int, ...]]
) -> None:
    assert claims(answer)[0] == expected


@pytest.mark.parametrize(
    "heading",
    [
        "## Overview",
        "## 1. Introduction",
        "## 1.2 The method",
        "### Step 2: Mix",
        "### Step 2. Mix",
        "**Phase 3**",
        "Here is the answer in 80 words:",
        "## Fire [1]",
        "## What happened in 1911?",
    ],
)
def test_a_heading_that_states_nothing_is_no_claim(heading: str) -> None:
    assert claims(f"{heading}\n\nIt burned [1].") == [("It burned [1].", (1,))]


@pytest.mark.parametrize("block", ["# Heading", "| a |\n> |---|", "```\n> code\n> ```"])
def test_nothing_of_a_quotation_is_lost_beside_another_block(block: str) -> None:
    found = [text for text, _ in claims(f"> One thing is so\n> {block}\n> Another thing is not.")]
    assert found == ["One thing is so", "Another thing is not."]


def test_a_heading_that_only_counts_says_so() -> None:
    assert [
        draft.states for draft in split_claims("Three causes:\n- a fire [1]\n\n## 40 % more\n\nYes it is [1].")
    ] == [
        "count",
        None,
        "fact",
        None,
    ]


@pytest.mark.parametrize(
    ("answer", "cited"),
    [
        ("Three causes are known [1]:\n- a fire\n- a flood [2]\n- a storm", [(1,), (1,), (2,), (1,)]),
        ("It has causes [1].\n\n1. A fire\n2. A flood\n\nMore is not known.", [(1,), (1,), (1,), ()]),
        ("It has causes [1].\n\n- [ ] A fire\n\n  It was put out. Then it went on.", [(1,), (1,), (1,), (1,)]),
        ("- The moon pulls [1]\n  - on the near side\n    - and the far one\n- The sun too", [(1,), (1,), (1,), ()]),
        ("- A fire\n- A flood\n- A storm [1]", [(1,), (1,), (1,)]),
        ("- A fire\n- A flood\n\n[1]", [(1,), (1,)]),
        ("- By the moon\n  - on the near side\n  - on the far side [1]\n- By the sun [2]", [(1,), (1,), (1,), (2,)]),
        ("- A fire\n- A flood [1]\n- A storm [2]", [(), (1,), (2,)]),
        ("- A fire [1]\n- A flood", [(1,), ()]),
        ("It burned [1]. Why is not known.\n\n- A fire\n- A flood", [(1,), (), (), ()]),
        ("It burned [1]. These are causes:\n\n- A fire\n- A flood", [(1,), (), ()]),
        ("- A fire\n- A flood\n\n## So it ends\n\n- A storm [1]", [(), (), (1,)]),
        ("| cause |\n|---|\n| fire [1] |\n\n- A flood\n- A storm", [(1,), (), ()]),
        ("It burned [1].\n\n---\n\n1. [ ] A flood\n2. A storm", [(1,), (), ()]),
        ("It burned [1].\n\n| cause | year |\n|---|---|\n| fire | long ago |", [(1,), ()]),
    ],
)
def test_a_list_item_without_citations_has_those_of_its_introduction_or_of_the_end_of_the_list(
    answer: str, cited: list[tuple[int, ...]]
) -> None:
    assert [numbers for _, numbers in claims(answer)] == cited


@pytest.mark.parametrize(
    "marker",
    [
        "1.",
        "2)",
        "(3)",
        "1.2.",
        "2.1.3)",
        r"4\.",
        "a)",
        "(b)",
        "(iv)",
        "ii.",
        "**5.**",
        "**(6)**",
        "–",
        "•",
        "◦",
        "3. [x]",
    ],
)
def test_an_item_of_two_sentences_carries_one_citation_at_its_end(marker: str) -> None:
    answer = f"{marker} The gate is red. It opens at low water. [1]\n{marker} It is old. [2]"
    assert claims(answer) == [
        ("The gate is red.", (1,)),
        ("It opens at low water. [1]", (1,)),
        ("It is old. [2]", (2,)),
    ]


@pytest.mark.parametrize(
    "begin", ["1.5 million see it.", "A. Byrne saw it.", "I see it.", "Mr. Lund saw it.", "It is red."]
)
def test_what_begins_with_a_number_or_an_initial_is_no_item(begin: str) -> None:
    assert claims(f"{begin} It opens at low water. [1]") == [(begin, ()), ("It opens at low water. [1]", (1,))]
