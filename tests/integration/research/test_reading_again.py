"""Files that an earlier version read, files that another collection has, and names that people give to files."""

from __future__ import annotations

import os
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import anyio
import pytest

from asky.events import Noted
from asky.research.local.files import LocalRoots
from asky.storage.runs import RunStore
from asky.values import Evidence, Location, Source, Span, source_id
from tests.integration.research.test_acquire import Library, paragraphs

OLD = "Tides are read as an old reader read them.\n"


@pytest.fixture
def library(tmp_path: Path) -> Iterator[Library]:
    opened = Library(tmp_path)
    yield opened
    opened.close()


def read_by_an_earlier_version(library: Library) -> None:
    with library.store.database.write() as connection:
        connection.execute("UPDATE source SET read_with = NULL")


def notes_of(library: Library) -> list[str]:
    return [event.message for event in library.store.heard if isinstance(event, Noted)]


def test_unchanged_files_of_an_earlier_version_are_read_again_once(library: Library) -> None:
    for number in range(3):
        library.write(f"note{number}.md", paragraphs(2, f"thing {number}"))
    library.write("empty.txt", " ")
    library.sync()
    read_by_an_earlier_version(library)
    report = library.sync()
    assert report.verdicts == {"indexed": 3, "empty": 1}
    assert len(library.readers.parsed) == 4
    assert library.embedder.embedded == []  # the text is the same
    assert notes_of(library) == ["reading 4 files again: this version reads them better"]
    assert library.sync().verdicts == {"unchanged": 3, "empty": 1}
    assert len(notes_of(library)) == 1


def test_a_citation_keeps_the_text_of_the_earlier_version(library: Library) -> None:
    path = library.write("tides.md", OLD)
    library.sync()
    before = library.store.corpus.current_document(source_id(path.as_uri()))
    assert before is not None
    runs = RunStore(library.store.database)
    run = runs.start(question="q", mode="research", model="m", session_id=None)
    source = Source(source_id(path.as_uri()), "file", path.as_uri(), "tides")
    sha256, _ = library.store.documents.digest(before)
    runs.show(run.id, [Evidence("Pabcd", source, before, sha256, Span(0, 5), "Tides", Location())])
    stat = path.stat()
    path.write_text(OLD.replace("an old", "the new"))  # stands for a reader that makes something else of it
    os.truncate(path, stat.st_size)
    os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns))
    read_by_an_earlier_version(library)
    library.sync()
    now = library.store.corpus.current_document(source_id(path.as_uri()))
    assert now not in (None, before)
    assert library.store.documents.text(before) == OLD
    (hit,) = library.store.search.search_content_chunks("reader", library.store.scope, limit=5)
    assert (hit.document_id, "the new" in hit.text) == (now, True)


def test_the_text_of_an_earlier_version_is_not_given_to_a_copy(library: Library) -> None:
    library.write("a.md", paragraphs(2, "tides"))
    library.sync()
    read_by_an_earlier_version(library)
    library.write("b.md", paragraphs(2, "tides"))
    library.sync()
    assert sorted(library.readers.parsed) == ["a.md", "b.md"]
    library.write("c.md", paragraphs(2, "tides"))
    library.sync()
    assert library.readers.parsed == []


def test_another_collection_takes_over_what_was_read_with_its_title_and_metadata(library: Library) -> None:
    library.write("tides.md", "---\nauthor: A. Writer\n---\n# The tides\n\nThe moon pulls the sea.\n")
    library.write("empty.txt", " ")
    library.sync()
    library.readers.parsed.clear()
    other = library.store.corpus.collection("other", create=True)
    report = anyio.run(partial(library.acquirer.sync, other, LocalRoots([library.docs])))
    assert report.verdicts == {"indexed": 1, "empty": 1}
    assert library.readers.parsed == []
    (source,) = [each for each in library.store.corpus.sources(library.store.scope) if each.title != "empty.txt"]
    assert (source.title, source.authors) == ("The tides", ("A. Writer",))
    assert anyio.run(partial(library.acquirer.sync, other, LocalRoots([library.docs]))).verdicts == {
        "unchanged": 1,
        "empty": 1,
    }


def test_a_copy_has_its_own_name_and_the_metadata_of_the_text(library: Library) -> None:
    text = "---\nauthor: A. Writer\n---\nThe moon pulls the sea.\n"
    library.write("tides.md", text)
    library.sync()
    library.write("copies/moon.md", text)
    library.sync()
    assert library.readers.parsed == []
    found = {each.title: each.authors for each in library.store.corpus.sources(library.store.scope)}
    assert found == {"tides": ("A. Writer",), "moon": ("A. Writer",)}
    assert library.store.found("copies")[0].endswith("moon.md")


def test_files_are_found_by_the_words_of_their_names_and_folders(library: Library) -> None:
    library.write("api-ip-addresses.md", "Outbound requests come from these.\n")
    library.write("courier/retry.txt", "It waits a second, then two.\n")
    library.write("Recipes/Tart.md", "---\ntags: [dessert]\nrating: 7\n---\n")
    library.sync()
    assert library.store.found("IP addresses")[0].endswith("api-ip-addresses.md")
    assert library.store.found("retry")[0].endswith("retry.txt")
    assert library.store.found("Which recipes are tagged dessert?")[0].endswith("Tart.md")


def test_any_name_can_be_read(library: Library) -> None:
    names = [
        b"x" * 252 + b".md",
        "🎉 party.md".encode(),
        "מדריך.md".encode(),
        b"\xff\xfe caf\xe9.md",
        b"20240101.md",
        b"7.md",
    ]
    for name in names:
        Path(os.fsdecode(os.fsencode(library.docs) + b"/" + name)).write_text("The moon pulls the sea.\n")
    report = library.sync()
    assert report.verdicts == {"indexed": len(names)}
    titles = {each.title for each in library.store.corpus.sources(library.store.scope)}
    assert {"🎉 party", "מדריך", "\\xff\\xfe caf\\xe9", "20240101", "7"} < titles
    assert len(library.store.found("מדריך", limit=1)) == 1
    assert library.sync().verdicts == {"unchanged": len(names)}
