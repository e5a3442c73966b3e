"""`asky papers add` with ids: what is printed, how it ends, and what is left when it is interrupted."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.asky_command import clean_environment
from tests.support.dialogue import Dialogue
from tests.support.in_process import InProcess
from tests.support.paper_world import PaperWorld, paper_world
from tests.support.papers import paper_pdf
from tests.support.site import Asked, Wire
from tests.support.twins.papers import Paper

TIDES, BREAD = "On the tides of nine harbours", "Why bread rises in warm rooms"


@pytest.fixture
def world() -> Iterator[PaperWorld]:
    with paper_world() as opened:
        urls = [
            opened.site.page("/tides.pdf", body=paper_pdf()),
            opened.site.page("/bread.pdf", body=paper_pdf(BREAD, authors="Bo Li")),
        ]
        opened.know(Paper(TIDES, doi="10.5555/tides", pdf=urls[0]), Paper(BREAD, doi="10.5555/bread", pdf=urls[1]))
        yield opened


@pytest.fixture
def asky(
    world: PaperWorld, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> InProcess:
    home = tmp_path / "home"
    home.mkdir()
    command = InProcess(home, monkeypatch, capsys)
    for name, value in world.environ(tmp_path).items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(sys, "stdin", None)
    return command


def start(asky: InProcess, world: PaperWorld, *ids: str) -> subprocess.Popen[str]:
    """`asky papers add` in a process of its own."""
    return subprocess.Popen(
        [sys.executable, "-m", "asky", "papers", "add", *ids],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=clean_environment(asky.home, {"ASKY_HOME": str(asky.home), **world.environ(asky.home)}),
    )


def test_ids_are_added_listed_and_known_when_the_network_is_down(asky: InProcess, world: PaperWorld) -> None:
    done = asky("papers", "add", "10.5555/tides", "10.5555/bread")
    assert (done.code, done.out) == (0, f"added    10.5555/tides  {TIDES}\nadded    10.5555/bread  {BREAD}\n"), done.err
    assert done.err.endswith("2 papers: 2 added\n")
    world.play("error500")
    sent = world.sent
    again = asky("papers", "add", "10.5555/tides", "10.5555/bread")
    assert (again.code, again.out, world.sent) == (0, "", sent)
    assert again.err.endswith("2 papers: 2 known\n")


def test_ids_that_bring_nothing_are_errors_and_end_nothing(asky: InProcess, world: PaperWorld) -> None:
    done = asky("papers", "add", "10.5555/nothing", "10.5555/tides")
    assert (done.code, "added    10.5555/tides" in done.out) == (1, True)
    assert "unread   10.5555/nothing: no registry knows 10.5555/nothing\n" in done.out
    assert "1 of 2 could not be added" in done.err
    offline = asky("papers", "add", "--offline", "10.5555/bread")
    assert (offline.code, offline.out) == (1, "unread   10.5555/bread: not looked up: --offline\n")
    assert asky("papers", "add", "--offline", "--lookup", "10.5555/bread").code == 2


def test_a_paper_without_a_pdf_is_listed_as_such(asky: InProcess, world: PaperWorld) -> None:
    world.know(Paper(TIDES, doi="10.5555/tides"))
    done = asky("papers", "add", "10.5555/tides")
    assert (done.code, done.out) == (
        1,
        "unread   10.5555/tides: kept without its PDF: no open copy of its PDF is known\n",
    )
    assert "added without a text: 10.5555/tides" in done.err
    assert "no PDF: `asky papers retry`" in asky("papers", "list").out
    assert asky("papers", "list", "--json").json["papers"][0]["status"] == "no_pdf"
    opened = asky("papers", "open", "10.5555/tides")
    assert (opened.code, "has no PDF yet" in opened.err) == (1, True)


@pytest.mark.extended
def test_an_interrupted_add_goes_on_with_the_same_command(asky: InProcess, world: PaperWorld) -> None:
    async def hang(_: Asked, wire: Wire) -> None:
        await wire.hang()

    world.site.script("/bread.pdf", hang)
    running = start(asky, world, "10.5555/tides", "10.5555/bread")
    world.site.wait_for("/tides.pdf", "/bread.pdf")
    while running.poll() is None and not list((asky.home / "data" / "papers").glob("pdfs/*.pdf")):
        pass
    running.send_signal(signal.SIGINT)
    _, told = running.communicate(timeout=120)
    assert running.returncode == 130, told
    assert "the same command goes on from there" in told
    assert [each["doi"] for each in asky("papers", "list", "--json").json["papers"]] == ["10.5555/tides"]
    world.site.page("/bread.pdf", body=paper_pdf(BREAD, authors="Bo Li"))
    done = asky("papers", "add", "10.5555/tides", "10.5555/bread")
    assert (done.code, done.out) == (0, f"added    10.5555/bread  {BREAD}\n")
    assert world.site.paths().count("/tides.pdf") == 1


@pytest.mark.extended
def test_two_processes_add_one_paper_once(asky: InProcess, world: PaperWorld) -> None:
    running = [start(asky, world, "10.5555/tides") for _ in range(2)]
    told = [each.communicate(timeout=300) for each in running]
    assert [each.returncode for each in running] == [0, 0], told
    assert len(asky("papers", "list", "--json").json["papers"]) == 1
    assert len(list((asky.home / "data" / "papers" / "pdfs").iterdir())) == 1


def test_notices_show_wherever_the_paper_does(asky: InProcess, world: PaperWorld) -> None:
    notice = {"type": "retraction", "DOI": "10.5555/notice", "updated": {"date-parts": [[2021, 3, 1]]}}
    world.know(Paper(TIDES, doi="10.5555/tides", pdf=world.site.url("/tides.pdf"), updated_by=(notice,)))
    said = "RETRACTED (2021-03-01, Crossref)"
    assert asky("papers", "add", "10.5555/tides").out == f"added    10.5555/tides  {TIDES}  [{said}]\n"
    assert f"{TIDES}  [{said}]" in asky("papers", "list").out
    assert f"{TIDES}  [{said}]" in asky("papers", "find", "tides").out
    assert f"1. [10.5555/tides, page 1] {TIDES}  [{said}]\n" in asky("papers", "search", "moon").out
    for name in ("summary", "open"):
        assert f"10.5555/tides: {said}\n" in asky("papers", name, "tides").err
    (listed,) = asky("papers", "list", "--json").json["papers"]
    assert listed["notices"] == [
        {"kind": "retraction", "date": "2021-03-01", "source": "crossref", "identifier": "10.5555/notice"}
    ]
    assert listed["notices_checked_at"]
    assert asky("papers", "search", "moon", "--json").json["hits"][0]["notices"] == listed["notices"]
    assert asky("papers", "summary", "tides", "--json").json["paper"]["notices"] == listed["notices"]
    answered = asky("papers", "research", "How many tides does the moon raise in a day?")
    assert (answered.code, f"Notices: {said}" in answered.out) == (0, True)
    assert f"the answer cites 10.5555/tides: {said}\n" in answered.err
    answer = asky("papers", "research", "How many tides does the moon raise in a day?", "--json").json
    assert f"the answer cites 10.5555/tides: {said}" in answer["warnings"]
    assert answer["notices"] == {"10.5555/tides": listed["notices"]}
    assert f"note = {{{said}" in asky("papers", "export").out
    assert f"N1  - {said}" in asky("papers", "export", "--format", "ris").out
    assert asky("papers", "export", "--format", "csl").json[0]["note"].startswith(said)
    assert f"note = {{{said}" in asky("runs", "export", "--format", "bibtex").out
    assert asky("papers", "retry", "--lookup").err.endswith("nothing is new\n")


def library(folder: Path) -> tuple[Path, Path]:
    """An export whose PDFs lie in the folders of a reference manager elsewhere, and the folder of these."""
    storage = folder / "Zotero" / "storage"
    entries = []
    for number, title in enumerate((TIDES, BREAD)):
        pdf = storage / f"ABCD123{number}" / "Full text.pdf"
        pdf.parent.mkdir(parents=True)
        pdf.write_bytes(paper_pdf(title))
        entries.append(f"@misc{{k{number}, title = {{{title}}}, file = {{Full text:{pdf}:application/pdf}}}}")
    refs = folder / "export" / "refs.bib"
    refs.parent.mkdir()
    refs.write_text("\n".join(entries), "utf-8")
    return refs, storage.resolve()


def test_pdfs_outside_of_an_exports_folder_are_read_where_the_user_says_so(asky: InProcess, tmp_path: Path) -> None:
    refs, storage = library(tmp_path)
    refused = asky("papers", "add", "--offline", str(refs))
    assert f"{storage}/: 2 PDFs that an export names outside of its own folder: not read" in refused.out
    assert "--files-from FOLDER" in refused.out
    assert asky("papers", "list").out == ""
    done = asky("papers", "add", "--offline", "--files-from", str(storage), str(refs))
    assert (done.code, done.out.count("added ")) == (0, 2), done.err
    again = asky("papers", "add", "--offline", str(refs))
    assert (again.code, "outside" in again.out) == (0, False)


@pytest.mark.parametrize("reply", ["y", "n"])
def test_the_user_is_asked_once_for_a_folder_outside(tmp_path: Path, reply: str) -> None:
    refs, _ = library(tmp_path)
    home = tmp_path / "home"
    home.mkdir()
    environ = {"ASKY_RESEARCH__EMBEDDING__MODEL": str(tmp_path / "no model")}
    with Dialogue("papers", "add", "--offline", "--no-embed", str(refs), home=home, environ=environ) as dialogue:
        dialogue.answer("that the export names? [y/N]", reply)
        code = dialogue.end()
    asked = " ".join(dialogue.screen.split())
    assert asked.count("Read the 2 PDFs in") == asked.count("[y/N]") == 1
    assert ("2 PDFs: 2 added" in asked) == (reply == "y"), asked
    assert (code == 0) == (reply == "y")


def test_a_pdf_with_another_title_than_its_entry_is_added_without_what_the_entry_says(
    asky: InProcess, tmp_path: Path
) -> None:
    (tmp_path / "x.pdf").write_bytes(paper_pdf(TIDES))
    refs = tmp_path / "refs.bib"
    refs.write_text("@misc{k, title = {Why glass breaks}, doi = {10.5555/glass}, file = {x.pdf}}", "utf-8")
    done = asky("papers", "add", "--offline", str(refs))
    assert "refs.bib: k calls it “Why glass breaks”" in done.out
    assert "10.5555/glass" not in asky("papers", "list").out
