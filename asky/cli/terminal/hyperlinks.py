"""Links that a terminal opens (OSC 8), for terminals that are known to show them.

Source: the detection of supports-hyperlinks 2 and of its crate of the same name, with FORCE_HYPERLINK to overrule it;
the protocol is Egmont Koblinger's "Hyperlinks in terminal emulators". Only links to web pages and files are made, and
only over text that shows where they lead.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import TextIO

_PROGRAMS = ("iterm.app", "wezterm", "vscode", "ghostty", "hyper", "terminology", "tabby", "zed", "warpterminal", "rio")
_TERMS = ("xterm-kitty", "xterm-ghostty", "alacritty", "foot", "wezterm", "contour")
_MIN_VTE = 5_001  # 0.50.0 crashed on links
_MIN_TMUX = (3, 4)
_ADDRESS = re.compile(r"(?:https?|file)://[!-~]{1,2000}")
"""An address that VTE accepts: at most 2083 characters, without white space and control characters."""


def shows_hyperlinks(stream: TextIO, environ: Mapping[str, str]) -> bool:
    """Return whether `stream` is a terminal that shows links. NO_COLOR does not matter."""
    term = environ.get("TERM", "dumb")
    if not stream.isatty() or term in ("", "dumb"):
        return False
    if (forced := environ.get("FORCE_HYPERLINK")) is not None:
        return forced.strip().lower() not in ("", "0", "false", "no")
    program = environ.get("TERM_PROGRAM", "").lower()
    if program == "tmux":
        return _version(environ.get("TERM_PROGRAM_VERSION", "")) >= _MIN_TMUX
    if term.startswith(("tmux", "screen", "linux")):
        return False
    if program in _PROGRAMS or term.startswith(_TERMS):
        return True
    vte = environ.get("VTE_VERSION", "")
    if vte.isascii() and vte.isdigit():
        return int(vte[:6]) >= _MIN_VTE
    return any(environ.get(name) for name in ("WT_SESSION", "KONSOLE_VERSION", "DOMTERM"))


def hyperlink(shown: str, address: str) -> str:
    """Return `shown`, which may have colours, as a link to `address`; unchanged if that is no web page or file."""
    if not shown or _ADDRESS.fullmatch(address) is None:
        return shown
    # The same id joins the rows of one link.
    return f"\x1b]8;id={zlib.crc32(address.encode()):x};{address}\x1b\\{shown}\x1b]8;;\x1b\\"


def file_address(path: str) -> str:
    """Return the `file:` URL of an absolute path, else `""`."""
    return Path(path).as_uri() if path.startswith("/") else ""


def _version(text: str) -> tuple[int, int]:
    found = re.match(r"(\d{1,3})\.(\d{1,3})", text)
    return (int(found[1]), int(found[2])) if found else (0, 0)
