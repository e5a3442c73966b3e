"""Errors as the user sees them: one line and a hint, or one JSON object, and the exit code."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping
from typing import TextIO

import click

from asky.app import failures
from asky.app.failures import ErrorReport, masked, only_member
from asky.cli.terminal.cells import folded
from asky.cli.terminal.terminal import terminal_columns
from asky.config.paths import current_folder
from asky.config.secrets import scrub
from asky.text.printable import json_text, one_line, plain


def describe(
    error: BaseException, *, environ: Mapping[str, str], key_variables: Collection[str] = (), debug: bool = False
) -> ErrorReport:
    """Return the report of `error`, which may be a click exception; see `asky.app.failures.describe`."""
    error = only_member(error)
    if isinstance(error, click.ClickException):
        return masked(_describe_usage(error), lambda text: scrub(text, environ, key_variables))
    if isinstance(error, click.Abort):
        error = KeyboardInterrupt()
    return failures.describe(error, environ=environ, key_variables=key_variables, debug=debug)


def _describe_usage(error: click.ClickException) -> ErrorReport:
    context = getattr(error, "ctx", None)
    if isinstance(error, click.exceptions.NoArgsIsHelpError) and isinstance(error.ctx.command, click.Group):
        names = ", ".join(error.ctx.command.list_commands(error.ctx))
        path = error.ctx.command_path
        return ErrorReport(2, "usage", f"{path} needs a command: {names}", f"see: {path} --help")
    hint = f"see: {context.command_path} --help" if context is not None else None
    if context is not None and context.parent is not None and context.info_name != "ask":
        words = context.meta.get("asky.words", ())
        if len(words) > 2 and not any(word.startswith("-") for word in words):
            hint = f'{hint}; to ask it as a question: asky ask "{" ".join(words)}"'
    return ErrorReport(2, "usage", error.format_message(), hint)


def render(report: ErrorReport, *, as_json: bool, stream: TextIO | None = None) -> str:
    """Return the text for stderr: `asky: message` and `hint: ...`, or one `asky.error/1` object.

    If `stream` is a terminal, lines are broken between words.
    """
    # compiles a dozen regular expressions: only for errors
    from asky.app.schemas.event import error_object

    if as_json:
        return json_text(error_object(report)) + "\n"
    lines = [plain(report.details)] if report.details is not None else []
    said = [f"asky: {one_line(report.message)}", *([f"hint: {one_line(report.hint)}"] if report.hint else [])]
    columns = terminal_columns(stream) if stream is not None else None
    lines += [f"{row}\n" for line in said for row in ([line] if columns is None else folded(line, columns))]
    return "".join(lines)


def key_variables() -> frozenset[str]:
    """Return the variables of this process that hold keys of providers, for masking; none if that cannot be determined.

    The names of the packaged providers' variables show that they hold a secret.
    """
    from asky.config.loader import find_key_variables  # 15 ms: only for errors

    try:
        return find_key_variables(environ=os.environ, cwd=current_folder())
    except Exception:  # noqa: BLE001 - reporting an error must not fail
        return frozenset()
