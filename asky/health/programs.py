"""The tools of the user's own: whether the programs of those that are enabled are there. None is run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from asky.config.custom_tools import find_missing_programs
from asky.config.loader import Config
from asky.health.check import Check, ok, problem

_NAME = "tools"


def check_programs(config: Config, environ: Mapping[str, str]) -> Iterator[Check]:
    """A line for each enabled tool whose program is missing, or one for all; none where no tool is configured."""
    missing = list(find_missing_programs(config.tools, environ))
    for each in missing:
        yield problem(_NAME, each.message, each.hint)
    enabled = [name for name, tool in config.tools.items() if tool.enabled]
    if config.tools and not missing:
        off = len(config.tools) - len(enabled)
        yield ok(_NAME, (", ".join(enabled) or "none enabled") + (f"; {off} not enabled" if off and enabled else ""))
