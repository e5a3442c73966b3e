"""What is found on the topics of a note: the limits on its pages, and sources that fail."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import TypeVar

import anyio
import numpy as np
import numpy.typing as npt
import pytest

from asky.config.schema import Retrieval
from asky.errors import ProviderError, StoreFull
from asky.events import ignore
from asky.notes.topics import Topic
from asky.research.index.embed_chunks import always
from asky.research.run import ResearchRun
from asky.research.web.access import WebAccess
from asky.research.web.gathering import (
    Attempt,
    ChoosePages,
    Gatherer,
    TopicFindings,
    attempt_once,
    no_pages,
)
from asky.search.port import Candidate
from asky.storage.vectors import Coverage
from asky.values import Evidence, Location
from tests.support.embedding import FakeEmbedder
from tests.support.search_store import SearchStore
from tests.support.searching import FakeSearch
from tests.support.site import Asked, Site, Wire
from tests.support.webs import LabWeb

NEAR = "A tidal barrage stands at the mouth of the river and turns with the tide."
FAR = "The barrage of Annapolis was built in 1984."
TOPICS = ("tide", "river", "barrage", "francs")
T = TypeVar("T")
FILLER = "Sailors read almanacs before they leave. " * 1_500  # 61,500 characters


def html(*paragraphs: str) -> str:
    return f"<html><body><article>{''.join(f'<p>{each}</p>' for each in paragraphs)}</article></body></html>"


async def hang(asked: Asked, wire: Wire) -> None:
    await wire.hang()


class Lab:
    """A store, a site, and a gatherer over both."""

    def __init__(self, folder: Path, site: Site) -> None:
        self.store = SearchStore(folder, settings=Retrieval(engine="exact"))
        self.site = site
        self.web = LabWeb(self.store, site)

    def gather(
        self,
        search: FakeSearch,
        *labels: str,
        page_s: float = 60.0,
        choose: ChoosePages = lambda results: [[each.url for each in listed[:2]] for listed in results],
        attempt: Attempt = attempt_once,
        may_embed: Callable[[], bool] = always,
    ) -> list[TopicFindings[Topic]]:
        self.web.search_with(search)
        run = self.web.runs.start(question="q", mode="notes", model="m", session_id=None)
        research = ResearchRun(run.id, None, self.store.scope, 6_000, 12, question=" ".join(labels))
        collection = self.store.collection

        def no_notes(queries: Sequence[str]) -> list[list[Evidence]]:
            return [[] for _ in queries]

        gatherer = Gatherer(
            research,
            self.store.search,
            self.store.corpus,
            self.web.runs,
            web=self.web.open(research, WebAccess(collection, shortlist=False), is_private=False),
            web_collection=collection,
            find_local=no_notes,
            choose_pages=choose,
            attempt=attempt,
            page_s=page_s,
            may_embed=may_embed,
            emit=ignore,
        )
        try:
            return anyio.run(partial(gatherer.gather, [Topic(label) for label in labels]))
        finally:
            self.web.runs.release(run.id)


@pytest.fixture
def lab(tmp_path: Path) -> Iterator[Lab]:
    with Site() as site:
        opened = Lab(tmp_path, site)
        with opened.web:
            yield opened


@pytest.mark.extended
def test_a_page_that_takes_too_long_is_named_and_the_other_is_read(lab: Lab) -> None:
    lab.site.script("/slow", hang)
    lab.site.page("/near", html=html(NEAR))
    (found,) = lab.gather(FakeSearch([lab.site.url("/slow"), lab.site.url("/near")]), "tidal barrage", page_s=5.0)
    assert [each.text for each in found.pages] == [NEAR]
    assert [each.message for each in found.failures] == ["127.0.0.1 was not read: it took longer than 5 s"]


def test_only_the_first_fifty_thousand_characters_of_a_page_are_used(lab: Lab) -> None:
    lab.site.page("/long", html=html(NEAR, FILLER, FAR))
    (found,) = lab.gather(FakeSearch([lab.site.url("/long")]), "barrage of Annapolis")
    assert all(each.span.end <= 50_000 for each in found.pages)
    assert "Annapolis" not in "".join(each.text for each in found.pages)
    lab.site.page("/short", html=html(NEAR, FAR))
    (found,) = lab.gather(FakeSearch([lab.site.url("/short")]), "Annapolis barrage")  # the other search is remembered
    assert "Annapolis" in "".join(each.text for each in found.pages)


def test_a_page_that_two_topics_want_is_read_once_and_two_pages_a_topic(lab: Lab) -> None:
    urls = [lab.site.url(f"/{name}") for name in "abc"]
    for name in "abc":
        lab.site.page(f"/{name}", html=html(NEAR, f"Page {name}."))
    found = lab.gather(FakeSearch(urls), "tidal barrage", "the river")
    assert [each.topic.label for each in found] == ["tidal barrage", "the river"]
    assert sorted(each.path for each in lab.site.requests) == ["/a", "/b"]


def test_pages_are_searched_by_words_once_nobody_waits_for_vectors(lab: Lab) -> None:
    lab.site.page("/near", html=html(NEAR))
    (found,) = lab.gather(FakeSearch([lab.site.url("/near")]), "tidal barrage", may_embed=lambda: False)
    assert [each.text for each in found.pages] == [NEAR]
    assert lab.store.search.coverage(lab.store.scope) == Coverage(1, 0)


def test_topics_that_want_one_page_embed_it_once(lab: Lab) -> None:
    lab.site.page("/long", html=html(*(f"{NEAR} Part {number}. {FILLER[:600]}" for number in range(9))))
    lab.gather(FakeSearch([lab.site.url("/long")]), *TOPICS)
    assert isinstance(lab.store.embedder, FakeEmbedder)
    embedded = [each for each in lab.store.embedder.embedded if "Part" in each]
    assert len(embedded) == len(set(embedded)) > 1


def test_a_topic_that_could_not_be_searched_says_so(lab: Lab) -> None:
    (found,) = lab.gather(FakeSearch(error=ProviderError("down")), "tidal barrage")
    assert [each.message for each in found.failures] == ["“tidal barrage” could not be searched on the web: down"]


def test_each_snippet_of_an_address_is_a_text_of_its_own(lab: Lab) -> None:
    url = lab.site.url("/unread")
    search = FakeSearch({each: [Candidate(url, "The Rance", f"On {each}.")] for each in TOPICS})
    for _ in range(10):
        found = lab.gather(search, *TOPICS, choose=no_pages)
        assert [[each.text for each in topic.snippets] for topic in found] == [[f"On {each}."] for each in TOPICS]
        assert {each.location for topic in found for each in topic.snippets} == {Location("search snippet")}
        assert len({each.source.id for topic in found for each in topic.snippets}) == len(TOPICS)
        for each in (passage for topic in found for passage in topic.snippets):
            assert lab.store.corpus.current_document(each.source.id) == each.document_id


class ForgetfulEmbedder(FakeEmbedder):
    """An embedder that cannot embed queries about tides."""

    def embed_query(self, text: str) -> npt.NDArray[np.float32]:
        if "tide" in text:
            raise ProviderError("the model is lost")
        return super().embed_query(text)


def test_a_topic_that_fails_leaves_the_others(lab: Lab) -> None:
    lab.store.embedder = ForgetfulEmbedder()
    lab.site.page("/near", html=html(NEAR))
    first, second = lab.gather(FakeSearch([lab.site.url("/near")]), "tide", "river")
    assert [each.message for each in first.failures] == ["the model is lost"]
    assert [each.url for each in first.results] == [lab.site.url("/near")]
    assert [each.text for each in second.pages] == [NEAR]


def test_a_store_that_fails_ends_the_look_up_with_its_own_error(lab: Lab) -> None:
    async def full(make: Callable[[bool], Awaitable[T]], source_name: str, url: str) -> T:
        raise StoreFull("disk full while saving")

    with pytest.raises(StoreFull):
        lab.gather(FakeSearch(["https://example.org/a"]), "tide", "river", attempt=full)
