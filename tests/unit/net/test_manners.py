from __future__ import annotations

import pytest

from asky.net.manners import ARXIV, manners_at, turn_at


@pytest.mark.parametrize("host", ["arxiv.org", "export.arxiv.org", "www.arxiv.org", "arxiv.org."])
def test_every_host_of_a_site_shares_its_turns(host: str) -> None:
    assert manners_at(host) is ARXIV
    assert turn_at(host, gap_s=0.5, at_once=2) == ("arxiv.org", ARXIV.gap_s, 1)


@pytest.mark.parametrize("host", ["myarxiv.org", "arxiv.org.example", "org", "127.0.0.1", ""])
def test_a_host_of_which_nothing_is_known_has_turns_of_its_own(host: str) -> None:
    assert manners_at(host) is None
    assert turn_at(host, gap_s=0.5, at_once=2) == (host, 0.5, 2)


def test_a_longer_gap_that_was_asked_for_is_kept() -> None:
    assert turn_at("arxiv.org", gap_s=10.0, at_once=2) == ("arxiv.org", 10.0, 1)
