"""`asky runs verify` of a bundle whose manifest fits, and whose report its evidence does not make."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest

from asky.evidence.export.bundle import manifest_text, pack
from tests.support.bundles import files_of
from tests.support.in_process import InProcess
from tests.support.stores import TIDES, FilledStore


@pytest.fixture
def asky(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> InProcess:
    home = tmp_path / "home"
    home.mkdir()
    return InProcess(home, monkeypatch, capsys)


@pytest.mark.parametrize("name", ["report.html", "references.bib", "README.txt"])
def test_a_bundle_with_another_file_to_open_than_its_evidence_makes_fails(
    asky: InProcess, tmp_path: Path, name: str
) -> None:
    tides = tmp_path / "tides.md"
    with FilledStore(asky.home) as store:
        document = store.add_text(tides, TIDES)
        store.answered(
            "What pulls?",
            "The moon [1].",
            lambda run: [store.evidence(run, tides, document, "The moon pulls on the water")],
        )
    assert asky("runs", "export", "--bundle", "run.zip").code == 0
    bundle = asky.home / "run.zip"
    assert asky("runs", "verify", "run.zip").code == 0
    files = {**files_of(bundle.read_bytes()), name: b"<script>alert(1)</script>"}
    manifest = json.loads(files.pop("manifest.json"))
    facts = [
        {"path": path, "bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()} for path, data in files.items()
    ]
    text = manifest_text(manifest["run"], manifest["tool"], facts)
    bundle.write_bytes(pack([("manifest.json", text.encode()), *files.items()]))
    done = asky("runs", "verify", "run.zip")
    told = f"{name} is not what asky makes of the evidence: it was altered"
    assert done.code == 1
    assert done.out.startswith(f"FAILED: {told}")
    assert done.out.count("\n") == 1
    found = asky("runs", "verify", "run.zip", "--json")
    assert (found.code, found.json["ok"]) == (1, False)
    assert [each.startswith(told) for each in found.json["faults"]] == [True]
