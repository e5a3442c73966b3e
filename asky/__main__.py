"""The process around the command line: streams, exit codes and error reports."""

from __future__ import annotations

import gc
import os
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import NoReturn

_USAGE = 2
_INTERRUPTED = 130
_BROKEN_PIPE = 141
_GC_THRESHOLD = 100_000  # objects that live longer than one statement; a start makes fewer


def main() -> NoReturn:
    """Run the command line of this process and exit with its code."""
    try:
        handles_interrupt = _leave_on_interrupt()
        # Few objects of a start are garbage: looking for it after every 700 of them takes a tenth of the CPU time of
        # `asky corpus sync` and of a question.
        gc.set_threshold(_GC_THRESHOLD)
        from asky.cli.terminal.streams import harden_streams

        has_output = harden_streams()
        import asky.cli.main  # noqa: F401 - most of the start-up time, with nothing yet to clean up

        if handles_interrupt:
            _raise_on_interrupt()
        code = run(sys.argv[1:]) if has_output else _refuse()
        if handles_interrupt:
            _leave_on_interrupt()  # no traceback from here on
    except KeyboardInterrupt:
        os._exit(_INTERRUPTED)
    exit_process(code)


def _leave_on_interrupt() -> bool:
    """Exit at once on Ctrl-C from now on.

    Return `False`, having changed nothing, if the process was started to ignore it.
    """
    # Built in: importing `signal` takes some milliseconds, in which Ctrl-C is a traceback.
    import _signal as signal  # type: ignore[import-not-found] # it has no stubs

    if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
        return False
    signal.signal(signal.SIGINT, lambda *_: os._exit(_INTERRUPTED))
    return True


def _raise_on_interrupt() -> None:
    """Raise `KeyboardInterrupt` on Ctrl-C from now on, and exit where Python would only print it and continue.

    Python does so in the callbacks of collected objects, one of which runs at the end of each import.
    """
    import _signal as signal

    report = sys.unraisablehook

    def exit_on_interrupt(unraisable: sys.UnraisableHookArgs) -> None:
        if unraisable.exc_type is KeyboardInterrupt:
            os._exit(_INTERRUPTED)
        report(unraisable)

    sys.unraisablehook = exit_on_interrupt
    signal.signal(signal.SIGINT, signal.default_int_handler)


def run(arguments: Sequence[str]) -> int:
    """Run the command line with `arguments` and return the exit code; if it is not 0, stderr says why."""
    try:
        from asky.cli.main import invoke

        code = invoke(list(arguments))
        sys.stdout.flush()
    except BrokenPipeError:
        return _BROKEN_PIPE
    except BaseException as error:  # noqa: BLE001 - the boundary of the process: every error becomes an exit code
        return _report(error, arguments)
    return code


def _refuse() -> int:
    """Report that stdout is closed: the command would do its work for nobody."""
    sys.stderr.write("asky: the standard output is closed; redirect it to a file, or to /dev/null\n")
    return _USAGE


def _report(error: BaseException, arguments: Sequence[str]) -> int:
    if isinstance(error, SystemExit):
        return error.code if isinstance(error.code, int) else 1 if error.code else 0
    import contextlib

    from asky.cli.failures import describe, key_variables, render

    options = arguments[: arguments.index("--")] if "--" in arguments else arguments
    debug = bool(os.environ.get("ASKY_DEBUG")) or "-v" in options or "--verbose" in options
    report = describe(error, environ=os.environ, key_variables=key_variables(), debug=debug)
    as_json = "--json" in options or "--json-stream" in options
    with contextlib.suppress(OSError, ValueError):  # nobody reads stderr
        sys.stderr.write(render(report, as_json=as_json, stream=sys.stderr))
    return report.exit_code


def exit_process(code: int) -> NoReturn:
    """Exit with `code` at once, without waiting for the threads of a stopped run. Ctrl-C no longer changes the code."""
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
