"""A vault as a collection of notes: indexing, finding, listing, links and embeds, over a real store."""

from __future__ import annotations

import math
from collections.abc import Awaitable, Callable, Iterator, Sequence
from pathlib import Path
from typing import TypeVar

import anyio
import pytest

from asky.config.schema import Chunking, Retrieval
from asky.errors import AskyError, SourceRefused, SourceUnreadable, UsageError
from asky.notes.catalog import IndexedNotes, NoteCatalog, NoteHit
from asky.notes.embeds import MAX_CHARACTERS, MAX_DEPTH
from asky.notes.vault import Vault
from asky.reading.limits import ReadLimits
from asky.reading.process.pool import ReaderPool
from asky.research.corpus.acquire import Acquirer
from asky.research.corpus.ingest import Ingester
from asky.research.local.files import LocalRoots
from asky.research.local.opening import make_opener
from tests.support.embedding import FakeEmbedder
from tests.support.search_store import SearchStore

T = TypeVar("T")


class CountingOpener:
    """The machine's own way to open files, which counts them."""

    def __init__(self) -> None:
        self.opened: list[str] = []
        self._open = make_opener()

    def __call__(self, folder: int, parts: Sequence[str]) -> tuple[int, tuple[str, ...]]:
        self.opened.append("/".join(parts))
        return self._open(folder, parts)


class World:
    """A vault in a folder, and its catalog."""

    def __init__(self, folder: Path) -> None:
        self.root = folder / "vault"
        self.root.mkdir()
        self.store = SearchStore(folder / "home", settings=Retrieval(engine="exact"))
        self.readers = ReaderPool(ReadLimits(timeout_s=60), workers=1)
        ingester = Ingester(
            self.store.database, self.store.corpus, self.store.search, chunking=Chunking(40, overlap_tokens=0)
        )
        acquirer = Acquirer(
            self.store.database,
            self.store.corpus,
            self.store.search,
            ingester,
            self.readers,
            max_file_bytes=1 << 20,
            workers=1,
            listener=self.store.heard.append,
        )
        self.opener = CountingOpener()
        vault = Vault(self.root)
        vault.roots = LocalRoots([self.root], opener=self.opener)
        self.notes = NoteCatalog(vault, self.store.corpus, self.store.search, acquirer, self.readers)

    def write(self, name: str, text: str) -> None:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode())

    def run(self, work: Callable[[], Awaitable[T]]) -> T:
        return anyio.run(work)

    def index(self) -> IndexedNotes:
        self.opener.opened.clear()
        self.embedder.embedded.clear()
        return self.run(self.notes.index)

    def find(self, query: str, mode: str = "hybrid", n_results: int = 5) -> list[NoteHit]:
        return self.run(lambda: self.notes.find_notes(query, mode, n_results))

    def read(self, name: str) -> str:
        return self.run(lambda: self.notes.read_note(name))

    @property
    def embedder(self) -> FakeEmbedder:
        assert isinstance(self.store.embedder, FakeEmbedder)
        return self.store.embedder

    def close(self) -> None:
        self.readers.close()
        self.store.close()


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    opened = World(tmp_path)
    yield opened
    opened.close()


# indexing


def test_an_index_opens_what_has_changed_and_embeds_only_its_own_passages(world: World) -> None:
    for number in range(20):
        world.write(f"{number % 3}/note {number}.md", f"# Note {number}\n\nThing {number} lies on a shelf.\n")
    world.write("long.md", "\n\n".join(f"Paragraph {n} about tides. " + f"word{n} " * 30 for n in range(10)))
    world.write("picture.png", "no text")
    world.write("note (Conflicted copy laptop 202607011230).md", "# Note\n")
    first = world.index()
    assert first.report.verdicts == {"indexed": 21}
    assert sorted((reason, count) for _, reason, count in first.report.skipped) == [
        ("copies of conflicting edits", 1),
        ("no notes", 1),
    ]
    assert len(world.opener.opened) == 21
    assert len(world.embedder.embedded) == first.embedded == 30
    again = world.index()
    assert (again.report.verdicts, again.embedded) == ({"unchanged": 21}, 0)
    assert (world.opener.opened, world.embedder.embedded) == ([], [])
    assert world.notes.index_unchanged() is not None
    text = (world.root / "long.md").read_text("utf-8")
    world.write("long.md", text.replace("Paragraph 4 about tides", "Paragraph 4 about currents"))
    assert world.notes.index_unchanged() is None
    changed = world.index()
    assert changed.report.verdicts == {"unchanged": 20, "indexed": 1}
    assert world.opener.opened == ["long.md"]
    assert 1 <= len(world.embedder.embedded) <= 2
    assert all("4" in each for each in world.embedder.embedded)
    (world.root / "long.md").unlink()
    assert world.index().report.removed == 1


def test_notes_are_private_sources_of_their_own_kind(world: World) -> None:
    world.write("a.md", "About tides.")
    world.index()
    (source,) = world.store.corpus.sources(world.notes.scope())
    assert (source.kind, source.path, source.title) == ("note", str(world.root / "a.md"), "a")
    assert world.store.corpus.roots(world.store.corpus.collection(world.notes.collection)) == []


def test_nothing_is_found_or_listed_before_the_first_index(world: World) -> None:
    for ask in (lambda: world.find("x"), world.notes.list_notes, world.notes.scope):
        with pytest.raises(UsageError, match="the notes are not indexed yet"):
            ask()
    assert world.notes.index_unchanged() is None


# finding


def test_each_note_is_found_once_with_its_best_passage(world: World) -> None:
    other = "## Other\n\n" + "Boats lie in the harbour. " * 12
    moon = "## Moon\n\n" + "The **moon** makes the [[Sea|sea]] rise in tides. " * 6
    world.write("sea/Tides.md", f"# Tides\n\n{other}\n\n{moon}\n\n{other}")
    world.write("Bread.md", "Yeast makes bread rise.")
    world.index()
    first, *others = world.find("moon tides")
    assert (first.path, first.title, first.heading) == ("sea/Tides.md", "Tides", "Tides › Moon")
    assert "The moon makes the sea rise in tides." in first.snippet
    assert [each.path for each in others] == ["Bread.md"]
    assert first.score > others[0].score
    assert first.hit.source.kind == "note"
    assert [each.path for each in world.find("moon tides", n_results=1)] == ["sea/Tides.md"]


def test_meaning_and_words_find_notes_alone(world: World) -> None:
    world.write("Tides.md", "The moon makes the tides.")
    world.write("Bread.md", "Yeast makes gas.")
    world.index()
    assert [each.path for each in world.find("moon", "keyword")] == ["Tides.md"]
    assert len(world.find("moon", "semantic")) == 2
    assert world.find("zebra", "keyword") == []


def test_a_mode_that_does_not_exist_is_named_with_those_that_do(world: World) -> None:
    with pytest.raises(UsageError) as caught:
        world.find("x", "fuzzy")
    assert caught.value.message == "Invalid mode: 'fuzzy'. Must be 'hybrid', 'semantic', 'keyword'."
    with pytest.raises(UsageError, match="the query is empty"):
        world.find(" ")
    with pytest.raises(UsageError, match="at least 1"):
        world.find("x", n_results=0)


# names, tags and links


def test_notes_are_listed_with_titles_aliases_and_tags(world: World) -> None:
    world.write(
        "Recipes/Rye.md", "---\ntitle: Rye bread\naliases: [Roggen, Black bread]\ntags: [Bread]\n---\n#grain/rye\n"
    )
    world.write("Recipes/Old/Oats.md", "#grain")
    world.write("Index.md", "Nothing.")
    world.index()
    listed = world.notes.list_notes()
    assert [each.path for each in listed] == ["Index.md", "Recipes/Old/Oats.md", "Recipes/Rye.md"]
    rye = listed[-1]
    assert (rye.title, rye.aliases, rye.tags) == ("Rye bread", ("Roggen", "Black bread"), ("Bread", "grain/rye"))
    assert [each.path for each in world.notes.list_notes("Recipes/Old")] == ["Recipes/Old/Oats.md"]
    assert len(world.notes.list_notes("Recipes/")) == 2
    assert len(world.notes.list_notes(tag="#Grain")) == 2
    assert [each.path for each in world.notes.list_notes(tag="grain/rye")] == ["Recipes/Rye.md"]
    assert world.notes.list_notes(tag="gra") == []
    with pytest.raises(UsageError, match="no folder with notes"):
        world.notes.list_notes("Recip")
    assert world.find("Roggen", "keyword")[0].path == "Recipes/Rye.md"


def test_links_lead_to_notes_and_back(world: World) -> None:
    world.write("Hub.md", "[[rye]] [[Rye#Flour|x]] ![[Rye]] [[Nowhere]] ![[map.png]] [[Hub]] [[#Top]] `[[Code]]`")
    world.write("Bread/Rye.md", "See [the hub](../Hub.md).")
    world.write("Code.md", "%%[[Hub]]%%")
    world.index()
    links = [(each.target, each.path, each.kind, each.is_embed) for each in world.notes.links("Hub")]
    assert links == [
        ("rye", "Bread/Rye.md", "note", False),
        ("Rye", "Bread/Rye.md", "note", False),
        ("Rye", "Bread/Rye.md", "note", True),
        ("Nowhere", None, "missing", False),
        ("map.png", None, "file", True),
        ("Hub", "Hub.md", "note", False),
    ]
    assert [each.path for each in world.notes.backlinks("Rye")] == ["Hub.md"]
    assert [each.path for each in world.notes.backlinks("Hub.md")] == ["Bread/Rye.md"]
    assert world.notes.backlinks("Code.md") == []


def test_a_note_is_named_by_path_or_as_a_link_names_it(world: World) -> None:
    world.write("Bread/Rye.md", "x")
    for name in ("Bread/Rye.md", "rye", "Rye.md", "Bread/Rye", str(world.root / "Bread/Rye.md")):
        assert world.notes.note(name).relative == "Bread/Rye.md"
    for name in ("Ryes", "rye.txt"):
        with pytest.raises(UsageError, match="not found"):
            world.notes.note(name)
    with pytest.raises(SourceRefused, match="outside the vault"):
        world.notes.note("../Rye")


# reading


def test_embeds_show_the_note_the_part_or_the_block_that_they_name(world: World) -> None:
    world.write(
        "Rye.md",
        "---\ntags: [x]\n---\nIntro\n\n# Flour & water\n\nMix.\n\n## Salt\n\nA pinch. ^pinch\n\n# Bake\n\nHot.\n",
    )
    world.write(
        "Hub.md",
        "A ![[Rye]] B\n![[Rye#Flour water]]\n![[Rye#Flour & water#Salt]]\n![[Rye#^pinch]]\n"
        "![[map.png]] ![[Nowhere]] ![[Rye#Sugar]] ![[Rye#^none]] `![[Rye]]`\n",
    )
    assert world.read("Hub") == (
        "A Intro\n\n# Flour & water\n\nMix.\n\n## Salt\n\nA pinch. ^pinch\n\n# Bake\n\nHot. B\n"
        "# Flour & water\n\nMix.\n\n## Salt\n\nA pinch. ^pinch\n## Salt\n\nA pinch. ^pinch\nA pinch.\n"
        "![[map.png]] (The embedded note 'Nowhere' does not exist.) (The embedded note 'Rye' has no part 'Sugar'.)"
        " (The embedded note 'Rye' has no part '^none'.) `![[Rye]]`\n"
    )
    assert world.read("Rye.md").startswith("---\ntags")


def test_embeds_that_go_in_circles_or_too_deep_say_so(world: World) -> None:
    world.write("a.md", "a ![[a]] ![[b]] ![[#Top]]\n# Top\nt ![[#Top]]")
    world.write("b.md", "b ![[a]]")
    text = world.read("a")
    assert text == (
        "a (The note 'a' embeds itself.) b (The note 'a' embeds itself.) # Top\nt (The note '#Top' embeds itself.)\n"
        "# Top\nt # Top\nt (The note '#Top' embeds itself.)"
    )
    for number in range(MAX_DEPTH + 2):
        world.write(f"n{number}.md", f"{number} ![[n{number + 1}]]")
    assert world.read("n0") == "0 1 2 3 (The embedded note 'n4' is not shown: there are too many embeds.)"


def test_what_is_embedded_is_bounded_and_read_once(world: World) -> None:
    world.write("big.md", "x" * 60_000)
    world.write("hub.md", "![[big]]\n" * 10)
    text = world.read("hub")
    assert MAX_CHARACTERS <= len(text) < MAX_CHARACTERS + 100
    assert text.endswith("\n\n(200,000 characters are shown of this note.)\n")
    assert world.opener.opened.count("big.md") == 1
    world.write("wide.md", "![[none]] " * 30_000)
    assert len(world.read("wide")) < MAX_CHARACTERS + 100


def test_a_note_that_is_no_text_is_said_to_be_none(world: World) -> None:
    (world.root / "binary.md").write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 40)
    world.write("empty.md", "")
    world.write("hub.md", "![[binary]] ![[empty]]end")
    with pytest.raises(SourceUnreadable, match="its content does not match its name"):
        world.read("binary.md")
    assert world.read("empty.md") == ""
    assert world.read("hub") == (
        "(The embedded note 'binary' cannot be read: binary.md: its content does not match its name) end"
    )


def test_a_note_with_windows_line_ends_and_a_mark_is_read_like_another(world: World) -> None:
    world.write("a.md", "\ufeff---\r\ntags: x\r\n---\r\n> [!note] Hi\r\n> ![[b]]\r\n")
    world.write("b.md", "\ufeffb\r\n")
    world.index()
    assert world.read("a") == "---\ntags: x\n---\n> [!note] Hi\n> b\n"
    assert world.notes.list_notes()[0].tags == ("x",)
    assert not math.isnan(world.find("Hi")[0].score)


def test_a_link_out_of_the_vault_is_neither_listed_nor_read(world: World) -> None:
    (world.root.parent / "secret.md").write_text("OUTSIDE-7391")
    (world.root / "link.md").symlink_to("../secret.md")
    world.write("hub.md", "![[link]] ![[../secret]]")
    assert world.index().report.verdicts == {"indexed": 1, "refused": 1}
    assert "OUTSIDE" not in world.read("hub")
    with pytest.raises(AskyError, match="outside the vault"):
        world.read("link.md")
