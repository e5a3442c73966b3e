from __future__ import annotations

import re
import sys
import unicodedata

import pytest

from asky.evidence.citations.markers import CitationStream, number_citations, unseen_urls
from asky.evidence.citations.pieces import CIRCLED, CLOSE, OPEN
from asky.values import Evidence, Location, Source, Span
from tests.support.timing import check_linear


def passage(key: str, text: str = "A passage.", url: str | None = None) -> Evidence:
    source = Source("s1", "web", url or "file:///x", "Title", url=url)
    return Evidence(key, source, 1, "0" * 64, Span(0, len(text)), text, Location())


SHOWN = {key: passage(key) for key in ("P7f3a", "P09c2", "P1234567")}


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("It rains [P7f3a]. It pours [P09c2].", "It rains [1]. It pours [2]."),
        ("[P09c2] then [P7f3a] then [P09c2]", "[1] then [2] then [1]"),
        ("groups [P7f3a, P09c2] [P7f3a; P09c2] [P7f3a][P09c2]", "groups [1][2] [1][2] [1][2]"),
        ("[P7f3a P09c2] [P7f3a and P09c2] [P7f3a/P09c2] [ P7f3a ,P09c2 ]", "[1][2] [1][2] [1][2] [1][2]"),
        ("twice in one group [P7f3a, P7f3a]", "twice in one group [1]"),
        ("[P7F3A] [p7f3a] [P1234567]", "[1] [1] [2]"),
        ("**[P7f3a]** [**P7f3a**] _[P7f3a]_ [_P7f3a_]", "**[1]** [1] _[1]_ [1]"),
        ("【P7f3a】 ［P7f3a］ [[P7f3a]] \\[P7f3a\\] [^P7f3a]", "[1] [1] [1] [1] [1]"),
        ("[see P7f3a] [Source: P7f3a] [passages P7f3a, P09c2]", "[1] [1] [1][2]"),
        ("[P7f3a, p. 3] [P7f3a: see below]", "[1] (p. 3) [1] (see below)"),
        ("- [P7f3a]\n1. x [P7f3a]\n| a | [P7f3a] |\n## Head [P7f3a]\n> [P7f3a]", None),
        ("as P7f3a says (P09c2).", "as [1] says [2]."),
        ("`[P7f3a]` and `P09c2`", "[1] and [2]"),
        ("[P7f3a&nbsp;] [P7f3a&#8203;] [P7f3a&#1;] [&#1;P7f3a]", "[1] [1] [1] [1]"),
    ],
)
def test_known_keys_become_numbers_in_order_of_first_use(written: str, shown: str | None) -> None:
    numbered = number_citations(written, SHOWN)
    assert numbered.text == (written.replace("P7f3a", "1") if shown is None else shown)
    assert numbered.unknown == ()
    assert numbered.lookalikes == ()
    assert all(key in SHOWN for key in numbered.order)


def test_a_citation_over_two_lines_stands_on_one_and_the_code_behind_it_stays_code() -> None:
    written = "[a]: b\n[P7f3a, p. 3\n2. x]\n```\n[P7f3a]\n```"
    assert number_citations(written, SHOWN).text == "[a]: b\n[1] (p. 3 2. x)\n```\n[P7f3a]\n```"


def test_the_order_lists_the_key_behind_each_number() -> None:
    assert number_citations("[P09c2] [P0000] [P7f3a, P09c2]", SHOWN).order == ("P09c2", "P7f3a")


@pytest.mark.parametrize(
    ("written", "shown", "unknown"),
    [
        ("It rains [P0000].", "It rains ~~[P0000]~~.", ("P0000",)),
        ("[P7f3a, P0000] [P0000]", "[1]~~[P0000]~~ ~~[P0000]~~", ("P0000", "P0000")),
        ("[p0000, p. 3]", "~~[P0000]~~ (p. 3)", ("P0000",)),
        ("[P7f3a9] [P123456789abc]", "~~[P7f3a9]~~ ~~[P123456789abc]~~", ("P7f3a9", "P123456789abc")),
        ("[P0000](https://evil.test)", "~~[P0000]~~(https://evil.test)", ("P0000",)),
        ("`[P0000]` 【P0000】 \\[P0000\\]", "~~[P0000]~~ ~~[P0000]~~ ~~[P0000]~~", ("P0000",) * 3),
    ],
)
def test_unknown_keys_are_struck_out_and_counted(written: str, shown: str, unknown: tuple[str, ...]) -> None:
    numbered = number_citations(written, SHOWN)
    assert (numbered.text, numbered.unknown) == (shown, unknown)


@pytest.mark.parametrize(
    "text",
    [
        "The Quadro P4000 and the P5000 cards; priority P1; [P1]; [Page 3]; [Paced out]",
        "[P2000 graphics cards] are fast",
        "see https://x.test/P7f3a and docs/P7f3a.md and id=P7f3a and xP7f3a and P7f3ax",
        "[ ] [x] [a](b) [0, 1] [2020] [1.5] [a1] [1a] [-1] [] [ ] [[ ]] [0]",
        "`a[P0000]` `[7]` ``x ` [7]`` a < b[i]",
        "```python\nrow[7] = P0000  # [P7f3a]\n```\n",
        "~~~\n[7]\n```\n[P7f3a]\n~~~~ \n",
        "> ```\n> [P7f3a] [7]\n> ```\n1. ```\n   [7]\n   ```\n",
        "```\nnever closed [P7f3a] [7]",
        "\\\\ \\` \\* $x_{1}$ \u0000 é 東京 ] ) ( [",
        "",
    ],
)
def test_what_is_no_citation_stays_byte_for_byte(text: str) -> None:
    numbered = number_citations(text, SHOWN)
    assert numbered.text == text
    assert (numbered.order, numbered.unknown, numbered.lookalikes) == ((), (), ())


@pytest.mark.parametrize(
    "text",
    [
        "a `[x] [P7f3a]` b [P7f3a]",
        "```\n[P7f3a]\n``` \n[P7f3a]",
        "~~~py\n```\n[P7f3a]\n~~~\n[P7f3a]",
        "- item\n  ```\n  [P7f3a]\n  ```\n  [P7f3a]",
        "a ` lone tick [P7f3a]",
        "a ` tick\nof another line ` [P7f3a]",
        "```not a fence``` [P7f3a]",
        "\\` [P7f3a] \\`",
    ],
)
def test_citations_right_after_code_are_found(text: str) -> None:
    assert number_citations(text, SHOWN).text.endswith(("[1]", "[1] \\`"))


LOOKALIKES = [
    ("so [7] and [1].", "so ~~[7?]~~ and ~~[1?]~~."),
    ("[ 7 ] [**7**] [\u200b7] \\[7\\] [[7]] [7\n]", " ".join(["~~[7?]~~"] * 6)),
    ("[&#1;7] [7&#1;] [&#1;]", "~~[7?]~~ ~~[7?]~~ [&#1;]"),  # an entity that stands for nothing
    ("【7】 ［7］ ⟦7⟧ 〔7〕 ⌈7⌉ [7】", " ".join(["~~[7?]~~"] * 6)),
    ("&#91;7&#93; &lbrack;7&rbrack; &#x5B;7&rsqb; [&#55;] [7&#93;", " ".join(["~~[7?]~~"] * 5)),
    ("[<!-- -->7] [7<!-- ] -->] [<b>7</b>] [<i title='a]'>7</i>]", " ".join(["~~[7?]~~"] * 4)),
    ("[⑦] [⁷] [₇] [７] [𝟕] [٧] [7\ufe0f\u20e3] [❼]", " ".join(["~~[7?]~~"] * 8)),
    ("[1, 2] [1-3] [1 2 3] [1][2]", "~~[1, 2?]~~ ~~[1-3?]~~ ~~[1 2 3?]~~ ~~[1?]~~ ~~[2?]~~"),
    ("[source 1] [Source: 1] [source1]", "~~[source 1?]~~ ~~[Source: 1?]~~ ~~[source1?]~~"),
    ("[1, p. 3] [ref. 2, pp. iv, 5]", "~~[1, p. 3?]~~ ~~[ref. 2, pp. iv, 5?]~~"),
    ("[see 1; also 2] [(3)] [#4]", "~~[see 1; also 2?]~~ ~~[(3)?]~~ ~~[#4?]~~"),
    ("note[^1]\n\n[^1]: text\n[1]: https://x.test", "note ~~[^1?]~~\n\n~~[^1?]~~: text\n~~[1?]~~: https://x.test"),
    ("[1](https://evil.test)", "~~[1?]~~(https://evil.test)"),
    ("[" + " " * 300 + "7]", "~~[7?]~~"),
    ("[7" + " " * 1_022 + " ] [" + "\u200b" * 1_024 + "7]", "~~[7?]~~] ~~[?]~~ 7]"),
    (
        "twice a day¹. The moon,² the “sun”³ and (see there)⁴",
        "twice a day ~~[1?]~~. The moon,~~[2?]~~ the “sun”~~[3?]~~ and (see there)~~[4?]~~",
    ),
    ("in 1911² it **burned**³ down.⁴ Twice ⁵.", "in 1911 ~~[2?]~~ it **burned**~~[3?]~~ down.~~[4?]~~ Twice ~~[5?]~~."),
    ("¹ See there.", "~~[1?]~~ See there."),
    (
        "day&sup1; day&#185; day<sup>1</sup> day<sup>1, 2</sup>",
        "day ~~[1?]~~ day ~~[1?]~~ day ~~[1?]~~ day ~~[1, 2?]~~",
    ),
    ("a day①. A day ①. A day ①②\nA day &#9312;", "a day ~~[1?]~~. A day ~~[1?]~~. A day ~~[1, 2?]~~\nA day ~~[1?]~~"),
    ("每天两次①。", "每天两次 ~~[1?]~~。"),
]


@pytest.mark.parametrize(("written", "shown"), LOOKALIKES)
def test_what_looks_like_a_citation_to_a_reader_is_struck_out(written: str, shown: str) -> None:
    numbered = number_citations(written, SHOWN)
    assert numbered.text == shown
    assert numbered.order == ()
    assert len(numbered.lookalikes) == shown.count("?]")
    assert number_citations(shown, SHOWN).lookalikes == ()


@pytest.mark.parametrize(
    "text",
    [
        "5 m², 10 km² and 3 cm³ at 10⁻³ bar; x² + y² = r², E = mc², R² and χ², 2πr², sp³, σ², 2¹⁰",
        "kg·m²/s³ or W/m² or people/km², 20 metres² and 3 square feet²; sin² x, log₂² n, ∇²f, f⁽²⁾(x), RMSE²",
        "(a + b)², (x − mean)², |x|², [a]², F = q/distance², P ∝ temperature⁴",
        "¹⁴C, ²³⁸U, Ca²⁺, SO₄²⁻, ½, ¹⁄₂, 1ˢᵗ, m<sup>2</sup>, 1<sup>st</sup>, CO<sub>2</sub>, &frac12;, m&sup2;",
        "① Mix it. ② Bake it.\n- ③ Eat\n4. ④ it\n| ⑤ | x |\nThen see step ⑥. Options ①, ② and ③. See ①–③: ④",
        "①混ぜる。②焼く。 見图①。",
        "[p. 3] [Page 3] [Figure 3] [5 pages] [3 results] [1/2] [1:5] [12:30] [1,000] [10%] [12 May 2020] [1, x]",
        "[see below] [Source: BBC] [the source of 12 rivers] [note] 【重要】 《1984》 「3」 (1) {1} <1>",
        "AT&T, a &amp; b, &lt;b&gt;, &nosuch; &, a < b, <br>, <b>x</b>, <https://x.test>, &#8364; and \\&#91;",
        "`&#91;1&#93; ¹` and\n```\n&#91;1&#93; day¹ <!-- -->\n```\n",
        "[^a-z] is a class of characters",
    ],
)
def test_what_looks_like_no_citation_to_a_reader_stays_byte_for_byte(text: str) -> None:
    numbered = number_citations(text, SHOWN)
    assert numbered.text == text
    assert numbered.lookalikes == ()


@pytest.mark.parametrize(
    "written",
    [
        "&#91;P7f3a&#93; &lbrack;P7f3a&rbrack; [&#80;7f3a] [<!-- -->P7f3a] [P7<b>f</b>3a]",
        "⟦P7f3a⟧ 〔P7f3a〕 [Ｐ７ｆ３ａ] [P7**f3a**] [P7f3a\n]",
    ],
)
def test_a_known_key_counts_however_it_is_spelled(written: str) -> None:
    numbered = number_citations(written, SHOWN)
    assert numbered.text == " ".join(["[1]"] * 5)
    assert number_citations(written, {}).unknown == ("P7f3a",) * 5


def test_what_follows_a_key_in_its_bracket_is_not_decoded() -> None:
    assert number_citations("&#91;P7f3a, &lt;b&gt;&#93;", SHOWN).text == "[1] (&lt;b&gt;)"


def test_a_comment_hides_nothing_and_a_footnote_is_none() -> None:
    assert number_citations("a <!-- [ --> b", SHOWN).text == "a &lt;!-- [ --> b"
    assert number_citations("tides[^n]\n\n[^n]: text", SHOWN).text == "tides[^n]\n\n\\[^n]: text"


@pytest.mark.extended
def test_the_brackets_that_count_are_those_that_unicode_names_so() -> None:
    names = ("SQUARE BRACKET", "LENTICULAR BRACKET", "TORTOISE SHELL BRACKET", "HALF BRACKET", "CEILING", "FLOOR")
    for signs, category in ((OPEN, "Ps"), (CLOSE, "Pe")):
        every = [chr(code) for code in range(sys.maxunicode + 1) if unicodedata.category(chr(code)) == category]
        named = [sign for sign in every if any(name in unicodedata.name(sign, "") for name in names)]
        assert set(signs) >= set(named)
    assert len(OPEN) == len(CLOSE)
    assert all(
        unicodedata.numeric(sign) for sign in map(chr, range(sys.maxunicode + 1)) if re.match(f"[{CIRCLED}]", sign)
    )


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("[P7f3a](https://evil.test)", "[1] (https://evil.test)"),
        ("![P7f3a](//evil.test/x.png)", "![1] (//evil.test/x.png)"),
        ("[P7f3a][evil]\n\n[evil]: https://evil.test", "[1] [evil]\n\n[evil]: https://evil.test"),
        ("[P7f3a]: https://evil.test", "[1] : https://evil.test"),
        ("- P7f3a: the tide", "- [1] : the tide"),
        ("so says [P7f3a]: tides", "so says [1]: tides"),
        ("[P7f3a][7]", "[1]~~[7?]~~"),
    ],
)
def test_a_marker_never_becomes_a_link_to_somewhere_else(written: str, shown: str) -> None:
    assert number_citations(written, SHOWN).text == shown


def test_the_sign_of_askys_own_notes_cannot_be_written_by_a_model() -> None:
    assert number_citations("Tides ⚠ uncited\n> ⚠ Note `⚠`", SHOWN).text == "Tides (!) uncited\n> (!) Note `⚠`"


def test_addresses_that_no_passage_holds_are_reported_once_and_in_order() -> None:
    shown = {
        "P7f3a": passage("P7f3a", "See (https://seen.test/a/b). And www.seen.test/c, too.", "http://site.test/page"),
    }
    text = (
        "[P7f3a] http://seen.test/a/b, <HTTPS://Seen.TEST/a/b/#part> https://seen.test/c. "
        "https://www.site.test/page https://evil.test/?d=secret. [x](https://evil.test/?d=secret) "
        "![y](//evil.test/z.png) [j](javascript:alert(1)) `curl https://other.test/(x)` (https://third.test/y) "
        "[local](notes.md) https://seen.test/a"
    )
    assert number_citations(text, shown).unseen_urls == (
        "https://evil.test/?d=secret",
        "//evil.test/z.png",
        "javascript:alert(1",
        "https://other.test/(x)",
        "https://third.test/y",
        "https://seen.test/a",
    )
    assert unseen_urls("no address", shown.values()) == ()


SPLIT = (
    "Tides [P7f3a, P0000]: **P09c2** `[P7f3a]` [7] \\[1\\] [[P09c2]](x) `` a ` [P7f3a] ``\n"
    "- ```py\n[P7f3a]\n  ```\n[P7f3a]: x [see P7f3a, p. 3][P09c2] ![a](https://e.test) ~~~ ` [P7"
)


def test_a_stream_shows_the_same_however_it_is_cut_in_three() -> None:
    whole = number_citations(SPLIT, SHOWN)
    for i in range(len(SPLIT) + 1):
        for j in range(i, len(SPLIT) + 1, 7):
            stream = CitationStream(SHOWN)
            text = "".join(map(stream.feed, (SPLIT[:i], SPLIT[i:j], SPLIT[j:]))) + stream.close()
            assert stream.numbered(text) == whole


def test_a_stream_of_single_characters_shows_plain_text_at_once_and_holds_back_only_what_may_be_a_citation() -> None:
    stream = CitationStream(SHOWN)
    assert [stream.feed(character) for character in "Tide [P7f3a]. So"] == [*"Tide ", *[""] * 7, "[1].", *" So"]


@pytest.mark.parametrize(
    "unit",
    [
        "[",
        "[P",
        "`",
        "`` ` ",
        "``` ",
        "[[",
        "\\[",
        "P",
        "[7] ",
        "[P7f3a",
        "[P7f3a, ",
        "~",
        "~~~\n",
        "[ *",
        "[<b title='",
        "[1 <!-- ",
        "[source ",
        "[\u200b",
        "&#91;",
        "&#91;1 ",
        "&",
        "<sup>1",
        "[^a",
        "day² ",
        ")² ",
        "①   ",
        "](a:",
        "www.)",
        "> - ",
        "- ```\n",
        "> " * 31 + "```\n",
        "](",
        "<b> ",
        "<a ",
    ],
)
def test_hostile_answers_take_linear_time(unit: str) -> None:
    check_linear(lambda chars: number_citations(unit * (chars // len(unit)), SHOWN), 3_000)


@pytest.mark.parametrize("unit", ["[", "[P7f3a, ", "`` ` ", "- ```\n", "&#91;", "<b> ", "[1 <!-- ", "<sup>1"])
def test_hostile_answers_that_come_by_character_take_linear_time_and_read_the_same(unit: str) -> None:
    def stream(chars: int) -> None:
        text = unit * (chars // len(unit))
        stream = CitationStream(SHOWN)
        shown = "".join(map(stream.feed, text)) + stream.close()
        assert stream.numbered(shown) == number_citations(text, SHOWN)

    check_linear(stream, 2_000)


def test_quotation_marks_as_tex_writes_them_are_no_code_span_around_a_citation() -> None:
    shown = {"P4415": passage("P4415")}
    answer = "The `` Purple '' star fell [P4415]. The `` King '' saw it [P4415]."
    assert number_citations(answer, shown).text == "The `` Purple '' star fell [1]. The `` King '' saw it [1]."
    assert number_citations("Write ``[P4415] so`` in code.", shown).order == ()


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("![x](http://a.test/?q=1), ![alt][ref], ![ref]", "\\![x](http://a.test/?q=1), \\![alt][ref], \\![ref]"),
        ("<img src=a> <IMG/> </iframe> <Script>", "&lt;img src=a> &lt;IMG/> &lt;/iframe> &lt;Script>"),
        ("Great![P7f3a] Stop! [P7f3a]", "Great![1] Stop! [1]"),
        ("`![x](y)` <b>a</b> a<b, x<=y <imagine>", "`![x](y)` <b>a</b> a<b, x<=y &lt;imagine>"),
        ("<DIV style='x'> <b onclick=x> <p> </div>", "&lt;DIV style='x'> &lt;b onclick=x> &lt;p> &lt;/div>"),
        ("<Br/> <br /> <sup >a</SUB> <https://a.test/x> <me@a.test>", None),
        ("<!DOCTYPE x> <?x?> <![CDATA[x]]> <svg:a b>", "&lt;!DOCTYPE x> &lt;?x?> &lt;\\![CDATA[x]]> <svg:a b>"),
        ("a<br>\nb <br>\n- <b> \n> <b>a</b>\n<i>", "a<br>\nb <br>\n- &lt;b> \n> <b>a</b>\n&lt;i>"),
        ("<a\nhref=x> <img\x0csrc=x>", "&lt;a\nhref=x> &lt;img\x0csrc=x>"),
        ("m<sup class=x>2</sup> and m<sup><img>2</sup>", "m&lt;sup class=x>2</sup> and m<sup>&lt;img>2</sup>"),
        ("<a`b@c.test> x", "&lt;a`b@c.test> x"),
        ("<xx:`>", "&lt;xx:`>"),
        ("`<img>`", None),
        ("``<img> ` ![x](y)`` `<a>`", None),
        ("one ` two\nthree ` <b> `<img>`", "one ` two\nthree ` &lt;b> `&lt;img>`"),
        ("one ` two\n\n`<img>`", None),
        ("`a|b` `<img>`\n`<img>`", "`a|b` `&lt;img>`\n`&lt;img>`"),
        ("`a|![x](y)`", "`a|&#33;[x](y)`"),
        ('[a](b(c)) [a](b "c") [a][b] `<img>`', None),
        ("[a](b`c) ` `<img>`", "[a](b`c) ` `&lt;img>`"),
        ("[P7f3a, x\n~~~\n<img> y] <a>", "[1] (x ~~~ &lt;img> y) &lt;a>"),
        ("[P7f3a, x `<img>` y]", "[1] (x `&lt;img>` y)"),
        ("a\r\n```\r<img>\r```\r\n<img>", "a\n```\n<img>\n```\n&lt;img>"),
        ("```\n![x](y)\n<img>\n```", "```\n![x](y)\n<img>\n```"),
    ],
)
def test_nothing_in_an_answer_is_fetched_by_what_shows_it(written: str, shown: str | None) -> None:
    shown = written if shown is None else shown
    assert number_citations(written, SHOWN).text == shown
    for size in (1, 2, 5):
        stream = CitationStream(SHOWN)
        pieces = [stream.feed(written[at : at + size]) for at in range(0, len(written), size)]
        assert "".join(pieces) + stream.close() == shown
