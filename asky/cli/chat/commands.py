"""The slash commands of `asky chat`: one table with their names, arguments and functions."""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

from asky.app.prompts import names_prompt
from asky.app.web import SETUP_HINT
from asky.cli.ask_options import expand_prompt, names_prompt_file, read_question_file
from asky.cli.chat.paths import QUOTE_THEM, one_typed_path, typed_documents
from asky.cli.chat.plan import plan_question
from asky.cli.chat.views import (
    export_chat,
    save_answer,
    show_cost,
    show_docs,
    show_findings,
    show_session,
    show_sources,
    show_table,
    show_verdicts,
    show_why,
)
from asky.cli.context import as_current
from asky.cli.export_forms import KNOWN_SUFFIXES
from asky.errors import UsageError

if TYPE_CHECKING:
    from asky.cli.chat.reader import Reader
    from asky.cli.chat.screen import ChatScreen


_KEYS = (
    "Enter sends; Alt-Enter, Ctrl-J or \\ at the end of a line starts a new one.",
    "Ctrl-C stops an answer, Ctrl-D leaves.",
    "Text typed while an answer is being written goes to the model as a note.",
    "Put quotes around a path with spaces.",
)
_MODES = ("research", "lean", "standard")
_LIBRARY_TEXTS = frozenset({"research", "improve", "search", "sem-search", "find", "summary", "open"})
_LIBRARY_ALONE = frozenset({"list", "save", "evidence", "retry", "rebuild-index"})


class QuitChat(Exception):
    """The user wants to leave."""


@dataclass(frozen=True, slots=True)
class Command:
    """A slash command. `run` gets the text after the name and may return a question to ask.

    A command that `names_files` is refused if it comes from a pipe.
    """

    name: str
    argument: str
    help_text: str
    run: Callable[[ChatScreen, Reader, str], str | None]
    names_files: bool = False

    @property
    def slash_name(self) -> str:
        """`/name`."""
        return f"/{self.name}"


def run_command(screen: ChatScreen, reader: Reader, line: str) -> str | None:
    """Run the command in `line`, which begins with `/`; return a question to ask now, or `None`.

    A name that is not a command may be a saved prompt, and a text such as `/etc/hosts?` is a question. Raises
    `UsageError`, with the nearest name as a hint, if it is none of these, and what the command raises.
    """
    name, rest = _split_command(line)
    command = COMMANDS.get(name)
    if command is None:
        return _expanded(screen, reader, line)
    if command.names_files and rest and not reader.is_interactive:
        raise UsageError(
            f"{command.slash_name} names files and cannot come from a pipe",
            hint="use -d for documents and `asky session export` for files",
        )
    if rest and not command.argument:
        raise UsageError(f"{command.slash_name} takes no argument")
    return command.run(screen, reader, rest)


def _split_command(line: str) -> Sequence[str]:
    """Return the name after the `/` and the rest. Raises `UsageError` if there is no name."""
    if line == "/" or line[1].isspace():
        raise UsageError("a command needs a name after the /", hint="/help lists them")
    return [*line[1:].split(None, 1), ""][:2]


def typed_question(screen: ChatScreen, reader: Reader, text: str) -> str:
    """Return the question in `text`, or in the file or saved prompt that it names.

    Raises `UsageError` for a command, for a mistyped name of a prompt, and for a file that cannot be read or that a
    pipe names.
    """
    if names_prompt_file(text):
        if not reader.is_interactive:
            raise UsageError("a prompt file cannot be named in a pipe", hint="pipe the text itself")
        return read_question_file(text)
    if not text.startswith("/"):
        return text
    name, _ = _split_command(text)
    if name in COMMANDS:
        raise UsageError(f"/{name} is a command, not a question; nothing was asked", hint="type it at the prompt `>`")
    return _expanded(screen, reader, text)


def _expanded(screen: ChatScreen, reader: Reader, line: str) -> str:
    if not names_prompt(line):
        return line
    name = line[1:].split()[0]
    prompts = screen.ctx.asky.config.prompts
    if name in prompts and reader.is_interactive:
        return expand_prompt(line, prompts, in_chat=True)
    if name in prompts:
        raise UsageError(f"/{name} is a saved prompt and cannot come from a pipe")
    known = [*COMMANDS, *prompts]
    matches = [each for each in known if each.startswith(name.lower())]
    suggestions = matches or get_close_matches(name.lower(), known, n=1, cutoff=0.5)
    raise UsageError(
        f"there is no /{name}", hint=f"did you mean /{suggestions[0]}?" if suggestions else "/help lists the commands"
    )


def _help(screen: ChatScreen, reader: Reader, _rest: str) -> None:
    terminal = screen.ctx.terminal
    show_table(
        terminal, [(f"{each.slash_name} {each.argument}".rstrip(), each.help_text) for each in COMMANDS.values()]
    )
    prompts = [f"/{name}" for name in screen.ctx.asky.config.prompts if name not in COMMANDS]
    if prompts:
        terminal.line(f"saved prompts: {' '.join(prompts)}")
    if reader.is_interactive:
        for explanation in _KEYS:
            terminal.line(explanation)


def _model(screen: ChatScreen, _reader: Reader, rest: str) -> None:
    config = screen.ctx.asky.config
    if not rest:
        current = screen.conversation.model_name
        for alias in dict.fromkeys([current, *config.models]):
            screen.ctx.terminal.line(f"{'*' if alias == current else ' '} {alias}")
        return
    screen.conversation.choose_model(rest)  # raises now if its key is missing
    screen.ctx.terminal.note(f"now answering with {config.model(rest).name}")


def _mode(screen: ChatScreen, _reader: Reader, rest: str) -> None:
    conversation = screen.conversation
    if rest:
        if rest not in _MODES:
            raise UsageError(f"not a mode: {rest[:40]}", hint="/mode research, /mode standard or /mode lean")
        if rest == "lean" and conversation.typed.web.allowed:  # lean mode does not use the web
            conversation.type_web(allowed=None)
        conversation.type(mode=rest)
        screen.ctx.terminal.note(f"the mode is now {conversation.resolved.mode}")
    else:
        screen.ctx.terminal.line(f"the mode is {conversation.resolved.mode}")


def _web(screen: ChatScreen, _reader: Reader, rest: str) -> None:
    conversation = screen.conversation
    if rest not in ("", "on", "off"):
        raise UsageError(f"neither on nor off: {rest[:40]}", hint="/web on or /web off")
    if rest == "on" and conversation.resolved.mode == "lean":
        raise UsageError("lean mode does not use the web", hint="/mode standard first")
    if rest:
        conversation.type_web(allowed=rest == "on")
    write_line = (
        screen.ctx.terminal.note if rest else screen.ctx.terminal.line
    )  # requested output is shown under -q too
    state = f"{'on' if conversation.uses_web else 'off'}{' now' if rest else ''}"
    suffix = ", in addition to the documents" if conversation.uses_web else "; only the documents are used"
    write_line(f"the web is {state}{suffix if conversation.documents() else ''}")
    if conversation.uses_web and not conversation.can_search():
        explanation = "no search service is set up, so only URLs in a question are read"
        screen.ctx.terminal.note(f"{explanation}; {SETUP_HINT}")


def _docs(screen: ChatScreen, _reader: Reader, rest: str) -> None:
    if not rest:
        show_docs(screen)
        return
    conversation = screen.conversation
    used_web = conversation.uses_web
    paths = typed_documents(rest)
    missing = [str(each) for each in paths if isinstance(each, Path) and not os.path.lexists(each)]
    if missing and len(paths) > 1:
        raise UsageError(f"{missing[0]}: no such file or folder", hint=f'{QUOTE_THEM}: /docs "{rest}"')
    screen.ctx.run(lambda: conversation.add_documents(paths))
    if used_web and not conversation.uses_web:
        screen.ctx.terminal.note("the web is now off because you named documents; /web on uses both")


def _save(screen: ChatScreen, _reader: Reader, rest: str) -> None:
    save_answer(screen, one_typed_path(rest, "/save"))


def _export(screen: ChatScreen, _reader: Reader, rest: str) -> None:
    export_chat(screen, one_typed_path(rest, "/export"))


def _sources(screen: ChatScreen, _reader: Reader, _rest: str) -> None:
    show_sources(screen)


def _why(screen: ChatScreen, _reader: Reader, rest: str) -> None:
    show_why(screen, rest)


def _check(screen: ChatScreen, _reader: Reader, _rest: str) -> None:
    show_verdicts(screen)


def _findings(screen: ChatScreen, _reader: Reader, _rest: str) -> None:
    show_findings(screen)


def _cost(screen: ChatScreen, _reader: Reader, _rest: str) -> None:
    show_cost(screen)


def _session(screen: ChatScreen, _reader: Reader, rest: str) -> None:
    if not rest:
        show_session(screen)
        return
    found = screen.conversation.find(rest)
    screen.conversation.join(found, name=None if found is not None else rest)
    screen.forget_answer()


def _undo(screen: ChatScreen, _reader: Reader, _rest: str) -> None:
    question = screen.conversation.undo()
    screen.ctx.terminal.note(
        f"taken back: “{_shorten(question)}”; this turn is no longer sent to a model, but its record is kept"
    )


def _retry(screen: ChatScreen, _reader: Reader, _rest: str) -> str:
    question = screen.conversation.undo()
    screen.ctx.terminal.note(f"asking again: “{_shorten(question)}”")
    return question


def _edit(screen: ChatScreen, reader: Reader, rest: str) -> str | None:
    question = screen.conversation.last_question()
    if not rest and not reader.can_prefill:
        raise UsageError("this terminal cannot edit text", hint="/edit NEW QUESTION asks that instead of the last one")
    edited = rest or reader.read(question, "edit> ").strip()
    if not edited:
        screen.ctx.terminal.note("nothing was changed")
        return None
    if edited != question:
        edited = typed_question(screen, reader, edited)
    screen.conversation.undo()
    return edited


def _plan(screen: ChatScreen, reader: Reader, rest: str) -> str | None:
    return plan_question(screen, reader, rest, typed_question)


def _papers(screen: ChatScreen, reader: Reader, rest: str) -> None:
    if rest:
        run_library_command(screen, reader, rest)
        return
    screen.in_library = not screen.in_library
    names = ", ".join(sorted(screen.library.commands))
    note = f"the paper library: {names}; /papers leaves it" if screen.in_library else "back to questions"
    screen.ctx.terminal.note(note)


def run_library_command(screen: ChatScreen, reader: Reader, line: str) -> None:
    """Run a command of `asky papers`, such as `research QUERY`, in the session and with the options of the chat.

    The text after a command that takes a query or a paper is one argument. Raises `UsageError` for an unknown command,
    and for one that names files if it comes from a pipe.
    """
    name, _, rest = line.strip().partition(" ")
    command = screen.library.commands.get(name)
    if command is None:
        hint = f"the commands are: {', '.join(sorted(screen.library.commands))}"
        raise UsageError(f"no command of the library: {_shorten(name)}", hint=hint)
    if not reader.is_interactive and name not in _LIBRARY_TEXTS and (rest or name not in _LIBRARY_ALONE):
        raise UsageError(f"/papers {name} may name files and cannot come from a pipe", hint=f"use asky papers {name}")
    typed, takes = screen.conversation.typed, {option for each in command.params for option in each.opts}
    given: dict[str, object] = {
        "--model": typed.model,
        "--max-tokens": typed.limits.tokens,
        "--max-cost": typed.limits.cost_usd,
        "--max-time": typed.limits.time_s,
    }
    if "--session" in takes:
        given["--session"] = screen.conversation.open_session().name
    arguments = [part for key, value in given.items() if value is not None and key in takes for part in (key, value)]
    if typed.offline and "--offline" in takes:
        arguments.append("--offline")
    try:
        is_prose = name == "notes"  # with apostrophes
        words = ["--", rest] if name in _LIBRARY_TEXTS and rest else rest.split() if is_prose else shlex.split(rest)
    except ValueError as error:
        raise UsageError(f"{name}: {error}".lower(), hint=QUOTE_THEM) from error
    prefix = "" if screen.in_library else "/papers "
    with as_current(replace(screen.ctx, library_prefix=prefix)):
        screen.library.main([name, *map(str, arguments), *words], prog_name="/papers", standalone_mode=False)


def _quit(_screen: ChatScreen, _reader: Reader, _rest: str) -> None:
    raise QuitChat


def _shorten(text: str, max_chars: int = 60) -> str:
    line = " ".join(text.split())
    return line if len(line) <= max_chars else line[: max_chars - 1] + "…"


_TABLE = (
    Command("help", "", "list the commands", _help),
    Command("model", "[ALIAS]", "show the models, or answer with another one", _model),
    Command("mode", "[research|standard|lean]", "show or change how questions are answered", _mode),
    Command("docs", "[PATH..]", "show the documents, or answer from these files and folders too", _docs, True),
    Command("web", "[on|off]", "say whether the web may be used", _web),
    Command("papers", "[COMMAND]", "run a command of `asky papers`; alone, stay with them", _papers),
    Command("sources", "", "list the sources of the last answer", _sources),
    Command("why", "N", "show the passage behind citation N of the last answer", _why),
    Command("check", "", "show the verdict on each statement of the last answer", _check),
    Command("findings", "", "list the findings saved in this session", _findings),
    Command("save", "FILE", f"write the last answer to FILE ({KNOWN_SUFFIXES})", _save, True),
    Command("export", "FILE", f"write the whole session to FILE ({KNOWN_SUFFIXES})", _export, True),
    Command("session", "[NAME]", "show this session, or switch to another one", _session),
    Command("cost", "", "show what the session has cost so far", _cost),
    Command("undo", "", "undo the last question and its answer", _undo),
    Command("retry", "", "undo the last question and ask it again", _retry),
    Command("edit", "[QUESTION]", "change the last question and ask it instead", _edit),
    Command("plan", "[QUESTION]", "show what a question would do before it is asked", _plan),
    Command("quit", "", "leave", _quit),
)
COMMANDS: Mapping[str, Command] = MappingProxyType({each.name: each for each in _TABLE})
"""The commands by their names, in the order in which they are listed."""
