"""What a tool is: a specification that a model sees, and the function behind it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any

from asky.llm.port import ToolSpec
from asky.values import Failure


@dataclass(frozen=True, slots=True)
class ToolResult:
    """What a call gave: `content` for the model, `summary` for people (one short line).

    `failure` is set when the call did not work; `content` then tells the model so in a line that starts with `error:`.
    """

    content: str
    summary: str
    failure: Failure | None = None


@dataclass(frozen=True, slots=True)
class Tool:
    """A specification and the function behind it. `run` gets arguments that fit `spec.parameters`.

    What a call may touch (session, sources, run) is bound into `run` when the tool is made; a model's arguments never
    choose it.
    """

    spec: ToolSpec
    run: Callable[[Mapping[str, Any]], Awaitable[ToolResult]]
