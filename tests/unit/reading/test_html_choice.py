"""Which of two readings of a page is taken."""

from __future__ import annotations

import pytest

from asky.reading.html.choice import TextCandidate, is_framed_better

SENTENCE = "The bridge over the river was opened in 1894 after eight long years of work by four hundred men and women. "
COOKIES = "We store cookies on your device to show adverts that fit you. "
LIST = "\n".join(f"Lamp number {number}\n{number} euros" for number in range(30))


def takes_framed(main: str, framed: str, page: str | None = None, *, is_single_item: bool = False) -> bool:
    readings = TextCandidate.of(main), TextCandidate.of(framed)
    return is_framed_better(*readings, page or f"{main}\n{framed}", is_single_item=is_single_item)


def test_a_page_without_any_main_text_is_read_without_its_frame() -> None:
    assert takes_framed("", LIST)


def test_a_page_that_the_extractor_wrote_in_one_line_is_read_in_lines() -> None:
    assert takes_framed("Home Basket " + LIST.replace("\n", " "), LIST)
    assert takes_framed("Home Basket " + LIST.replace("\n", " "), LIST, is_single_item=True)


def test_one_line_of_which_the_page_shows_only_a_part_is_kept() -> None:
    teaser = f"Share\nPrint\n{SENTENCE}"
    assert not takes_framed(SENTENCE * 3, teaser, page=teaser)


def test_a_banner_that_the_extractor_took_for_the_page_is_not_kept() -> None:
    assert takes_framed(f"{COOKIES * 3}\n{COOKIES}", SENTENCE * 8)
    assert takes_framed(f"{COOKIES * 3}\n{COOKIES}", SENTENCE * 8, is_single_item=True)


def test_a_shorter_text_is_not_taken_unless_for_one_line_and_a_far_shorter_one_never() -> None:
    assert not takes_framed(f"{SENTENCE * 3}\n{LIST}", SENTENCE * 3)
    assert not takes_framed(f"{COOKIES * 8}\n{COOKIES}", SENTENCE * 2)
    assert not takes_framed("Home Basket " + LIST.replace("\n", " "), "Lamp number 1\n1 euros")


def test_text_that_stands_in_scripts_alone_is_kept() -> None:
    assert not takes_framed(f"{SENTENCE * 3}\n{SENTENCE}", LIST, page=LIST)


@pytest.mark.parametrize("rest", [f"{SENTENCE * 2}\n" * 6, LIST])
def test_a_small_part_of_a_page_is_not_kept_but_of_one_article_it_is(rest: str) -> None:
    main = "Bridges and lamps\nof all kinds"
    assert takes_framed(main, f"{main}\n{rest}")
    assert not takes_framed(main, f"{main}\n{rest}", is_single_item=True)


def test_a_small_text_of_prose_is_kept_on_a_page_of_short_lines() -> None:
    assert not takes_framed(f"{SENTENCE}\n{SENTENCE}", f"{SENTENCE}\n{SENTENCE}\n" + f"{LIST}\n" * 3)
