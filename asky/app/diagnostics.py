"""Checks of the installation, the models, the search services and the store."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from asky.health.check import Check as Check

if TYPE_CHECKING:
    from asky.health.web import RunAsync


class DiagnosticsService:
    """Runs the checks. It reads the configuration itself and works even if that is invalid."""

    def __init__(self, environ: Mapping[str, str] = os.environ, cwd: Path | None = None) -> None:
        self._environ = environ
        self._cwd = cwd

    def check(self, *, full: bool = False, repair: bool = False, run: RunAsync | None = None) -> Iterator[Check]:
        """Yield each check as it completes. Nothing is written unless `repair`.

        `full` also looks up a sample of the vectors in the vector index, which takes seconds; `repair` rebuilds damaged
        indexes and sets unreadable records aside. Nothing is sent unless `run`, which runs asynchronous work, is
        passed: then each search service gets one query.
        """
        from asky.health.diagnostics import diagnose  # everything that can fail

        return diagnose(self._environ, self._cwd or Path.cwd(), full=full, repair=repair, run=run)
