"""`--json-stream`: the events of a run as JSON lines on stdout while it runs.

Every line is an `asky.event/1` object (see `asky.app.schemas.event_object`) with an additional `type`: the name of the
event (`stage_started`, `tool_called`, `text_streamed`, ...), or `answer` with the object of `--json`, or `error` with
the object that `--json` prints on stderr. The last line of a run has one of these two. The answer's text as it is being
written is the content of the `text_streamed` lines since the last `text_discarded`; the final answer may have been
revised since. New types and fields may be added.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TextIO

from asky.app.schemas.event import EVENT, error_object, event_object
from asky.config.secrets import scrub
from asky.events import Envelope
from asky.text.printable import json_text

if TYPE_CHECKING:
    from asky.app.failures import ErrorReport


class JsonStream:
    """Prints each event of a run as it happens.

    `key_variables` name variables that hold keys. When the reader is gone, it stops printing and calls `on_closed`
    once, so that no further costs arise.
    """

    def __init__(
        self,
        stream: TextIO,
        *,
        environ: Mapping[str, str],
        key_variables: Sequence[str] = (),
        on_closed: Callable[[], None] = lambda: None,
    ) -> None:
        self._stream = stream
        self._environ = environ
        self._key_variables = tuple(key_variables)
        self._on_closed = on_closed
        self._lock = threading.Lock()
        self._closed = False

    @property
    def closed(self) -> bool:
        """`True` if the reader is gone."""
        return self._closed

    def __call__(self, envelope: Envelope) -> None:
        found = event_object(envelope, lambda text: scrub(text, self._environ, self._key_variables))
        self._print({"type": found["event"]} | found)

    def answer(self, answer: Mapping[str, Any]) -> None:
        """Print the answer, an `asky.answer/1` object."""
        self._print({"type": "answer", "answer": answer})

    def error(self, report: ErrorReport) -> None:
        """Print the error that ended the run, as an `asky.error/1` object."""
        self._print({"type": "error", "error": error_object(report)})

    def _print(self, value: Mapping[str, Any]) -> None:
        with self._lock:
            if self._closed:
                return
            try:
                self._stream.write(json_text({"schema": EVENT} | dict(value)) + "\n")
                self._stream.flush()
            except (OSError, ValueError):  # the pipe or the stream is closed
                self._closed = True
        if self._closed:
            self._on_closed()
