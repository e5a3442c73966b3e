"""Runs the command line with its arguments, and writes to `TRACE` which calls crossed from one module into another.

Each line of the file is a count and, in JSON, what was called: a call from one module of the upper layers into another
(`hop`), an event loop that was made (`loop`), or one of the functions that `COUNTED` names.
"""

from __future__ import annotations

import json
import os
import sys
import threading
from collections import Counter
from pathlib import Path
from types import FrameType
from typing import Any

UPPER = ("cli", "app", "wiring", "health", "chat", "runs", "__main__")
"""The layers above `asky.research`."""
COUNTED = {
    ("asyncio.base_events", "BaseEventLoop.__init__"): "loop",
    ("asky.app.requests", "resolve_in"): "resolved",
    ("asky.storage.sessions", "SessionStore.find"): "session looked up",
}


def is_upper(module: str) -> bool:
    return module.startswith("asky.") and module.split(".")[1] in UPPER


def trace(arguments: list[str]) -> Counter[str]:
    """Run `asky ARGUMENTS` in this process and count what it calls."""
    from asky.__main__ import run

    found: Counter[str] = Counter()

    def see(frame: FrameType, event: str, _: Any) -> None:
        if event != "call":
            return
        module, function = frame.f_globals.get("__name__", ""), frame.f_code.co_qualname
        if (name := COUNTED.get((module, function))) is not None:
            found[json.dumps([name])] += 1
        caller = frame.f_back
        if caller is None or not is_upper(module) or "<module>" in (function, caller.f_code.co_name):
            return
        calling = caller.f_globals.get("__name__", "")
        if calling != module and is_upper(calling):
            found[json.dumps(["hop", calling, caller.f_code.co_qualname, module, function])] += 1

    threading.setprofile(see)
    sys.setprofile(see)
    try:
        code = run(arguments)
    finally:
        sys.setprofile(None)
        threading.setprofile(None)  # type: ignore[arg-type] # as the documentation has it
    sys.stdout.flush()
    assert code == 0, code
    return found


if __name__ == "__main__":
    counts = trace(sys.argv[1:])
    Path(os.environ["TRACE"]).write_text("".join(f"{count} {what}\n" for what, count in sorted(counts.items())))
    os._exit(0)
