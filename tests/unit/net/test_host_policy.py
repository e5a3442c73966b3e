from __future__ import annotations

import pytest

from asky.net.host_policy import ARXIV, policy_at, policy_for


@pytest.mark.parametrize("host", ["arxiv.org", "export.arxiv.org", "www.arxiv.org", "arxiv.org."])
def test_every_host_of_a_site_shares_its_turns(host: str) -> None:
    assert policy_at(host) is ARXIV
    assert policy_for(host, gap_s=0.5, at_once=2) == ("arxiv.org", ARXIV.gap_s, 1)


@pytest.mark.parametrize("host", ["myarxiv.org", "arxiv.org.example", "org", "127.0.0.1", ""])
def test_a_host_of_which_nothing_is_known_has_turns_of_its_own(host: str) -> None:
    assert policy_at(host) is None
    assert policy_for(host, gap_s=0.5, at_once=2) == (host, 0.5, 2)


def test_a_longer_gap_that_was_asked_for_is_kept() -> None:
    assert policy_for("arxiv.org", gap_s=10.0, at_once=2) == ("arxiv.org", 10.0, 1)
