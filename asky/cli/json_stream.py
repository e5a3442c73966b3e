"""`--json-stream`: what a run says, as one JSON object a line on stdout while it runs.

The first line has `"schema":"asky.event/1"` as well. Every line has a `type`: the event's name in `asky.events` with
words joined by `_` (`stage_started`, `tool_called`, `text_streamed`, ...) beside the event's own fields, or `answer`
with the object of `--json`, or `error` with the object that `--json` has on stderr. One of these two is the last line
of its run. The answer's text as it is written is what `text_streamed` lines hold since the last `text_discarded`; the
answer itself may have been mended since. New types and fields may be added.

Nothing is in it that `--json` does not show: secrets are masked, and of local files only those are named that cannot be
used.
"""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from typing import Any, TextIO

from asky.cli.failures import Report, render
from asky.cli.terminal import json_text
from asky.config.secrets import scrub
from asky.events import Event, FileRead

SCHEMA = "asky.event/1"
_WORD = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_USABLE = ("indexed", "unchanged")


class JsonStream:
    """A listener that prints each event as it happens.

    It may be called from any thread; `key_variables` name variables that hold keys. When nobody reads any more, it goes
    silent and calls `on_closed`, once, so that nothing further is paid for.
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
        self._begun = False
        self._closed = False

    @property
    def closed(self) -> bool:
        """Whether the reader has gone."""
        return self._closed

    def __call__(self, event: Event) -> None:
        fields = asdict(event)
        if isinstance(event, FileRead) and event.verdict in _USABLE:
            fields["path"] = None
        self._print({"type": _type_of(event)} | self._masked(fields))

    def answer(self, answer: Mapping[str, Any]) -> None:
        """Print the answer, an object of the schema `asky.answer/1`."""
        self._print({"type": "answer", "answer": answer})

    def error(self, report: Report) -> None:
        """Print the error that ended the run, as an object of the schema `asky.error/1`."""
        self._print({"type": "error", "error": json.loads(render(report, as_json=True))})

    def _masked(self, value: Any) -> Any:
        if isinstance(value, str):
            return scrub(value, self._environ, self._key_variables)
        if isinstance(value, dict):
            return {name: self._masked(item) for name, item in value.items()}
        if isinstance(value, (list, tuple)):
            return [self._masked(item) for item in value]
        return value

    def _print(self, value: Mapping[str, Any]) -> None:
        with self._lock:
            if self._closed:
                return
            head = {} if self._begun else {"schema": SCHEMA}
            try:
                self._stream.write(json_text({**head, **value}) + "\n")
                self._stream.flush()
            except (OSError, ValueError):  # the pipe or the stream is closed
                self._closed = True
            self._begun = True
        if self._closed:
            self._on_closed()


def _type_of(event: Event) -> str:
    return _WORD.sub("_", type(event).__name__).lower()
