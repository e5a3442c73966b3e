"""The slash commands of `asky chat`: one table of what can be typed and what it does."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from types import MappingProxyType
from typing import TYPE_CHECKING

from asky.cli.chat_paths import QUOTE_THEM, one_typed_path, typed_paths
from asky.cli.export_forms import SUFFIXES_TOLD
from asky.errors import UsageError

if TYPE_CHECKING:
    from asky.cli.chat_reader import Reader
    from asky.cli.chat_talk import Talk


_KEYS = (
    "Enter sends; Alt-Enter, Ctrl-J or \\ at the end of a line begins a new one.",
    "Ctrl-C stops an answer, Ctrl-D leaves.",
    "What you type while an answer is made goes to the model as a note.",
    "A path with spaces stands in quotes.",
)
_MODES = ("research", "lean", "standard")


class Leave(Exception):
    """The user wants to leave."""


@dataclass(frozen=True, slots=True)
class Command:
    """`run` gets what follows the name; what it returns is asked. One that `names_files` is not taken from a pipe."""

    name: str
    takes: str
    meaning: str
    run: Callable[[Talk, Reader, str], str | None]
    names_files: bool = False

    @property
    def typed(self) -> str:
        """`/name`."""
        return f"/{self.name}"


def run_command(talk: Talk, reader: Reader, line: str) -> str | None:
    """Do what the `line`, which begins with `/`, says; returns a question that is to be asked now, if there is one.

    A name that is no command may be a saved prompt, and a text such as `/etc/hosts?` is a question. Raises `UsageError`
    for what is neither, with the nearest name, and what the command raises.
    """
    name, rest = _parted(line)
    command = COMMANDS.get(name)
    if command is None:
        return _expanded(talk, reader, line)
    if command.names_files and rest and not reader.is_interactive:
        raise UsageError(
            f"{command.typed} names files, and is not taken from a pipe",
            hint="-d names documents, `asky session export` writes files",
        )
    if rest and not command.takes:
        raise UsageError(f"{command.typed} takes nothing after it")
    return command.run(talk, reader, rest)


def _parted(line: str) -> Sequence[str]:
    """The name after the `/`, and what follows it. Raises `UsageError` where there is no name."""
    if line == "/" or line[1].isspace():
        raise UsageError("a command is / and its name", hint="/help lists them")
    return [*line[1:].split(None, 1), ""][:2]


def typed_question(talk: Talk, reader: Reader, text: str) -> str:
    """The question that `text` is, or that the file or the saved prompt holds that it names.

    Raises `UsageError` for a command, which is no question, for a slip in the name of a prompt, and for a file that
    cannot be read, or that a pipe names.
    """
    from asky.cli.questions import names_prompt_file, read_in_file

    if names_prompt_file(text):
        if not reader.is_interactive:
            raise UsageError("a question in a file is not taken from a pipe", hint="pipe the text itself")
        return read_in_file(text)
    if not text.startswith("/"):
        return text
    name, _ = _parted(text)
    if name in COMMANDS:
        raise UsageError(f"/{name} is a command, and no question: nothing was asked", hint="type it at the prompt `>`")
    return _expanded(talk, reader, text)


def _expanded(talk: Talk, reader: Reader, line: str) -> str:
    from asky.chat.saved_prompts import names_prompt

    if not names_prompt(line):
        return line
    name = line[1:].split()[0]
    prompts = talk.bench.services.config.prompts
    if name in prompts and reader.is_interactive:
        from asky.cli.questions import expand_prompt

        return expand_prompt(line, prompts, in_chat=True)
    if name in prompts:
        raise UsageError(f"/{name} is a saved prompt, and these are not taken from a pipe")
    known = [*COMMANDS, *prompts]
    begun = [each for each in known if each.startswith(name.lower())]
    near = begun or get_close_matches(name.lower(), known, n=1, cutoff=0.5)
    raise UsageError(f"there is no /{name}", hint=f"did you mean /{near[0]}?" if near else "/help lists what there is")


def _help(talk: Talk, reader: Reader, _rest: str) -> None:
    from asky.cli.chat_shows import show_table

    terminal = talk.bench.terminal
    show_table(terminal, [(f"{each.typed} {each.takes}".rstrip(), each.meaning) for each in COMMANDS.values()])
    prompts = [f"/{name}" for name in talk.bench.services.config.prompts if name not in COMMANDS]
    if prompts:
        terminal.line(f"saved prompts: {' '.join(prompts)}")
    if reader.is_interactive:
        for told in _KEYS:
            terminal.line(told)


def _model(talk: Talk, _reader: Reader, rest: str) -> None:
    config = talk.bench.services.config
    if not rest:
        current = talk.model_name
        for alias in dict.fromkeys([current, *config.models]):
            talk.bench.terminal.line(f"{'*' if alias == current else ' '} {alias}")
        return
    from asky.cli.choices import open_answerer

    open_answerer(talk.bench, replace(talk.choices, model=rest))  # a key that is missing is said now
    talk.type(model=rest)
    talk.bench.terminal.note(f"answers come from {config.model(rest).name} now")


def _mode(talk: Talk, _reader: Reader, rest: str) -> None:
    if rest:
        if rest not in _MODES:
            raise UsageError(f"not a mode: {rest[:40]}", hint="/mode research, /mode standard or /mode lean")
        web = None if rest == "lean" and talk.typed.web else talk.typed.web  # lean answers use no web
        research, lean, standard = (rest == mode for mode in _MODES)
        talk.type(research=research, lean=lean, standard=standard, web=web)
        talk.bench.terminal.note(f"the mode is {talk.choices.mode} now")
    else:
        talk.bench.terminal.line(f"the mode is {talk.choices.mode}")


def _web(talk: Talk, _reader: Reader, rest: str) -> None:
    if rest not in ("", "on", "off"):
        raise UsageError(f"not on or off: {rest[:40]}", hint="/web on or /web off")
    if rest == "on" and talk.choices.lean:
        raise UsageError("the mode lean uses no web", hint="/mode standard first")
    if rest:
        talk.type(web=rest == "on")
    from asky.cli.chat_shows import documents_of

    say = talk.bench.terminal.note if rest else talk.bench.terminal.line  # what was asked for is shown under -q too
    state = f"{'on' if talk.choices.uses_web else 'off'}{' now' if rest else ''}"
    beside = ", and the documents are used beside it" if talk.choices.uses_web else ": the documents alone are used"
    say(f"the web is {state}{beside if documents_of(talk) else ''}")
    web = talk.bench.services.web
    if talk.choices.uses_web and web.searcher is None and not web.offline:
        from asky.cli.web import SET_UP

        told = "no search service is set up, so only pages that a question names are read"
        talk.bench.terminal.note(f"{told}; {SET_UP} adds one")


def _docs(talk: Talk, _reader: Reader, rest: str) -> None:
    if not rest:
        from asky.cli.chat_shows import show_docs

        show_docs(talk)
        return
    used_web = talk.choices.uses_web
    paths = [each.expanduser() for each in typed_paths(rest)]
    missing = [str(each) for each in paths if not os.path.lexists(each)]
    if missing and len(paths) > 1:
        raise UsageError(f"{missing[0]}: no such file or folder", hint=f'{QUOTE_THEM}: /docs "{rest}"')
    talk.add_docs(paths)
    if used_web and not talk.choices.uses_web:
        talk.bench.terminal.note("the web is off now, as documents were named; /web on uses both")


def _save(talk: Talk, _reader: Reader, rest: str) -> None:
    from asky.cli.chat_shows import save_answer

    save_answer(talk, one_typed_path(rest, "/save"))


def _export(talk: Talk, _reader: Reader, rest: str) -> None:
    from asky.cli.chat_shows import export_chat

    export_chat(talk, one_typed_path(rest, "/export"))


def _sources(talk: Talk, _reader: Reader, _rest: str) -> None:
    from asky.cli.chat_shows import show_sources

    show_sources(talk)


def _why(talk: Talk, _reader: Reader, rest: str) -> None:
    from asky.cli.chat_shows import show_why

    show_why(talk, rest)


def _findings(talk: Talk, _reader: Reader, _rest: str) -> None:
    from asky.cli.chat_shows import show_findings

    show_findings(talk)


def _cost(talk: Talk, _reader: Reader, _rest: str) -> None:
    from asky.cli.chat_shows import show_cost

    show_cost(talk)


def _session(talk: Talk, _reader: Reader, rest: str) -> None:
    if not rest:
        from asky.cli.chat_shows import show_session

        show_session(talk)
        return
    from asky.storage.session_names import checked_name

    found = talk.bench.services.sessions.find(rest)
    talk.join(found, name=None if found is not None else checked_name(rest))


def _undo(talk: Talk, _reader: Reader, _rest: str) -> None:
    question = talk.undo()
    talk.bench.terminal.note(f"taken back: “{_cut(question)}”: no model gets this turn any more, its record is kept")


def _retry(talk: Talk, _reader: Reader, _rest: str) -> str:
    question = talk.undo()
    talk.bench.terminal.note(f"asking again: “{_cut(question)}”")
    return question


def _edit(talk: Talk, reader: Reader, rest: str) -> str | None:
    question = talk.last_question()
    if not rest and not reader.can_prefill:
        raise UsageError("no text can be edited here", hint="/edit NEW QUESTION asks that instead of the last one")
    edited = rest or reader.read(question, "edit> ").strip()
    if not edited:
        talk.bench.terminal.note("nothing was changed")
        return None
    if edited != question:
        edited = typed_question(talk, reader, edited)
    talk.undo()
    return edited


def _plan(talk: Talk, reader: Reader, rest: str) -> str | None:
    from asky.cli.chat_plan import plan_question

    return plan_question(talk, reader, rest)


def _quit(_talk: Talk, _reader: Reader, _rest: str) -> None:
    raise Leave


def _cut(text: str, most: int = 60) -> str:
    line = " ".join(text.split())
    return line if len(line) <= most else line[: most - 1] + "…"


_TABLE = (
    Command("help", "", "list the commands", _help),
    Command("model", "[ALIAS]", "show the models, or answer with another one", _model),
    Command("mode", "[research|standard|lean]", "show or change how questions are answered", _mode),
    Command("docs", "[PATH..]", "show the documents, or answer from these files and folders too", _docs, True),
    Command("web", "[on|off]", "say whether the web may be used", _web),
    Command("sources", "", "list the sources of the last answer", _sources),
    Command("why", "N", "show the passage behind citation N of the last answer", _why),
    Command("findings", "", "list what was kept of this session for later questions", _findings),
    Command("save", "FILE", f"write the last answer to FILE ({SUFFIXES_TOLD})", _save, True),
    Command("export", "FILE", f"write the whole session to FILE ({SUFFIXES_TOLD})", _export, True),
    Command("session", "[NAME]", "show this session, or go on in another one", _session),
    Command("cost", "", "show what the session has cost so far", _cost),
    Command("undo", "", "take the last question and its answer back", _undo),
    Command("retry", "", "take the last question back and ask it again", _retry),
    Command("edit", "[QUESTION]", "change the last question and ask it instead", _edit),
    Command("plan", "[QUESTION]", "show what a question would do before it is asked", _plan),
    Command("quit", "", "leave", _quit),
)
COMMANDS: Mapping[str, Command] = MappingProxyType({each.name: each for each in _TABLE})
"""The commands by their names, in the order in which they are listed."""
