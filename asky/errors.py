"""The error hierarchy. Every error says what failed, on what, and what to do next.

    AskyError                  1    anything below, or an unexpected failure
    +- UsageError              2    the command line or an argument is wrong
    +- ConfigError             2    a configuration file, key or value is wrong
    +- NotConfigured           3    a model, key or extra that the request needs is missing
    +- AuthenticationFailed    4    an endpoint refused the key
    +- Unreachable             5    an endpoint or host did not answer
    +- RateLimited             6    an endpoint refused for rate or quota
    +- TimedOut                7    a deadline passed
    +- ProviderError           8    an endpoint reported a failure
    |  +- ContextOverflow      8    the conversation exceeds the model's context
    |  +- ReplayMissed         8    a replay needs something that the run's record does not hold
    |  +- EmptyReply           8    the model ended without an answer
    +- BudgetExceeded         10    a budget ended the run; a partial answer exists
    +- NotEnoughEvidence      11    the sources hold too little to answer
    +- UnsupportedClaim       12    `--strict`, and a sentence is not supported by its sources
    +- GateFailed            13    a measure of `asky eval` is worse than its gate allows
    +- Interrupted           130    the user stopped the run
    +- SourceError             1    one source could not be used; the others continue
    |  +- SourceRefused        1    policy forbids it: outside the roots, a secret, a device
    |  +- SourceUnreadable     1    it is damaged, encrypted, empty, too large or too slow
    +- StorageError            1    the store could not be used
       +- StoreFull            1    the disk is full; nothing was changed
       +- StoreBusy            1    another process held the store too long
       +- StoreDamaged         1    the database file is not usable
       +- StoreTooNew          1    the store was written by a newer asky

The number is the exit code of the process.
"""

from __future__ import annotations

from typing import Any


class AskyError(Exception):
    """Base class of every error that asky raises on purpose.

    `message` is one line: what failed and on what. `hint` is also one line: what the reader can do next. `retryable`
    tells a caller whether the same call may succeed later without a change. `server_hint` replaces `hint` for somebody
    who asks through a server, where there are no options of a command. `spent` is what a failed model call had used, as
    an `asky.llm.port.ModelUsage`, or `None`.
    """

    exit_code = 1
    code = "error"
    retryable = False
    server_hint: str | None = None
    spent: Any = None

    def __init__(self, message: str, *, hint: str | None = None, retryable: bool | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        if retryable is not None:
            self.retryable = retryable

    def __str__(self) -> str:
        return self.message


class UsageError(AskyError):
    exit_code = 2
    code = "usage"


class ConfigError(AskyError):
    exit_code = 2
    code = "config"


class NotConfigured(AskyError):
    exit_code = 3
    code = "not_configured"


class AuthenticationFailed(AskyError):
    exit_code = 4
    code = "authentication"


class Unreachable(AskyError):
    exit_code = 5
    code = "unreachable"
    retryable = True


class RateLimited(AskyError):
    """A limit on requests or a used-up quota. `wait_s` are the seconds that the endpoint asks to wait, if it does."""

    exit_code = 6
    code = "rate_limited"
    retryable = True
    wait_s: float | None = None


class TimedOut(AskyError):
    exit_code = 7
    code = "timed_out"
    retryable = True


class ProviderError(AskyError):
    """An endpoint reported a failure. `reason` is a one-word kind, set where callers can distinguish kinds."""

    exit_code = 8
    code = "provider"

    def __init__(
        self, message: str, *, hint: str | None = None, retryable: bool | None = None, reason: str | None = None
    ) -> None:
        super().__init__(message, hint=hint, retryable=retryable)
        self.reason = reason


class ContextOverflow(ProviderError):
    """The prompt does not fit. `limit_tokens` is the model's context size if the endpoint reported it."""

    code = "context_overflow"

    def __init__(self, message: str, *, hint: str | None = None, limit_tokens: int | None = None) -> None:
        super().__init__(message, hint=hint)
        self.limit_tokens = limit_tokens


class ReplayMissed(ProviderError):
    """A replay needs something its record does not hold: the code, a prompt or the record has changed since."""

    code = "replay_missed"


class EmptyReply(ProviderError):
    """The model ended without an answer, although no limit had stopped it."""


class BudgetExceeded(AskyError):
    exit_code = 10
    code = "budget"


class NotEnoughEvidence(AskyError):
    exit_code = 11
    code = "no_evidence"


class UnsupportedClaim(AskyError):
    exit_code = 12
    code = "unsupported_claim"


class GateFailed(AskyError):
    exit_code = 13
    code = "gate_failed"


class Interrupted(AskyError):
    exit_code = 130
    code = "interrupted"


class SourceError(AskyError):
    code = "source"


class SourceRefused(SourceError):
    code = "source_refused"


class SourceUnreadable(SourceError):
    """A source that could not be converted to text. `verdict` names the kind of failure.

    `scanned_pages` counts the pages that were not read because their text is in images.
    """

    code = "source_unreadable"

    def __init__(
        self, message: str, *, verdict: str = "failed", hint: str | None = None, scanned_pages: int = 0
    ) -> None:
        super().__init__(message, hint=hint)
        self.verdict = verdict
        self.scanned_pages = scanned_pages


class StorageError(AskyError):
    code = "storage"


class StoreFull(StorageError):
    code = "disk_full"


class StoreBusy(StorageError):
    code = "store_busy"
    retryable = True


class StoreDamaged(StorageError):
    code = "store_damaged"


class StoreTooNew(StorageError):
    code = "store_too_new"
