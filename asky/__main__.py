"""The process around the command line: streams, exit codes, and what is said when something fails."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import NoReturn

_COMPLETION_VARIABLE = "_ASKY_COMPLETE"
_INTERRUPTED = 130
_BROKEN_PIPE = 141


def main() -> NoReturn:
    """Run the command line of this process and leave with its exit code."""
    try:
        listens = _leave_on_interrupt()
        from asky.cli.streams import harden_streams

        harden_streams()
        import asky.cli.main  # noqa: F401 - most of a start, while there is nothing that would have to be ended

        if listens:
            _raise_on_interrupt()
        code = run(sys.argv[1:])
        if listens:
            _leave_on_interrupt()  # all is said: no traceback of the last moments
    except KeyboardInterrupt:
        os._exit(_INTERRUPTED)
    leave(code)


def _leave_on_interrupt() -> bool:
    """Leave at once on Ctrl-C from now on; `False`, and nothing done, where the process was started to ignore it."""
    # Built in: importing `signal` takes some milliseconds, in which Ctrl-C is a traceback.
    import _signal as signal  # type: ignore[import-not-found] # it has no stubs

    if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
        return False
    signal.signal(signal.SIGINT, lambda *_: os._exit(_INTERRUPTED))
    return True


def _raise_on_interrupt() -> None:
    """Raise `KeyboardInterrupt` on Ctrl-C from now on, and leave where Python would only print that and go on.

    It does so in the callbacks of collected objects, one of which runs at the end of each import.
    """
    import _signal as signal

    report = sys.unraisablehook

    def hear(unraisable: sys.UnraisableHookArgs) -> None:
        if unraisable.exc_type is KeyboardInterrupt:
            os._exit(_INTERRUPTED)
        report(unraisable)

    sys.unraisablehook = hear
    signal.signal(signal.SIGINT, signal.default_int_handler)


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
    import contextlib

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
    """End the process with `code` at once: no thread of a stopped run is waited for, and no Ctrl-C changes the code."""
    import contextlib

    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError):
            with contextlib.suppress(OSError):  # or the interpreter would try to flush it again, and complain
                os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
    os._exit(code)


if __name__ == "__main__":
    main()
