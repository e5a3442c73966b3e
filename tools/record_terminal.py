"""Record terminals for the documentation: `python -m tools.record_terminal --paper FILE [NAME]...`.

Each recording of `RECORDINGS` runs its commands one after another in a pseudo-terminal, with a home folder and an
`ASKY_HOME` of its own, no key and no network, and writes `docs/recordings/NAME.cast` for `asciinema play` and
`docs/recordings/NAME.svg`, the picture of what the terminal shows at the end. Output and times are as they were, with
these exceptions: the commands and replies are typed by this script, the search model has been prepared before, the home
folder is shown as `/home/you`, and the web is a small encyclopedia on this machine.
"""

from __future__ import annotations

import csv
import importlib.util
import io
import json
import os
import secrets
import shlex
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

import click
import pexpect
import pymupdf
import pyte
from rich.console import Console
from rich.style import Style
from rich.text import Text

from tools.small_wiki import small_wiki

ROOT = Path(__file__).parents[1]
OUTPUT = ROOT / "docs" / "recordings"
DOCUMENTS = OUTPUT / "documents"

COLUMNS, ROWS = 96, 40
MAX_IDLE_S = 1.5
"""A player shortens longer pauses to this."""

_HOME = "/home/you"
"""What the home folder is shown as; the real one has as many characters, so that lines break where they did."""
_PROMPT = "\x1b[1;32m$\x1b[0m "
_KEY_S, _PAUSE_S = 0.04, MAX_IDLE_S
_LIMIT_S = 300
_EXIT_CODES = (0, 11)
"""Of commands worth a recording: an answer, and none found."""
_SCAN_PAGES, _SCAN_DPI = 2, 150
_WEB: dict[str, str] = {}
"""The variables of the encyclopedia that is searched, while it is served."""

_SVG = """\
<svg viewBox="0 0 {width} {height}" xmlns="http://www.w3.org/2000/svg">
<style>
.{unique_id}-matrix {{ font: {char_height}px/{line_height}px "DejaVu Sans Mono", Menlo, Consolas, monospace }}
.{unique_id}-title {{ font: bold 18px sans-serif }}
{styles}
</style>
<defs>
<clipPath id="{unique_id}-clip-terminal">
<rect x="0" y="0" width="{terminal_width}" height="{terminal_height}"/>
</clipPath>
{lines}
</defs>
{chrome}
<g transform="translate({terminal_x}, {terminal_y})" clip-path="url(#{unique_id}-clip-terminal)">
{backgrounds}
<g class="{unique_id}-matrix">
{matrix}
</g>
</g>
</svg>
"""
"""Rich's own template loads fonts from the web."""

Events = list[tuple[float, str]]
"""What the terminal received, with the seconds since the start."""


@dataclass(frozen=True, slots=True)
class Recording:
    """Commands over documents that `prepare(paper, folder)` puts into the folder where they run.

    `cd FOLDER` changes that. `replies` are typed in their order, each after a prompt has been printed.
    """

    name: str
    title: str
    prepare: Callable[[Path | None, Path], None]
    commands: tuple[str, ...]
    replies: tuple[tuple[str, str], ...] = ()


def _paper(paper: Path | None, folder: Path) -> None:
    shutil.copy(_given(paper), folder / "rag.pdf")


def _scan(paper: Path | None, folder: Path) -> None:
    if importlib.util.find_spec("rapidocr") is None:
        raise click.ClickException("the recording of a scan needs the extra ocr: pip install -e '.[ocr]'")
    with pymupdf.open(_given(paper)) as source, pymupdf.open() as scan:
        for page in list(source)[:_SCAN_PAGES]:
            image = page.get_pixmap(dpi=_SCAN_DPI, colorspace=pymupdf.csGRAY).tobytes("jpeg")
            scan.new_page(width=page.rect.width, height=page.rect.height).insert_image(page.rect, stream=image)
        scan.save(folder / "scan.pdf")


def _vault(_: Path | None, folder: Path) -> None:
    shutil.copytree(DOCUMENTS / "vault", folder / "vault")


def _code(_: Path | None, folder: Path) -> None:
    shutil.copytree(Path(click.__file__).parent, folder / "click", ignore=shutil.ignore_patterns("__pycache__"))


def _spreadsheet(_: Path | None, folder: Path) -> None:
    shutil.copy(DOCUMENTS / "harbour-dues.xlsx", folder)


def _desk(_: Path | None, folder: Path) -> None:
    shutil.copytree(DOCUMENTS / "desk", folder / "desk")


def _reader(_: Path | None, folder: Path) -> None:
    shutil.copytree(DOCUMENTS / "reader", folder / "reader")


def _questions(name: str) -> tuple[str, ...]:
    """Return a command for each question about the folder of documents with this name."""
    with (DOCUMENTS / f"{name}-questions.tsv").open(encoding="utf-8", newline="") as rows:
        return tuple(f'asky -q -d {name} "{row["question"]}"' for row in csv.DictReader(rows, delimiter="\t"))


def _clone(paper: Path | None, folder: Path) -> None:
    subprocess.run(["git", "clone", "--quiet", "--bare", str(ROOT), str(folder / "asky.git")], check=True)
    (folder / "papers").mkdir()
    shutil.copy(_given(paper), folder / "papers" / "rag.pdf")


def _given(paper: Path | None) -> Path:
    if paper is None:
        raise click.ClickException("the recordings of a paper and of a scan need --paper FILE, an arXiv PDF")
    if not paper.read_bytes().startswith(b"%PDF-"):
        raise click.ClickException(f"{paper} is not a PDF")
    return paper


RECORDINGS = (
    Recording(
        "first-steps",
        "The first quarter of an hour",
        _clone,
        (
            "git clone asky.git",
            "cd asky",
            "make demo",
            '.venv/bin/asky -d ~/papers "What is rag.pdf about?"',
            ".venv/bin/asky setup",
            '.venv/bin/asky -r "Who found penicillin, and when?"',
            ".venv/bin/asky why 1",
        ),
        (("model:", ""), ("path:", ""), ("names, or all:", "wikipedia"), ("y/n:", "n")),
    ),
    Recording(
        "paper",
        "A paper",
        _paper,
        (
            'asky -d rag.pdf "What is this paper about?"',
            'asky -d rag.pdf "Who wrote it?"',
            'asky -d rag.pdf "Which retriever does it use?"',
        ),
    ),
    Recording(
        "scan",
        "A scanned paper",
        _scan,
        (
            'asky -d scan.pdf "What is this paper about?"',
            'asky -d scan.pdf "Who wrote it?"',
            'asky -d scan.pdf "Which retriever does it use?"',
        ),
    ),
    Recording(
        "vault",
        "A vault",
        _vault,
        (
            'asky -d vault "What is the status of the kitchen renovation?"',
            'asky -d vault "When does the plumber come?"',
            'asky -d vault "How do I bleed a radiator?"',
        ),
    ),
    Recording(
        "code",
        "A folder of source code",
        _code,
        (
            'asky -d click "What is this project?"',
            'asky -d click "Which exceptions are there?"',
            'asky -d click "What does secho do?"',
        ),
    ),
    Recording(
        "spreadsheet",
        "A spreadsheet",
        _spreadsheet,
        (
            'asky -d harbour-dues.xlsx "Which berth does the Nordlys have?"',
            'asky -d harbour-dues.xlsx "What are the dues of the Dorothea?"',
            'asky -d harbour-dues.xlsx "What does a metre cost for boats over 12 m?"',
        ),
    ),
    Recording("desk", "A folder with one document of each kind", _desk, ("ls desk", *_questions("desk"))),
    Recording("reader", "Ten questions with an answer, ten without", _reader, ("ls reader", *_questions("reader"))),
)


def record(recording: Recording, home: Path) -> Events:
    """Run the commands of `recording` in `home`; return what the terminal received.

    Raises `click.ClickException` if a command fails or its output names a folder of this machine.
    """
    events: Events = []
    now = 0.0
    folder, replies = home, list(recording.replies)
    for command in recording.commands:
        events.append((now, _PROMPT))
        now += _PAUSE_S
        for key in command:
            events.append((now, key))
            now += _KEY_S
        events.append((now, "\r\n"))
        if command.startswith("cd "):
            folder = folder / command.removeprefix("cd ")
        else:
            events += [(now + after, text) for after, text in _run(command, home, folder, replies)]
        now = events[-1][0]
        events.append((now, "\r\n"))
        now += _PAUSE_S
    events.append((now, ""))
    return _at_home(events, str(home))


def write_cast(title: str, events: Events, path: Path) -> None:
    """Write `events` as an asciinema recording, version 2."""
    env = {"TERM": "xterm-256color"}
    head = {"version": 2, "width": COLUMNS, "height": ROWS, "idle_time_limit": MAX_IDLE_S, "title": title, "env": env}
    lines: list[object] = [head, *([round(now, 3), "o", text] for now, text in events)]
    path.write_text("".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines), "utf-8")


def write_svg(title: str, events: Events, path: Path) -> None:
    """Write the picture of the terminal after `events`, with what has scrolled off."""
    console = Console(file=io.StringIO(), record=True, width=COLUMNS, force_terminal=True, color_system="truecolor")
    for row in _rows(events):
        console.print(row, soft_wrap=True)
    console.print()  # the picture cuts its last row
    svg = console.export_svg(title=title, code_format=_SVG, unique_id="t")
    path.write_text("".join(line.strip() + "\n" for line in svg.splitlines() if line.strip()), "utf-8")


def _run(
    command: str, home: Path, folder: Path | None = None, replies: list[tuple[str, str]] | None = None
) -> Iterator[tuple[float, str]]:
    """Yield what `command` prints and after how many seconds; raise `click.ClickException` if it fails.

    The first of `replies` is typed, and taken off the list, once its prompt has been printed.
    """
    started = time.monotonic()
    where = folder or home
    child = pexpect.spawn(
        "/bin/sh", ["-c", command], cwd=where, env=_environment(home), dimensions=(ROWS, COLUMNS), encoding="utf-8"
    )
    printed = ""
    while True:
        try:
            text = child.read_nonblocking(65536, timeout=_LIMIT_S)
            yield time.monotonic() - started, text
            printed += text
            if replies and replies[0][0] in printed:
                prompt, reply = replies.pop(0)
                printed = printed.partition(prompt)[2]
                child.send(f"{reply}\n")
        except pexpect.EOF:
            break
        except pexpect.TIMEOUT:
            child.close(force=True)
            raise click.ClickException(f"{command}: no output for {_LIMIT_S} s") from None
    child.close()
    if child.exitstatus not in _EXIT_CODES:
        raise click.ClickException(f"{command}: exit code {child.exitstatus}")


def _rows(events: Events) -> list[Text]:
    """Return the rows that the terminal shows after `events`, and before them those that have scrolled off."""
    screen = pyte.HistoryScreen(COLUMNS, ROWS, history=100_000, ratio=1)
    pyte.Stream(screen).feed("".join(text for _, text in events))
    rows = []
    for cells in [*screen.history.top, *(screen.buffer[line] for line in range(ROWS))]:
        row = Text()
        for style, run in groupby((cells[column] for column in range(COLUMNS)), _style):
            row.append("".join(cell.data for cell in run), style)
        row.rstrip()
        rows.append(row)
    while rows and not rows[-1]:
        rows.pop()
    return rows


def _style(cell: pyte.screens.Char) -> Style:
    colors = [_color(name) for name in (cell.fg, cell.bg)]
    return Style(
        color=colors[0],
        bgcolor=colors[1],
        bold=cell.bold,
        italic=cell.italics,
        underline=cell.underscore,
        strike=cell.strikethrough,
        reverse=cell.reverse,
    )


def _color(name: str) -> str:
    """Return the name that rich has for a colour of pyte, which calls yellow brown."""
    if len(name) == 6 and set(name) <= set("0123456789abcdef"):
        return f"#{name}"
    return name.replace("brown", "yellow").replace("bright", "bright_")


def _at_home(events: Events, home: str) -> Events:
    """Return `events` with `_HOME` in place of the equally long `home`, even where it is spread over two of them."""
    text = "".join(text for _, text in events).replace(home, _HOME)
    for place in (str(ROOT), sys.prefix):
        if place in text:
            raise click.ClickException(f"the output names a folder of this machine: {place}")
    shown: Events = []
    for now, each in events:
        shown.append((now, text[: len(each)]))
        text = text[len(each) :]
    return shown


def _environment(home: Path) -> dict[str, str]:
    path = os.pathsep.join([str(home / ".bin"), os.environ["PATH"]])
    return _WEB | {
        "HOME": str(home),
        "ASKY_HOME": str(home / ".asky"),
        "PATH": path,
        "PIP_QUIET": "2",
        "TERM": "xterm-256color",
        "LC_ALL": "C.UTF-8",
    }


@contextmanager
def _home() -> Iterator[Path]:
    """Make a home folder with the command `asky`, and remove it in the end."""
    temporary = Path("/tmp")  # noqa: S108 - its name has to be as long as the one that is shown
    home = temporary / secrets.token_hex(2)
    home.mkdir(mode=0o700)
    try:
        (home / ".bin").mkdir()
        asky = home / ".bin" / "asky"
        asky.write_text(f'#!/bin/sh\nPYTHONPATH={ROOT} exec {shlex.quote(sys.executable)} -m asky "$@"\n')
        asky.chmod(0o755)
        yield home
    finally:
        shutil.rmtree(home)


@click.command()
@click.option("--paper", type=click.Path(exists=True, dir_okay=False, path_type=Path), help="An arXiv PDF.")
@click.argument("names", nargs=-1, type=click.Choice([each.name for each in RECORDINGS]))
def main(paper: Path | None, names: Sequence[str]) -> None:
    """Make the recordings NAMES anew, or all of them."""
    with ExitStack() as stack:
        _WEB.update(stack.enter_context(small_wiki()))
        homes = {each: stack.enter_context(_home()) for each in RECORDINGS if not names or each.name in names}
        for recording, home in homes.items():
            recording.prepare(paper, home)
        for recording, home in homes.items():
            events = record(recording, home)
            write_cast(recording.title, events, OUTPUT / f"{recording.name}.cast")
            write_svg(recording.title, events, OUTPUT / f"{recording.name}.svg")
            click.echo(f"{recording.name}: {events[-1][0]:.0f} s")


if __name__ == "__main__":
    main()
