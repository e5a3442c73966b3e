"""Bundles of a made-up run, whole and spoilt."""

from __future__ import annotations

import hashlib
import io
import json
from collections.abc import Callable, Mapping
from typing import Any

from asky.evidence.export.bundle import make_bundle, manifest_text, pack, unpack
from asky.evidence.export.bundle_check import CheckedBundle, check_bundle
from asky.report.gathering import report_export
from asky.report.page import render_report
from tests.support.reports import RUN, STORED, answer_of, citation, claim

OTHER = "half \ud83d of a character, \x00 and\r\nanother line; 日本語. The sun helps.\r"
ANSWER = "The moon raises tides [1]. So does the sun [2]."


def run_object(**changed: Any) -> dict[str, Any]:
    """An `asky.run/1` object whose answer cites two texts, and whose third was only shown."""
    answer = answer_of(
        ANSWER,
        citations=[citation(), citation(2, quote="The sun helps.", stored=OTHER, kind="file", url=None, path="/s.txt")],
        claims=[claim("The moon raises tides [1].", ANSWER), claim("So does the sun [2].", ANSWER, citations=(2,))],
    )
    texts = [STORED, OTHER, "shown and not cited"]
    passages = [
        {"key": f"P{n}", "sha256": hash_of(text), "start": 0, "end": 5, "quote": text[:5]}
        for n, text in enumerate(texts)
    ]
    return {
        "schema": "asky.run/1",
        "run": {"id": RUN, "session": None, "status": "finished", "started_at": "2026-03-14T09:15:02.000000Z"},
        "answer": answer,
        "passages": passages,
        "documents": [{"sha256": hash_of(text), "text": text} for text in texts],
        "ledger": [{"at": "2026-03-14T09:15:02.000000Z", "kind": "asked", "data": {"model": "small"}}],
        **changed,
    }


def bundle_of(run: Mapping[str, Any] | None = None) -> bytes:
    run = run_object() if run is None else run
    return make_bundle(run, render_report([report_export(run)]), tool="asky 1.2.3")


def hash_of(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def check(archive: bytes) -> CheckedBundle:
    return check_bundle(io.BytesIO(archive))


def files_of(archive: bytes) -> dict[str, bytes]:
    return {name: bytes(data) for name, data in unpack(io.BytesIO(archive)).items()}


def packed(files: Mapping[str, bytes]) -> bytes:
    """An archive of the files with a manifest that says what they are."""
    facts = [
        {"path": name, "bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()}
        for name, data in files.items()
        if name != "manifest.json"
    ]
    return pack([*{**files, "manifest.json": manifest_text(RUN, "asky 1.2.3", facts).encode()}.items()])


def forged(change: Callable[[dict[str, Any]], object], *names: str) -> bytes:
    """A bundle with changed JSON in the named files, of which everything else is right: the work of a forger."""
    files = files_of(bundle_of())
    for name in names:
        value = json.loads(files[name])
        change(value["answer"] if name == "run.json" and names != ("run.json",) else value)
        files[name] = json.dumps(value).encode()
    return packed(files)
