"""The report as a PDF, read back with the library that wrote it: text, links, bookmarks, and nothing that could run."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import pymupdf
import pytest

from asky.report.gathering import ReportedAnswer
from asky.report.pdf import render_pdf
from tests.support.reports import ATTACKS, QUOTE, STORED, answer_of, citation, claim, reported
from tests.support.research import empty_report, hostile_report, research_report

LETTERS = "é ő “q” ½ → ✓ ⚠ Καλημέρα Привет 你好 日本語 한국어 שלום ภาษาไทย ქართული հայերեն አማርኛ"
_STRING = re.compile(r"\((?:\\.|[^()\\])*\)", re.DOTALL)
ACTIVE = re.compile(r"/(JS|JavaScript|Launch|OpenAction|AA|EmbeddedFile|SubmitForm|ImportData|RichMedia|GoToR)\b")


class Opened:
    """A PDF as a reader has it."""

    def __init__(self, data: bytes) -> None:
        self.document = pymupdf.open("pdf", data)
        self.pages = [page.get_text(flags=pymupdf.TEXT_PRESERVE_WHITESPACE) for page in self.document]
        self.text = " ".join(" ".join(self.pages).split())
        self.links = [link for page in self.document for link in page.get_links()]

    @property
    def addresses(self) -> set[str]:
        return {link["uri"] for link in self.links if link["kind"] == pymupdf.LINK_URI}

    def at(self, link: dict[str, Any]) -> str:
        """The text on the page that an inner link leads to, from there on."""
        below = pymupdf.Rect(0, link["to"].y, 600, 842)
        return " ".join(self.document[link["page"]].get_text(clip=below).split())

    @property
    def objects(self) -> str:
        """All of its objects without the strings in them, as a reader of PDFs takes them apart."""
        found = "\n".join(self.document.xref_object(each) for each in range(1, self.document.xref_length()))
        return _STRING.sub("()", found)


def researched(**changed: Any) -> ReportedAnswer:
    report = research_report(**changed)
    return replace(reported(report.answer), research=report)


def test_a_report_of_research_has_all_of_its_parts_and_links_to_its_sources() -> None:
    data = render_pdf([researched()], tool="asky 1")
    pdf = Opened(data)
    for text in (
        "14 March 2026, 09:15 UTC · answered by small",
        "The moon raises two high tides a day [1], and the sun helps [2].",
        "confidence: 0.72 of 1",
        "“Tides come twice a day.” [1] Tides “Tides come once a day.” Gulf almanac",
        "not answered: What did Laplace add?",
        QUOTE,
        "⚠ unsupported “At new moon the range is three times as large”",
        "https://paywall.example/tides (brave, paywall: HTTP 402 without open copy)",
        "1 1 5 4 5 (100%) 5 (100%) 1.00 0.50 0.25",
        "limits max_cycles 5",
        "7 searches · 11 pages fetched",
        "Made by asky 1.",
    ):
        assert text in pdf.text, text
    assert pdf.addresses == {"https://tides.example/daily"}
    first = next(link for link in pdf.links if link["kind"] == pymupdf.LINK_GOTO and pdf.at(link).startswith("1 "))
    assert QUOTE in pdf.at(first)
    assert [(level, heading) for level, heading, _ in pdf.document.get_toc()] == [
        (1, "Why are there tides?"),
        (2, "How sure is this"),
        (2, "Where sources contradict each other"),
        (2, "What was not found"),
        (2, "Sources"),
        (2, "How 2 statements were checked"),
        (2, "2 facts found"),
        (2, "2 names found"),
        (2, "1 source could not be read"),
        (2, "Novelty in 2 cycles"),
        (2, "Method"),
    ]
    facts = pdf.document.metadata
    assert (facts["title"], facts["producer"], facts["creationDate"]) == (
        "Why are there tides?",
        "asky 1",
        "D:20260314091502Z",
    )
    assert render_pdf([researched()], tool="asky 1") == data


def test_pages_are_numbered_and_have_margins_and_the_title() -> None:
    text = "\n\n".join(f"## Part {number}\n\nThe sea is never still. {'It moves. ' * 60}" for number in range(30))
    pdf = Opened(render_pdf([reported(answer_of(text))]))
    assert len(pdf.pages) > 5
    for number, (page, found) in enumerate(zip(pdf.document, pdf.pages, strict=True), start=1):
        assert [round(each) for each in page.rect] == [0, 0, 595, 842]
        assert f"{number} / {len(pdf.pages)}" in found
        assert "Why are there tides?" in found
        boxes = [block[:4] for block in page.get_text("blocks")]
        assert all(
            left >= 55 and right <= 541 and top >= 15 and bottom <= 842 - 20 for left, top, right, bottom in boxes
        )
        body = [block[4] for block in page.get_text("blocks") if block[3] < 781]
        assert not body[-1].strip().startswith("Part "), "a heading stands alone at the end of a page"


def test_bookmarks_keep_the_spaces_of_headings_that_wrap() -> None:
    long = (
        "How does RAG combine *parametric* & non-parametric memory, and what are the datasets that it was evaluated on"
    )
    pdf = Opened(render_pdf([reported(answer_of(f"### {long}\n\nIt does.\n\n### 潮はなぜ満ちるのか\n\nWords."))]))
    headings = [heading for _, heading, _ in pdf.document.get_toc()]
    assert headings[1:3] == [long.replace("*", ""), "潮はなぜ満ちるのか"]


def test_bookmarks_of_several_answers_are_their_questions() -> None:
    pdf = Opened(render_pdf([researched(), researched()], title="Two"))
    assert [each[:2] for each in pdf.document.get_toc()] == [
        [1, "Two"],
        [2, "Why are there tides?"],
        [2, "Why are there tides?"],
    ]


def test_a_report_that_found_nothing_says_so() -> None:
    report = empty_report()
    pdf = Opened(render_pdf([replace(reported(report.answer), research=report)]))
    assert "Nothing was found that answers this question. Searched in brave, documents: • tides moon 1" in pdf.text
    assert pdf.addresses == set()


def test_letters_of_most_scripts_are_in_built_in_fonts() -> None:
    pdf = Opened(render_pdf([reported(answer_of(f"{LETTERS} [1]", question=f"Tides of {LETTERS}"))]))
    for word in LETTERS.split():
        assert pdf.text.count(word) >= 2, word
    assert "�" not in pdf.text
    assert pdf.document.metadata["title"] == f"Tides of {LETTERS}"


@pytest.mark.parametrize("url", ["https://a.example/(x)>>/A<</S/JavaScript/JS(app.alert(1))>>", "https://ü.example/é)"])
def test_no_address_ends_the_string_that_it_stands_in(url: str) -> None:
    pdf = Opened(render_pdf([reported(answer_of("Text [1].", citations=[citation(url=url)]))]))
    assert not ACTIVE.search(pdf.objects)
    assert all(re.fullmatch(r"https://(a|xn--tda)\.example/[^()\\<> ]+", each) for each in pdf.addresses)
    assert len(pdf.addresses) == 1


def test_attacks_stay_text() -> None:
    answers = []
    for attack in ATTACKS:
        stored = f"{STORED}{attack} and after"
        cited = citation(quote=attack, stored=stored, title=attack, url=attack, path=attack, section=attack)
        answer = answer_of(
            f"{attack}\n\nText [1].", question=attack, model=attack, citations=[cited], warnings=[attack],
            rejected=[{"url": attack, "reason": attack}],
        )  # fmt: skip
        answers.append(replace(reported(answer, stored), research=hostile_report(attack, answer)))
    pdf = Opened(render_pdf(answers, title="".join(ATTACKS)))
    assert not ACTIVE.search(pdf.objects)
    assert not any(page.get_images() or list(page.annots()) or list(page.widgets()) for page in pdf.document)
    assert {link["kind"] for link in pdf.links} <= {pymupdf.LINK_GOTO, pymupdf.LINK_URI}
    assert all(re.match(r"https?://|mailto:", each) for each in pdf.addresses)
    assert pdf.document.embfile_count() == 0
    assert pdf.text.count("<script>alert(1)</script>") > 10


@pytest.mark.parametrize(
    "text",
    {
        "a cell higher than a page": f"| a | b |\n|---|---|\n| x | {'moon ' * 1500}end |",
        "many columns": "|" + "c|" * 60 + "\n|" + "-|" * 60 + "\n|" + "cell|" * 59 + "end|",
        "deep lists": "".join("  " * depth + "- moon\n" for depth in range(49)) + "\nend",
        "deep quotes": "> " * 90 + "end",
        "a word without an end": "q" * 4_000 + " end",
        "a line of code without an end": f"```\n{'q' * 4_000} end\n```",
    }.items(),
    ids=lambda each: each[0],
)
def test_nothing_is_cut_off(text: tuple[str, str]) -> None:
    pdf = Opened(render_pdf([reported(answer_of(text[1]))]))
    joined = "".join(pdf.text.split())
    assert "end" in joined
    assert joined.count("q") >= text[1].count("q")
    assert joined.count("moon") >= text[1].count("moon")
    assert joined.count("cell") >= text[1].count("cell")
    for page in pdf.document:
        assert all(block[2] <= 541 for block in page.get_text("blocks"))


def test_several_answers_have_a_list_of_questions_that_leads_to_them() -> None:
    second = answer_of("Bread rises [1].", question="Why does bread rise?")
    pdf = Opened(render_pdf([reported(answer_of("Tides [1].")), reported(second)], title="Session sea"))
    assert pdf.document.get_toc()[0] == [1, "Session sea", 1]
    assert [row[1] for row in pdf.document.get_toc() if row[0] == 2] == ["Why are there tides?", "Why does bread rise?"]
    assert any(link["kind"] == pymupdf.LINK_GOTO and pdf.at(link).startswith("Why does bread") for link in pdf.links)


def test_a_claim_leads_to_its_check() -> None:
    text = "In 1871 it was green [1]."
    answer = answer_of(text, claims=[claim("In 1871 it was green [1].", text, "unsupported")])
    pdf = Opened(render_pdf([reported(answer)]))
    assert "How 1 statement was checked" in pdf.text
    assert any(pdf.at(link).startswith(("1. ⚠ unsupported", "⚠ unsupported “In")) for link in pdf.links if "to" in link)
