"""Reproduction of a bundle from its own evidence: the readable files must match what the data say."""

from __future__ import annotations

import io
import json
from typing import BinaryIO

from asky.evidence.export.bundle import MANIFEST, make_bundle, unpack
from asky.report.gathering import report_export
from asky.report.page import render_report
from asky.text.scrub import one_line
from asky.version import __version__

_REASONS = {"report.html": "it was altered, or rendered with another version of markdown-it"}


def reproduction_faults(file: BinaryIO) -> tuple[str, ...]:
    """Return a line for each file of a bundle that differs from what asky makes of the bundle's `run.json`.

    `file` is one in which `check_bundle` found no fault; its report may still contain anything. Its contents never
    cause an exception. Linear time; the reproduced files are held in memory.
    """
    files = unpack(file)
    tool = json.loads(bytes(files.pop(MANIFEST)))["tool"]
    try:
        export = json.loads(bytes(files["run.json"]))
        made = unpack(io.BytesIO(make_bundle(export, render_report([report_export(export)], tool=tool), tool=tool)))
    except Exception:  # noqa: BLE001 - an untrusted object may lack or nest anything, which is what this reports
        return ("run.json: no report can be made of it",)
    ours = f"asky {__version__}"
    other = f"it was altered, or {one_line(tool)[:50]} makes a different one from {ours}" if tool != ours else ""
    return tuple(
        f"{name} is not what asky makes of the evidence: {other or _REASONS.get(name, 'it was altered')}"
        for name, data in files.items()
        if data != made.get(name)
    )
