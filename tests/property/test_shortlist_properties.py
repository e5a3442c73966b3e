"""What holds for every shortlist, whatever is found, named, refused, broken, and in whatever order pages arrive."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date, timedelta

import anyio
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from asky.config.schema import ShortlistSettings
from asky.research.page import WebPage
from asky.research.shortlist_types import Shortlist
from asky.research.source_policy import SourcePolicy
from asky.research.source_shortlist import source_shortlist
from asky.search.port import Candidate
from asky.text.urls import canonical_url, host_of
from tests.support.embedding import FakeEmbedder
from tests.support.examples import examples
from tests.support.shortlist_web import FakeWeb, page

TODAY = date(2026, 11, 1)
WORDS = "bats moths echo dark hunt night call prey wing cave fruit river stone glass".split()  # noqa: SIM905 - shorter

sentences = st.lists(st.sampled_from(WORDS), max_size=80).map(" ".join)
addresses = st.builds(
    "https://{}.example/{}".format, st.sampled_from(["a", "b", "www.b", "c.d", "denied", "x.denied"]), st.integers(0, 9)
)
found_candidates = st.builds(
    Candidate,
    addresses,
    title=sentences.map(lambda text: text[:40]),
    snippet=sentences,
    kind=st.sampled_from(["web", "paper"]),
    published=st.sampled_from([None, "2019", "2026-10-30"]),
    is_retracted=st.booleans(),
)


@st.composite
def webs(draw: st.DrawFn) -> tuple[str, list[Candidate], dict[str, WebPage]]:
    found = draw(st.lists(found_candidates, max_size=12, unique_by=lambda each: canonical_url(each.url)))
    named = draw(st.lists(addresses, max_size=3))
    readable = draw(st.lists(st.booleans(), min_size=20, max_size=20))
    texts = draw(st.lists(sentences, min_size=20, max_size=20))
    every = dict.fromkeys([*named, *(each.url for each in found)])
    pages = {url: page(url, text) for url, text, is_there in zip(every, texts, readable, strict=False) if is_there}
    return " ".join(["Which bats hunt moths by echo?", *named]), found, pages


def make(
    question: str,
    found: Sequence[Candidate],
    pages: Mapping[str, WebPage],
    *,
    chosen: ShortlistSettings,
    policy: SourcePolicy,
    pauses: Mapping[str, int],
) -> tuple[Shortlist, FakeWeb]:
    async def pause(url: str) -> None:
        for _ in range(pauses.get(url, 0)):
            await anyio.lowlevel.checkpoint()

    web = FakeWeb(pages, found, before=pause)

    async def run() -> Shortlist:
        return await source_shortlist(
            question,
            search=web.search,
            read=web.read,
            embed=FakeEmbedder().embed,
            settings=chosen,
            policy=policy,
            today=TODAY,
            reading_s=600.0,
        )

    return anyio.run(run), web


shortlist_settings = st.builds(
    ShortlistSettings,
    max_candidates=st.integers(1, 12),
    max_fetch_urls=st.integers(1, 8),
    top_k=st.integers(1, 6),
    concurrency=st.integers(1, 4),
)
policies = st.builds(
    SourcePolicy,
    allow_domains=st.sampled_from([(), ("b.example", "denied.example")]),
    deny_domains=st.sampled_from([(), ("denied.example",)]),
    since=st.sampled_from([None, TODAY - timedelta(days=366)]),
    kinds=st.sampled_from([(), ("paper",)]),
)


@pytest.mark.slow
@settings(max_examples=examples(60), deadline=None)
@given(webs(), shortlist_settings, policies, st.data())
def test_every_candidate_is_kept_or_rejected_once_and_order_of_arrival_does_not_matter(
    web: tuple[str, list[Candidate], dict[str, WebPage]],
    chosen: ShortlistSettings,
    policy: SourcePolicy,
    data: st.DataObject,
) -> None:
    question, found, pages = web
    made, asked = make(question, found, pages, chosen=chosen, policy=policy, pauses={})
    kept = [each.candidate.url for each in made.selected]
    rejected = [url for url, _ in made.rejected]
    named = [url for url in question.split() if url.startswith("https://")]

    assert len(kept) <= chosen.top_k
    assert len({canonical_url(url) for url in kept + rejected}) == len(kept + rejected)
    assert {canonical_url(url) for url in kept + rejected} == {
        canonical_url(url) for url in [*named, *(each.url for each in found)]
    }
    assert len(asked.read_urls) == len(set(asked.read_urls)) <= chosen.max_fetch_urls
    for url in {*kept, *asked.read_urls}:
        host = host_of(url)
        assert not policy.deny_domains or not host.endswith("denied.example")
        assert url in named or not policy.allow_domains or host.endswith(("b.example", "denied.example"))
    scores = [each.score for each in made.selected if each.candidate.origin != "prompt"]
    origins = [each.candidate.origin == "prompt" for each in made.selected]
    assert origins == sorted(origins, reverse=True)
    assert scores == sorted(scores, reverse=True)
    assert made.origins <= made.read

    pauses = data.draw(st.dictionaries(st.sampled_from([*pages, ""]), st.integers(0, 9)))
    again, _ = make(question, found, pages, chosen=chosen, policy=policy, pauses=pauses)
    assert (again.selected, again.rejected) == (made.selected, made.rejected)
