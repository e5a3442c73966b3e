"""The process around the command line: streams, exit codes, and what is said when something fails."""

from __future__ import annotations

import contextlib
import os
import sys
import threading
from collections.abc import Sequence
from typing import NoReturn

_COMPLETION_VARIABLE = "_ASKY_COMPLETE"
_BROKEN_PIPE = 141


def main() -> NoReturn:
    """Run the command line of this process and leave with its exit code."""
    from asky.cli.streams import harden_streams

    harden_streams()
    leave(run(sys.argv[1:]))


def run(arguments: Sequence[str]) -> int:
    """Run the command line with `arguments`; returns the exit code, having said on stderr why it is not 0."""
    try:
        code = _invoke(list(arguments))
        sys.stdout.flush()
    except BrokenPipeError:
        return _BROKEN_PIPE
    except BaseException as error:  # noqa: BLE001 - the boundary of the process: every error becomes an exit code
        return _report(error, arguments)
    return code


def _invoke(arguments: list[str]) -> int:
    import click

    from asky.cli.main import asky

    if instruction := os.environ.get(_COMPLETION_VARIABLE):
        from click.shell_completion import shell_complete  # only while the shell completes a line

        return shell_complete(asky, {}, "asky", _COMPLETION_VARIABLE, instruction)
    try:
        with asky.make_context("asky", arguments) as context:
            asky.invoke(context)
    except click.exceptions.Exit as leaving:
        return leaving.exit_code
    return 0


def _report(error: BaseException, arguments: Sequence[str]) -> int:
    if isinstance(error, SystemExit):
        return error.code if isinstance(error.code, int) else 1 if error.code else 0
    from asky.cli.failures import describe, render
    from asky.cli.surroundings import key_variables

    options = arguments[: arguments.index("--")] if "--" in arguments else arguments
    debug = bool(os.environ.get("ASKY_DEBUG")) or "-v" in options or "--verbose" in options
    report = describe(error, environ=os.environ, key_variables=key_variables(), debug=debug)
    as_json = "--json" in options or "--json-stream" in options
    with contextlib.suppress(OSError, ValueError):  # nobody reads stderr
        sys.stderr.write(render(report, as_json=as_json))
    return report.exit_code


def leave(code: int) -> NoReturn:
    """End the process with `code`, without waiting for threads that a stopped run has left behind."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError):
            with contextlib.suppress(OSError):  # or the interpreter would try to flush it again, and complain
                os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
    if threading.active_count() > 1:
        os._exit(code)
    sys.exit(code)


if __name__ == "__main__":
    main()
