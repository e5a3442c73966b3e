"""Folders into the corpus: verdicts, what is not done again, and what a kill leaves behind."""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import TypeVar

import anyio
import pytest

from asky.config.schema import Chunking, Retrieval
from asky.errors import Interrupted
from asky.events import Noted
from asky.reading import scanned_pages
from asky.reading.limits import ReadLimits
from asky.reading.process.pool import ReaderPool
from asky.research.corpus.acquire import Acquirer
from asky.research.corpus.files import FileSelection
from asky.research.corpus.ingest import Ingester
from asky.research.corpus.records import open_lines
from asky.research.corpus.report import AcquireReport
from asky.research.local.files import LocalRoots
from asky.research.local.opened import LocalFile, OpenedFile
from asky.storage.scope import Scope
from asky.values import Document
from tests.support.embedding import FakeEmbedder
from tests.support.files import PrintedLine, column_of, pdf, printed_pdf, scanned_pdf, with_scan
from tests.support.search_store import SearchStore

T = TypeVar("T")


class CountingReaders(ReaderPool):
    """A real pool that notes what it was asked to parse."""

    def __init__(self, limits: ReadLimits) -> None:
        super().__init__(limits, workers=2)
        self.parsed: list[str] = []

    def read(self, data: bytes, *, name: str, media_type: str) -> Document:
        self.parsed.append(name)
        return super().read(data, name=name, media_type=media_type)


class Library:
    """A store, readers and an acquirer over a folder of documents."""

    def __init__(self, folder: Path) -> None:
        self.docs = folder / "docs"
        self.docs.mkdir()
        self.store = SearchStore(folder / "home", settings=Retrieval(engine="exact"))
        self.readers = CountingReaders(ReadLimits(max_bytes=1 << 20, timeout_s=60))
        ingester = Ingester(
            self.store.database,
            self.store.corpus,
            self.store.search,
            chunking=Chunking(max_tokens=40, overlap_tokens=0),
        )
        self.acquirer = Acquirer(
            self.store.database,
            self.store.corpus,
            self.store.search,
            ingester,
            self.readers,
            max_file_bytes=1 << 20,
            workers=2,
            listener=self.store.heard.append,
        )

    def write(self, name: str, text: str) -> Path:
        path = self.docs / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
        return path

    def run(self, work: Callable[[], Awaitable[T]]) -> T:
        return anyio.run(work)

    def sync(self) -> AcquireReport:
        """Sync, then embed what is new; `parsed` and `embedded` then hold only what this one did."""
        self.readers.parsed.clear()
        self.embedder.embedded.clear()
        report = self.run(lambda: self.acquirer.sync(self.store.collection, LocalRoots([self.docs])))
        self.run(lambda: self.acquirer.embed(self.store.scope))
        return report

    @property
    def embedder(self) -> FakeEmbedder:
        assert isinstance(self.store.embedder, FakeEmbedder)
        return self.store.embedder

    def close(self) -> None:
        self.readers.close()
        self.store.close()


@pytest.fixture
def library(tmp_path: Path) -> Iterator[Library]:
    opened = Library(tmp_path)
    yield opened
    opened.close()


def paragraphs(count: int, subject: str) -> str:
    return "\n\n".join(
        f"Paragraph {number} about {subject} " + f"word{number} " * 30 + "end." for number in range(count)
    )


def test_an_unchanged_tree_is_neither_opened_nor_embedded_again(library: Library) -> None:
    for number in range(30):
        library.write(f"sub{number % 3}/note{number}.md", paragraphs(3, f"thing {number}"))
    first = library.sync()
    assert first.verdicts == {"indexed": 30}
    assert len(library.embedder.embedded) > 30
    again = library.sync()
    assert again.verdicts == {"unchanged": 30}
    assert library.readers.parsed == []
    assert library.embedder.embedded == []


class GrowingRoots(LocalRoots):
    """Folders in which a file that is opened has just grown, and grows again before its content is taken."""

    def open_file(self, file: LocalFile) -> OpenedFile:
        append(file.path, "The second line came before the log was opened.\n")
        opened = super().open_file(file)
        append(file.path, "The third line came while it was open.\n")
        return opened


def append(path: Path, line: str) -> None:
    with path.open("a", encoding="utf-8") as log:
        log.write(line)


def test_a_log_that_grows_while_it_is_read_is_read_as_far_as_it_went_and_again_the_next_time(library: Library) -> None:
    log = library.write("server.log", "The first line was there.\n")
    roots = GrowingRoots([library.docs])
    first = library.run(lambda: library.acquirer.sync(library.store.collection, roots))
    assert first.verdicts == {"indexed": 1}
    (hit,) = library.store.search.search_content_chunks("third line", Scope(), limit=5)
    assert hit.text == log.read_text("utf-8").rstrip()
    append(log, "The fourth line came later.\n")
    assert library.sync().verdicts == {"indexed": 1}
    assert library.readers.parsed == ["server.log"]
    (hit,) = library.store.search.search_content_chunks("fourth line", Scope(), limit=5)
    assert hit.text == log.read_text("utf-8").rstrip()
    assert library.sync().verdicts == {"unchanged": 1}


def test_a_log_is_read_again_also_if_nothing_was_added_since_it_grew_under_the_reader(library: Library) -> None:
    library.write("server.log", "The first line was there.\n")
    roots = GrowingRoots([library.docs])
    library.run(lambda: library.acquirer.sync(library.store.collection, roots))
    assert library.sync().verdicts == {"indexed": 1}
    assert library.sync().verdicts == {"unchanged": 1}


def test_a_file_is_found_by_the_words_of_its_name(library: Library) -> None:
    library.write("api/ip-addresses.md", "They are listed below.\n")
    library.write("other.md", "Nothing of that kind.\n")
    library.sync()
    (hit, *_) = library.store.search.search_content_chunks("IP addresses", Scope(), limit=5)
    assert hit.source.uri.endswith("ip-addresses.md")


def test_a_renamed_file_is_neither_parsed_nor_embedded_again(library: Library) -> None:
    path = library.write("old.md", paragraphs(3, "the moon"))
    library.sync()
    path.rename(library.docs / "new.md")
    report = library.sync()
    assert report.removed == 1
    assert report.verdicts == {"indexed": 1}
    assert library.readers.parsed == []
    assert library.embedder.embedded == []
    assert library.store.found("moon")[0].endswith("new.md")


def test_a_paper_and_its_copy_carry_title_authors_date_and_doi(library: Library) -> None:
    lines: list[PrintedLine] = [
        (120, 80, "On the Mills of the Upper River", 18, "hebo"),
        (200, 110, "Ada Miller and Bo Weir", 11, "helv"),
        (60, 140, "https://doi.org/10.5555/mills.7", 9, "helv"),
        (60, 155, "Published: 30 August 2018", 9, "helv"),
        *column_of(paragraphs(2, "mills"), 60, 230, 90),
    ]
    for name in ("a.pdf", "copy of a.pdf"):
        (library.docs / name).write_bytes(printed_pdf([lines]))
        library.sync()
    sources = library.store.corpus.sources(library.store.scope)
    assert [each.title for each in sources] == ["On the Mills of the Upper River"] * 2
    assert {each.authors for each in sources} == {("Ada Miller", "Bo Weir")}
    assert {(each.published, each.doi) for each in sources} == {("2018-08-30", "10.5555/mills.7")}
    assert library.readers.parsed == []  # the copy was not parsed


def test_files_that_change_places_are_read_again_and_found(library: Library) -> None:
    moon, bread = library.write("a.md", paragraphs(2, "the moon")), library.write("b.md", paragraphs(2, "bread"))
    library.sync()
    aside = moon.rename(library.docs / "aside")
    bread.rename(library.docs / "a.md")
    aside.rename(library.docs / "b.md")
    assert library.sync().verdicts == {"indexed": 2}
    assert library.store.found("bread")[0].endswith("a.md")
    assert library.store.found("moon")[0].endswith("b.md")


def test_a_moved_file_whose_name_another_took_keeps_its_vectors(library: Library) -> None:
    path = library.write("a.md", paragraphs(2, "the moon"))
    library.sync()
    path.rename(library.docs / "z.md")
    library.write("a.md", paragraphs(1, "bread"))
    assert library.sync().verdicts == {"indexed": 2}
    assert library.readers.parsed == ["a.md"]
    assert all("bread" in each for each in library.embedder.embedded)
    assert library.store.found("moon")[0].endswith("z.md")


def test_trouble_with_the_reading_itself_ends_the_sync_with_its_own_error(library: Library) -> None:
    library.write("a.md", paragraphs(1, "the moon"))
    library.readers.close()
    with pytest.raises(Interrupted):
        library.sync()
    assert library.store.found("moon") == []


def test_an_edited_file_embeds_only_its_changed_chunks(library: Library) -> None:
    path = library.write("a.txt", paragraphs(12, "tides"))
    library.sync()
    everything = len(library.store.documents.chunk_ids(1))
    path.write_text(path.read_text().replace("Paragraph 7 about tides", "Paragraph 7 about currents"))
    library.sync()
    assert everything > 10
    assert 1 <= len(library.embedder.embedded) <= 2
    assert library.store.found("currents")


def test_a_touched_file_with_the_same_bytes_is_not_parsed(library: Library) -> None:
    path = library.write("a.txt", paragraphs(2, "tides"))
    library.sync()
    os.utime(path, ns=(1, 1))
    library.sync()
    assert library.readers.parsed == []
    assert library.embedder.embedded == []
    assert library.sync().verdicts == {"unchanged": 1}


def test_a_removed_file_is_forgotten(library: Library) -> None:
    path = library.write("a.txt", paragraphs(2, "tides"))
    library.write("b.txt", paragraphs(2, "bread"))
    library.sync()
    path.unlink()
    assert library.sync().removed == 1
    assert [each.rsplit("/", 1)[1] for each in library.store.found("tides bread")] == ["b.txt"] * len(
        library.store.found("tides bread")
    )


def test_every_bad_file_is_named_and_the_good_ones_are_there(library: Library) -> None:
    library.write("good.md", paragraphs(2, "the moon"))
    library.write("empty.txt", "  \n")
    library.write("broken.pdf", "%PDF-1.7 and then nothing of the kind")
    library.write("fake.pdf", "not a PDF at all")
    library.write("program.exe", "MZ")
    library.write(".env", "SECRET=1")
    library.write("server.pem", "-----BEGIN")
    os.mkfifo(library.docs / "pipe.txt")
    (library.docs / "loop").symlink_to(library.docs)
    (library.docs / "away.txt").symlink_to("/etc/hostname")
    with (library.docs / "sparse.txt").open("wb") as file:
        file.truncate(2 << 30)
    Path(os.fsdecode(os.fsencode(library.docs) + b"/\xff\xfe.txt")).write_text("the moon by another name")
    report = library.sync()
    verdicts = {each.path: each.verdict for each in report.problems}
    assert report.verdicts["indexed"] == 2
    assert verdicts["empty.txt"] == "empty"
    assert verdicts["broken.pdf"] == "failed"
    assert verdicts["fake.pdf"] == "unsupported"
    assert verdicts["program.exe"] == "unsupported"
    assert verdicts["pipe.txt"] == "refused"
    assert verdicts[".env"] == "refused"
    assert verdicts["server.pem"] == "refused"
    assert verdicts["away.txt"] == "refused"
    assert verdicts["sparse.txt"] == "too_large"
    assert all(each.why for each in report.problems)
    second = library.sync()
    assert {each.path: each.verdict for each in second.problems} == verdicts
    assert library.readers.parsed == []


@pytest.mark.extended
@pytest.mark.slow
def test_scans_are_read_again_once_what_reads_them_is_installed(
    library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    (library.docs / "scan.pdf").write_bytes(scanned_pdf(2))
    (library.docs / "mixed.pdf").write_bytes(with_scan(pdf(["The moon raises two high tides a day."])))
    (library.docs / "typed.pdf").write_bytes(pdf(["The quay is closed on Sundays."]))
    monkeypatch.setattr(scanned_pages, "is_ocr_available", lambda: False)
    assert library.sync().verdicts == {"indexed": 2, "no_text_layer": 1}
    (note,) = [each.message for each in library.store.heard if isinstance(each, Noted)]
    assert note == f"2 files (mixed.pdf, ...) have scanned pages that were not read: {scanned_pages.OCR_HINT}"
    library.sync()
    assert library.readers.parsed == []
    monkeypatch.setattr(scanned_pages, "is_ocr_available", lambda: True)
    library.sync()
    assert sorted(library.readers.parsed) == ["mixed.pdf", "scan.pdf"]
    for is_installed in (True, False):
        monkeypatch.setattr(scanned_pages, "is_ocr_available", lambda here=is_installed: here)
        assert library.sync().verdicts == {"unchanged": 2, "no_text_layer": 1}
        assert library.readers.parsed == []


@pytest.mark.skipif(os.geteuid() == 0, reason="root may look into every folder")
def test_files_of_a_folder_that_cannot_be_looked_into_are_kept(library: Library) -> None:
    library.write("closed/a.txt", paragraphs(1, "tides"))
    library.sync()
    folder = library.docs / "closed"
    folder.chmod(0)
    try:
        assert library.sync().removed == 0
    finally:
        folder.chmod(stat.S_IRWXU)


def test_records_come_back_under_their_own_ids(library: Library, tmp_path: Path) -> None:
    lines = [
        {"id": "q-1", "text": "The moon pulls the sea.", "title": "Tides", "url": "https://example.org/tides"},
        {"id": 2, "text": "Bread rises.", "metadata": {"year": 1999}},
        {"id": "q-1", "text": "The moon pulls the sea twice a day.", "title": "Tides"},
    ]
    file = tmp_path / "records.jsonl"
    file.write_text("\n".join(map(json.dumps, lines)) + "\nnot json\n[]\n" + '{"id": 3}\n')

    async def add() -> AcquireReport:
        with open_lines(file) as lines:
            return await library.acquirer.add_records(library.store.collection, "default", lines, file.name)

    report = library.run(add)
    assert report.verdicts == {"indexed": 2, "duplicate": 1, "failed": 3}
    assert [each.path for each in report.problems] == [f"records.jsonl:{line}" for line in (1, 4, 5, 6)]
    hits = library.store.search.search_content_chunks("moon sea", library.store.scope, limit=5)
    assert hits[0].source.external_id == "q-1"
    assert hits[0].source.title == "Tides"
    assert hits[0].text == "The moon pulls the sea twice a day."
    assert [hit.source.external_id for hit in hits].count("q-1") == 1


def test_offsets_of_every_hit_are_those_of_the_stored_text(library: Library) -> None:
    library.write("guide.md", "# Guide\n\nIntro text.\n\n## Tides\n\n" + paragraphs(6, "tides"))
    library.sync()
    hits = library.store.search.search_content_chunks("tides paragraph 3", library.store.scope, limit=10)
    assert hits
    for hit in hits:
        assert library.store.documents.text(hit.document_id)[hit.span.start : hit.span.end] == hit.text
        assert hit.location.section is not None


def test_a_selection_says_which_files_are_kept_and_as_what(library: Library) -> None:
    for name in ("a.md", "b.md", "c.csv"):
        library.write(name, "name,value\nAda,1\n")
    library.sync()
    notes = library.store.corpus.collection("notes", create=True)
    chosen = FileSelection("note", lambda relative: None if relative.endswith(".md") else "no note")
    roots = LocalRoots([library.docs])
    report = library.run(lambda: library.acquirer.sync(notes, roots, chosen))
    assert report.verdicts == {"indexed": 2}
    assert report.skipped == (("c.csv", "no note", 1),)
    kinds = {each.path: each.kind for each in library.store.corpus.sources(Scope())}
    assert sorted(kinds.values()) == ["file", "note", "note"]
    library.write("a.md", "changed")
    library.sync()  # as files, too: a note stays one
    assert kinds == {each.path: each.kind for each in library.store.corpus.sources(Scope())}
    unchanged = library.acquirer.sync_unchanged(notes, roots, chosen)
    assert unchanged is not None
    assert unchanged.verdicts == {"unchanged": 2}
    nothing = FileSelection("note", "{} is no note".format)
    assert library.run(lambda: library.acquirer.sync(notes, roots, nothing)).verdicts == {}
    assert library.store.corpus.sources(Scope((notes,))) == []
