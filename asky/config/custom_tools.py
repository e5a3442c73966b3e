"""Validation of `[tools.NAME]`: a command with placeholders that a model fills in, and nothing else."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import PurePath
from typing import Any

from asky.config.keys import KeyPath
from asky.config.schema import CustomTool
from asky.config.tool_parameters import check_schema
from asky.errors import ConfigError, UsageError

RESERVED_TOOLS = frozenset(
    {
        "extract_links",
        "find_notes",
        "get_full_content",
        "get_link_summaries",
        "get_relevant_content",
        "query_research_memory",
        "research_note",
        "save_finding",
        "web_search",
    }
)
"""The names of asky's own tools."""

_TOOL_NAME = re.compile(r"[a-z][a-z0-9_-]{0,63}")  # endpoints allow no other characters and no longer names
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_PLACEHOLDER = re.compile(r"\{\{([A-Za-z_][A-Za-z0-9_-]*)\}\}|\{([A-Za-z_][A-Za-z0-9_-]*)\}")
_SCALARS = ("string", "integer", "number", "boolean")
# The usual ways of running an argument as a program. A guard against mistakes, not against every possible program.
_INTERPRETERS = re.compile(r"(?:ba|da|a|k|mk|z|c|tc|fi)?sh|(?:python|pypy|perl|ruby|node|php|lua)[0-9.]*|busybox")
_TAKES_CODE = re.compile(r"-[A-Za-z]*[ceEr]|--(?:eval|execute|command|run)")


def fill(element: str, values: Mapping[str, str]) -> str:
    """Return `element` with each `{name}` replaced by `values[name]`, in one pass; `{{name}}` becomes `{name}`."""
    return _PLACEHOLDER.sub(lambda m: f"{{{m[1]}}}" if m[1] else values[m[2]], element)


def placeholders(element: str) -> list[str]:
    """Return the names in `{}` of an element of a command, in order."""
    return [m[2] for m in _PLACEHOLDER.finditer(element) if m[2]]


def is_open_to_options(command: Sequence[str], at: int) -> bool:
    """Return whether the value filled into element `at` could be an option of the program.

    It could if the element begins with a placeholder and no `--` precedes it.
    """
    match = _PLACEHOLDER.match(command[at])
    return match is not None and match[2] is not None and "--" not in command[:at]


def full_parameters(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Return the schema of a tool's arguments: the user's, without additional properties."""
    return {"type": "object", "properties": {}, "additionalProperties": False, **parameters}


def environment_of(tool: CustomTool, environ: Mapping[str, str]) -> dict[str, str]:
    """Return the part of `environ` that is passed to the program of `tool`."""
    return {name: environ[name] for name in tool.environment if name in environ}


def command_of(tool: CustomTool, arguments: Mapping[str, Any]) -> tuple[list[str], bytes]:
    """Return the command for one call, and its standard input: a JSON object of the arguments not in the command.

    Each argument stays within its element of the command. Raises `UsageError` for an argument that contains NUL, and
    for one that would begin an element with `-` without a `--` before it.
    """
    texts = {name: _text(value) for name, value in arguments.items()}
    argv = []
    for at, element in enumerate(tool.command):
        filled = fill(element, texts)
        if "\0" in filled:
            raise UsageError(f"{placeholders(element)[0]}: must not contain a NUL character")
        if filled.startswith("-") and is_open_to_options(tool.command, at):
            raise UsageError(
                f"{placeholders(element)[0]}: must not begin with -, which the program takes for an option"
            )
        argv.append(filled)
    named = {name for element in tool.command for name in placeholders(element)}
    rest = {name: value for name, value in arguments.items() if name not in named}
    takes_input = set(full_parameters(tool.parameters)["properties"]) - named
    data = json.dumps(rest, ensure_ascii=False).encode() + b"\n" if takes_input or rest else b""
    return argv, data


def target_parameter(tool: CustomTool) -> str:
    """Return the parameter that receives the target if an adapter runs `tool`: its only required one, a string.

    Raises `ValueError` for any other tool.
    """
    schema = full_parameters(tool.parameters)
    required = schema.get("required", ())
    if len(required) != 1 or schema["properties"][required[0]]["type"] != "string":
        raise ValueError("must require one parameter, of type string, which receives the target")
    return str(required[0])


def find_missing_programs(tools: Mapping[str, CustomTool], environ: Mapping[str, str]) -> Iterator[ConfigError]:
    """Yield an error for each enabled tool whose program is missing or not executable."""
    import shutil  # for `config validate` and `doctor` only

    for name, tool in tools.items():
        path = environment_of(tool, environ).get("PATH", os.defpath)
        if tool.enabled and shutil.which(tool.command[0], path=path) is None:
            yield ConfigError(
                f"tools.{name}.command: there is no program {tool.command[0]} that can be executed",
                hint="give its absolute path, or install it",
            )


def find_tool_faults(tools: Mapping[str, CustomTool]) -> Iterator[tuple[KeyPath, str]]:
    """Yield the key at fault and the problem, for each tool, enabled or not."""
    for name, tool in tools.items():
        path = ("tools", name)
        if not _TOOL_NAME.fullmatch(name):
            yield path, "a tool name begins with a letter and has at most 64 characters, all of them a-z, 0-9, _ or -"
        elif name in RESERVED_TOOLS:
            yield path, "asky has a tool of this name"
        yield from (((*path, "environment"), fault) for fault in _environment_faults(tool))
        try:
            _check_parameters(tool.parameters)
        except ValueError as error:
            yield path, str(error)
        else:
            yield from (((*path, "command"), fault) for fault in _command_faults(tool))


def _check_parameters(parameters: Mapping[str, Any]) -> None:
    if parameters.get("type", "object") != "object":
        raise ValueError("parameters: the parameters of a tool are of type object")
    check_schema(full_parameters(parameters))


def _environment_faults(tool: CustomTool) -> Iterator[str]:
    if not all(_VARIABLE.fullmatch(name) for name in tool.environment):
        yield "one of these is not the name of a variable"


def _command_faults(tool: CustomTool) -> Iterator[str]:
    command = tool.command
    if not command:
        yield "must begin with a program"
        return
    if placeholders(command[0]):
        yield "the program itself cannot be chosen by an argument"
    elif "/" in command[0] and not PurePath(command[0]).is_absolute():
        yield "the program must be a name on PATH or an absolute path"
    schema = full_parameters(tool.parameters)
    for name in dict.fromkeys(name for element in command for name in placeholders(element)):
        parameter = schema["properties"].get(name)
        if parameter is None:
            yield f"{{{name}}} is not among the parameters; write {{{{{name}}}}} for the text itself"
        elif parameter["type"] not in _SCALARS:
            yield f"{{{name}}} stands for a list or table, which goes to standard input: leave it out of the command"
        elif name not in schema.get("required", ()):
            yield f"{{{name}}} must be required: name it in parameters.required"
    if _makes_code(command):
        yield (
            "a model's argument would be run as code; give it to the code as an argument of its own,"
            ' as in ["sh", "-c", "... "$1"", "--", "{name}"]'
        )


def _makes_code(command: Sequence[str]) -> bool:
    """Return whether an interpreter would read an argument as code."""
    for at in range(1, len(command)):
        interprets = any(_INTERPRETERS.fullmatch(PurePath(each).name) for each in command[:at])
        takes = _TAKES_CODE.fullmatch(command[at - 1]) or _TAKES_CODE.match(command[at])
        if interprets and takes and placeholders(command[at]):
            return True
    return False


def _text(value: object) -> str:
    """Return a string unchanged, and any other value as JSON."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
