"""A bundle made once more of its own evidence: what people open must be what its data say."""

from __future__ import annotations

import hashlib
import io
import json
from typing import BinaryIO

from asky import __version__
from asky.evidence.bundle import MANIFEST, make_bundle
from asky.evidence.stored_zip import blocks, members
from asky.report.gathering import report_export
from asky.report.page import render_report
from asky.text.scrub import one_line

_REASONS = {"report.html": "it was altered, or rendered with another version of markdown-it"}


def remade_faults(file: BinaryIO) -> tuple[str, ...]:
    """What of a bundle is not what asky makes of the bundle's `run.json`, a line for each file of it.

    `file` is one in which `check_bundle` has found no fault: whoever made it may still have put anything into its
    report. What it holds is never a reason to raise. Linear time; what is made is held in memory.
    """
    parts = {each.name: each for each in members(file)}
    tool = json.loads(b"".join(blocks(file, parts[MANIFEST])))["tool"]
    run = b"".join(blocks(file, parts["run.json"]))
    try:
        export = json.loads(run)
        made = make_bundle(export, render_report([report_export(export)], tool=tool), tool=tool)
    except Exception:  # noqa: BLE001 - a stranger's object may lack or nest anything: that is what is to be said
        return ("run.json: no report can be made of it",)
    wanted = _hashes(io.BytesIO(made))
    ours = f"asky {__version__}"
    other = f"it was altered, or {one_line(tool)[:50]} makes another than {ours}" if tool != ours else ""
    return tuple(
        f"{name} is not what asky makes of the evidence: {other or _REASONS.get(name, 'it was altered')}"
        for name, sha256 in _hashes(file).items()
        if sha256 != wanted.get(name)
    )


def _hashes(file: BinaryIO) -> dict[str, str]:
    """The hash of each file of an archive but the manifest, which is made of these."""
    found = {}
    for member in members(file):
        digest = hashlib.sha256()
        for block in blocks(file, member):
            digest.update(block)
        found[member.name] = digest.hexdigest()
    del found[MANIFEST]
    return found
