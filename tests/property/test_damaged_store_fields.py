"""A field of stored JSON that is gone, or of another type, is said to be damaged: nothing that reads it crashes."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, suppress
from dataclasses import replace
from functools import partial
from pathlib import Path

import anyio
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from asky.chat.answering import Answerer
from asky.chat.custom_tools import CustomTools
from asky.config.schema import CustomTool
from asky.errors import AskyError, ProviderError, RateLimited
from asky.evidence.passages import parse_passages
from asky.llm.port import ABSTENTION, ChatModel
from asky.research.source_policy import SourcePolicy
from asky.runs.context import Question
from asky.runs.journal.replay import replay, resume
from asky.storage.findings import EVERY_FINDING
from asky.storage.repair.damage import find_damage, quarantine
from tests.integration.chat.recorded_runs import FAULTY, TWO, Room, Talking, reading
from tests.integration.chat.test_answering_web import TIDES, article
from tests.support.in_process import Done, InProcess
from tests.support.models import ScriptedModel, calls, tool_call
from tests.support.searching import FakeSearch
from tests.support.site import Site
from tests.support.stored_fields import Change, all_changes, write_changes
from tests.support.webs import LabWeb

pytestmark = pytest.mark.slow

IS_LONG = settings.get_current_profile_name() == "fuzz"  # `make fuzz`
PROGRAM = CustomTool("Appointments.", ("/bin/echo", "seven"), {}, enabled=True)
_OF_RUNS = ("run", "ledger", "passage", "step", "message")
_OF_SESSIONS = ("run", "message", "session", "step")
_OF_PAGES = ("page", "document", "source")


class Keeping(Talking):
    """Reads pages, asks a program, keeps a finding, answers with a fault and mends that."""

    def __init__(self, url: str) -> None:
        super().__init__()
        self._first = (*reading(url), calls(tool_call("calendar", {})))

    async def stream(self, messages, tools, **options):
        shown = [each for message in messages if message.role == "tool" for each in parse_passages(message.content)]
        found = {"finding": "The moon raises tides.", "passages": [each.key for each in shown[-1:]], "tags": ["moon"]}
        self._turns = (*self._first, calls(tool_call("save_finding", found)))
        self._answer = FAULTY if messages[-1].role == "tool" else TWO
        async for item in super().stream(messages, tools, **options):
            yield item


class World(Room):
    """A home with a store in which questions to the web were answered, found too little, and failed."""

    def __init__(self, home: Path, site: Site) -> None:
        (home / "data").mkdir(mode=0o700, parents=True)
        super().__init__(home / "data")
        self.home, self.page = home, site.url("/tides")
        silent = FakeSearch(name="silent", error=RateLimited("come back later", hint="wait a day"))
        found = FakeSearch([self.page, site.url("/gone")])
        self.web = LabWeb(self.store, site, [found])
        self.custom_tools = CustomTools({"calendar": PROGRAM}, {})
        self.sessions.remember(self.session.id, mode="research", settings={"web": True, "sites": ["a.example"]})
        self.shortlist, self.notes = False, [["And at night?"]]
        self.ask(Keeping(self.page))
        self.shortlist = True
        self.web.search_with(found, silent)
        self.ask(ScriptedModel(ABSTENTION))
        self.shortlist = False
        self.web.search_with(found)
        with pytest.raises(ProviderError):
            self.ask(ScriptedModel(*reading(self.page), ProviderError("it is down")))
        self.failed, self.abstained, self.answered = [each.id for each in self.runs.recent()]
        with self.store.database.read() as connection:
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        self.file = home / "data" / "asky.db"
        self.whole = self.file.read_bytes()
        self.changes = all_changes(self.file)

    def answerer(self, model: ChatModel) -> Answerer:
        return replace(super().answerer(model), custom_tools=self.custom_tools)

    def question(self, mode: str = "research") -> Question:
        asked = super().question(mode)
        assert asked.web is not None
        return replace(asked, web=replace(asked.web, policy=SourcePolicy(kinds=("web",))))

    def damage(self, *changes: Change) -> None:
        """Have the store whole but for these."""
        self.store.database.close()
        for end in ("-wal", "-shm"):
            Path(f"{self.file}{end}").unlink(missing_ok=True)
        fresh = self.file.with_suffix(".fresh")
        fresh.write_bytes(self.whole)
        fresh.replace(self.file)  # a file of its own, whatever somebody has open of the one before
        with closing(sqlite3.connect(self.file)) as connection, connection:
            write_changes(connection, changes)

    def play(self, run_id: str) -> None:
        anyio.run(replay, self.answerer(ScriptedModel(ProviderError("nobody may ask"))), self.runs.find(run_id))

    def go_on(self) -> None:
        async def main() -> None:
            run, context = self.runs.find(self.failed), self.context(self.failed)
            await resume(self.answerer(Talking()), run, self.session, context, on_answer=self.kept.append)

        anyio.run(main)

    def readers(self, table: str) -> Iterator[Callable[[], object]]:
        """What reads a table and is no command."""
        if table in ("run", "step"):
            yield from (partial(self.play, each) for each in (self.answered, self.abstained))
        if table in ("step", "ledger", "message"):
            yield self.go_on
        if table == "finding":
            yield lambda: self.store.search.search_findings("moon", EVERY_FINDING, limit=5)
        if table not in ("step", "run", "ledger"):
            yield lambda: self.ask(Keeping(self.page))  # last: the store has more from then on

    def commands(self, table: str) -> Iterator[tuple[str, ...]]:
        """The commands that read a table."""
        run = self.answered
        if table in _OF_RUNS:
            yield from (("runs", "show", "-v", each) for each in (run, self.abstained, self.failed))
            yield from (("runs", "export", run, "--format", each) for each in ("json", "html"))
            yield from [("runs", "list"), ("runs", "show", "--json", run), ("why", "1", "--run", run)]
            yield ("runs", "export", run, "--bundle", str(self.home / "bundle.zip"))
        if table == "run":
            yield from (("runs", "export", run, "--format", each) for each in ("md", "bibtex", "csl", "ris"))
        if table == "step":
            yield ("runs", "resume", self.failed)
        if table in _OF_SESSIONS:
            yield from [("session", "list"), ("session", "show", "lab"), ("session", "show", "--json", "lab")]
            yield from (("session", "export", "lab", "--format", each) for each in ("md", "json", "html", "ris"))
        if table == "finding":
            yield from [("memory", "list"), ("memory", "list", "--json"), ("memory", "export", "--format", "md")]
        if table in _OF_PAGES:
            yield from [("cache", "list"), ("cache", "list", "--json"), ("cache", "show", self.page)]
            yield from [("corpus", "list"), ("corpus", "list", "--json")]


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    with Site() as site:
        site.page("/tides", html=article("Tides", TIDES * 5, "/deeper"))
        site.page("/deeper", html=article("Deeper", "Tides are seen in the rocks of the earth as well. " * 4))
        made = World(tmp_path_factory.mktemp("fields") / "home", site)
        assert made.web is not None
        with made.web:
            yield made
        made.store.close()


@pytest.fixture
def asky(world: World, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> InProcess:
    return InProcess(world.home, monkeypatch, capsys)


def read_all(world: World, asky: InProcess, tables: Sequence[str]) -> list[Done]:
    """Have everything read that there is of these tables; what comes of the commands."""
    commands = dict.fromkeys(command for table in tables for command in world.commands(table))
    done = [asky(*command) for command in commands]
    for each in done:
        assert "unexpected" not in each.err, each.err
    for table in tables:
        for reader in world.readers(table):
            with suppress(AskyError):
                reader()
    return done


def faulty(world: World) -> list[Change]:
    return [each for each in world.changes if not each.fits]


def test_the_store_has_fields_of_every_kind_and_all_of_them_fit(world: World) -> None:
    world.damage()
    assert find_damage(world.store.database) == []
    kinds = {(each.row.table, each.row.kind) for each in faulty(world)}
    assert {"run", "session", "passage", "finding", "page", "search", "document", "source"} <= {
        kind[0] for kind in kinds
    }
    assert {"user", "call", "tool", "assistant"} <= {kind for table, kind in kinds if table == "message"}
    assert {"asked", "web_searched", "shortlisted", "read", "searched", "ran", "failed"} <= {
        kind for table, kind in kinds if table == "ledger"
    }


@settings(max_examples=300 if IS_LONG else 10, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_a_field_that_readers_need_is_named_where_it_is_damaged_and_a_repair_makes_all_commands_work(
    world: World, asky: InProcess, data: st.DataObject
) -> None:
    changed = data.draw(st.sampled_from(faulty(world)))
    world.damage(changed)
    read_all(world, asky, [changed.row.table])
    world.damage(changed)
    (found,) = find_damage(world.store.database)
    assert (found.table, found.column) == (changed.row.table, changed.row.column)
    quarantine(world.store.database, world.home / "data")
    assert find_damage(world.store.database) == []
    for each in read_all(world, asky, [changed.row.table]):
        assert "damaged" not in each.err, each.err


@pytest.mark.extended
@settings(max_examples=300 if IS_LONG else 10, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_what_is_not_said_to_be_damaged_can_be_read(world: World, asky: InProcess, data: st.DataObject) -> None:
    fine = [each for each in world.changes if each.fits]
    drawn = data.draw(st.lists(st.sampled_from(fine), min_size=1, max_size=30))
    apart: list[Change] = []
    for each in drawn:
        if all(map(each.is_apart_from, apart)):
            apart.append(each)
    world.damage(*apart)
    assert find_damage(world.store.database) == []
    read_all(world, asky, sorted({each.row.table for each in apart}))
