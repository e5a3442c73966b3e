"""Every kind of damage that a site can do ends in a page or in one of the port's errors, within the deadline."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest

from tests.support.fetching import open_fetcher, outcome
from tests.support.site import Site
from tests.support.site_damage import DAMAGES

OUTCOMES = {
    "ok": """
        same_length_twice no_length more_than_length empty header_bare_lf header_latin1 cookies early_hints gzip
        gzip_by_its_old_name gzip_in_members gzip_and_garbage gzip_of_nothing gzip_in_gzip identity empty_encoding
        long_pdf hops to_a_fragment to_spaces permanently temporarily with_an_endless_body refresh status_203 no_type
        type_garbage type_bomb charset_rot13 charset_klingon charset_quoted html_says_pdf pdf_says_html invalid_utf8
        utf16_cut
    """,
    "cut": "endless_chunks endless_body long_page long_page_packed long_pdf_that_is_none",
    "truncated": """
        truncated_body huge_length chunk_truncated chunks_without_end reset_in_body reset_without_length gzip_cut
        gzip_cut_in_tail gzip_cut_without_length status_206
    """,
    "too_large": "bomb bomb_in_members",
    "failed": """
        chunk_size_letters chunk_size_negative chunk_size_huge chunk_extension_bomb chunk_without_line_end trailer_bomb
        two_lengths negative_length length_letters unknown_transfer status_letters status_zero status_long reason_bomb
        header_bomb headers_10k header_endless header_nul header_without_colon switching_protocols gzip_bad_sum gzip_lie
        gzip_twice gzip_in_two_headers deflate brotli zstd klingon to_nowhere to_emptiness to_two_places use_proxy
        status_400 status_408 status_418 status_425 status_500 status_501 status_502 status_503 status_504 status_599
        status_204 status_205 status_304 asks_for_a_negative_wait loop see_other
    """,
    "missing": "status_404 status_410",
    "blocked": "status_401 status_403 status_407 status_451 status_511",
    "rate_limited": """
        status_429 asks_for_a_second asks_for_1000_days asks_for_nothing_readable asks_for_the_past
        asks_for_the_year_9999
    """,
    "unreachable": "reset_in_head close_at_once close_in_head http_09 garbage",
    "timed_out": "other_protocol endless_continue never_answers slow_head slow_body last_byte_missing",
    "source_refused": """
        to_a_bad_address to_a_long_address to_a_file to_ftp to_data to_a_script to_a_private_address
        to_a_private_address_briefly to_this_machine to_a_user
    """,
}
EXPECTED = {name: word for word, names in OUTCOMES.items() for name in names.split()}
PLACES = {"hops": "hops/5", "to_spaces": "to_spaces"}
TIMEOUT_S = 1.0


@pytest.fixture(scope="module")
def site() -> Iterator[Site]:
    with Site() as site:
        site.page("/damage/a page", "<p>Here.</p>")
        yield site


def test_each_damage_has_its_outcome() -> None:
    assert set(EXPECTED) | {"a page"} == set(DAMAGES)


@pytest.mark.parametrize("name", EXPECTED)
def test_damage_has_the_outcome_that_is_written_down(name: str, site: Site) -> None:
    is_slow = EXPECTED[name] == "timed_out"
    fetcher = open_fetcher(site, timeout_s=TIMEOUT_S if is_slow else 30.0)
    began = time.monotonic()
    assert outcome(fetcher, site.url(f"/damage/{PLACES.get(name, name)}")) == EXPECTED[name]
    if is_slow:
        assert time.monotonic() - began < TIMEOUT_S + 20  # without a limit, some would take minutes
