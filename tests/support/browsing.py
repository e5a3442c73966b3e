"""Pages read in a real Chromium, where one is installed."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path

import anyio
import psutil  # type: ignore[import-untyped]  # it has no stubs here
import pytest

from asky.errors import NotConfigured
from asky.net.browser.fetcher import BrowserFetcher, BrowserLimits
from asky.net.browser.process import find_chromium, load_playwright
from asky.net.fetching import Fetched
from asky.net.guard import Guard
from asky.net.pace import Pace
from tests.support.site import Site

QUICK = BrowserLimits(timeout_s=120.0, idle_timeout_s=1.5)
"""For pages that never come to rest."""

PATIENT = BrowserLimits(timeout_s=120.0, idle_timeout_s=60.0)
"""For pages that come to their end by themselves, however busy the machine is."""


def needs_browser() -> pytest.MarkDecorator:
    """Skips, with the reason, where there is no browser to drive."""
    try:
        load_playwright()
        find_chromium()
    except NotConfigured as error:
        return pytest.mark.skip(reason=f"{error.message}: {error.hint}")
    return pytest.mark.slow


def open_browser(*sites: Site, allow: Sequence[str] = (), limits: BrowserLimits | None = None) -> BrowserFetcher:
    """A browser reader that may reach `sites`."""
    return BrowserFetcher(Guard([*(site.authority for site in sites), *allow]), Pace(None), limits)


def browse(fetcher: BrowserFetcher, url: str) -> Fetched:
    """One page from sync code."""

    async def main() -> Fetched:
        return await fetcher.fetch(url)

    return anyio.run(main)


def shown(site: Site, path: str, *, limits: BrowserLimits | None = None) -> str:
    """The HTML that the page at `path` has become."""
    return browse(open_browser(site, limits=limits), site.url(path)).body.decode()


def left_behind(folder: Path, within_s: float = 60.0) -> list[str]:
    """The processes of browsers whose files were in `folder` that do not end within `within_s` seconds."""
    deadline = time.monotonic() + within_s
    while (found := _running(folder)) and time.monotonic() < deadline:
        psutil.wait_procs(found, timeout=0.1)
    return [str(process) for process in found]


def _running(folder: Path) -> list[psutil.Process]:
    """The drivers that this process has started, and the browsers, whoever their parent is by now."""
    found = [each for each in psutil.Process().children(recursive=True) if "run-driver" in _words(each)]
    return [*found, *(each for each in psutil.process_iter() if f"{folder}/asky-browser-" in _words(each))]


def _words(process: psutil.Process) -> str:
    try:
        return "" if process.status() == psutil.STATUS_ZOMBIE else " ".join(process.cmdline())
    except psutil.Error:
        return ""
