"""The commands of asky with their help lines, so that `--help` imports none of them.

The command `NAME` is in `asky.cli.commands.NAME`.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

DEFAULT = "ask"

COMMANDS: Mapping[str, str] = MappingProxyType(
    {
        "ask": "Answer a question with citations (default).",
        "chat": "Have a conversation about your sources.",
        "search": "Find passages without calling a model.",
        "corpus": "Add, list, sync and remove documents.",
        "papers": "Keep a library of papers, and search it page by page.",
        "notes": "List, find, read and research the notes of your vault.",
        "agent": "Research a question until nothing new is found.",
        "verify": "Judge each sentence of a text against documents.",
        "why": "Show the passage behind a citation.",
        "runs": "List, show, export, resume and replay past runs.",
        "session": "List, show, rename, export and delete sessions.",
        "memory": "List, search and edit saved findings.",
        "cache": "List, show and delete cached web pages.",
        "eval": "Measure search and answers on your own questions.",
        "models": "List, show and test models; set the default.",
        "mcp": "Offer asky's tools to other programs (MCP server).",
        "serve": "Serve asky to browsers and programs on this machine.",
        "setup": "Choose a model, documents and the web in four questions.",
        "config": "Show and change the configuration.",
        "doctor": "Check the installation, models and store.",
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
        10: "stopped by a budget, or the model's reply was cut; a partial answer was printed",
        11: "not enough evidence to answer",
        12: "a claim is unsupported (--strict)",
        13: "a measure is worse than the gate of `asky eval` allows",
        129: "the terminal was closed (SIGHUP)",
        130: "interrupted (Ctrl-C)",
        141: "the output was closed early",
        143: "terminated (SIGTERM)",
    }
)
