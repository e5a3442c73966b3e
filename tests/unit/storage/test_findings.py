"""Findings in a real store: kept once, seen where they belong, gone when they are forgotten."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from asky.errors import StorageError
from asky.storage.findings import EVERY_FINDING, Finding, FindingScope
from asky.values import Evidence, Location, Source, Span
from tests.support.stores import FilledStore

VECTOR = b"\0\0\x80\x3f" * 4


@pytest.fixture
def store(tmp_path: Path):
    with FilledStore(tmp_path) as opened:
        yield opened


def session(store: FilledStore, name: str) -> str:
    return store.sessions.open(name, mode="research").id


def started(store: FilledStore, session_id: str | None) -> str:
    return store.runs.start(question="?", mode="research", model="m", session_id=session_id).id


def test_a_finding_comes_back_as_it_was_kept(store: FilledStore) -> None:
    sea = session(store, "sea")
    passages = [{"source_id": "s1", "sha256": "0" * 64, "start": 0, "end": 4, "title": "Gezeiten – 潮"}]
    id_ = store.findings.add("Ebbe 潮", session_id=sea, run_id="r", tags=["b", "a"], trust="local", passages=passages)
    (kept,) = store.findings.recent()
    assert kept == Finding(id_, sea, "r", "Ebbe 潮", ("b", "a"), "local", tuple(passages), kept.created_at)
    assert store.findings.get([id_, 99]) == {id_: kept}
    assert store.findings.count_of_run("r") == 1
    assert store.findings.count_of_run("other") == 0


def test_the_same_words_are_kept_once_in_each_session(store: FilledStore) -> None:
    sea, mill = session(store, "sea"), session(store, "mill")
    first = store.findings.add("one", session_id=sea, run_id="r", trust="web", tags=["kept"])
    assert store.findings.add("one", session_id=sea, run_id="s", trust="user", tags=["not kept"]) == first
    assert len({first, *(store.findings.add("one", session_id=each, run_id="r") for each in (mill, None, None))}) == 3
    assert store.findings.same("one", session_id=sea) == first
    assert store.findings.same("One", session_id=sea) is None
    (kept,) = store.findings.recent(FindingScope("session", sea))
    assert (kept.trust, kept.tags) == ("web", ("kept",))


def test_a_scope_shows_what_belongs_to_it_and_nothing_else(store: FilledStore) -> None:
    sea, mill = session(store, "sea"), session(store, "mill")
    store.findings.add("sea", session_id=sea, run_id="r")
    store.findings.add("mill", session_id=mill, run_id="r")
    store.findings.add("mine", session_id=None, run_id=None, trust="user")
    store.findings.add("a model's", session_id=None, run_id="r", trust="local")

    def seen(scope: FindingScope) -> list[str]:
        with_vector = store.findings.without_vector(scope, 1, 4)
        assert with_vector == list(store.findings.texts(scope))
        assert [text for _, text in with_vector] == [each.text for each in store.findings.recent(scope)]
        return [text for _, text in with_vector]

    assert seen(EVERY_FINDING) == ["a model's", "mine", "mill", "sea"]
    assert seen(FindingScope("session", sea)) == ["sea"]
    assert seen(FindingScope("recalled", sea)) == ["mine", "sea"]
    assert seen(FindingScope("recalled", None)) == ["mine"]


def test_vectors_are_those_of_one_space_and_damaged_ones_count_as_missing(store: FilledStore) -> None:
    this, other = store.vectors.space("this", 4), store.vectors.space("other", 4)
    findings = store.findings
    ids = [
        findings.add(text, session_id=None, run_id=None, space_id=space, vector=vector)
        for text, space, vector in (
            ("whole", this, VECTOR), ("none", None, None), ("elsewhere", other, VECTOR), ("cut", this, VECTOR[:-1]),
        )
    ]  # fmt: skip
    assert findings.vectors(EVERY_FINDING, this, 4) == ([ids[0]], VECTOR)
    assert [text for _, text in findings.without_vector(EVERY_FINDING, this, 4)] == ["cut", "elsewhere", "none"]
    findings.set_vectors(this, dict.fromkeys(ids[1:], VECTOR))
    assert findings.vectors(EVERY_FINDING, this, 4) == (ids[::-1], VECTOR * 4)
    assert findings.without_vector(EVERY_FINDING, this, 4) == []
    assert findings.vectors(EVERY_FINDING, other, 4) == ([], b"")


def test_removing_says_how_many_there_were(store: FilledStore) -> None:
    ids = [store.findings.add(text, session_id=None, run_id=None) for text in "abc"]
    assert store.findings.remove([ids[0], ids[2], 99]) == 2
    assert [each.text for each in store.findings.recent()] == ["b"]


def test_a_session_takes_its_findings_with_it(store: FilledStore) -> None:
    sea = session(store, "sea")
    store.findings.add("sea", session_id=sea, run_id="r")
    store.findings.add("mine", session_id=None, run_id=None, trust="user")
    store.session_removal.remove(sea)
    assert [each.text for each in store.findings.recent()] == ["mine"]


def test_a_trust_that_is_none_is_not_kept(store: FilledStore) -> None:
    with pytest.raises(StorageError) as raised:
        store.findings.add("x", session_id=None, run_id=None, trust="god")  # type: ignore[arg-type] # what is tested
    assert isinstance(raised.value.__cause__, sqlite3.IntegrityError)
    assert store.findings.recent() == []


def shown(store: FilledStore, run_id: str, kind: str) -> None:
    path = store.home / f"{kind}.md"
    document = store.add_text(path, f"A text of a {kind}.")
    sha256, _ = store.documents.digest(document)
    source = Source(f"s{kind}", kind, path.as_uri(), kind)  # type: ignore[arg-type] # a kind by its name
    store.runs.show(run_id, [Evidence("P0001", source, document, sha256, Span(0, 4), "A te", Location())])


@pytest.mark.parametrize(
    ("kind", "data", "expected"),
    [
        ("web_searched", {"queries": ["x"]}, True),
        ("read", {"url": "https://example.org"}, True),
        ("ran", {"tool": "x"}, True),
        ("recalled", {"findings": [1], "of_web": True}, True),
        ("recalled", {"findings": [1]}, True),
        ("recalled", {"findings": [1], "of_web": False}, False),
        ("searched", {"queries": ["x"]}, False),
    ],
)
def test_what_a_model_has_read_elsewhere_is_known_from_the_ledger_of_its_session(
    store: FilledStore, kind: str, data: dict[str, object], expected: bool
) -> None:
    sea, mill = session(store, "sea"), session(store, "mill")
    earlier, now, elsewhere = started(store, sea), started(store, sea), started(store, mill)
    alone = started(store, None)
    shown(store, now, "file")
    store.runs.record(earlier, kind, data)
    assert store.findings.may_depend_on_web(earlier, sea) is expected
    assert store.findings.may_depend_on_web(now, sea) is expected
    assert store.findings.may_depend_on_web(elsewhere, mill) is False
    assert store.findings.may_depend_on_web(alone, None) is False


@pytest.mark.parametrize(("kind", "expected"), [("file", False), ("note", False), ("web", True), ("paper", True)])
def test_a_passage_tells_whether_others_wrote_it(store: FilledStore, kind: str, expected: bool) -> None:
    run = started(store, None)
    shown(store, run, kind)
    assert store.findings.may_depend_on_web(run, None) is expected


@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    added=st.lists(
        st.tuples(
            st.sampled_from(["one", "two", "three"]),
            st.sampled_from(["sea", "mill", None]),
            st.sampled_from(["user", "local", "web"]),
        ),
        max_size=12,
    )
)
def test_no_session_ever_recalls_what_another_has(store: FilledStore, added: list[tuple[str, str | None, str]]) -> None:
    store.findings.remove([each.id for each in store.findings.recent()])
    ids = {name: session(store, name) for name in ("sea", "mill")}
    for text, name, trust in added:
        store.findings.add(text, session_id=ids[name] if name else None, run_id=None, trust=trust)  # type: ignore[arg-type] # sampled
    recalled = store.findings.recent(FindingScope("recalled", ids["sea"]))
    assert all(each.session_id == ids["sea"] or (each.session_id is None and each.trust == "user") for each in recalled)
    assert {each.text for each in recalled if each.session_id} == {text for text, name, _ in added if name == "sea"}
    assert len({(each.session_id, each.text) for each in recalled}) == len(recalled)
