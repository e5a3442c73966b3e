"""The paper library through its service: what is added, known, replaced, found and removed. No model is needed."""

from __future__ import annotations

import functools
import json
import os
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import anyio
import pytest

from asky.app.asky import Asky
from asky.errors import SourceError, UsageError
from asky.papers.keeping import AddedPaper
from tests.support.files import pdf, scanned_pdf
from tests.support.library import open_asky
from tests.support.papers import TEXT, paper_pdf


@pytest.fixture
def asky(tmp_path: Path) -> Iterator[Asky]:
    with open_asky(tmp_path) as opened:
        yield opened


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "downloads"
    made.mkdir()
    return made


def add(asky: Asky, *paths: Path) -> list[AddedPaper]:
    return list(anyio.run(partial(asky.papers.add, list(paths))).outcomes)


def outcomes(added: list[AddedPaper]) -> dict[str, tuple[str, str | None]]:
    return {each.file: (each.outcome, each.paper.name if each.paper is not None else None) for each in added}


def test_a_folder_of_papers_is_added_with_ids_titles_and_files(asky: Asky, folder: Path, tmp_path: Path) -> None:
    (folder / "a.pdf").write_bytes(paper_pdf(arxiv="2101.00001v2", pages=[TEXT, "The sun."]))
    (folder / "deep").mkdir()
    (folder / "deep" / "B.PDF").write_bytes(paper_pdf("Sea levels in small harbours", doi="10.5555/Sea.7"))
    (folder / "notes.txt").write_text("not a paper")
    found = outcomes(add(asky, folder))
    assert found == {"a.pdf": ("added", "2101.00001v2"), "deep/B.PDF": ("added", "10.5555/sea.7")}
    sea, tides = asky.papers.papers()
    assert (tides.source.title, tides.source.authors) == ("On the tides of nine harbours", ("Ann Marsh",))
    assert (sea.doi, sea.source.url) == ("10.5555/sea.7", "https://doi.org/10.5555/sea.7")
    library = tmp_path / "asky" / "data" / "papers"
    assert asky.papers.pdf(tides) == library / "pdfs" / "2101.00001v2.pdf"
    assert asky.papers.pdf(tides).read_bytes() == (folder / "a.pdf").read_bytes()
    text = (library / "extracted_paper_text" / "2101.00001v2.md").read_text()
    assert text.startswith("# On the tides of nine harbours\n\nAnn Marsh\n\n2101.00001v2\n\n<!-- page 1 -->\n\n")
    assert text.endswith("<!-- page 2 -->\n\nThe sun.\n")
    facts = json.loads((library / "paper_metadata" / "10.5555_sea.7.json").read_text())
    assert (facts["title"], facts["doi"], facts["status"]) == (
        "Sea levels in small harbours",
        "10.5555/sea.7",
        "complete",
    )
    assert asky.papers.pdf(tides).stat().st_mode & 0o777 == 0o600


@pytest.mark.usefixtures("own_readers")
def test_a_second_add_reads_no_file_and_reaches_nothing(asky: Asky, folder: Path) -> None:
    file = folder / "a.pdf"
    file.write_bytes(paper_pdf(arxiv="2101.00001v2"))
    reached = _reached()
    add(asky, folder)
    assert reached == ["subprocess.Popen"]
    state = file.stat()
    file.write_bytes(b"x" * state.st_size)  # which would be no PDF if anybody looked
    os.utime(file, ns=(state.st_atime_ns, state.st_mtime_ns))
    assert outcomes(add(asky, folder)) == {"a.pdf": ("known", "2101.00001v2")}
    assert reached == ["subprocess.Popen"]


@functools.cache
def _reached() -> list[str]:
    """Every process that is started and address that is used here from now on: a hook stays for good."""
    reached: list[str] = []
    watched = ("subprocess.Popen", "socket.connect", "socket.getaddrinfo")
    sys.addaudithook(lambda event, _: reached.append(event) if event in watched else None)
    return reached


def test_a_paper_is_kept_once_whatever_its_files_are_called(asky: Asky, folder: Path) -> None:
    (folder / "a.pdf").write_bytes(paper_pdf(arxiv="2101.00001v2"))
    (folder / "b.pdf").write_bytes(paper_pdf(arxiv="2101.00001v2"))
    (folder / "c.pdf").write_bytes(paper_pdf(arxiv="2101.00001v1"))
    (folder / "d.pdf").write_bytes(paper_pdf(arxiv="2101.00001v2", doi="10.5555/t1"))  # the same, as it was printed
    add(asky, folder / "a.pdf")
    found = add(asky, folder)
    assert {name for _, name in outcomes(found).values()} == {"2101.00001v2"}
    assert {outcome for outcome, _ in outcomes(found).values()} == {"known"}
    assert [each.why for each in found] == [None, None, "the paper 2101.00001v2", "the paper 2101.00001v2"]
    assert asky.papers.resolve("10.5555/T1").id == "2101.00001"
    assert len(asky.papers.papers()) == 1


def test_a_newer_version_takes_the_place_of_an_older_one(asky: Asky, folder: Path) -> None:
    (folder / "a.pdf").write_bytes(paper_pdf(arxiv="2101.00001v1", pages=[f"Old words about tides. {TEXT}"]))
    add(asky, folder)
    (folder / "b.pdf").write_bytes(paper_pdf(arxiv="2101.00001v3", pages=[f"New words about tides. {TEXT}"]))
    assert outcomes(add(asky, folder / "b.pdf")) == {"b.pdf": ("updated", "2101.00001v3")}
    (paper,) = asky.papers.papers()
    assert paper.source.url == "https://arxiv.org/abs/2101.00001v3"
    (hit,) = anyio.run(asky.papers.search, "words about tides")
    assert hit.hit.text.startswith("On the tides of nine harbours")
    assert "New words" in hit.hit.text
    assert (hit.paper.name, hit.hit.location.page) == ("2101.00001v3", 1)
    pdf = asky.papers.pdf(paper)
    assert pdf.read_bytes() == (folder / "b.pdf").read_bytes()
    assert (paper.source.path, [each.name for each in pdf.parent.iterdir()]) == (str(pdf), ["2101.00001v3.pdf"])


def test_two_dois_under_one_title_are_two_papers(asky: Asky, folder: Path) -> None:
    (folder / "a.pdf").write_bytes(paper_pdf(doi="10.5555/conference", pages=[TEXT]))
    (folder / "b.pdf").write_bytes(paper_pdf(doi="10.5555/journal", pages=[f"{TEXT} And longer."]))
    assert {outcome for outcome, _ in outcomes(add(asky, folder)).values()} == {"added"}


def test_a_paper_that_bears_the_id_of_another_is_flagged_and_takes_no_place(asky: Asky, folder: Path) -> None:
    (folder / "a.pdf").write_bytes(paper_pdf(arxiv="2101.00001v1"))
    add(asky, folder)
    before = asky.papers.papers()
    (folder / "b.pdf").write_bytes(paper_pdf("Why bread rises in warm rooms", authors="Bo Li", arxiv="2101.00001v9"))
    (found,) = add(asky, folder / "b.pdf")
    assert found.outcome == "known"
    assert found.why == "the paper 2101.00001v1 by its id, but its title is “Why bread rises in warm rooms”: not added"
    assert asky.papers.papers() == before
    assert add(asky, folder / "b.pdf") == [found]  # and it is told again
    assert asky.services.papers.find("bread") == []


def test_what_cannot_be_read_is_named_and_ends_nothing(asky: Asky, folder: Path) -> None:
    (folder / "a.pdf").write_bytes(paper_pdf(arxiv="2101.00001v1"))
    (folder / "cut.pdf").write_bytes(paper_pdf()[:400])
    (folder / "locked.pdf").write_bytes(pdf(["secret"], password="x"))
    (folder / "not.pdf").write_text("hello")
    (folder / "empty.pdf").write_bytes(b"")
    (folder / "scan.pdf").write_bytes(scanned_pdf(2))
    found = {each.file: each for each in add(asky, folder)}
    assert found["a.pdf"].outcome == "added"
    whys = {name: each.why for name, each in found.items() if each.outcome == "unread"}
    assert whys.keys() == {"cut.pdf", "locked.pdf", "not.pdf", "empty.pdf", "scan.pdf"}
    assert (whys["locked.pdf"], whys["not.pdf"]) == ("needs a password", "not a PDF")
    assert [(each.name, each.status) for each in asky.papers.papers()] == [
        ("2101.00001v1", "complete"),
        ("scan", "no_text"),
    ]
    (again,) = anyio.run(asky.papers.retry).outcomes
    assert (again.outcome, again.paper and again.paper.id) == ("unread", "scan")


def test_a_scan_gets_its_text_and_its_id_later(asky: Asky, folder: Path) -> None:
    (folder / "scan.pdf").write_bytes(scanned_pdf(1))
    add(asky, folder)
    (scan,) = asky.papers.papers()
    asky.papers.pdf(scan).write_bytes(paper_pdf(arxiv="2101.00001v1"))  # as if its text were recognised now
    (again,) = anyio.run(asky.papers.retry).outcomes
    assert again.outcome == "updated"
    (paper,) = asky.papers.papers()
    assert (paper.status, paper.source.title) == ("complete", "On the tides of nine harbours")
    assert asky.papers.resolve("2101.00001") == paper


def test_papers_that_an_earlier_version_read_are_read_again(asky: Asky, folder: Path) -> None:
    (folder / "a.pdf").write_bytes(paper_pdf(arxiv="2101.00001v2"))
    add(asky, folder)
    assert anyio.run(asky.papers.retry).outcomes == ()
    with asky.services.database.write() as connection:
        connection.execute("UPDATE source SET read_with = '0.0' WHERE uri = 'paper:2101.00001'")
    (before,) = asky.papers.papers()
    (again,) = anyio.run(asky.papers.retry).outcomes
    assert (again.outcome, again.paper and again.paper.name) == ("updated", "2101.00001v2")
    (after,) = asky.papers.papers()
    assert (after.summary_source, after.added_at) == (before.summary_source, before.added_at)
    assert anyio.run(asky.papers.retry).outcomes == ()


def test_keys_and_other_files_of_a_folder_are_not_spoken_of(asky: Asky, folder: Path) -> None:
    (folder / "id_rsa").write_text("a key")
    (folder / ".env").write_text("A=1")
    assert add(asky, folder) == []


def test_papers_are_found_by_words_and_named_by_what_is_typed(asky: Asky, folder: Path) -> None:
    (folder / "a.pdf").write_bytes(paper_pdf(arxiv="2101.00001v2"))
    (folder / "b.pdf").write_bytes(paper_pdf("Tides of the Zürich lake", authors="Bo Li", doi="10.5555/b1"))
    add(asky, folder)
    assert [each.id for each in asky.papers.find("tides")] == ["10.5555/b1", "2101.00001"]
    assert [each.id for each in asky.papers.find("LI zurich")] == ["10.5555/b1"]
    assert [each.id for each in asky.papers.find("harb")] == ["2101.00001"]
    assert [each.id for each in asky.papers.find("bours")] == ["2101.00001"]
    assert [each.id for each in asky.papers.find("ine")] == ["2101.00001"]
    assert [each.id for each in asky.papers.find("ar")] == ["2101.00001"]
    for name in ("2101.00001", "2101.00001v2", "arXiv:2101.00001", "https://arxiv.org/abs/2101.00001v1", "nine marsh"):
        assert asky.papers.resolve(name).id == "2101.00001"
    with pytest.raises(UsageError, match=r"2 papers match 'tides': 10\.5555/b1, 2101\.00001v2"):
        asky.papers.resolve("tides")
    for name in ("bread", "", "  ", "2101.99999"):
        with pytest.raises(UsageError, match="no paper of the library"):
            asky.papers.resolve(name)


def test_a_removed_paper_leaves_nothing_and_can_be_added_again(asky: Asky, folder: Path, tmp_path: Path) -> None:
    (folder / "a.pdf").write_bytes(paper_pdf(arxiv="2101.00001v2"))
    (folder / "b.pdf").write_bytes(paper_pdf("Sea levels in small harbours", doi="10.5555/b1"))
    add(asky, folder)
    with pytest.raises(UsageError):
        anyio.run(asky.papers.remove, ["2101.00001", "bread"])
    assert len(asky.papers.papers()) == 2
    (removed,) = anyio.run(asky.papers.remove, ["2101.00001", "2101.00001v2"])
    assert removed.id == "2101.00001"
    left = [path for path in (tmp_path / "asky" / "data" / "papers").rglob("*") if path.is_file()]
    assert {path.stem for path in left} == {"10.5555_b1"}
    assert outcomes(add(asky, folder))["a.pdf"] == ("added", "2101.00001v2")


def test_a_paper_has_a_summary_in_its_own_sentences_with_their_pages(asky: Asky, folder: Path, tmp_path: Path) -> None:
    (folder / "a.pdf").write_bytes(paper_pdf(arxiv="2101.00001v2", pages=[f"Abstract\n\n{TEXT}", "The end."]))
    (added,) = add(asky, folder)
    assert added.paper is not None
    found = asky.papers.summary(added.paper)
    head = (
        "# On the tides of nine harbours\n\n- Paper id: 2101.00001v2\n- Authors: Ann Marsh\n- Published: 2021-02-03\n"
    )
    assert found.text.startswith(f"{head}- Summary: quoted from the paper, without a model\n\n")
    assert "We measured the water at nine harbours for forty years. [2101.00001v2, page 1]" in found.text
    assert found.made_by == "extractive"
    text = asky.services.documents.text(asky.services.corpus.current_document(added.paper.source.id) or 0)
    (rests_on,) = found.passages
    assert (rests_on.page, "nine harbours for forty years" in text[rests_on.start : rests_on.end]) == ("1", True)
    written = tmp_path / "asky" / "data" / "papers" / "summaries" / "2101.00001v2.md"
    assert written.read_text() == found.text
    (folder / "b.pdf").write_bytes(paper_pdf(arxiv="2101.00001v3", pages=[f"{TEXT} There were ten of them."]))
    (updated,) = add(asky, folder / "b.pdf")
    assert updated.paper is not None
    assert "There were ten of them. [2101.00001v3, page 1]" in asky.papers.summary(updated.paper).text
    assert [each.name for each in written.parent.iterdir()] == ["2101.00001v3.md"]
    assert asky.corpus.list_collections() == ["paper content", "paper summaries"]
    anyio.run(asky.papers.remove, ["2101.00001"])
    assert [asky.corpus.list_sources(each) for each in asky.corpus.list_collections()] == [[], []]


def test_the_stages_of_research_find_papers_by_their_summaries_and_then_passages_of_them(
    asky: Asky, folder: Path
) -> None:
    for number, subject in enumerate(["bread", "tides", "clocks"]):
        text = f"We study {subject} in ninety kitchens, and we say what {subject} are good for."
        pages = [text, f"More about {subject} stands on this page."]
        (folder / f"{subject}.pdf").write_bytes(
            paper_pdf(f"A study of {subject}", doi=f"10.5555/p{number}", pages=pages)
        )
    add(asky, folder)
    papers = asky.papers
    found = anyio.run(papers.search_summary_index, "tides")
    assert {(each.paper.doi, each.hit.source.id) for each in found} == {("10.5555/p1", found[0].paper.summary_source)}
    everywhere = anyio.run(papers.search_content_index_filtered, "study of kitchens", ["10.5555/p0", "10.5555/p2"])
    assert {each.paper.doi for each in everywhere} == {"10.5555/p0", "10.5555/p2"}
    one = anyio.run(partial(papers.search_content_index_filtered, "kitchens", ["a study of clocks"], k=1))
    assert [(each.paper.doi, each.hit.location.page) for each in one] == [("10.5555/p2", 1)]
    assert anyio.run(papers.search_content_index_filtered, "kitchens", []) == []
    with pytest.raises(UsageError, match="no paper of the library"):
        anyio.run(papers.search_content_index_filtered, "kitchens", ["10.5555/p9"])
    for wrong in ({"mmr_alpha": 1.5}, {"similarity_cutoff": 7}):
        with pytest.raises(UsageError, match="must be between"):
            anyio.run(partial(papers.search_summary_index, "kitchens", **wrong))


@pytest.mark.model
def test_summaries_that_are_not_similar_enough_are_left_out(folder: Path, tmp_path: Path) -> None:
    (folder / "a.pdf").write_bytes(paper_pdf(arxiv="2101.00001v2"))
    with open_asky(tmp_path, settings={"research.embedding.model": "all-MiniLM-L6-v2"}) as asky:
        add(asky, folder)
        search = asky.papers.search_summary_index
        assert anyio.run(search, "how the moon causes high water")
        foreign = "quantum computing applications in medieval literature"
        assert anyio.run(search, foreign) == []
        assert anyio.run(partial(search, foreign, similarity_cutoff=-1))


def test_an_interrupted_add_is_completed_by_the_next(asky: Asky, folder: Path) -> None:
    (folder / "a.pdf").write_bytes(paper_pdf(arxiv="2101.00001v2"))
    (added,) = add(asky, folder)
    assert added.paper is not None
    with asky.services.database.write() as connection:  # as if it had ended before the summary was there
        connection.execute("UPDATE paper SET summary_source = NULL")
    (without,) = asky.papers.papers()
    with pytest.raises(SourceError, match="has no summary"):
        asky.papers.summary(without)
    (again,) = add(asky, folder)
    assert again.paper is not None
    assert asky.papers.summary(again.paper).text == asky.papers.summary(added.paper).text


def test_the_folder_is_written_again_from_the_store(asky: Asky, folder: Path, tmp_path: Path) -> None:
    (folder / "a.pdf").write_bytes(paper_pdf(arxiv="2101.00001v2"))
    add(asky, folder)
    library = tmp_path / "asky" / "data" / "papers"
    written = {path: path.read_bytes() for path in library.rglob("*") if path.suffix in (".md", ".json")}
    assert len(written) == 3  # the text, the summary, and the metadata
    for path in written:
        path.unlink()
    assert anyio.run(asky.papers.rebuild) is None
    assert {path: path.read_bytes() for path in written} == written


def test_a_pdf_that_a_collection_has_read_is_not_parsed_again(asky: Asky, folder: Path) -> None:
    (folder / "a.pdf").write_bytes(paper_pdf(arxiv="2101.00001v2"))
    anyio.run(asky.corpus.add, [folder])
    asky.services.readers.close()  # it would raise now
    assert outcomes(add(asky, folder)) == {"a.pdf": ("added", "2101.00001v2")}
    assert len(anyio.run(asky.papers.search, "moon")) == 1


def test_nothing_and_what_does_not_exist_are_mistakes(asky: Asky, folder: Path) -> None:
    with pytest.raises(UsageError, match="nothing to add"):
        add(asky)
    with pytest.raises(UsageError, match="no file, and no arXiv id"):
        add(asky, folder / "gone.pdf")
    with pytest.raises(UsageError, match="no papers yet"):
        anyio.run(asky.papers.search, "moon")
    assert add(asky, folder) == []
