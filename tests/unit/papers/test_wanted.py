"""What a user names to add to the library."""

from __future__ import annotations

from pathlib import Path

import pytest

from asky.papers.wanted import Wanted, WantedPaper, read_arguments
from asky.search.identifiers import Identifier

MAX_BYTES = 10_000


def read(*arguments: str | Path) -> Wanted:
    return read_arguments(arguments, max_bytes=MAX_BYTES)


def only(*arguments: str | Path) -> WantedPaper:
    wanted = read(*arguments)
    assert (wanted.files, wanted.failures) == ((), ())
    (paper,) = wanted.papers
    return paper


def pdf(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"%PDF-1.4")
    return path.resolve()


def export(folder: Path, *files: str, name: str = "refs.bib") -> Path:
    """An export with an entry for each value of the field `file`, called k0, k1, ..."""
    path = folder / name
    path.write_text("\n".join(f"@misc{{k{n}, file = {{{file}}}}}" for n, file in enumerate(files)), "utf-8")
    return path


ARXIV = Identifier("arxiv", "2005.11401")
OLD = Identifier("arxiv", "hep-th/9711200")
DOI = Identifier("doi", "10.5555/x1")


@pytest.mark.parametrize(
    ("argument", "identifier", "url"),
    [
        ("2005.11401", ARXIV, None),
        (" arXiv:2005.11401v4 [cs.CL]", Identifier("arxiv", "2005.11401", 4), None),
        ("hep-th/9711200", OLD, None),
        ("arxiv: hep-th/9711200v2", Identifier("arxiv", "hep-th/9711200", 2), None),
        ("math.GT/0309136", Identifier("arxiv", "math/0309136"), None),
        ("10.5555/X1", DOI, None),
        ("doi:10.5555/x1", DOI, None),
        ("DOI 10.5555/x1.", DOI, None),
        ("https://doi.org/10.5555/x1", DOI, None),
        ("dx.doi.org/10.5555%2Fx1", DOI, None),
        ("https://doi.org/10.5555/x1?nosfx=y", DOI, None),
        ("10.48550/arXiv.2005.11401", ARXIV, None),
        ("https://doi.org/10.1002/(a)17:15/16%3C1::AID%3E3", Identifier("doi", "10.1002/(a)17:15/16<1::aid>3"), None),
        ("PMID:123", Identifier("pmid", "123"), None),
        ("pmid 123", Identifier("pmid", "123"), None),
        ("PMC123", Identifier("pmcid", "PMC123"), None),
        ("https://arxiv.org/abs/2005.11401", ARXIV, None),
        ("arxiv.org/pdf/2005.11401v4", Identifier("arxiv", "2005.11401", 4), None),
        ("https://arxiv.org/html/2005.11401v4", Identifier("arxiv", "2005.11401", 4), None),
        ("https://arxiv.org/pdf/hep-th/9711200.pdf", OLD, None),
        ("https://pubmed.ncbi.nlm.nih.gov/123/", Identifier("pmid", "123"), None),
        ("https://x.test/10.5555/x1.full.pdf", DOI, "https://x.test/10.5555/x1.full.pdf"),
        ("https://x.test/paper.pdf", None, "https://x.test/paper.pdf"),
        ("<https://x.test/paper.pdf>", None, "https://x.test/paper.pdf"),
    ],
)
def test_ids_and_addresses(argument: str, identifier: Identifier | None, url: str | None) -> None:
    paper = only(argument)
    assert (paper.identifiers, paper.url) == ((identifier,) if identifier else (), url)
    assert paper.name == argument.strip()
    assert (paper.pdfs, paper.candidate) == ((), None)


@pytest.mark.parametrize(
    "argument",
    [
        "1706.0376", "2005.11401v0", "123", "10.5555", "see 2005.11401", "2005.11401 1706.03762",
        "tides-2005.11401.pdf", "2005.11401.pdf", "papers/2005.11401", "missing.pdf", "missing.bib", "~nobody/x.pdf", "file:///missing.pdf",
        "ftp://x.test/a.pdf", "https://", "https://x.test/a and more", "", " ", "\x00", "a" * 5000,
    ],
)  # fmt: skip
def test_anything_else_is_named(argument: str) -> None:
    wanted = read(argument)
    assert (wanted.files, wanted.papers) == ((), ())
    (failure,) = wanted.failures
    assert failure.message == f"{failure.subject}: no file, and no arXiv id, DOI, PMID or address"
    assert (failure.code, failure.hint) == (
        "usage",
        "check the path; ids look like 2005.11401, 10.5555/x1 and PMID:123",
    )


def test_no_password_is_shown() -> None:
    (failure,) = read("https://ada:secret@x.test/a.pdf").failures
    assert "secret" not in failure.message
    paper = only("https://x.test/a.pdf?token=secret")
    assert (paper.name, paper.url) == ("https://x.test/a.pdf?token=***", "https://x.test/a.pdf?token=secret")


def test_a_path_that_exists_is_a_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    pdf(tmp_path / "2005.11401")
    pdf(tmp_path / "10.5555" / "x1")
    wanted = read("2005.11401", "10.5555/x1", "10.5555", "~/2005.11401", (tmp_path / "2005.11401").as_uri())
    assert wanted == Wanted((Path("2005.11401"), Path("10.5555/x1"), Path("10.5555")))


def test_a_work_is_wanted_once_however_it_is_named() -> None:
    wanted = read("2005.11401v1", "https://x.test/a.pdf", "arXiv:2005.11401", "https://x.test/a.pdf#page=2", "PMID:1")
    assert [paper.name for paper in wanted.papers] == ["2005.11401v1", "https://x.test/a.pdf", "PMID:1"]
    assert wanted.papers[0].identifiers == (Identifier("arxiv", "2005.11401", 1),)


def test_an_export_joins_what_was_named_before(tmp_path: Path) -> None:
    export = tmp_path / "refs.bib"
    export.write_text("@misc{lewis, title={Tides}, doi={10.5555/x1}, eprint={2005.11401}}", "utf-8")
    paper = only("2005.11401v1", "10.5555/x1", export)
    assert paper.identifiers == (Identifier("arxiv", "2005.11401", 1), DOI)
    assert paper.name == "2005.11401v1"
    assert paper.candidate is not None
    assert paper.candidate.title == "Tides"


def test_two_dois_under_one_title_are_two_works(tmp_path: Path) -> None:
    (tmp_path / "refs.ris").write_text(
        "".join(
            f"TY  - JOUR\nTI  - On the tides of lakes\nAU  - Marsh, Ada\nPY  - 2021\n{rest}\nER  - \n"
            for rest in ("DO  - 10.5555/x1", "DO  - 10.5555/x2", "UR  - https://x.test/a", "UR  - https://x.test/b")
        ),
        "utf-8",
    )
    papers = read(tmp_path / "refs.ris").papers
    assert [[each.value for each in paper.identifiers] for paper in papers] == [["10.5555/x1"], ["10.5555/x2"], []]
    assert papers[2].url == "https://x.test/a"


def test_attachments_are_found(tmp_path: Path) -> None:
    folder = tmp_path / "library"
    inside, space = pdf(folder / "files" / "12" / "a; b.pdf"), pdf(folder / "c d.pdf")
    outside = pdf(tmp_path / "elsewhere" / "x.pdf")
    (folder / "link.pdf").symlink_to("c d.pdf")
    files = [
        r"Full Text PDF:files/12/a\; b.pdf:application/pdf;Snapshot:files/12/x.html:text/html",
        ":c d.pdf:PDF",
        str(outside),
        f":{str(outside)[1:]}:pdf",
        "link.pdf",
        "c d.pdf;files/12/../../c d.pdf",
    ]
    found = [read_arguments([export(folder, each)], max_bytes=MAX_BYTES, files_from=[outside.parent]) for each in files]
    papers = [wanted.papers[0] for wanted in found]
    assert not any(wanted.failures or wanted.outside for wanted in found)
    assert [paper.pdfs for paper in papers] == [(inside,), (space,), (outside,), (outside,), (space,), (space,)]
    assert papers[0].name == "refs.bib: k0"
    assert papers[0].candidate is not None
    assert (papers[0].candidate.url, papers[0].url) == ("", None)
    (folder / "refs.ris").write_text(f"TY  - JOUR\nL1  - {space.as_uri()}\nL1  - files/12/a; b.pdf\n", "utf-8")
    assert only(folder / "refs.ris").pdfs == (space, inside)


@pytest.mark.parametrize(
    ("file", "why"),
    [
        ("../x.pdf", "its PDF ../x.pdf lies outside of the export's folder"),
        ("a/../../x.pdf", "its PDF a/../../x.pdf lies outside of the export's folder"),
        ("out.pdf", "its PDF out.pdf lies outside of the export's folder"),
        ("missing.pdf", "its PDF missing.pdf does not exist"),
        ("folder.pdf", "its PDF folder.pdf does not exist"),
        ("loop.pdf", "its PDF loop.pdf does not exist"),
        (r"C\:\\Users\\ada\\x.pdf", r"its PDF C:\Users\ada\x.pdf does not exist"),
    ],
)
def test_attachments_elsewhere_are_named(file: str, why: str, tmp_path: Path) -> None:
    folder = tmp_path / "library"
    pdf(tmp_path / "x.pdf")
    (folder / "folder.pdf").mkdir(parents=True)
    (folder / "out.pdf").symlink_to("../x.pdf")
    (folder / "loop.pdf").symlink_to("loop.pdf")
    refs = export(folder, file)
    wanted = read(refs)
    assert wanted.papers == ()
    assert [each.message for each in wanted.failures] == [f"refs.bib: k0: {why}; it has no identifier and no address"]
    refs.write_text(f"@misc{{k0, doi = {{10.5555/x1}}, file = {{{file}}}}}", "utf-8")
    wanted = read(refs)
    assert [each.identifiers for each in wanted.papers] == [(DOI,)]
    assert [each.message for each in wanted.failures] == [f"refs.bib: k0: {why}"]


def test_pdfs_outside_of_the_exports_folder_are_counted_by_folder_and_not_read(tmp_path: Path) -> None:
    library, storage, private = tmp_path / "a/library", tmp_path / "z/Zotero/storage", tmp_path / "private"
    mine = pdf(library / "mine.pdf")
    stored = [pdf(storage / name / "x y.pdf") for name in ("ABCD1234", "EFGH5678", "IJKL9012")]
    salary = pdf(private / "salary.pdf")
    (library / "link.pdf").symlink_to(salary)
    (private / "to_storage.pdf").symlink_to(stored[0])
    named = [*stored, private / "to_storage.pdf", salary, mine, "/dev/zero", private / "missing.pdf", "../x.pdf"]
    refs = export(library, *map(str, [*named, "link.pdf", salary.as_uri()]))
    wanted = read(refs)
    assert [each.pdfs for each in wanted.papers] == [(mine,)]
    assert dict(wanted.outside) == {storage.resolve(): 3, private.resolve(): 1}
    whys = [each.message.removeprefix("refs.bib: ").partition("; ")[0] for each in wanted.failures]
    assert whys[:5] == [f"k{number}: its PDF was not read" for number in range(5)]
    assert [each.partition(": ")[0] for each in whys[5:]] == ["k6", "k7", "k8", "k9", "k10"]
    allowed = read_arguments([refs], max_bytes=MAX_BYTES, files_from=[storage])
    assert [each.pdfs for each in allowed.papers] == [(each,) for each in (*stored, mine)]
    assert dict(allowed.outside) == {private.resolve(): 1}
    known = read_arguments([refs], max_bytes=MAX_BYTES, known={str(each) for each in (*stored, salary)})
    assert not known.outside


def test_folders_as_wide_as_a_home_are_not_joined(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = tmp_path.resolve() / "home"
    monkeypatch.setenv("HOME", str(home))
    found = [pdf(home / name / "x.pdf") for name in ("papers/2020", "papers/2021", "private")]
    (tmp_path / "library").mkdir()
    refs = export(tmp_path / "library", *map(str, found))
    assert dict(read(refs).outside) == {home / "papers": 2, home / "private": 1}


def test_an_entry_with_nothing_to_go_by_is_named(tmp_path: Path) -> None:
    refs = tmp_path / "refs.json"
    refs.write_text('[{"id": "book", "title": "Lakes"}, {"URL": "https://x.test/a"}, {"URL": "ftp://x.test"}]', "utf-8")
    wanted = read(refs)
    assert [(paper.name, paper.url) for paper in wanted.papers] == [("refs.json: entry 2", "https://x.test/a")]
    assert [each.message for each in wanted.failures] == [
        "refs.json: book: it has no PDF, no identifier and no address",
        "refs.json: entry 3: it has no PDF, no identifier and no address",
    ]


def test_the_folder_of_an_export_is_where_it_really_lies(tmp_path: Path) -> None:
    attached = pdf(tmp_path / "library" / "x.pdf")
    link = tmp_path / "refs.bib"
    link.symlink_to(export(tmp_path / "library", "x.pdf"))
    assert only(link).pdfs == (attached,)


def test_a_pdf_that_an_export_attaches_is_named_once(tmp_path: Path) -> None:
    attached, other = pdf(tmp_path / "x.pdf"), pdf(tmp_path / "y.pdf")
    wanted = read(attached, other, export(tmp_path, "x.pdf", "x.pdf"))
    assert wanted.files == (other,)
    assert [(paper.name, paper.pdfs) for paper in wanted.papers] == [("refs.bib: k0", (attached,))]


def test_an_export_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    large, empty, good = tmp_path / "large.bib", tmp_path / "empty.ris", export(tmp_path, "x.pdf", name="good.bib")
    large.write_text("@misc{k, doi={10.5555/x1}}\n" * 1000, "utf-8")
    empty.touch()
    pdf(tmp_path / "x.pdf")
    wanted = read(large, empty, good)
    assert [paper.name for paper in wanted.papers] == ["good.bib: k0"]
    assert [each.message for each in wanted.failures] == [
        "large.bib: larger than 10,000 bytes",
        "empty.ris: it has no entries",
    ]
