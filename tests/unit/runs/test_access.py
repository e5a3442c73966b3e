"""What a run may reach: which models may see its sources."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from asky.errors import UsageError
from asky.runs.access import BUILT_IN, Access
from asky.storage.scope import Scope
from asky.storage.sessions import Session
from asky.values import PRIVATE_KINDS, Chunk, Document, Source, SourceKind, Span, source_id
from tests.support.stores import FilledStore


@dataclass(frozen=True)
class Model:
    name: str
    host: str | None


TEXT = "The moon pulls on the water."
HERE = Model(BUILT_IN, None)
FAR = Model("far", "models.example.org:8080")
NEAR = [Model("near", host) for host in ("127.0.0.1:11434", "localhost:8080", "[::1]:8080", "127.8.9.10")]


def test_without_rules_every_model_may_see_the_sources() -> None:
    for model in (HERE, FAR, *NEAR):
        Access().require_model(model)


def test_offline_no_model_on_another_machine_is_asked() -> None:
    for model in (HERE, *NEAR):
        Access(offline=True).require_model(model)
    with pytest.raises(
        UsageError, match=r"--offline excludes the model far, which runs at models\.example\.org:8080"
    ) as refused:
        Access(offline=True).require_model(FAR)
    assert refused.value.hint is not None
    assert "-m" in refused.value.hint


@pytest.mark.parametrize("host", ["localhost.example.org", "127.0.0.1.example.org", "127.0.0.1@example.org", "0x7f1"])
def test_offline_a_host_that_looks_like_this_machine_is_another_one(host: str) -> None:
    with pytest.raises(UsageError, match="--offline"):
        Access(offline=True).require_model(Model("sly", host))


@pytest.mark.parametrize("model", [FAR, *NEAR])
def test_documents_that_only_the_built_in_model_has_seen_stay_with_it(model: Model) -> None:
    Access(only_built_in=True).require_model(HERE)
    for offline in (False, True):
        with pytest.raises(UsageError, match=r"documents that were not yet shown to a model at") as refused:
            Access(offline=offline, only_built_in=True).require_model(model)
        assert refused.value.hint is not None
        assert f"-m {model.name}" in refused.value.hint


def test_private_passages_that_stay_may_be_seen_on_this_machine_alone() -> None:
    rules = Access(private_stays=True)
    for kind in PRIVATE_KINDS:
        assert not rules.may_see(FAR, kind)
        assert all(rules.may_see(model, kind) for model in (HERE, *NEAR))
        assert Access().may_see(FAR, kind)
    assert rules.may_see(FAR, "web")
    rules.require_model(FAR)


# what follows from a session


@pytest.fixture
def store(tmp_path: Path) -> Iterator[FilledStore]:
    with FilledStore(tmp_path / "asky") as opened:
        yield opened


def add(store: FilledStore, kind: SourceKind, collection: str) -> int:
    """Put a source of that kind into the collection; returns the id of the collection."""
    uri = f"{kind}://example.org/tides"
    collection_id = store.corpus.collection(collection, create=True)
    stored = store.documents.put_document(Document(TEXT, "text/plain"), [Chunk(0, Span(0, len(TEXT)), 10)], [""])
    store.corpus.put_source(Source(source_id(uri), kind, uri, "Tides"), collection_id, document_id=stored.id)
    return collection_id


def asked(store: FilledStore, *collections: int, model: str | None = None) -> Session:
    """A session in which a question was asked of these collections, with the built-in model or a chosen one."""
    made = store.sessions.open("sea", mode="standard")
    store.sessions.add_collections(made.id, collections)
    store.sessions.remember(made.id, mode="standard", settings={"model": model})
    found = store.sessions.find(made.id)
    assert found is not None
    return found


def is_only_built_in(store: FilledStore, session: Session | None, chosen: str | None = None) -> bool:
    return Access.of_session(session, chosen, store.corpus, store.runs, offline=False).only_built_in


def test_a_new_session_may_be_asked_with_any_model(store: FilledStore) -> None:
    assert not is_only_built_in(store, None)
    unasked = store.sessions.open("sea", mode="standard")
    store.sessions.add_collections(unasked.id, [add(store, "file", "default")])
    assert not is_only_built_in(store, store.sessions.find(unasked.id))


@pytest.mark.parametrize(("kind", "is_private"), [("file", True), ("note", True), ("web", False), ("paper", False)])
def test_a_session_with_documents_of_the_user_stays_with_the_built_in_model(
    store: FilledStore, kind: SourceKind, *, is_private: bool
) -> None:
    session = asked(store, add(store, kind, "some"))
    assert is_only_built_in(store, session) is is_private
    assert not is_only_built_in(store, session, "far")  # it was chosen


def test_a_session_without_documents_may_be_asked_with_any_model(store: FilledStore) -> None:
    assert not is_only_built_in(store, asked(store))
    assert not is_only_built_in(store, asked(store, add(store, "web", "pages")))
    add(store, "file", "of another session")
    assert not is_only_built_in(store, asked(store))


def test_documents_that_were_shown_in_a_session_count_when_they_are_gone_from_its_collections(
    store: FilledStore, tmp_path: Path
) -> None:
    path = tmp_path / "tides.md"
    document_id = store.add_text(path, TEXT)
    store.answered(
        "What pulls?", "The moon [1].", lambda run: [store.evidence(run, path, document_id, TEXT)], session="sea"
    )
    session = asked(store)
    other = store.sessions.open("other", mode="standard")
    store.sessions.remember(other.id, mode="standard", settings={"model": None})
    for each in store.corpus.sources(Scope((store.collection,))):
        store.corpus.remove_sources(store.collection, [each.id])
    assert session.collections == ()
    assert is_only_built_in(store, session)
    assert not is_only_built_in(store, store.sessions.find(other.id))
