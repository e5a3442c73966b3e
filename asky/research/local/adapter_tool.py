"""Running the program of an adapter, and mapping its failures to source errors."""

from __future__ import annotations

import errno
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from asky.errors import Interrupted, SourceUnreadable
from asky.research.local.names import show_name
from asky.research.local.programs import ProgramLimits, run_program
from asky.research.local.running import RunningPrograms

ENVIRONMENT_NAMES = ("PATH", "HOME", "USER", "LOGNAME", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "TMPDIR")
"""The environment variables passed to a program: no key or token of the user's shell."""

_MAX_ERROR_CHARACTERS = 200


@dataclass(frozen=True, slots=True)
class ToolCommand:
    """One call of a program: its arguments, its standard input, and the names of the variables that it gets."""

    argv: Sequence[str]
    data: bytes = b""
    environment: Sequence[str] = ENVIRONMENT_NAMES


def run_tool(
    name: str, command: ToolCommand, limits: ProgramLimits, environ: Mapping[str, str], running: RunningPrograms
) -> bytes:
    """Return the standard output of `command`, run as `run_program` runs it.

    Of `environ` only the named variables are passed on. `name` appears in messages. Raises
    `SourceUnreadable`: "timed_out", "too_large" (more output than allowed), or "failed" with the exit status or signal
    and the last line of standard error, or because the program cannot be started. Raises `Interrupted` if it was
    stopped with the run.
    """
    try:
        passed = {key: environ[key] for key in command.environment if key in environ}
        ended = run_program(command.argv, limits, passed, data=command.data, running=running)
    except InterruptedError:
        raise Interrupted("stopped") from None
    except OSError as error:
        why = "the target is too long" if error.errno == errno.E2BIG else error.strerror
        raise SourceUnreadable(
            f"adapter {name}: cannot run {show_name(command.argv[0])}: {why}",
            hint=f"check the program in research.source_adapters.{name}",
        ) from error
    if ended.why == "stopped":
        raise Interrupted("stopped")
    if ended.why == "timed_out":
        raise SourceUnreadable(
            f"adapter {name}: stopped after {limits.timeout_s:g} s",
            verdict="timed_out",
            hint=f"raise research.source_adapters.{name}.timeout_s",
        )
    if ended.why == "too_large":
        raise SourceUnreadable(
            f"adapter {name}: more than {limits.max_output_bytes:,} bytes of output", verdict="too_large"
        )
    if ended.status != 0:
        raise SourceUnreadable(f"adapter {name}: {ended.describe()}{_last_line(ended.errors)}")
    return ended.output


def _last_line(errors: bytes) -> str:
    lines = errors.decode("utf-8", "replace").strip().splitlines()
    return f": {show_name(lines[-1][:_MAX_ERROR_CHARACTERS])}" if lines else ""
