"""What is said of the files that a question is asked of."""

from __future__ import annotations

from pathlib import Path

import pytest

from asky.app.inputs import describe_unchanged, folder_collection, report_notes
from asky.events import FileRead, FileVerdict, Noted
from asky.research.corpus.report import OTHER_CONTENT, AcquireReport

ENCRYPTED = FileRead("docs/a.pdf", "encrypted", "it needs a password")
EMPTY = FileRead("docs/b.md", "empty")


def report(
    *problems: FileRead,
    indexed: int = 0,
    unchanged: int = 0,
    removed: int = 0,
    skipped: tuple[tuple[str, str, int], ...] = (),
) -> AcquireReport:
    """What became of files of which these cannot be searched."""
    verdicts: dict[str, int] = {"indexed": indexed, "unchanged": unchanged}
    for each in problems:
        verdicts[each.verdict] = verdicts.get(each.verdict, 0) + 1
    return AcquireReport(verdicts, problems, skipped, removed, 0, 1.26)


def unreadable(count: int, *suffixes: str) -> list[FileRead]:
    """So many files that no reader takes, with these suffixes in turn."""
    return [FileRead(f"docs/{n}{suffixes[n % len(suffixes)]}", "unsupported", "no reader") for n in range(count)]


def test_each_file_that_cannot_be_searched_has_a_line_and_all_have_one() -> None:
    assert list(report_notes(report(ENCRYPTED, EMPTY, indexed=1, unchanged=1200))) == [
        Noted("docs/a.pdf: encrypted: it needs a password"),
        Noted("docs/b.md: empty"),
        Noted("2 files were not read: 1 encrypted (a.pdf), 1 empty (b.md)"),
        Noted("1,201 of 1,203 files searchable (1 empty, 1 encrypted, 1 indexed, 1,200 unchanged), 1.3 s"),
    ]


@pytest.mark.parametrize(("verdict", "words"), [("no_text_layer", "no text layer"), ("too_large", "too large")])
def test_verdicts_are_told_in_words(verdict: FileVerdict, words: str) -> None:
    first, last = report_notes(report(FileRead("a", verdict, "why"), indexed=1))
    assert first.message == f"a: {words}: why"
    assert f"1 {words}" in last.message


def test_a_folder_without_documents_is_said_to_have_none() -> None:
    assert list(report_notes(report())) == [Noted("0 of 0 files searchable (nothing found), 1.3 s")]


def test_where_changes_alone_are_wanted_a_report_without_any_is_detail() -> None:
    notes = list(report_notes(report(ENCRYPTED, EMPTY, unchanged=3), changes_only=True))
    assert notes == [
        Noted("docs/a.pdf: encrypted: it needs a password", is_detail=True),
        Noted("docs/b.md: empty", is_detail=True),
    ]
    assert list(report_notes(report(unchanged=3), changes_only=True)) == []


@pytest.mark.parametrize("changed", [report(ENCRYPTED, indexed=1), report(ENCRYPTED, unchanged=1, removed=2)])
def test_where_changes_alone_are_wanted_a_report_of_some_is_told_whole(changed: AcquireReport) -> None:
    notes = list(report_notes(changed, changes_only=True))
    assert notes == list(report_notes(changed))
    assert not any(each.is_detail for each in notes)


def test_what_was_removed_is_counted() -> None:
    (last,) = report_notes(report(unchanged=2, removed=1500), changes_only=True)
    assert last == Noted("2 of 2 files searchable (2 unchanged, 1,500 removed), 1.3 s")


def test_of_files_that_no_reader_takes_fifty_are_named() -> None:
    notes = list(report_notes(report(*unreadable(50, ".xyz"), indexed=1)))
    assert len(notes) == 52
    assert not any(each.is_detail for each in notes)
    assert notes[-2].message == "50 files were not read: 50 of an unknown type (.xyz)"
    assert notes[0] == Noted("docs/0.xyz: unsupported: no reader")


def test_more_files_that_no_reader_takes_are_counted_by_kind_and_named_as_detail() -> None:
    notes = list(report_notes(report(ENCRYPTED, *unreadable(51, ".xyz", ".xyz", ".abc"), indexed=1)))
    told = [each.message for each in notes if not each.is_detail]
    assert told[0] == "docs/a.pdf: encrypted: it needs a password"
    assert told[1] == (
        "52 files were not read: 51 of an unknown type (.xyz, .abc), 1 encrypted (a.pdf) (-v names each)"
    )
    assert told[2].startswith("1 of 53 files searchable")
    assert len(told) == 3
    assert sum(each.is_detail for each in notes) == 51


def test_files_that_were_not_read_are_summed_up_by_kind() -> None:
    paths = [*(f"docs/{n}.PNG" for n in range(8)), "a.zip", "b.zip", "c.tar.gz", "site.min.js", "copy.min.js"]
    files = [FileRead(path, "unsupported", "no reader") for path in paths]
    scans = [FileRead(f"docs/{n}.pdf", "no_text_layer", "needs OCR") for n in range(5)]
    odd = FileRead("docs/fake.pdf", "unsupported", OTHER_CONTENT)
    (told,) = [
        each.message for each in report_notes(report(*files, *scans, odd, indexed=1)) if "not read" in each.message
    ]
    assert told == (
        "19 files were not read: 8 images (.png), 5 without text (0.pdf, 1.pdf, 2.pdf, ...), 3 archives (.zip, .gz), "
        "2 generated files (.min.js), 1 whose content does not match the name (fake.pdf)"
    )


def test_eight_kinds_are_told_and_the_rest_is_counted() -> None:
    suffixes = [".png", ".mp3", ".mp4", ".zip", ".exe", ".ttf", ".mdb", ".npz", ".doc", ".epub2"]
    told = [each.message for each in report_notes(report(*unreadable(10, *suffixes), indexed=1))]
    assert told[-2].endswith(", 1 data file (.npz), 2 others")


def test_one_file_that_was_not_read_is_named_and_not_summed_up() -> None:
    assert [each.message for each in report_notes(report(EMPTY, indexed=1))][:-1] == ["docs/b.md: empty"]


def test_files_are_summed_up_also_where_nothing_is_left_to_answer_from() -> None:
    several = list(report_notes(report(ENCRYPTED, EMPTY), changes_only=True))
    assert [each.message for each in several if not each.is_detail] == [
        "2 files were not read: 1 encrypted (a.pdf), 1 empty (b.md) (-v names each)"
    ]
    assert list(report_notes(report(ENCRYPTED), changes_only=True)) == [
        Noted("docs/a.pdf: encrypted: it needs a password")
    ]


def test_kinds_are_not_counted_where_nothing_has_changed() -> None:
    notes = list(report_notes(report(*unreadable(51, ".xyz"), unchanged=1), changes_only=True))
    assert len(notes) == 51
    assert all(each.is_detail for each in notes)


def test_what_was_passed_over_on_purpose_is_detail() -> None:
    notes = list(report_notes(report(indexed=1, skipped=((".git", "hidden", 1200),))))
    assert notes[0] == Noted("skipped 1,200: hidden (the first: .git)", is_detail=True)
    assert not notes[1].is_detail


@pytest.mark.parametrize(
    ("unchanged", "told"),
    [
        (report(unchanged=1), "1 document, nothing new"),
        (report(unchanged=1200), "1,200 documents, nothing new"),
        (report(ENCRYPTED, unchanged=2), "2 of 3 files, nothing new"),
        (report(ENCRYPTED, EMPTY), "none of its 2 files can be searched"),
        (report(), "no documents were found in it"),
    ],
)
def test_a_folder_in_which_nothing_has_changed_is_described(unchanged: AcquireReport, told: str) -> None:
    assert describe_unchanged(unchanged) == told


def test_two_ways_to_one_folder_have_one_collection(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "link").symlink_to("docs")
    monkeypatch.chdir(tmp_path)
    names = {folder_collection(each) for each in (Path("docs"), Path("link"), tmp_path / "docs" / ".." / "docs")}
    assert names == {f"folder {tmp_path.resolve() / 'docs'}"}
