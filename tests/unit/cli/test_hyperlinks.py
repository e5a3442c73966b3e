from __future__ import annotations

import io
from pathlib import Path

import pytest

from asky.cli.terminal.hyperlinks import file_address, hyperlink, shows_hyperlinks
from asky.cli.terminal.terminal import Terminal
from tests.support.terminals import ScreenStream

XTERM = {"TERM": "xterm-256color"}


@pytest.mark.parametrize(
    ("environ", "expected"),
    [
        ({}, False),
        ({"TERM_PROGRAM": "iTerm.app"}, True),
        ({"TERM_PROGRAM": "vscode", "NO_COLOR": "1"}, True),
        ({"TERM_PROGRAM": "Apple_Terminal"}, False),
        ({"TERM": "xterm-kitty"}, True),
        ({"TERM": "foot"}, True),
        ({"TERM": "linux", "VTE_VERSION": "7200"}, False),
        ({"VTE_VERSION": "7200"}, True),
        ({"VTE_VERSION": "5000"}, False),
        ({"VTE_VERSION": "new"}, False),
        ({"KONSOLE_VERSION": "220401"}, True),
        ({"WT_SESSION": "0f4c"}, True),
        ({"TERM": "screen-256color", "WT_SESSION": "0f4c"}, False),
        ({"TERM": "tmux-256color", "TERM_PROGRAM": "tmux", "TERM_PROGRAM_VERSION": "3.4"}, True),
        ({"TERM": "screen", "TERM_PROGRAM": "tmux", "TERM_PROGRAM_VERSION": "3.3a", "VTE_VERSION": "7200"}, False),
        ({"FORCE_HYPERLINK": "1"}, True),
        ({"FORCE_HYPERLINK": "0", "TERM_PROGRAM": "iTerm.app"}, False),
        ({"FORCE_HYPERLINK": "1", "TERM": "dumb"}, False),
        ({"TERM_PROGRAM": "iTerm.app", "TERM": ""}, False),
    ],
)
def test_links_are_for_terminals_known_to_show_them(environ: dict[str, str], expected: bool) -> None:
    assert shows_hyperlinks(ScreenStream(), XTERM | environ) is expected


def test_a_pipe_has_no_links_whatever_the_environment_says() -> None:
    assert not shows_hyperlinks(io.StringIO(), XTERM | {"FORCE_HYPERLINK": "1", "TERM_PROGRAM": "iTerm.app"})


def test_only_pages_and_files_are_linked() -> None:
    for address in ("javascript:alert(1)", "https://x.test/\x1b]52;c;eA==\x07", "https://x.test/a b", "http://", ""):
        assert hyperlink("page", address) == "page"
    assert hyperlink("", "https://x.test/") == ""
    assert file_address("/docs/the tides.md") == "file:///docs/the%20tides.md"
    assert file_address("tides.md") == ""


def test_a_source_is_a_link_over_each_of_its_rows() -> None:
    out = ScreenStream(columns=40)
    terminal = Terminal(out=out, err=io.StringIO(), environ=XTERM | {"FORCE_HYPERLINK": "1", "NO_COLOR": "1"})
    terminal.sources([(1, "Tides, Causes - /docs/tides.md", "/docs/tides.md"), (2, "Notes", None)])
    uri = Path("/docs/tides.md").as_uri()
    assert "".join(out.writes).count(f";{uri}\x1b\\Tides, Causes - /docs/tides.md\x1b]8;;\x1b\\") == 1
    assert "\x1b[" not in "".join(out.writes)
    assert "".join(out.writes).endswith("[2] Notes\n")
