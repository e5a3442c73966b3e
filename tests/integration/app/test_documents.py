"""Documents through the library: added, listed, searched, brought up to date and removed."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path

import anyio
import numpy as np
import pytest

from asky.app.asky import Asky
from asky.app.corpus import raise_for_added
from asky.app.schemas.corpus import added_object
from asky.app.schemas.search import hits_object
from asky.errors import SourceError, SourceRefused, UsageError
from asky.events import Event
from asky.storage.vector_files import MIN_ROWS
from asky.storage.vectors import Pack, VectorTable
from tests.support.library import notes_of, open_asky


@pytest.fixture
def heard() -> list[Event]:
    return []


@pytest.fixture
def asky(tmp_path: Path, heard: list[Event]) -> Iterator[Asky]:
    with open_asky(tmp_path, heard.append) as opened:
        yield opened


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    folder = tmp_path / "docs"
    folder.mkdir()
    (folder / "tides.md").write_text("# Tides\n\nThe moon pulls the sea.\n")
    (folder / "bread.txt").write_text("Bread rises with yeast.\n")
    return folder


def test_a_folder_is_added_listed_searched_and_removed(asky: Asky, docs: Path, heard: list[Event]) -> None:
    async def main() -> None:
        added = await asky.corpus.add([docs])
        assert added_object(added)["reports"][0]["verdicts"] == {"indexed": 2}
        assert notes_of(heard)[0].startswith("2 of 2 files searchable (2 indexed)")
        assert [Path(each.source.path or "").name for each in asky.corpus.list_sources()] == ["bread.txt", "tides.md"]

        (hit,) = await asky.search.search("moon", limit=1)
        assert hit.source.title == "Tides"
        assert hits_object("moon", [hit])["hits"][0]["path"] == str(docs / "tides.md")

        removed = await asky.corpus.remove([str(docs / "tides.md")])
        assert (removed.documents, removed.kept_elsewhere) == (1, 0)
        assert removed.followed == ((str(docs / "tides.md"), str(docs)),)
        assert await asky.search.search("moon") == []
        assert (await asky.corpus.summarize()).sources == 1

    anyio.run(main)


def test_a_collection_follows_its_folder_until_it_is_removed(asky: Asky, docs: Path, heard: list[Event]) -> None:
    async def main() -> None:
        await asky.corpus.add([docs], collection="notes")
        (docs / "bread.txt").unlink()
        (docs / "rivers.txt").write_text("The Rhine is long.\n")
        synced = await asky.corpus.sync("notes")
        assert (synced.reports[0].verdicts, synced.reports[0].removed) == ({"indexed": 1, "unchanged": 1}, 1)
        assert await asky.corpus.rebuild("notes") is None

        removed = await asky.corpus.remove_collection("notes")
        assert (removed.documents, removed.roots) == (2, (str(docs),))
        assert asky.corpus.list_collections() == []
        with pytest.raises(UsageError, match="there is no collection 'notes'"):
            await asky.corpus.sync("notes")

    anyio.run(main)


def test_a_sync_without_changes_is_known_before_it_starts(asky: Asky, docs: Path, heard: list[Event]) -> None:
    add = partial(asky.corpus.add, collection="notes")
    anyio.run(add, [docs])
    (docs / "photo.xyz").write_bytes(b"\0\1")
    anyio.run(asky.corpus.sync, "notes")
    heard.clear()
    expected = anyio.run(asky.corpus.sync, "notes")
    said = notes_of(heard)
    heard.clear()
    found = asky.corpus.sync_unchanged("notes")
    assert found is not None
    assert replace(found.reports[0], seconds=0) == replace(expected.reports[0], seconds=0)
    assert found.reports[0].problems  # the photo
    assert notes_of(heard)[:-1] == said[:-1]
    assert notes_of(heard)[-1].rsplit(",")[0] == said[-1].rsplit(",")[0]  # up to the seconds

    def is_unchanged() -> bool:
        return asky.corpus.sync_unchanged("notes") is not None

    (docs / "bread.txt").write_text("Bread rises with yeast and time.\n")
    assert not is_unchanged()
    anyio.run(asky.corpus.sync, "notes")
    assert is_unchanged()
    (docs / "new.txt").write_text("New.\n")
    assert not is_unchanged()
    anyio.run(asky.corpus.add, [docs / "new.txt"])  # to another collection
    assert not is_unchanged()
    (docs / "new.txt").unlink()
    assert is_unchanged()
    (docs / "tides.md").unlink()
    assert not is_unchanged()
    anyio.run(asky.corpus.sync, "notes")
    assert is_unchanged()
    docs.rename(docs.with_name("moved"))
    assert not is_unchanged()
    with pytest.raises(UsageError, match="there is no collection 'nots'"):
        asky.corpus.sync_unchanged("nots")


def test_a_scope_is_resolved_once_for_many_queries(asky: Asky, docs: Path) -> None:
    async def main() -> None:
        scope = await asky.search.resolve([docs])
        found = [asky.search.search_in(scope, query) for query in ("moon", "yeast", "moon")]
        assert [hits[0].source.title for hits in found] == ["Tides", "bread.txt", "Tides"]
        with pytest.raises(UsageError, match="no documents are kept yet"):
            asky.search.resolve_collection()

    anyio.run(main)


def test_records_and_what_is_wrong_with_them(asky: Asky, tmp_path: Path) -> None:
    file = tmp_path / "records.jsonl"
    file.write_text(json.dumps({"id": 1, "text": "The numbat eats termites."}) + "\nnothing\n")
    added = anyio.run(partial(asky.corpus.add, records=file))
    assert [each.verdict for each in added.reports[0].problems] == ["failed"]
    raise_for_added(added)

    file.write_text("nothing\n")
    again = anyio.run(partial(asky.corpus.add, records=file, collection="other"))
    assert asky.corpus.list_collections() == ["default"]
    with pytest.raises(SourceError, match="none of 1 could be added"):
        raise_for_added(again)


def test_pages_that_cannot_be_added_are_errors_of_the_result(asky: Asky, docs: Path) -> None:
    async def main() -> None:
        private = "http://127.0.0.1:9/private"
        with pytest.raises(SourceRefused):
            await asky.corpus.add([private])
        added = await asky.corpus.add([docs, private])
        assert [type(each) for each in added.errors] == [SourceRefused]
        with pytest.raises(SourceRefused):
            raise_for_added(added)
        assert len(asky.corpus.list_sources()) == 2

    anyio.run(main)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ([], "nothing to add"),
        (["nowhere"], "nowhere: no such file or folder"),
        (["ftp://a.example/"], "ftp://a.example/: "),
    ],
)
def test_what_cannot_be_added_leaves_no_collection(asky: Asky, given: list[str], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        anyio.run(asky.corpus.add, given)
    assert asky.corpus.list_collections() == []


def test_what_cannot_be_searched_says_why(asky: Asky, docs: Path) -> None:
    with pytest.raises(UsageError, match="no documents are kept yet"):
        anyio.run(asky.search.search, "moon")
    anyio.run(asky.corpus.add, [docs])
    with pytest.raises(UsageError, match="the query is empty"):
        anyio.run(asky.search.search, " ")
    with pytest.raises(UsageError, match="nobody: not in this collection"):
        anyio.run(asky.corpus.remove, [str(docs / "tides.md"), "nobody"])
    assert len(asky.corpus.list_sources()) == 2


def test_one_path_in_place_of_several_is_a_mistake_of_the_caller(asky: Asky) -> None:
    with pytest.raises(TypeError, match="documents takes a sequence"):
        anyio.run(asky.corpus.add, "docs")
    with pytest.raises(TypeError, match="names takes a sequence"):
        anyio.run(asky.corpus.remove, "docs")


def test_a_closed_library_raises(asky: Asky) -> None:
    asky.close()
    for name in ("corpus", "search", "cache", "memory"):
        with pytest.raises(UsageError, match="this Asky is closed"):
            getattr(asky, name)


def test_removing_documents_takes_their_vectors_out_of_the_copy_that_processes_share(tmp_path: Path) -> None:
    (tmp_path / "kept.md").write_text("Kept.", "utf-8")
    (tmp_path / "removed.md").write_text("Removed.", "utf-8")
    with open_asky(tmp_path) as asky:
        anyio.run(partial(asky.corpus.add, [tmp_path / "kept.md", tmp_path / "removed.md"], embed=False))
        table = VectorTable(asky.services.database)
        space = table.space("fake", 4)
        for number, source in enumerate(asky.corpus.list_sources()):
            document = asky.services.corpus.current_document(source.source.id)
            assert document is not None
            first = 1 + number * MIN_ROWS
            ids = np.arange(first, first + MIN_ROWS, dtype="<i8").tobytes()
            table.put(space, [Pack(document, ids, np.full((MIN_ROWS, 4), first, "<f4").tobytes())])
        copies = asky.services.vector_files.blocks(space)
        assert all(block.is_mapped for block in copies)
    with open_asky(tmp_path) as asky:
        anyio.run(asky.corpus.remove, ["removed.md"])
    left = np.concatenate([np.frombuffer(block.vectors, "<f4") for block in copies])  # of a process that goes on
    assert np.unique(left).tolist() in ([0.0, 1.0], [0.0, float(1 + MIN_ROWS)])
    with open_asky(tmp_path) as asky:
        asky.cache.clear()
    assert not list((tmp_path / "asky" / "cache" / "vectors").rglob("*.vectors"))
