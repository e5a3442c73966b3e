"""Checks across keys: each value is valid by itself, but the combination is not."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields

from asky.config.custom_tools import find_tool_faults, target_parameter
from asky.config.endpoints import base_url_fault, find_endpoint_faults
from asky.config.keys import KeyPath
from asky.config.prompts import find_prompt_faults
from asky.config.schema import (
    CustomTool,
    Search,
    SearchPackage,
    SearchServiceSettings,
    Settings,
    SourceAdapter,
)


def find_contradictions(settings: Settings) -> Iterator[tuple[KeyPath, str]]:
    """Yield the key at fault and the problem, for each contradiction."""
    chunking = settings.research.chunking
    if chunking.overlap_tokens > chunking.max_tokens // 2:
        yield ("research", "chunking", "overlap_tokens"), "must be at most half of research.chunking.max_tokens"
    for name, adapter in settings.research.source_adapters.items():
        yield from _check_adapter(("research", "source_adapters", name), adapter, settings.tools)
    obstacles = settings.agent.obstacles
    if obstacles.min_wait_s > obstacles.max_wait_s:
        yield ("agent", "obstacles", "min_wait_s"), "must be at most agent.obstacles.max_wait_s"
    yield from _check_search(settings.search)
    yield from find_prompt_faults(settings.prompts)
    yield from find_tool_faults(settings.tools)
    yield from find_endpoint_faults(settings)


def _check_search(search: Search) -> Iterator[tuple[KeyPath, str]]:
    services = [
        each.name
        for each in fields(search)
        if isinstance(getattr(search, each.name), SearchServiceSettings | SearchPackage)
    ]
    for name in search.providers:
        if name not in services:
            yield ("search", "providers"), f"one of these names is not a search service; {_suggestion(name, services)}"
    for name in services:
        base_url = getattr(search, name).base_url
        if base_url is not None and (fault := base_url_fault(base_url)):
            yield ("search", name, "base_url"), fault


def _suggestion(name: str, known: Sequence[str]) -> str:
    from difflib import get_close_matches  # only if there is an error already

    close = get_close_matches(name[:100].lower(), known, n=1)
    return f"did you mean {close[0]}?" if close else f"they are {', '.join(known)}"


def _check_adapter(
    path: KeyPath, adapter: SourceAdapter, tools: Mapping[str, CustomTool]
) -> Iterator[tuple[KeyPath, str]]:
    scheme, separator, _ = adapter.prefix.partition("://")
    if not separator or not scheme:
        yield (*path, "prefix"), 'must name a scheme, such as "wiki://"'
    elif scheme.lower() in ("http", "https"):
        yield (*path, "prefix"), "web addresses cannot be given to an adapter"
    split = bool(adapter.discover_tool) + bool(adapter.read_tool)
    if bool(adapter.tool) == bool(split) or split == 1:
        yield path, "give either tool, or discover_tool and read_tool"
    for key in ("tool", "discover_tool", "read_tool"):
        command = getattr(adapter, key)
        if len(command) == 1 and (tool := tools.get(command[0])) is not None:
            try:
                target_parameter(tool)
            except (ValueError, KeyError, TypeError):  # the other two: the tool has a fault of its own, also reported
                yield (*path, key), f"tools.{command[0]} must require one parameter, of type string: the target"
