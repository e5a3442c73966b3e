"""Citations of other tools: what each form refers to, and where it stands in the text as it was written."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from asky.evidence.references.cited import MAX_REFERENCES, CitedReference, read_citations
from asky.evidence.references.resolving import NamedSources
from asky.evidence.references.statements import read_statements
from asky.values import Source

LISTED = "\n\n## References\n\n[1] Byron, A. Tides. 1843.\n[2] moon.pdf\n"


def cited(text: str) -> list[CitedReference]:
    return list(read_citations(text).references)


@pytest.mark.parametrize(
    ("written", "name", "pages"),
    [
        ("It rises [1]." + LISTED, "Byron, A. Tides. 1843.", None),
        ("It rises [2, p. 7]." + LISTED, "moon.pdf", (7, 7)),
        ("It rises【2†source】." + LISTED, "moon.pdf", None),
        ("It rises twice a day².\n\nSources:\n1. Byron 1843\n2. moon.pdf\n", "moon.pdf", None),
        ("It rises<sup>1</sup>.\n\n**References**\n\n1. moon.pdf\n", "moon.pdf", None),
        ("It rises [1].\n\nReferences\n==========\n\n1. The\n   Moon\n", "The Moon", None),
        ("It rises [2].\n\n## Sources\n\n- byron.pdf\n- moon.pdf\n", "moon.pdf", None),
        ("It rises [1].\n\n[1] moon.pdf\n[2] sun.pdf\n", "moon.pdf", None),
        ("It rises [1].\n\n[1]: https://moon.org/tides\n", "https://moon.org/tides", None),
        ("It rises.[^a]\n\n[^a]: Byron, Tides,\n    second edition\n", "Byron, Tides, second edition", None),
        ("It rises.[^1]\n\n[^1]: Byron, Tides, p. 12.\n", "Byron, Tides, p. 12.", (12, 12)),
        ("It rises ([the report](notes/moon%20one.md)).", "notes/moon one.md", None),
        ("It rises [the report][r].\n\n[r]: moon.pdf\n", "moon.pdf", None),
        ("It rises [[1]](https://moon.org).", "https://moon.org", None),
        ("It rises, see https://moon.org/a_(b).", "https://moon.org/a_(b)", None),
        ("It rises ([[Moon/Tides#Spring|spring tides]]).", "Moon/Tides", None),
        ("It rises [moon.pdf, pp. 3-4].", "moon.pdf", (3, 4)),
        ("It rises (see moon one.pdf, p. 3).", "moon one.pdf", (3, 3)),
        ("It rises [2509.10446v1, page 5].", "2509.10446v1", (5, 5)),
        ("It rises (Byron 1843)." + LISTED, "Byron, A. Tides. 1843.", None),
        ("Byron (1843, p. 9) shows that it rises." + LISTED, "Byron, A. Tides. 1843.", (9, 9)),
    ],
)
def test_each_form_of_citation_refers_to_what_the_text_says(
    written: str, name: str, pages: tuple[int, int] | None
) -> None:
    (found,) = cited(written)
    assert found.names[0] == name
    assert found.pages == pages


def test_an_author_is_found_in_a_list_that_lost_its_lines() -> None:
    others = " ".join(f"Writer{n}, A. {1900 + n}. A treatise on the subject number {n}." for n in range(60))
    text = f"It rises (Byron, 1843).\n\n## References\n\n{others} Byron, A. 1843. On tides. In Annals. {others}\n"
    (found,) = cited(text)
    assert found.names[0].startswith("Byron, A. 1843. On tides.")
    assert len(found.names[0]) < 250


def test_several_citations_at_once_are_several_references() -> None:
    assert [each.names[0] for each in cited("It rises [1, 2]." + LISTED)] == ["Byron, A. Tides. 1843.", "moon.pdf"]
    assert [each.names[0] for each in cited("It rises [1-2]." + LISTED)] == ["Byron, A. Tides. 1843.", "moon.pdf"]
    several = cited("It rises (Byron, 1843; Moon et al., 2001, p. 4).")
    assert [(each.author, each.year, each.pages) for each in several] == [
        ("Byron", "1843", None),
        ("Moon", "2001", (4, 4)),
    ]


@pytest.mark.parametrize(
    "text",
    [
        "In spring (May 2020) it rises.",
        "It rises (in two steps).",
        "`a[1]` is code.",
        "```\n[1]\n```",
        "![a picture](moon.png) rises.",
        "See [below](#spring).",
        "All rights reserved (www.moon.org).",
    ],
)
def test_what_only_looks_like_a_citation_is_none(text: str) -> None:
    assert cited(text) == []


def test_a_citation_that_nothing_explains_is_kept_without_a_name() -> None:
    (found,) = cited("It rises [7].")
    assert (found.written, found.names) == ("[7]", ())


def test_a_link_within_a_sentence_only_mentions_and_one_at_its_end_cites() -> None:
    text = "The [[Moon]] rises. It does so twice [[Tides]]. It is told ([here](a.md)) of old."
    assert [(each.names[0], each.is_mention) for each in cited(text)] == [
        ("Moon", True),
        ("Tides", False),
        ("a.md", False),
    ]


def test_statements_are_those_of_the_original_without_reference_lists_and_headings() -> None:
    text = (
        "# Tides\n\nThe moon raises tides (Byron 1843). Why? It is *near* [the earth](earth.md) [2].\n\n"
        "| Sea | Range | Source |\n|---|---|---|\n| North Sea | 3 m | [1] |\n\n```\ncode [1]\n```\n" + LISTED
    )
    found = read_statements(text).statements
    assert [text[each.span.start : each.span.end] for each in found] == [
        "The moon raises tides (Byron 1843).",
        "It is *near* [the earth](earth.md) [2].",
        "3 m",
    ]
    assert [each.text for each in found] == [
        "The moon raises tides.",
        "It is near the earth.",
        "North Sea; Range: 3 m",
    ]
    assert [[each.written for each in statement.references] for statement in found] == [
        ["(Byron 1843)"],
        ["[the earth](earth.md)", "[2]"],
        ["[1]"],
    ]


@pytest.mark.parametrize(
    "line", ["[Tides](tides.md), [moon](moon.md).", "[[Tides]] · [[Moon|moon]]", "[Tides](tides.md)"]
)
def test_a_line_of_links_states_nothing(line: str) -> None:
    assert read_statements(f"It rises.\n\n{line}\n").statements[1:] == ()


def test_five_hundred_citations_are_followed_and_those_beyond_three_digits_are_counted() -> None:
    text = "".join(f"Sentence {n} is here (file{n}.pdf).\n\n" for n in range(MAX_REFERENCES + 3))
    found = read_citations(text)
    assert (len(found.references), found.ignored) == (MAX_REFERENCES, 3)


@given(st.text(alphabet="ab [](){}^|#\n*_`<>:.12é中\u0301¹…-•", max_size=120))
def test_any_text_is_read_and_its_statements_lie_within_it_in_order(text: str) -> None:
    end = 0
    for each in read_statements(text).statements:
        assert end <= each.span.start < each.span.end <= len(text)
        end = each.span.start


SOURCES = [
    Source("s1", "file", "file:///d/2005.11401v4.pdf", "Retrieval-Augmented Generation", path="/d/2005.11401v4.pdf",
           authors=("Patrick Lewis", "Ethan Perez"), published="2021-04-12"),
    Source("s2", "file", "file:///d/a/tides.md", "Tides of the North Sea", path="/d/a/tides.md"),
    Source("s3", "file", "file:///d/b/tides.md", "Tides", path="/d/b/tides.md"),
    Source("s4", "web", "https://www.moon.org/tides/", "The moon and the sea", url="https://www.moon.org/tides/"),
    Source("s5", "paper", "paper:10.1000/xyz", "On currents", doi="10.1000/xyz"),
    Source("s6", "file", "file:///d/quant-ph_9508027v2.pdf", "Prime Factorization", path="/d/quant-ph_9508027v2.pdf"),
    Source("s7", "note", "file:///d/Café.md", "Café", path="/d/Café.md"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (("https://arxiv.org/abs/2005.11401",), ["s1"]),
        (("arXiv:2005.11401v2",), ["s1"]),
        (("https://arxiv.org/pdf/quant-ph/9508027",), ["s6"]),
        (("http://moon.org/tides#spring",), ["s4"]),
        (("Currents. https://doi.org/10.1000/XYZ.",), ["s5"]),
        (("a/tides.md",), ["s2"]),
        (("tides.md",), ["s2", "s3"]),
        (("../d/b/tides.md#part",), ["s3"]),
        (("Lewis, P. Retrieval-augmented generation. 2020.",), ["s1"]),
        (("Smith: The moon & the sea", "no"), []),
        (("The Moon and the Sea, 1999",), ["s4"]),
        (("see tides.md, chapter 2",), ["s2", "s3"]),
        (("cafe",), ["s7"]),
        (("Cafe\u0301",), ["s7"]),
        (("nothing", "2005.11401v4.pdf"), ["s1"]),
        ((), []),
    ],
)
def test_a_reference_names_the_given_source_by_address_file_identifier_or_title(
    names: tuple[str, ...], expected: list[str]
) -> None:
    assert list(NamedSources(SOURCES).find(CitedReference(1, "[1]", names))) == expected


def test_author_and_year_name_a_source_published_within_a_year() -> None:
    named = NamedSources(SOURCES)
    assert named.find(CitedReference(1, "(Lewis 2020)", (), "Lewis", "2020")) == ("s1",)
    assert named.find(CitedReference(1, "(Lewis 2018)", (), "Lewis", "2018")) == ()
    assert named.find(CitedReference(1, "(Perez 2021)", (), "Smith", "2021")) == ()
