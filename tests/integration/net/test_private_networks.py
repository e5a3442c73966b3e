"""In a world where every address answers, content comes from the public ones alone."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys

import pytest

from tests.support import ssrf
from tests.support.asky_command import ROOT

WORLD = [*ssrf.VECTORS, *(f"http://public.test{path}" for path in ssrf.REDIRECTS)]


def test_no_vector_connects_to_an_address_that_is_not_public() -> None:
    if not shutil.which("unshare") or not shutil.which("ip"):
        pytest.skip("unshare and ip are needed for a network of one's own")
    if subprocess.run(["unshare", "-rn", "true"], capture_output=True, check=False).returncode:
        pytest.skip("this system lets nobody have a network of one's own")
    done = subprocess.run(
        ["unshare", "-rn", sys.executable, "-m", "tests.support.ssrf_world"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert set(report["vectors"]) == set(WORLD)
    for url, result in report["vectors"].items():
        assert set(result["reached"]) <= set(ssrf.PUBLIC), url
        assert result["outcome"] in ("source_refused", "unreachable"), url
    for url, result in report["controls"].items():
        assert result["outcome"] == "ok", url
        assert set(result["reached"]) <= {*ssrf.PUBLIC, ssrf.GRANTED}, url
        assert result["reached"], url
