"""A library of two papers behind the command line, with a scripted model `far`. Words alone decide what is found."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.endpoint import Endpoint
from tests.support.in_process import InProcess
from tests.support.papers import BREAD, SUN, TEXT, paper_pdf


@pytest.fixture
def model() -> Iterator[Endpoint]:
    with Endpoint("Nothing.") as opened:
        yield opened


@pytest.fixture
def command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], model: Endpoint
) -> InProcess:
    """`asky` with two papers: 2101.00001v2 on tides, of three pages, and 10.5555/b1 on bread."""
    home, folder = tmp_path / "home", tmp_path / "downloads"
    home.mkdir()
    folder.mkdir()
    asky = InProcess(home, monkeypatch, capsys)
    settings = {
        "RESEARCH__EMBEDDING__MODEL": str(tmp_path / "no model"),
        "PROVIDERS__LAB__BASE_URL": model.base_url,
        "MODELS__FAR__PROVIDER": "lab",
        "MODELS__FAR__ID": "test-model",
        "MODELS__FAR__MAX_OUTPUT_TOKENS": "500",
    }
    for name, value in settings.items():
        monkeypatch.setenv(f"ASKY_{name}", value)
    monkeypatch.setattr(sys, "stdin", None)
    (folder / "a.pdf").write_bytes(paper_pdf(arxiv="2101.00001v2", pages=[TEXT, "A page about gauges.", SUN]))
    (folder / "b.pdf").write_bytes(paper_pdf("Bread and yeast", authors="Bo Li", doi="10.5555/b1", pages=[BREAD]))
    added = asky("papers", "add", str(folder))
    assert "2 PDFs: 2 added\n" in added.err, added.err
    return asky
