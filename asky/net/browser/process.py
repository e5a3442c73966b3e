"""One Chromium per page: finding it, starting it without a network, ending it in every case."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import stat
import sys
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import anyio

from asky.concurrency import in_thread
from asky.errors import NotConfigured
from asky.installation import install_hint

if TYPE_CHECKING:
    from playwright.async_api import Browser

_LAUNCHER = Path(__file__).with_name("launch.py")
_START_S = 20.0
_STOP_S = 30.0  # on a busy machine; a driver that is killed leaves files in the folder for temporary files

# The programs themselves come before the wrapper scripts of distributions, which read user and system settings.
_PLACES = (
    "/usr/lib/chromium/chromium",
    "/usr/lib/chromium-browser/chromium-browser",
    "/usr/lib64/chromium-browser/chromium-browser",
    "/opt/google/chrome/chrome",
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
)
_NAMES = ("chromium", "chromium-browser", "google-chrome-stable", "google-chrome")

_FLAGS = (
    "--headless=new",
    "--remote-debugging-pipe",
    # No way out, even if a request is not intercepted: no name has an address, and the only proxy does not exist.
    "--host-resolver-rules=MAP * ~NOTFOUND",
    "--proxy-server=127.0.0.1:9",
    "--proxy-bypass-list=<-loopback>",
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--disable-quic",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-domain-reliability",
    "--disable-client-side-phishing-detection",
    "--disable-sync",
    "--disable-breakpad",
    "--disable-crash-reporter",
    "--no-pings",
    "--disable-default-apps",
    "--disable-extensions",
    "--disable-notifications",
    "--no-first-run",
    "--no-default-browser-check",
    "--no-service-autorun",
    "--password-store=basic",
    "--use-mock-keychain",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--mute-audio",
    "--hide-scrollbars",
    "--window-size=1280,1600",
    "--renderer-process-limit=2",
    "--js-flags=--max-old-space-size=512",
)


def find_chromium() -> Path:
    """Return an installed Chromium or Chrome. Raises `NotConfigured` if there is none."""
    found = next((place for place in _PLACES if os.access(place, os.X_OK)), None)
    named = found or next((path for name in _NAMES if (path := shutil.which(name))), None)
    if named is None:
        raise NotConfigured(
            "pages that need JavaScript need Chromium, and none was found",
            hint="install it (Debian and Ubuntu: apt install chromium), or set network.browser to false",
        )
    return Path(named)


def load_playwright() -> Any:
    """Return `async_playwright`. Raises `NotConfigured` if the package is not installed."""
    try:
        from playwright.async_api import async_playwright  # 0.2 s, and an extra: only for a page that needs it
    except ImportError:
        raise NotConfigured(
            "pages that need JavaScript need the package playwright",
            hint=install_hint("installs it; it uses an installed Chromium", extra="browser"),
        ) from None
    return async_playwright


@asynccontextmanager
async def open_chromium(executable: Path) -> AsyncIterator[Browser]:
    """Yield a browser with a fresh profile, isolated from the user's environment.

    When the block ends, by a result, an error or a cancellation, its processes are killed and its files are deleted.
    Raises `NotConfigured` if it cannot be started.
    """
    manager = load_playwright()()
    folder = _make_folder()
    try:
        with anyio.CancelScope(shield=True):  # half-started, the driver of the browser could not be ended
            playwright = await manager.__aenter__()
        yield await _launch(playwright, executable, folder)
    finally:
        with anyio.CancelScope(shield=True):
            await _end(manager, folder)


def _make_folder() -> Path:
    base = Path(tempfile.gettempdir())
    if os.geteuid() == 0 and not all(each.stat().st_mode & stat.S_IXOTH for each in (base, *base.parents)):
        base = Path("/tmp")  # noqa: S108 - what root starts becomes nobody, who has to get there; mkdtemp takes no chances
    return Path(tempfile.mkdtemp(prefix="asky-browser-", dir=base))


async def _launch(playwright: Any, executable: Path, folder: Path) -> Browser:
    from playwright.async_api import Error

    arguments = ["-I", "-S", str(_LAUNCHER), str(folder), str(executable), f"--user-data-dir={folder}/profile"]
    try:
        browser: Browser = await playwright.chromium.launch(
            executable_path=sys.executable,
            ignore_default_args=True,
            args=[*arguments, *_FLAGS, "about:blank"],
            env={"PATH": os.defpath, "HOME": str(folder), "TMPDIR": str(folder), "LANG": "C.UTF-8", "TZ": "UTC"},
            handle_sigint=False,
            handle_sigterm=False,
            handle_sighup=False,
            timeout=1000 * _START_S,
        )
    except Error as error:
        if "No usable sandbox" in str(error):
            raise NotConfigured(
                "Chromium finds no sandbox on this system, and pages are not opened without one",
                hint="allow user namespaces, or install the sandbox of Chromium (Debian: apt install chromium-sandbox)",
            ) from error
        raise NotConfigured(
            f"{executable} could not be started", hint="check that it starts from a terminal"
        ) from error
    return browser


async def _end(manager: Any, folder: Path) -> None:
    """Kill the browser first: there is nothing to save, and a busy one may not quit on request."""
    browser, driver = _noted(folder)
    _kill_group(browser)
    with anyio.move_on_after(_STOP_S) as asked:
        await manager.__aexit__(None, None, None)
    if asked.cancelled_caught and driver is not None:
        with contextlib.suppress(ProcessLookupError):
            os.kill(driver, signal.SIGKILL)
    await in_thread(shutil.rmtree, folder, True)


def _noted(folder: Path) -> tuple[int | None, int | None]:
    """Return the process ids of the browser and of its driver, as recorded by the launcher."""
    try:
        browser, driver = (folder / "pids").read_text(encoding="ascii").split()
    except (OSError, ValueError):
        return None, None  # it never got that far
    return int(browser), int(driver)


def _kill_group(leader: int | None) -> None:
    if leader is not None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(leader, signal.SIGKILL)
