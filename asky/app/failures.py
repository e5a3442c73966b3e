"""Error reports: a code, one line, a hint and an exit code."""

from __future__ import annotations

import errno
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from asky.config.secrets import scrub
from asky.errors import AskyError

_FIELDS: Mapping[str, str] = {
    "-L": "mode: lean",
    "-d": "documents",
    "-m": "model",
    "-r": "mode: research",
    "-s": "session",
    "--collection": "collections",
    "--max-cost": "limits.cost_usd",
    "--max-time": "limits.time_s",
    "--max-tokens": "limits.tokens",
    "--max-turns": "limits.turns",
    "--no-docs": "default_documents: false",
    "--no-web": "web: false",
    "--offline": "offline",
    "--privacy": "privacy_mode",
    "--web": "web: true",
}
"""The field of a request for each option that errors name."""
_MODEL_OPTION = re.compile(r" with -[ms](?=[,;)]|$)")
_OPTION = re.compile(
    rf"(?<![\w-])(?P<option>{'|'.join(_FIELDS)})(?![\w-])(?: PATH)?(?: (?P<value>(?<=-m )(?!to )[\w./:-]+))?"
)
_DETAILS_HINT = "run again with ASKY_DEBUG=1 for a traceback"


@dataclass(frozen=True, slots=True)
class ErrorReport:
    """An error as reported to the user. `details` is a traceback, if one was requested."""

    exit_code: int
    code: str
    message: str
    hint: str | None = None
    details: str | None = None


def describe(
    error: BaseException, *, environ: Mapping[str, str], key_variables: Collection[str] = (), debug: bool = False
) -> ErrorReport:
    """Return the report of `error` with the secrets of `environ` masked.

    `debug` adds the traceback of an unexpected error. `key_variables` names variables of `environ` that hold a secret
    although their names do not suggest it.
    """
    error = only_member(error)
    if isinstance(error, AskyError):
        report = ErrorReport(error.exit_code, error.code, error.message, error.hint)
    elif isinstance(error, KeyboardInterrupt):
        report = ErrorReport(130, "interrupted", "stopped")
    elif isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT):
        report = ErrorReport(
            1, "disk_full", f"disk full: {error.strerror or error}", "free some space and run the command again"
        )
    elif isinstance(error, MemoryError):
        remedy = "close other programs, or use fewer or smaller documents"
        report = ErrorReport(1, "out_of_memory", "out of memory", remedy)
    else:
        message = f"unexpected {type(error).__name__}" + (f": {error}" if str(error) else "")
        hint, details = (None, _trace(error)) if debug else (_DETAILS_HINT, None)
        report = ErrorReport(1, "unexpected", message, hint, details)
    return masked(report, lambda text: scrub(text, environ, key_variables))


def describe_to_client(error: BaseException, *, environ: Mapping[str, str], debug: bool = False) -> ErrorReport:
    """Return the report of `error` for somebody who asks through a server and gives no options of a command."""
    report = describe(error, environ=environ, debug=debug)
    instead = getattr(only_member(error), "server_hint", None)
    hint = scrub(instead, environ) if instead is not None else report.hint
    return replace(report, message=without_options(report.message), hint=hint and without_options(hint))


def without_options(text: str) -> str:
    """Return `text` with the fields of a request in place of the options of a command, except in quoted commands."""
    parts = text.split("`")
    parts[::2] = [_OPTION.sub(_field_of, _MODEL_OPTION.sub("", each)) for each in parts[::2]]
    return "`".join(parts)


def _field_of(found: re.Match[str]) -> str:
    field = _FIELDS[found["option"]]
    value = f": {found['value']}" if found["value"] else ""
    return f"`{field}{value}`"


def only_member(error: BaseException) -> BaseException:
    """Return the error inside nested groups of one."""
    members: Sequence[BaseException] = getattr(error, "exceptions", ())
    while len(members) == 1:
        error = members[0]
        members = getattr(error, "exceptions", ())
    return error


def masked(report: ErrorReport, mask: Callable[[str], str]) -> ErrorReport:
    """Return `report` with `mask` applied to each of its texts."""
    hint = None if report.hint is None else mask(report.hint)
    details = None if report.details is None else mask(report.details)
    return ErrorReport(report.exit_code, report.code, mask(report.message), hint, details)


def _trace(error: BaseException) -> str:
    import traceback  # 5 ms: only if a traceback was requested

    return "".join(traceback.format_exception(type(error), error, error.__traceback__))
