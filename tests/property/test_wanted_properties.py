"""Whatever an argument or an export is made of, it is read or named as a failure."""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from asky.errors import AskyError
from asky.papers.exports import read_export
from asky.papers.wanted import read_arguments
from tests.support.examples import examples
from tests.support.timing import check_linear

pytestmark = pytest.mark.slow

BIBTEX = [
    "@article{k,", "@string{a = ", "@comment{", "@preamble{", "@misc(", "\n@", "@", "title=", "author = ",
    "year=2020,", "month=may,", "doi={10.5555/x},", "eprint=", "file = ", "crossref={k},", "{", "}", '"', "(",
    ")", ",", "=", "#", "a", " and ", "Ada Marsh", "Marsh, Ada, Jr.", "others", "family=Marsh, given=Ada",
    "\\", '\\"', "{\\'e}", "\\emph{", "$", "%", "~", "\n", "\r", ";", ":", ":paper.pdf:PDF", "C\\:\\\\x.pdf",
    "x.pdf", "../x.pdf", "http://x.test/a.pdf", "\x00", "é",
]  # fmt: skip
RIS = [
    "TY  - JOUR", "\nTY - x", "\nER  - ", "\nAU  - Marsh, Ada, Jr.", "\nL1  - file:///x.pdf", "\nL1  - x.pdf",
    "\nDO  - 10.5", "\nUR  - http://x.test/", "\nDA  - 2020/13/40/", "\nPY  - ", "\nAN  - 1", "\nDB  - PubMed",
    "\nM3  - 10.", "\n", "  ", "ID  - k", "\nTI  - <i>", "x", "- ", ",", "\x00", "\ufeff", "é",
]  # fmt: skip
PIECES = {"bib": BIBTEX, "ris": RIS}
ARGUMENTS = [
    "arXiv:", "2005.11401", "v4", "hep-th/", "9711200", "doi:", "10.5555/", "PMID ", "12", "https://",
    "doi.org/", "x.test", "arxiv.org/abs/", "/", "..", "~", "file://", "%2e", "%", "?", "#", "<", ">",
    "[cs.CL]", " ", ".pdf", ".bib", "\x00", "\n", "\ud800", "é", "a" * 300,
]  # fmt: skip
leaves = st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.sampled_from(ARGUMENTS)
names = ["id", "title", "author", "issued", "DOI", "URL", "PMID", "note", "items", "date-parts", "family", "literal"]
objects = st.dictionaries(st.sampled_from(names), leaves | st.lists(leaves | st.lists(leaves)))
references = st.lists(leaves | st.dictionaries(st.sampled_from(names), leaves | objects | st.lists(objects))) | objects


@pytest.mark.few(1)
@pytest.mark.parametrize("kind", PIECES)
@settings(max_examples=examples(400))
@given(data=st.data())
def test_no_text_breaks_the_reading_of_an_export(kind: str, data: st.DataObject) -> None:
    text = data.draw(st.lists(st.sampled_from(PIECES[kind]) | st.text(max_size=3), max_size=40).map("".join))
    with suppress(AskyError):
        read_export(text.encode("utf-8", "surrogatepass"), f"a.{kind}")


@pytest.mark.parametrize("kind", ["bib", "ris", "json"])
@given(data=st.binary(max_size=200))
@example(b"\xff\xfe\x00\xd8")
@example(b"[" * 100_000)
@example(b"9" * 10_000)
def test_no_bytes_break_the_reading_of_an_export(kind: str, data: bytes) -> None:
    with suppress(AskyError):
        read_export(data, f"a.{kind}")


@settings(max_examples=examples(100))
@given(references)
def test_no_value_breaks_the_reading_of_references(value: object) -> None:
    with suppress(AskyError):
        read_export(json.dumps(value).encode("utf-8", "surrogatepass"), "a.json")


@settings(max_examples=examples(400))
@given(st.lists(st.lists(st.sampled_from(ARGUMENTS) | st.text(max_size=3), max_size=6).map("".join), max_size=4))
def test_each_argument_is_read_or_named(arguments: list[str]) -> None:
    wanted = read_arguments(arguments, max_bytes=1 << 20)
    assert bool(wanted.files or wanted.papers or wanted.failures) is bool(arguments)
    assert all("\n" not in each.message and each.hint for each in wanted.failures)
    assert all(path.exists() for path in wanted.files)


@pytest.mark.parametrize("kind", PIECES)
@settings(max_examples=examples(100))
@given(data=st.data())
def test_no_entry_names_a_file_outside_of_its_folder(
    kind: str, data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("outer") / "inner"
    folder.mkdir()
    (folder.parent / "x.pdf").write_bytes(b"%PDF-")
    pieces = st.lists(st.sampled_from(["..", "/", ".", "x.pdf", "inner", "\\", ":", ";", "%2e%2e"]), max_size=8)
    named = data.draw(pieces.map("".join))
    text = f"@misc{{k, file = {{{named}}}}}" if kind == "bib" else f"TY  - GEN\nL1  - {named}\nER  - "
    export = folder / f"refs.{kind}"
    export.write_text(text, "utf-8")
    assert all(not paper.pdfs for paper in read_arguments([export], max_bytes=1 << 20).papers)


@pytest.mark.few(6)
@pytest.mark.parametrize(
    ("before", "piece"),
    [
        ("@misc{k, title = ", "{"),
        ('@misc{k, title = "', "{}"),
        ("@misc{k, title = ", '"x" # '),
        ("@misc{k, title = {", "\\'"),
        ("@misc{k, title = {", "x"),
        ("@misc{k, author = {", "\\'x and "),
        ("@misc{k, author = {", "}"),
        ("@misc{k, file = {", ":;"),
        ("@misc{k, ", "doi = {10.5555/x},"),
        ("", "\n@misc{k,"),
        ("", "@string{a = a # a}\n"),
        ("", "@"),
    ],
)
def test_hostile_bibtex_takes_linear_time(before: str, piece: str) -> None:
    def read(chars: int) -> None:
        with suppress(AskyError):
            read_export((before + piece * (chars // len(piece)) + "}}").encode(), "a.bib")

    check_linear(read, 10_000)


@pytest.mark.parametrize(
    "piece", ["TY  - x\n", "AU  - a, b\n", "UR  - http://x.test/10.5555/x\n", "x\n", "N1  - PMID:1 "]
)
def test_hostile_ris_takes_linear_time(piece: str) -> None:
    def read(chars: int) -> None:
        read_export(f"TY  - x\nAB  - x\n{piece * (chars // len(piece))}".encode(), "a.ris")

    check_linear(read, 10_000)


def test_deep_and_long_texts_cost_only_their_entries(tmp_path: Path) -> None:
    texts = ["{" * 9_000, "{}" * 9_000, '"' + "{" * 9_000, "\\emph{" * 9_000, "a#" * 9_000, "\\'" * 9_000, "x" * 90_000]
    entries = [
        f"@misc{{k{number}, title = {{{text}}}, doi = {{10.5555/x{number}}}}}" for number, text in enumerate(texts)
    ]
    export = tmp_path / "refs.bib"
    export.write_text("\n".join(entries), "utf-8")
    wanted = read_arguments([export], max_bytes=1 << 20)
    assert [paper.name for paper in wanted.papers] == [f"refs.bib: k{number}" for number in (1, 4, 5, 6)]
    assert [each.subject for each in wanted.failures] == [f"refs.bib: line {number}" for number in (1, 3, 4)]
