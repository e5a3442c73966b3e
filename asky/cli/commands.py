"""The commands of asky: what `--help` says of each without importing it. `asky.cli.NAME` holds the command `NAME`."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

DEFAULT = "ask"

COMMANDS: Mapping[str, str] = MappingProxyType(
    {
        "ask": "Answer a question from sources, with citations (the default).",
        "chat": "Ask one question after another; each knows those before it.",
        "search": "Find passages; no model is asked.",
        "corpus": "Add, list, sync and remove documents.",
        "why": "Show the passage behind a citation.",
        "runs": "List, show and export past answers with their evidence.",
        "session": "List, show and remove conversations.",
        "memory": "List, search and edit saved findings.",
        "cache": "List, show and drop web pages that were read before.",
        "models": "List, show and test models, and choose the default.",
        "config": "Show and change the configuration.",
        "doctor": "Check the installation, the model and the store.",
        "completion": "Print the completion script for a shell.",
    }
)

EXIT_CODES: Mapping[int, str] = MappingProxyType(
    {
        0: "ok",
        1: "unexpected error, or nothing could be done",
        2: "wrong usage or configuration",
        3: "a model, key or extra is not configured",
        4: "an endpoint refused the key",
        5: "an endpoint or host is unreachable",
        6: "rate limited or out of quota",
        7: "timed out",
        8: "an endpoint failed",
        10: "stopped by a budget; a partial answer was printed",
        11: "not enough evidence to answer",
        12: "a claim is unsupported (--strict)",
        129: "the terminal was closed (SIGHUP)",
        130: "interrupted (Ctrl-C)",
        141: "the reader of the output went away",
        143: "terminated (SIGTERM)",
    }
)
