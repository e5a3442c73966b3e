"""The prompt of a run that writes one answer from what its stages have found: recorded, and built only once."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from asky.errors import AskyError
from asky.events import StageStarted
from asky.research.writing.prompts import Prompt, decode_prompt, encode_prompt

if TYPE_CHECKING:
    from asky.runs.driver import PromptContext

SYNTHESIS_STAGE = "synthesis"
"""The name of the stage in events that begins with the prompt."""


@asynccontextmanager
async def synthesis_prompt(
    context: PromptContext, prepare: Callable[[], Awaitable[Prompt]], failed: str
) -> AsyncIterator[Prompt]:
    """Yield the prompt that the journal of a run holds, or else what `prepare` returns, which is recorded first.

    The message of an error in the body begins with `failed`, and its hint says how to resume the run.
    """
    journal = context.journal
    step = await journal.next_step("prepared")
    if step is not None:
        for warning in step["warnings"]:
            context.warn(warning)
        prompt = decode_prompt(step)
    else:
        journal.state.has_sources = True
        prompt = await prepare()
        await journal.add("prepared", "", encode_prompt(prompt, context.warnings))
        context.run.emit(StageStarted(SYNTHESIS_STAGE))
    try:
        yield prompt
    except AskyError as error:
        again = f"`asky runs resume {context.run.id}` tries again"
        error.message = f"{failed}: {error.message}"
        error.hint = f"{error.hint}; {again}" if error.hint else again
        raise
