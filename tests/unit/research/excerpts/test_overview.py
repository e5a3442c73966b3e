from __future__ import annotations

from itertools import pairwise

import pytest

from asky.research.excerpts.overview import MAX_DOCUMENTS, documents_meant, overview_spans
from asky.text.document_questions import Aspect, DocumentQuestion
from asky.values import Page, Section, Source

PAPER = (
    "On Mills\n\nAda Byrne, Clare Mills\n\nAbstract\n\nWe show that mills grind. "
    + "They grind oats and rye. " * 20
    + "\n\n1 Introduction\n\nMills have stood at Clare for long. "
    + "Nobody knew why they stand there. " * 60
    + "\n\n2 Methods\n\n"
    + "We counted the turns of the wheel. " * 60
    + "\n\n3 Conclusions\n\nMills grind well. "
    + "They should be kept in order. " * 10
)


def sections(text: str = PAPER) -> list[Section]:
    names = ["Abstract", "1 Introduction", "2 Methods", "3 Conclusions"]
    starts = [text.index(name) for name in names]
    return [
        Section(name, 1, start, end) for name, start, end in zip(names, starts, [*starts[1:], len(text)], strict=True)
    ]


def overview(
    *aspects: Aspect, pages: tuple[Page, ...] = (), documents: int = 1, with_sections: bool = True
) -> list[str]:
    spans = overview_spans(
        aspects,
        lambda span: PAPER[span.start : span.end],
        len(PAPER),
        sections() if with_sections else [],
        (),
        documents=documents,
    )
    assert all(not (a.start < b.end and b.start < a.end) for a, b in pairwise(spans))
    return [PAPER[span.start : span.end] for span in spans]


def test_a_summary_is_made_of_abstract_introduction_and_conclusion() -> None:
    found = overview("summary")
    assert [text.split("\n")[0] for text in found] == ["Abstract", "1 Introduction", "3 Conclusions"]
    assert "We show that mills grind." in found[0]


def test_findings_are_in_the_conclusion_first() -> None:
    assert overview("findings")[0].startswith("3 Conclusions")


def test_the_first_page_tells_title_and_authors() -> None:
    (front, *_) = overview("authors")
    assert front.startswith("On Mills\n\nAda Byrne")


def test_an_outline_is_the_headings() -> None:
    assert [text.split("\n")[0] for text in overview("outline")] == [
        "Abstract",
        "1 Introduction",
        "2 Methods",
        "3 Conclusions",
    ]


def test_without_sections_the_abstract_is_found_by_its_name() -> None:
    assert overview("summary", with_sections=False)[0].startswith("Abstract")


def test_no_passage_crosses_a_page() -> None:
    cut = PAPER.index("They grind oats") + 100
    pages = (Page(1, None, 0, cut), Page(2, None, cut, len(PAPER)))
    found = overview_spans(
        ("summary",), lambda span: PAPER[span.start : span.end], len(PAPER), sections(), pages, documents=1
    )
    assert all(span.end <= cut or span.start >= cut for span in found)


def test_each_of_several_documents_gets_a_share() -> None:
    assert sum(map(len, overview("summary", documents=12))) <= 1_100


def source(number: int, title: str, path: str = "") -> Source:
    return Source(f"s{number}", "file", f"file:///{number}", title, path=path or None)


def asked(*subject: str, points_back: bool = False) -> DocumentQuestion:
    return DocumentQuestion(("summary",), frozenset(subject), points_back)


MILLS, TIDES = source(1, "Mills of Clare"), source(2, "x", "/a/spring-tides.pdf")


@pytest.mark.parametrize(
    ("question", "recent", "meant"),
    [
        (asked(), (), [MILLS, TIDES]),
        (asked(), ("s2",), [TIDES]),
        (asked("mill"), ("s2",), [MILLS]),
        (asked("tide"), (), [TIDES]),
        (asked("castl"), (), []),
        (asked("castl"), ("s1",), []),
        (asked("castl", points_back=True), ("s1",), [MILLS]),
    ],
)
def test_the_documents_that_a_question_means(
    question: DocumentQuestion, recent: tuple[str, ...], meant: list[Source]
) -> None:
    assert documents_meant(question, [MILLS, TIDES], recent) == meant


def test_a_document_is_meant_by_the_name_of_its_author() -> None:
    paper = Source("s3", "file", "file:///3", "Mills", authors=("Ada Byrne",))
    assert documents_meant(asked("byrn"), [MILLS, paper], ()) == [paper]


def test_a_project_is_described_by_its_outermost_readme() -> None:
    readmes = [source(number, "x", path) for number, path in enumerate(["/p/docs/README.md", "/p/README.rst"])]
    many = [source(number + 10, f"Note {number}", f"/p/{number}.py") for number in range(MAX_DOCUMENTS)]
    project = DocumentQuestion(("summary",), frozenset(), False, of_project=True)
    assert documents_meant(project, [*many, *readmes], ()) == [readmes[1]]


def test_a_project_without_a_readme_is_described_where_its_code_begins() -> None:
    files = ["/p/a/__init__.py", "/p/a/b/__init__.py", "/p/a/mill.py"]
    code = [source(number, path.rsplit("/", 1)[-1], path) for number, path in enumerate(files)]
    project = DocumentQuestion(("summary",), frozenset(), False, of_project=True)
    assert documents_meant(project, [code[2], code[1], code[0]], ()) == [code[0]]


def test_definitions_are_in_all_files_of_code_however_many() -> None:
    code = [source(number, f"{number}.py", f"/p/{number}.py") for number in range(MAX_DOCUMENTS + 3)]
    note = source(99, "Exceptions", "/p/exceptions.md")
    question = DocumentQuestion(("definitions",), frozenset(), False, kinds=frozenset({"exception"}))
    assert documents_meant(question, [note, *code], ()) == code


CODE = (
    '"""Mills that grind."""\n\nimport stones\n\n\ndef _open() -> None:\n    """Open the sluice."""\n\n\n'
    "class MillError(Exception):\n    pass\n\n\n@final\nclass Fire(MillError):\n    def spread(self) -> None: ...\n"
)


def code_sections() -> list[Section]:
    marks = {"_open": "def _open", "MillError": "class MillError", "Fire": "@final", "spread": "    def spread"}
    starts = [CODE.index(mark) for mark in marks.values()]
    ends = [*starts[1:3], len(CODE), len(CODE)]
    levels = [1, 1, 1, 2]
    return [Section(*each) for each in zip(marks, levels, starts, ends, strict=True)]


@pytest.mark.parametrize(
    ("aspect", "kinds", "expected"),
    [
        ("summary", (), ['"""Mills that grind."""', "class MillError(Exception):", "@final", "def _open() -> None:"]),
        ("definitions", ("exception",), ["class MillError(Exception):", "@final"]),
        ("definitions", ("function",), ["def _open() -> None:", "def spread(self) -> None: ..."]),
    ],
)
def test_code_is_shown_by_its_beginning_and_its_definitions(
    aspect: Aspect, kinds: tuple[str, ...], expected: list[str]
) -> None:
    found = overview_spans(
        [aspect], lambda span: CODE[span.start : span.end], len(CODE), code_sections(), (), is_code=True, kinds=kinds
    )
    assert [CODE[span.start : span.end].split("\n")[0] for span in found] == expected


def test_of_too_many_documents_none_is_meant() -> None:
    many = [source(number, f"Note {number}") for number in range(MAX_DOCUMENTS + 1)]
    assert documents_meant(asked(), many, ()) == []
    assert len(documents_meant(asked(), many[:-1], ())) == MAX_DOCUMENTS


def told(aspect: Aspect, text: str, *found: Section) -> list[str]:
    spans = overview_spans([aspect], lambda span: text[span.start : span.end], len(text), found, ())
    return [text[span.start : span.end] for span in spans]


def test_who_paid_is_told_by_the_section_of_thanks_and_by_sentences_elsewhere() -> None:
    body = "Mills grind. " * 90
    text = f"{body}The count was funded by the county. {body}\n\nAcknowledgements\n\nWe thank the cook."
    at = text.index("Acknowledgements")
    first, second = told("funding", text, Section("Acknowledgements", 1, at, len(text)))
    assert first == "Acknowledgements\n\nWe thank the cook."
    assert second == "Mills grind. The count was funded by the county. Mills grind."
    assert told("licence", text) == []


def test_sentences_that_tell_are_taken_from_both_ends_and_are_few() -> None:
    text = "".join(f"Grant {number} is ours. " + "Mills grind. " * 90 for number in range(20))
    found = told("funding", text)
    assert len(found) == 12
    assert [each.split(" is ours")[0].split(". ")[-1] for each in found] == [
        f"Grant {n}" for n in (*range(6), *range(14, 20))
    ]
