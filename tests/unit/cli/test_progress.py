from __future__ import annotations

import io
from contextlib import closing

import pytest

from asky.cli.terminal.terminal import Progress, cut_to_width, duration
from asky.events import (
    Event,
    FileRead,
    ModelCalled,
    QuerySent,
    StageAdvanced,
    StageFinished,
    StageStarted,
    TextStreamed,
    ToolCalled,
    ToolReturned,
    Warned,
)
from asky.research.tool_specs import TOOL_SPECS, WEB_TOOL_SPECS
from asky.values import Failure

CLEAR = "\r\x1b[K"


class TerminalStream(io.StringIO):
    def isatty(self) -> bool:
        return True

    def lines_drawn(self) -> list[str]:
        """The states of the status line, without the clearing of it."""
        return [part for part in self.getvalue().split(CLEAR) if part]


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


class Screen:
    """A progress line on a terminal, and a clock to move."""

    def __init__(self, *, quiet: bool = False, verbose: bool = False, line: bool = True, term: str = "xterm") -> None:
        self.stream = TerminalStream()
        self.clock = Clock()
        environ = {"TERM": term}
        self.progress = Progress(
            self.stream, clock=self.clock, environ=environ, quiet=quiet, verbose=verbose, line=line
        )

    def hear(self, event: Event, after: float = 0.0) -> None:
        self.clock.now += after
        self.progress(event)


def test_a_stage_is_shown_with_its_counts_and_the_time_left() -> None:
    screen = Screen()
    screen.hear(StageStarted("embedding", total=400))
    screen.hear(StageAdvanced("embedding", 1), after=1.0)
    screen.hear(StageAdvanced("embedding", 100, 400), after=9.0)
    screen.hear(StageAdvanced("embedding", 400), after=30.0)
    assert screen.stream.lines_drawn() == [
        "embedding  0/400",
        "embedding  1/400",
        "embedding  ███░░░░░░░░░░  100/400  about 30 s left",
        "embedding  400/400  40 s",
    ]


def test_the_line_is_redrawn_at_most_ten_times_a_second() -> None:
    screen = Screen()
    screen.hear(StageStarted("reading", total=1000))
    for n in range(1000):
        screen.hear(StageAdvanced("reading", n + 1), after=0.001)
    assert 9 <= len(screen.stream.lines_drawn()) <= 11


def test_a_tick_draws_what_a_busy_moment_left_out() -> None:
    screen = Screen()
    screen.hear(StageStarted("reading"))
    screen.hear(StageStarted("embedding"), after=0.01)
    screen.progress.tick()
    assert screen.stream.lines_drawn() == ["reading"]
    screen.clock.now += 0.1
    screen.progress.tick()
    assert screen.stream.lines_drawn() == ["reading", "embedding"]


def test_a_finished_stage_leaves_nothing_on_the_terminal() -> None:
    screen = Screen()
    screen.hear(StageStarted("reading"))
    screen.hear(StageFinished("reading", 1.0, "3 files"))
    assert screen.stream.getvalue().endswith(CLEAR)
    screen.progress.tick()
    assert screen.stream.lines_drawn() == ["reading"]


def test_the_line_makes_room_for_the_answer() -> None:
    screen = Screen()
    screen.hear(ModelCalled("extractive", None, 1))
    screen.hear(TextStreamed("The "))
    screen.hear(TextStreamed("answer"), after=1.0)
    assert screen.stream.getvalue() == f"{CLEAR}asking extractive{CLEAR}"


def test_tools_and_files_are_named_without_what_could_steer_the_terminal() -> None:
    screen = Screen()
    screen.hear(ToolCalled("1", "get_relevant_content", "a\x1b[2Jquery\nof two lines"))
    screen.hear(ToolCalled("2", "my_\x07tool", "{}"), after=1.0)
    screen.hear(StageStarted("reading", 2), after=1.0)
    screen.hear(FileRead("docs/\x1b]0;x\x07a.pdf", "indexed"), after=1.0)
    assert screen.stream.lines_drawn() == [
        "searching the sources  aquery of two lines",
        "running my_tool  {}",
        "reading  0/2",
        "reading  0/2  docs/a.pdf",
    ]


def test_a_warning_stands_on_a_line_of_its_own() -> None:
    screen = Screen()
    screen.hear(StageStarted("reading"))
    screen.hear(Warned("no model\x07", "install one"), after=1.0)
    assert screen.stream.getvalue() == f"{CLEAR}reading{CLEAR}warning: no model (install one)\n{CLEAR}reading"


def test_a_warning_that_another_run_gives_again_is_printed_once() -> None:
    screen = Screen(line=False)
    for warned in (Warned("no model", topic="embedder"), Warned("careful"), Warned("no model", topic="embedder")):
        screen.hear(warned)
    assert screen.stream.getvalue() == "warning: no model\nwarning: careful\n"


@pytest.mark.parametrize("screen", [Screen(line=False), Screen(term="dumb")], ids=["switched off", "a dumb terminal"])
def test_without_a_line_only_warnings_are_printed(screen: Screen) -> None:
    screen.hear(StageStarted("reading", 1))
    screen.hear(StageFinished("reading", 1.0, "1 file"))
    screen.hear(FileRead("a", "failed", "broken"))
    screen.hear(Warned("careful"))
    assert screen.stream.getvalue() == "warning: careful\n"


def test_on_a_pipe_verbosity_prints_summaries_and_verdicts() -> None:
    stream = io.StringIO()
    progress = Progress(stream, clock=Clock(), environ={"TERM": "xterm"}, verbose=True)
    for event in (
        StageStarted("reading", 2),
        FileRead("a.pdf", "no_text_layer", "scanned"),
        FileRead("b.md", "indexed"),
        StageFinished("reading", 1.25, "1 of 2 files"),
        StageFinished("ranking", 0.04),
    ):
        progress(event)
    assert stream.getvalue() == "a.pdf: no text layer: scanned\nreading: 1 of 2 files (1.2 s)\nranking (0.0 s)\n"


def test_quiet_is_silent() -> None:
    screen = Screen(quiet=True, verbose=True)
    screen.hear(StageStarted("reading"))
    screen.hear(Warned("careful"))
    screen.hear(StageFinished("reading", 1.0))
    screen.progress.tick()
    assert screen.stream.getvalue() == ""


@pytest.mark.parametrize(
    ("is_private", "shown"), [(True, "searching the web for “neap tides”: brave (b.test), exa (e.test)\n"), (False, "")]
)
def test_a_query_that_could_hold_private_words_stays_on_the_screen(is_private: bool, shown: str) -> None:
    screen = Screen()
    screen.hear(QuerySent("neap\n\x1b[2Jtides", ("brave (b.test)", "exa (e.test)"), is_private))
    assert screen.stream.getvalue() == shown
    silent = Screen(quiet=True)
    silent.hear(QuerySent("neap tides", ("brave (b.test)",), is_private))
    assert silent.stream.getvalue() == ""


def test_a_closed_terminal_does_not_stop_the_run() -> None:
    screen = Screen()
    screen.hear(StageStarted("reading"))
    screen.stream.close()
    screen.hear(StageAdvanced("reading", 1), after=1.0)
    screen.progress.tick()
    screen.progress.clear()


def test_leaving_takes_the_line_away() -> None:
    screen = Screen()
    with closing(screen.progress) as progress:
        progress(StageStarted("reading"))
    assert screen.stream.getvalue() == f"{CLEAR}reading{CLEAR}"


def test_the_line_is_cut_to_the_width_in_cells() -> None:
    screen = Screen()
    screen.hear(StageStarted("x" * 500))
    assert len(screen.stream.lines_drawn()[0]) == 79
    assert cut_to_width("日本語abc", 5) == "日本"
    assert cut_to_width("e\u0301e\u0301", 1) == "e\u0301"
    assert cut_to_width("abc", 3) == "abc"


@pytest.mark.parametrize(
    ("seconds", "text"), [(0.2, "1 s"), (89, "89 s"), (100, "2 min"), (5399, "90 min"), (7200, "2 h")]
)
def test_durations_are_rounded_to_one_unit(seconds: float, text: str) -> None:
    assert duration(seconds) == text


def test_what_is_being_typed_stands_at_the_end_of_the_line_at_once() -> None:
    screen = Screen()
    screen.hear(ModelCalled("lab", None, 1))
    screen.progress.show_typed("only the moon")
    screen.progress.tick()
    assert screen.stream.lines_drawn()[-1] == "asking lab  > only the moon"
    screen.progress.show_typed("")
    screen.progress.tick()
    assert screen.stream.lines_drawn()[-1] == "asking lab"


def test_of_a_long_line_that_is_typed_the_end_is_seen() -> None:
    screen = Screen()
    screen.hear(ModelCalled("lab", None, 1))
    screen.progress.show_typed("word " * 40 + "end\x1b[2J")
    screen.progress.tick()
    line = screen.stream.lines_drawn()[-1]
    assert line.startswith("asking lab  > ")
    assert line.endswith("word end")
    assert len(line) == 79


@pytest.mark.parametrize("code", ["timed_out", "too_large", "tool_failed", "not_started"])
def test_a_tool_of_the_user_that_fails_is_told_and_stays_on_the_screen(code: str) -> None:
    screen = Screen()
    screen.hear(ToolReturned("c1", "notes", "", Failure("notes", code, "notes was stopped\x1b[2J after 3 s")))
    assert screen.stream.getvalue() == "notes was stopped after 3 s\n"


@pytest.mark.parametrize(("verbose", "shown"), [(False, ""), (True, "there is no tool 'x'\n")])
def test_what_a_model_did_wrong_is_told_when_all_is(verbose: bool, shown: str) -> None:
    screen = Screen(verbose=verbose)
    screen.hear(ToolReturned("c1", "x", "", Failure("x", "unknown_tool", "there is no tool 'x'")))
    screen.hear(ToolReturned("c2", "find", "3 passages"))
    assert screen.stream.getvalue() == shown


@pytest.mark.parametrize("name", [spec.name for spec in (*TOOL_SPECS, *WEB_TOOL_SPECS)])
def test_what_a_tool_does_is_said_in_words(name: str) -> None:
    screen = Screen()
    screen.hear(ToolCalled("1", name, "tides"))
    (line,) = screen.stream.lines_drawn()
    assert name not in line
    assert line.endswith("  tides")
