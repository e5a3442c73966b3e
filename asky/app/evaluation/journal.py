"""What an evaluation has measured so far, kept until it is complete so that it can go on after an interruption."""

from __future__ import annotations

import hashlib
import json
import os
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from asky.config.paths import ensure_private_dir


class EvalJournal:
    """A file of JSON lines, one a question, in `folder`. `key` says everything that the measures depend on."""

    def __init__(self, folder: Path, key: object) -> None:
        digest = hashlib.sha256(json.dumps(key, sort_keys=True, default=str).encode()).hexdigest()
        self.path = folder / f"{digest[:24]}.jsonl"
        self._lock = threading.Lock()

    def read(self) -> dict[str, Mapping[str, Any]]:
        """Return the records by the id of their question; a line that was cut short is left out."""
        try:
            lines = self.path.read_bytes().splitlines()
        except FileNotFoundError:
            return {}
        return {record["id"]: record for line in lines if (record := _parsed(line)) is not None}

    def add(self, record: Mapping[str, Any]) -> None:
        """Append a record, which has an `id`."""
        line = json.dumps(record, ensure_ascii=False).encode("utf-8", "replace") + b"\n"
        with self._lock:
            ensure_private_dir(self.path.parent)
            descriptor = os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
            with os.fdopen(descriptor, "ab") as file:
                if file.tell() and not self._ends_in_line():
                    file.write(b"\n")
                file.write(line)

    def _ends_in_line(self) -> bool:
        with self.path.open("rb") as file:
            file.seek(-1, os.SEEK_END)
            return file.read(1) == b"\n"

    def remove(self) -> None:
        """Delete the file: the evaluation is complete, or begins anew."""
        self.path.unlink(missing_ok=True)


def _parsed(line: bytes) -> Mapping[str, Any] | None:
    try:
        record = json.loads(line)
    except ValueError:
        return None
    return record if isinstance(record, dict) and isinstance(record.get("id"), str) else None
