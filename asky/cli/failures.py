"""What the user sees of an error: one line and a hint, or one JSON object, and the exit code."""

from __future__ import annotations

import errno
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass

import click

from asky.config.secrets import scrub
from asky.errors import AskyError

_DETAILS_HINT = "run it again with ASKY_DEBUG=1 to see where it happened"


@dataclass(frozen=True, slots=True)
class Report:
    """An error in the terms of its reader. `details` is a traceback where one was asked for."""

    exit_code: int
    code: str
    message: str
    hint: str | None = None
    details: str | None = None


def describe(
    error: BaseException, *, environ: Mapping[str, str], key_variables: Collection[str] = (), debug: bool = False
) -> Report:
    """The report of `error`, with the secrets of `environ` masked; `debug` adds the traceback of an unexpected one.

    `key_variables` names variables of `environ` that hold a secret though their names do not say so.
    """
    error = _only_member(error)
    if isinstance(error, AskyError):
        report = Report(error.exit_code, error.code, error.message, error.hint)
    elif isinstance(error, click.ClickException):
        report = _describe_usage(error)
    elif isinstance(error, (KeyboardInterrupt, click.Abort)):
        report = Report(130, "interrupted", "stopped")
    elif isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT):
        report = Report(1, "disk_full", f"disk full: {error.strerror or error}", "free some space and run it again")
    elif isinstance(error, MemoryError):
        report = Report(1, "out_of_memory", "out of memory", "close other programs, or give fewer or smaller documents")
    else:
        message = f"unexpected {type(error).__name__}" + (f": {error}" if str(error) else "")
        report = Report(1, "unexpected", message, None if debug else _DETAILS_HINT, _trace(error) if debug else None)
    return _scrubbed(report, lambda text: scrub(text, environ, key_variables))


def _only_member(error: BaseException) -> BaseException:
    """The error inside a group of one, however deep."""
    members: Sequence[BaseException] = getattr(error, "exceptions", ())
    while len(members) == 1:
        error = members[0]
        members = getattr(error, "exceptions", ())
    return error


def _describe_usage(error: click.ClickException) -> Report:
    context = getattr(error, "ctx", None)
    if isinstance(error, click.exceptions.NoArgsIsHelpError) and isinstance(error.ctx.command, click.Group):
        names = ", ".join(error.ctx.command.list_commands(error.ctx))
        path = error.ctx.command_path
        return Report(2, "usage", f"{path} needs a command: {names}", f"see: {path} --help")
    hint = f"see: {context.command_path} --help" if context is not None else None
    if context is not None and context.parent is not None and context.info_name != "ask":
        words = context.meta.get("asky.words", ())
        if len(words) > 2 and not any(word.startswith("-") for word in words):
            hint = f'{hint}; to ask it as a question: asky ask "{" ".join(words)}"'
    return Report(2, "usage", error.format_message(), hint)


def _trace(error: BaseException) -> str:
    import traceback  # 5 ms: only where a traceback was asked for

    return "".join(traceback.format_exception(type(error), error, error.__traceback__))


def _scrubbed(report: Report, mask: Callable[[str], str]) -> Report:
    hint = None if report.hint is None else mask(report.hint)
    details = None if report.details is None else mask(report.details)
    return Report(report.exit_code, report.code, mask(report.message), hint, details)


def render(report: Report, *, as_json: bool) -> str:
    """The lines for stderr: `asky: message` and `hint: ...`, or one object of the schema `asky.error/1`."""
    from asky.cli.terminal import json_text, one_line, plain  # a dozen regular expressions: only where something failed

    if as_json:
        value: dict[str, object] = {"schema": "asky.error/1", "code": report.code}
        value |= {"message": one_line(report.message), "hint": one_line(report.hint) if report.hint else None}
        if report.details is not None:
            value["details"] = report.details
        return json_text(value) + "\n"
    lines = [plain(report.details)] if report.details is not None else []
    lines.append(f"asky: {one_line(report.message)}\n")
    if report.hint:
        lines.append(f"hint: {one_line(report.hint)}\n")
    return "".join(lines)
