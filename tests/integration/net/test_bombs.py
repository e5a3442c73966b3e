"""A bomb of half a gigabyte costs little memory and little time."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.support.asky_command import ROOT
from tests.support.site import Site

PROGRAM = """
import resource, sys, time
from tests.support.fetching import open_fetcher, outcome
authority, path = sys.argv[1:]
fetcher = open_fetcher(allow=[authority], timeout_s=30.0)
outcome(fetcher, f"http://{authority}/damage/gzip")
before, began = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, time.monotonic()
word = outcome(fetcher, f"http://{authority}{path}")
grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
print(word, grown // (1024 if sys.platform != "darwin" else 1024 * 1024), time.monotonic() - began)
"""


@pytest.mark.parametrize("name", ["bomb", "bomb_in_members"])
def test_a_bomb_is_defused(name: str) -> None:
    with Site() as site:
        done = subprocess.run(
            [sys.executable, "-c", PROGRAM, site.authority, f"/damage/{name}"],
            cwd=ROOT,
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
    assert done.returncode == 0, done.stderr
    word, grown_mb, seconds = done.stdout.split()
    assert word == "too_large"
    assert int(grown_mb) <= 80
    assert float(seconds) < 20, "making the bomb included"
