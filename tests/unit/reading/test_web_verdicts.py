from __future__ import annotations

from collections import Counter

import pytest

from asky.errors import SourceUnreadable
from asky.reading.html.page import read
from asky.reading.process.pool import VERDICTS
from tests.support.web_pages import OBSTACLES, PAGES, WebPage

URL = "https://a.example/x"


def named(page: WebPage) -> str:
    return page.name


@pytest.mark.parametrize("page", OBSTACLES, ids=named)
def test_a_page_that_stands_in_the_way_of_another_is_named_and_not_read(page: WebPage) -> None:
    with pytest.raises(SourceUnreadable) as caught:
        read(page.html.encode(), "a.example/x", URL)
    assert caught.value.verdict == page.verdict
    assert caught.value.verdict in VERDICTS
    assert caught.value.message.startswith("a.example/x: ")
    assert "\n" not in caught.value.message


@pytest.mark.parametrize("page", PAGES, ids=named)
def test_a_page_that_looks_a_little_like_one_is_read(page: WebPage) -> None:
    assert read(page.html.encode(), "a.example/x", URL).text


@pytest.mark.parametrize(
    "page", [page for page in OBSTACLES if page.verdict in ("blocked", "login", "missing")], ids=named
)
def test_local_files_are_not_judged(page: WebPage) -> None:
    try:
        read(page.html.encode(), "x.html")
    except SourceUnreadable as error:
        assert error.verdict == "empty"  # noqa: PT017 - the others must not be raised at all


def test_every_verdict_of_the_web_is_tested() -> None:
    assert set(Counter(page.verdict for page in OBSTACLES)) == {
        "blocked", "captcha", "login", "needs_javascript", "missing", "empty",
    }  # fmt: skip


def test_scripts_that_would_write_the_page_are_said_to_be_needed() -> None:
    (shell,) = (page for page in OBSTACLES if page.name == "react shell")
    with pytest.raises(SourceUnreadable) as caught:
        read(shell.html.encode(), "a", URL)
    assert caught.value.hint is not None
