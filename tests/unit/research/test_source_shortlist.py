from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import date

import anyio
import anyio.lowlevel
import numpy as np
import numpy.typing as npt
import pytest

from asky.app.web import named_addresses
from asky.config.schema import ShortlistSettings
from asky.errors import NotConfigured, ProviderError, StoreFull
from asky.events import Event, StageAdvanced, StageFinished, StageStarted, Warned, ignore
from asky.research.shortlist_score import MIN_MEANING, MIN_SENTENCE
from asky.research.shortlist_types import Shortlist
from asky.research.source_policy import SourcePolicy
from asky.research.source_shortlist import source_shortlist
from asky.search.port import Candidate, ServiceRank
from asky.values import Failure, Link
from tests.support.embedding import FakeEmbedder
from tests.support.shortlist_web import FakeWeb, page

pytestmark = pytest.mark.anyio

TODAY = date(2026, 11, 1)
QUESTION = "How do bats find moths in the dark?"
SETTINGS = ShortlistSettings()


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


def about_bats(number: int, *, words: str = "bats find moths in the dark by echo") -> str:
    return f"Report {number}. " + " ".join(f"{word} item{number}x{at}" for at, word in enumerate(words.split() * 10))


def candidates(count: int) -> list[Candidate]:
    return [
        Candidate(f"https://site{number}.example/a", f"Bats {number}", "How bats find moths") for number in range(count)
    ]


def web_of(found: Sequence[Candidate], **facts: object) -> FakeWeb:
    pages = {each.url: page(each.url, about_bats(number)) for number, each in enumerate(found)}
    return FakeWeb(pages, found, **facts)  # type: ignore[arg-type]  # what a test names


async def shortlist(
    web: FakeWeb,
    question: str = QUESTION,
    *,
    embedder: FakeEmbedder | None = None,
    settings: ShortlistSettings = SETTINGS,
    policy: SourcePolicy | None = None,
    heard: list[Event] | None = None,
    reading_s: float = 60.0,
) -> Shortlist:
    return await source_shortlist(
        question,
        search=web.search,
        read=web.read,
        embed=(embedder or FakeEmbedder()).embed,
        settings=settings,
        policy=policy or SourcePolicy(),
        today=TODAY,
        listener=heard.append if heard is not None else ignore,
        reading_s=reading_s,
    )


def urls(made: Shortlist) -> list[str]:
    return [each.candidate.url for each in made.selected]


async def test_the_best_are_kept_and_every_other_one_has_a_reason() -> None:
    found = candidates(50)
    web = web_of(found)

    made = await shortlist(web)

    reasons = dict(made.rejected)
    assert len(made.selected) == SETTINGS.top_k
    assert {*urls(made), *reasons} == {each.url for each in found}
    assert len(web.read_urls) == SETTINGS.max_fetch_urls
    assert web.most <= SETTINGS.concurrency
    assert reasons[found[45].url] == "beyond the first 40 candidates"
    assert sum(reason == "not among the 20 pages that were read" for reason in reasons.values()) == 20
    assert sum(reason.startswith("8 others fit better") for reason in reasons.values()) == 12
    assert (made.read, made.origins, made.queries) == (20, 20, (QUESTION,))


@pytest.mark.parametrize(
    "question",
    [
        "See 10.1234/Zebrafalcon7741 please",
        "Is arXiv:2101.00001v2 or hep-th/9901001 right?",
        "https://doi.org/10.1234/x and 10.1234/X and doi: 10.1234/y.",
        "PMID 31452104, PMC6993921, pmid:31452104",
        "www.example.org/a, <https://example.org/b>, [c](http://example.org/c) and example.org/d?",
        "HTTPS://EXAMPLE.ORG/%7Ee#part and https://example.org/~e",
        "nothing at all",
    ],
)
async def test_the_addresses_that_are_read_are_those_that_a_user_is_told_of(question: str) -> None:
    web = FakeWeb()
    await shortlist(web, question=question)
    assert web.read_urls == list(named_addresses(question))


async def test_reasons_are_in_words() -> None:
    found = [replace(each, found=(ServiceRank("brave", 3, "q"), ServiceRank("exa", 1, "q"))) for each in candidates(1)]

    (one,) = (await shortlist(web_of(found))).selected

    assert one.reasons[0] == "found by brave and exa, at best as number 1"
    assert one.reasons[1].startswith("meaning 0.")
    assert one.reasons[2:] == ("title has bats", "4 of 4 terms of the question")


async def test_nothing_found_and_could_not_search_are_told_apart() -> None:
    nothing = await shortlist(FakeWeb())
    failed = await shortlist(FakeWeb(error=ProviderError("no search service answered", reason="unavailable")))
    partly = await shortlist(web_of(candidates(1), failures=[Failure("brave", "rate_limited", "asked too often")]))

    assert (nothing.selected, nothing.failures) == ((), ())
    assert (failed.selected, [each.message for each in failed.failures]) == ((), ["no search service answered"])
    assert (len(partly.selected), [each.subject for each in partly.failures]) == (1, ["brave"])


async def test_pages_that_cannot_be_read_are_rejected_with_the_error() -> None:
    found = candidates(3)
    web = web_of(found)
    web.pages = {found[1].url: page(found[1].url, about_bats(1))}

    made = await shortlist(web)

    assert urls(made) == [found[1].url]
    assert dict(made.rejected)[found[0].url] == f"{found[0].url} is not there"


@pytest.mark.slow
async def test_pages_that_hang_hold_nobody_up_and_are_too_slow() -> None:
    found = candidates(6)
    slow = {found[0].url, found[3].url}
    left: list[str] = []

    async def hang(url: str) -> None:
        if url in slow:
            try:
                await anyio.sleep_forever()
            finally:
                left.append(url)

    made = await shortlist(web_of(found, before=hang), reading_s=4.0)

    assert set(left) == slow
    assert [url for url, reason in made.rejected if reason == "not read within 2 s"] == [found[0].url, found[3].url]
    assert len(made.selected) == 4


async def test_a_page_that_the_question_names_is_read_however_long_it_waits_for_its_turn() -> None:
    named = "https://start.example/bats"
    found = candidates(1)
    web = web_of(found, before=lambda url: anyio.lowlevel.checkpoint())  # noqa: ARG005 - called with the address
    web.pages |= {named: page(named, about_bats(2))}

    made = await shortlist(web, f"How do bats find moths? See {named}.", reading_s=0.0)

    assert urls(made) == [named]
    assert dict(made.rejected)[found[0].url] == "not read within 0 s"


async def test_a_store_that_fails_is_no_failure_of_a_page() -> None:
    async def fill(url: str) -> None:
        raise StoreFull("the disk is full", hint="make room")

    named = "https://start.example/bats"
    for web, question in ((web_of(candidates(3), before=fill), QUESTION), (FakeWeb(before=fill), f"Read {named}")):
        with pytest.raises(StoreFull, match="the disk is full"):
            await shortlist(web, question)


async def test_copies_are_named_by_where_the_one_that_is_kept_was_at_last() -> None:
    found = candidates(2)
    text, last = about_bats(0), "https://last.example/b"
    web = FakeWeb({found[0].url: page(last, text), found[1].url: page(found[1].url, text)}, found)

    made = await shortlist(web)

    assert [each.url for each in made.selected] == [last]
    assert dict(made.rejected) == {found[1].url: f"the same text as {last}"}


@pytest.mark.slow
async def test_eight_pages_that_hang_leave_time_for_those_behind_them() -> None:
    found = [replace(each, title="Bats") for each in candidates(9)]

    async def hang(url: str) -> None:
        if url != found[8].url:
            await anyio.sleep_forever()

    made = await shortlist(web_of(found, before=hang), reading_s=4.0)

    assert urls(made) == [found[8].url]


async def test_a_page_the_question_names_is_first_and_its_links_are_candidates() -> None:
    found = candidates(3)
    start = "https://start.example/bats"
    text = about_bats(7)
    links = [
        Link("https://start.example/moths", "How bats find moths in the dark", 0),
        Link("https://start.example/shop", "Buy a cup", 1),
    ]
    web = web_of(found)
    web.pages = {
        **web.pages,
        start: page(start, text, title="Start", links=links),
        links[0].url: page(links[0].url, about_bats(8)),
    }

    made = await shortlist(web, f"How do bats find moths in the dark? See {start}.", embedder=FakeEmbedder(dim=1024))

    assert urls(made)[0] == start
    assert made.selected[0].reasons[0] == "named in the question"
    assert f"linked from {start}" in next(each for each in made.selected if each.candidate.origin == "link").reasons
    assert not any(start in query for query in web.queries)
    assert links[1].url not in web.read_urls


async def test_a_prompt_of_addresses_alone_is_read_and_not_searched_for() -> None:
    web = web_of(candidates(2))

    made = await shortlist(web, f"Summarise {candidates(1)[0].url}")

    assert urls(made) == [candidates(1)[0].url]
    assert (web.queries, made.queries) == ([], ())


async def test_policy_is_asked_before_reading_and_after_a_redirect() -> None:
    found = candidates(3)
    web = web_of(found)
    web.pages = {**web.pages, found[1].url: page("https://denied.example/x", about_bats(1))}
    policy = SourcePolicy(deny_domains=("site0.example", "denied.example"))

    made = await shortlist(web, policy=policy)

    assert urls(made) == [found[2].url]
    assert found[0].url not in web.read_urls
    assert dict(made.rejected) == {found[0].url: "site0.example is denied", found[1].url: "denied.example is denied"}


async def test_a_page_that_says_it_is_too_old_is_rejected() -> None:
    found = candidates(1)
    web = web_of(found)
    web.pages = {found[0].url: page(found[0].url, about_bats(0), published="2019-03-01")}

    made = await shortlist(web, policy=SourcePolicy(since=date(2020, 1, 1)))

    assert dict(made.rejected) == {found[0].url: "published 2019-03-01: before 2020-01-01"}


async def test_copies_become_one_source_and_the_oldest_is_kept() -> None:
    found = candidates(3)
    web = web_of(found)
    text = about_bats(0)
    web.pages = {
        found[0].url: page(found[0].url, f"Our partners report. {text}", published="2026-05-02"),
        found[1].url: page(found[1].url, f"{text} Read on.", published="2026-05-01"),
        found[2].url: page(found[2].url, about_bats(2)),
    }

    made = await shortlist(web)

    kept = next(each for each in made.selected if each.copies)
    assert (kept.candidate.url, kept.copies) == (found[1].url, (found[0].url,))
    assert dict(made.rejected) == {found[0].url: f"the same text as {found[1].url}"}
    assert (made.read, made.origins) == (3, 2)
    assert made.summary() == "2 of 3 candidates; 3 texts, 2 origins"


async def test_of_copies_the_named_one_is_kept_with_the_best_score_of_them() -> None:
    found = [replace(each, title=title) for each, title in zip(candidates(2), ("Bats find moths", ""), strict=True)]
    web = web_of(found)
    text = about_bats(0)
    web.pages = {
        found[0].url: page(found[0].url, text, published="2020-01-01"),
        found[1].url: page(found[1].url, text, published="2026-01-01"),
    }

    (alone,) = (await shortlist(FakeWeb(web.pages, found[:1]))).selected
    (kept,) = (await shortlist(web, f"{QUESTION} See {found[1].url}")).selected

    assert (kept.candidate.url, kept.copies) == (found[1].url, (found[0].url,))
    assert kept.score > alone.score - 0.05  # without the other's title and place it has .3 less


async def test_one_site_does_not_fill_the_list_where_others_are_as_good() -> None:
    of_one = [Candidate(f"https://big.example/{number}", "Bats", "How bats find moths") for number in range(6)]
    others = [Candidate(f"https://other{number}.example/", "Bats", "How bats find moths") for number in range(2)]

    made = await shortlist(web_of([*of_one, *others]), settings=replace(SETTINGS, top_k=4))

    assert sum("big.example" in url for url in urls(made)) == 2
    assert len((await shortlist(web_of(of_one), settings=replace(SETTINGS, top_k=4))).selected) == 4


async def test_a_paper_that_cannot_be_read_stays_with_its_abstract() -> None:
    abstract = about_bats(1)
    paper = Candidate(
        "https://papers.example/1", "Bats find moths", abstract, kind="paper", pdf_url="https://papers.example/1.pdf"
    )
    teaser = Candidate("https://papers.example/2", "Bats find moths", "How bats find moths", kind="paper")
    web = FakeWeb({}, [paper, teaser])

    made = await shortlist(web)

    (kept,) = made.selected
    assert (kept.page, kept.text, kept.reasons[-1]) == (None, abstract, "abstract only")
    assert kept.unread_because == "https://papers.example/1.pdf is not there"
    assert [url for url, _ in made.rejected] == [teaser.url]


async def test_retracted_papers_are_rejected_unless_the_question_is_about_that() -> None:
    paper = Candidate("https://papers.example/1", "Bats find moths", "", kind="paper", is_retracted=True)

    assert dict((await shortlist(web_of([paper]))).rejected) == {paper.url: "retracted"}
    assert urls(await shortlist(web_of([paper]), "Why was the paper on bats and moths retracted?")) == [paper.url]


async def test_pages_about_something_else_or_without_text_are_no_sources() -> None:
    found = candidates(3)
    web = web_of([replace(found[0], title="", snippet=""), found[1], found[2]])
    web.pages = {
        found[0].url: page(found[0].url, "Quarterly revenue of shoe factories grew " * 30),
        found[1].url: page(found[1].url, "Loading"),
        found[2].url: page(found[2].url, about_bats(2)),
    }

    made = await shortlist(web, embedder=FakeEmbedder(dim=1024))

    assert urls(made) == [found[2].url]
    assert dict(made.rejected)[found[0].url].startswith("not about the question (meaning 0.")
    assert dict(made.rejected)[found[1].url] == "hardly any text"


ELSEWHERE = f"{' '.join(f'z{number}' for number in range(115))}. {{}} {' '.join(f'y{n}' for n in range(60))}."


async def test_a_page_about_something_else_is_kept_for_the_sentence_that_answers() -> None:
    found = [replace(each, title="", snippet="") for each in candidates(3)]
    web = web_of(found)
    said = (
        "In the dark, bats find moths.",
        "Wooden bats were painted onto boxes that children asked for shortly before closing time.",
        "Rain came when dark soles sold best among visitors who arrived by ferry from another town.",
    )
    web.pages = {each.url: page(each.url, ELSEWHERE.format(words)) for each, words in zip(found, said, strict=True)}
    embedder = FakeEmbedder(dim=4096)

    made = await shortlist(web, embedder=embedder)

    (kept,) = made.selected
    assert kept.candidate.url == found[0].url
    meaning, sentence = (float(reason.rpartition(" ")[2]) for reason in kept.reasons if re.search(r" 0\.\d\d$", reason))
    assert meaning < MIN_MEANING < MIN_SENTENCE < sentence
    assert {why[:22] for _, why in made.rejected} == {"not about the question"}
    assert said[0] in embedder.embedded


async def test_a_sentence_is_compared_only_where_the_passages_are_not_near() -> None:
    embedder = FakeEmbedder()

    await shortlist(web_of(candidates(5)), embedder=embedder)

    assert len(embedder.embedded) <= 1 + 5 + 2 * 5


async def test_new_pages_go_first_where_the_question_asks_for_them() -> None:
    found = [replace(each, found=(ServiceRank("s", 1, "q"),)) for each in candidates(2)]
    web = web_of(found)
    web.pages = {
        found[0].url: page(found[0].url, about_bats(0), published="2012-01-01"),
        found[1].url: page(found[1].url, about_bats(1), published="2026-10-20"),
    }

    async def asked(question: str) -> list[str]:
        return urls(await shortlist(web, question, embedder=FakeEmbedder(dim=4096)))

    assert await asked("What is the latest on how bats find moths?") == [found[1].url, found[0].url]
    assert await asked("How do bats find moths?") == [found[0].url, found[1].url]


async def test_pages_of_links_count_less() -> None:
    found = candidates(2)
    web = web_of(found)
    text = web.pages[found[0].url].document.text
    links = [Link(f"https://x.org/{number}", text[:40], 0) for number in range(len(text) // 40)]
    web.pages = {**web.pages, found[0].url: page(found[0].url, text, links=links)}

    made = await shortlist(web)

    assert "mostly links" in next(each for each in made.selected if each.candidate == _found(web, 0)).reasons
    assert urls(made) == [found[1].url, found[0].url]


def _found(web: FakeWeb, place: int) -> Candidate:
    return replace(web.found[place], found=(ServiceRank("fake", place + 1, web.queries[0]),))


async def test_without_an_embedding_model_words_and_search_decide() -> None:
    web = web_of(candidates(10))

    async def make(embed: object) -> Shortlist:
        return await source_shortlist(
            QUESTION,
            search=web.search,
            read=web.read,
            embed=embed,  # type: ignore[arg-type]  # both are
            settings=SETTINGS,
            policy=SourcePolicy(),
            today=TODAY,
        )

    def missing(texts: Sequence[str]) -> None:
        return None

    def broken(texts: Sequence[str]) -> npt.NDArray[np.float32]:
        raise NotConfigured("no embedding model is installed")

    without, failing = await make(missing), await make(broken)

    assert urls(without) == urls(failing) == [each.url for each in candidates(8)]
    assert not any(reason.startswith("meaning") for each in without.selected for reason in each.reasons)
    assert without.warnings == ()
    assert failing.warnings == ("no embedding model is installed: sources are ranked by words alone",)


async def test_a_second_time_the_same_texts_are_embedded_and_few() -> None:
    long_pages = {each.url: page(each.url, about_bats(number) * 40) for number, each in enumerate(candidates(40))}
    first, second = FakeEmbedder(), FakeEmbedder()

    await shortlist(FakeWeb(long_pages, candidates(40)), embedder=first)
    await shortlist(FakeWeb(long_pages, candidates(40)), embedder=second)

    assert set(second.embedded) == set(first.embedded)
    assert len(first.embedded) <= 1 + 40 + 2 * 20
    assert max(len(text) for text in first.embedded) <= 700


async def test_pages_are_looked_over_while_others_are_read() -> None:
    found = candidates(2)
    embedder = FakeEmbedder()

    async def last(url: str) -> None:
        while url == found[1].url and not any("item0x" in text for text in embedder.embedded):
            await anyio.lowlevel.checkpoint()

    with anyio.fail_after(120):
        made = await shortlist(web_of(found, before=last), embedder=embedder)

    assert made.read == 2


async def test_progress_is_heard() -> None:
    heard: list[Event] = []

    await shortlist(web_of(candidates(3)), heard=heard)

    assert heard[0] == StageStarted("sources")
    assert [each.done for each in heard if isinstance(each, StageAdvanced)] == [1, 2, 3]
    last = heard[-1]
    assert isinstance(last, StageFinished)
    assert last.summary == "3 of 3 candidates; 3 texts, 3 origins"
    assert not any(isinstance(each, Warned) for each in heard)


async def test_what_is_no_error_of_ours_is_raised_as_it_is() -> None:
    async def broken(url: str) -> None:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await shortlist(web_of(candidates(3), before=broken))


async def test_a_place_that_a_page_has_left_is_the_next_ones_at_once() -> None:
    begin, begun = anyio.create_memory_object_stream[anyio.Event](math.inf)
    made: list[Shortlist] = []

    async def hold(url: str) -> None:
        may_go_on = anyio.Event()
        await begin.send(may_go_on)
        await may_go_on.wait()

    async def choose() -> None:
        made.append(await shortlist(web_of(candidates(40), before=hold)))

    with begin, begun, anyio.fail_after(60):
        async with anyio.create_task_group() as group:
            group.start_soon(choose)
            held = [await begun.receive() for _ in range(SETTINGS.concurrency)]
            for _ in range(20 - SETTINGS.concurrency):
                await anyio.wait_all_tasks_blocked()
                assert begun.statistics().current_buffer_used == 0  # no more at once
                held.pop(0).set()
                held.append(await begun.receive())
            for each in held:
                each.set()
    assert [each.read for each in made] == [20]
