"""Commands of the chat that were typed without their `/`, so that no model is asked about them."""

from __future__ import annotations

import re
from collections.abc import Container, Mapping
from types import MappingProxyType

from asky.cli.chat.commands import COMMANDS
from asky.errors import UsageError

_NUMBER = re.compile(r"\[?\d{1,4}\]?")
_FILE = re.compile(r"\S+\.\w{1,8}")
_CHOICES: Mapping[str, frozenset[str]] = MappingProxyType(
    {"web": frozenset({"on", "off"}), "mode": frozenset({"research", "standard", "lean"})}
)
_NEEDS_ARGUMENT = frozenset({"why", "save", "export"})  # "why" alone is a question about what was said
_OTHER_NAMES: Mapping[str, str] = MappingProxyType(
    {"?": "help", "commands": "help", "exit": "quit", "q": "quit", ":q": "quit", "bye": "quit", "goodbye": "quit"}
)
_NO_COMMANDS: Mapping[str, str] = MappingProxyType(
    {
        "clear": "Ctrl-L clears the screen, and /session NAME starts another session",
        "cls": "Ctrl-L clears the screen, and /session NAME starts another session",
        "reset": "/session NAME starts another session",
        "new": "/session NAME starts another session",
        "history": "`asky session show` prints the session; the up key brings back what was typed",
        "stop": "Ctrl-C stops an answer, and Ctrl-D leaves",
    }
)
"""Words that other programs take for commands, with what does their work here."""


def command_meant(line: str, prompts: Container[str] = ()) -> str | None:
    """Return the slash command that is meant by `line`, such as `/why 2` by "why 2" and `/quit` by "bye" or "/exit".

    Return `None` for anything else: a question, a command, or one of the saved `prompts`. Raises `UsageError` for a
    word that is a command elsewhere, but not here.
    """
    name, _, rest = line.removeprefix("/").partition(" ")
    if line.startswith("/") and (rest or name in COMMANDS or name in prompts):
        return None
    if not line.startswith("/"):
        name, rest = name.casefold().rstrip(".!") or name, rest.strip().rstrip(".!")
    if not rest and name in _NO_COMMANDS:
        raise UsageError(f"there is no command {name}; nothing was asked", hint=_NO_COMMANDS[name])
    name = name if rest else _OTHER_NAMES.get(name, name)
    return f"/{name} {rest}".rstrip() if name in COMMANDS and _fits(name, rest) else None


def _fits(name: str, rest: str) -> bool:
    """Return whether `rest` can only be the argument of the command `name`, and no words of a question."""
    if not rest:
        return name not in _NEEDS_ARGUMENT
    if name == "why":
        return _NUMBER.fullmatch(rest) is not None
    if COMMANDS[name].names_files:
        return _FILE.fullmatch(rest) is not None
    return rest.casefold() in _CHOICES.get(name, frozenset())
