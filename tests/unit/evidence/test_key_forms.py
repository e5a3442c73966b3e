"""The forms in which models write keys: what is shown has `[1]`, and nothing that was around it."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from asky.evidence.citations.markers import CitationStream, number_citations
from asky.values import Evidence, Location, Source, Span
from tests.support.timing import check_linear

SOURCE = Source("s1", "file", "file:///keys.md", "keys.md", path="/keys.md")
SHOWN = {key: Evidence(key, SOURCE, 1, "0" * 64, Span(0, 2), "A.", Location()) for key in ("P7f3a", "P09c2")}
FORMS = """
[P7f3a] 【P7f3a】 ［P7f3a］ [[P7f3a]] \\[P7f3a\\] [^P7f3a] ^[P7f3a] [@P7f3a] [#P7f3a] [‡P7f3a] [P7f3a‡] ‡P7f3a #P7f3a
(P7f3a) (source:~P7f3a) (Source:~[P7f3a]) (see~P7f3a,~lines~3-5) (#P7f3a) {P7f3a} {{P7f3a}} <P7f3a> \\cite{P7f3a}
<sup>P7f3a</sup> <sup>[P7f3a]</sup> <cite>P7f3a</cite> <cite>[P7f3a]</cite> <ref>P7f3a</ref> <ref~name="P7f3a"/>
<a~href="#P7f3a">P7f3a</a> <a~href="#P7f3a">[P7f3a]</a> <source~id="P7f3a"> ^P7f3a^ $^{P7f3a}$ $^{[P7f3a]}$
[P7f3a](#P7f3a) [P7f3a](P7f3a) [P7f3a](<#P7f3a>) [P7f3a](#P7f3a~"key") [P7f3a]~(#P7f3a) [P7f3a]{#P7f3a} [P7f3a]()
[P7f3a][] [[P7f3a]](#P7f3a) [[P7f3a](#P7f3a)] [\\[P7f3a\\]](#P7f3a) [**P7f3a**](#P7f3a) [P7f3a](keys.md)
[[P7f3a]](docs/keys.md#key) [1](#P7f3a) [1](P7f3a) [source](#P7f3a) [P7f3a](#user-content-fn-P7f3a) [key:~P7f3a]
[P7f3a,~lines~3-5] [P7f3a,~L3–L5] 【P7f3a†L3-L5】 [P7f3a†L3-L5] 【P7f3a:0†source】 [P7f3a:3] [P7f3a#L3] [P7f3a~L3]
[P7f3a|source] [[P7f3a|source]] [P7f3a.] [P7f3a~p.~3] P7f3a `P7f3a` `[P7f3a]` **[P7f3a]**
""".split()  # noqa: SIM905 - forms read better in lines


def streamed(text: str, cuts: list[int]) -> str:
    stream, pieces, start = CitationStream(SHOWN), [], 0
    for cut in sorted({*(cut % (len(text) + 1) for cut in cuts), len(text)}):
        pieces.append(stream.feed(text[start:cut]))
        start = cut
    return "".join([*pieces, stream.close()])


@pytest.mark.parametrize("form", FORMS)
def test_a_key_in_any_form_is_shown_as_its_number_alone(form: str) -> None:
    written = f"The key hangs on hook 47 {form.replace('~', ' ')}. It is red."
    numbered = number_citations(written, SHOWN)
    assert numbered.text.replace("**", "") == "The key hangs on hook 47 [1]. It is red."
    assert (numbered.order, numbered.unknown, numbered.lookalikes) == (("P7f3a",), (), ())
    assert streamed(written, list(range(len(written)))) == numbered.text


@given(
    st.lists(
        st.sampled_from([*FORMS, "word", "(a)", "[b](c)", "`", "```\n", "\n", "\n\n", "Sources:\n", "- "]), max_size=8
    ),
    st.lists(st.integers(0, 400), max_size=12),
)
def test_the_result_does_not_depend_on_how_an_answer_is_cut(words: list[str], cuts: list[int]) -> None:
    text = " ".join(words).replace("~", " ")
    assert streamed(text, cuts) == streamed(text, [])


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("On [hook 47](#P7f3a).", "On hook 47 [1]."),
        ("Both [P7f3a, P09c2](#P7f3a) and (P7f3a; P09c2).", "Both [1][2] and [1][2]."),
        ("Hook 47[^1]. It is red.[^2]\n\n[^1]: P7f3a\n[^2]: [P09c2] keys.md", "Hook 47[1]. It is red.[2]"),
        ("Hook 47 [1].\n\n[1]: P7f3a, keys.md", "Hook 47 [1]."),
        ("Hook 47 [P7f3a].\n\nSources:\n- [P7f3a] keys.md\n- [P7f3a](#P7f3a)\n", "Hook 47 [1]."),
        ("Hook 47 [P7f3a].\n\n**References**\n\n1. P7f3a: keys.md", "Hook 47 [1]."),
        ("Hook [P09c2] 47 [P7f3a].\n\nSources: P7f3a, P09c2", "Hook [1] 47 [2]."),
        ("Hook 47 [P7f3a].\n\n[P7f3a]: #P7f3a\n[^P7f3a]: keys.md", "Hook 47 [1]."),
        ("Both:\n\nSources:\n- [P7f3a] keys.md", "Both:\n\nSources:\n- [1] keys.md"),
        ("Hooks.\n\n[P7f3a]: It is red.", "Hooks.\n\n[1] : It is red."),
        ("## Sources\n\n- [P7f3a] is old.\n\nThe rest.", "## Sources\n\n- [1] is old.\n\nThe rest."),
        ("Sources say so [P7f3a].", "Sources say so [1]."),
        ("[P7f3a](https://a.test/x)", "[1] (https://a.test/x)"),
        ("A (P4000) card, x[P7f3a|y z], https://a.test/#P7f3a", "A (P4000) card, x[[1]|y z], https://a.test/#P7f3a"),
        ("`[1](#P7f3a)`\n```\n[1](#P7f3a) (P7f3a)\n```", "`[1](#P7f3a)`\n```\n[1](#P7f3a) (P7f3a)\n```"),
    ],
)
def test_lists_of_sources_and_footnotes_leave_nothing_behind(written: str, shown: str) -> None:
    assert number_citations(written, SHOWN).text.rstrip() == shown


def test_no_anchor_of_an_unknown_key_is_shown() -> None:
    numbered = number_citations("It rains [P0000](#P0000) [2](#P0000).", SHOWN)
    assert numbered.text == "It rains ~~[P0000]~~ ~~[P0000]~~."
    assert not re.search(r"\(#", numbered.text)


@pytest.mark.parametrize(
    "unit", ["[", "(", "[P7f3a](", "(P7f3a, ", "<sup>", "{", "[P7f3a P7f3a ", "^", "\\[", "Sources:\n", "[a]("]
)
def test_hostile_forms_take_linear_time(unit: str) -> None:
    check_linear(lambda count: number_citations(unit * count, SHOWN), 300)
