"""Synthesis: one streamed call that turns the evidence in a prompt into an answer.

The passages are part of the prompt, cut to what fits into the model's context; no tool is called. The result then
passes through the gate of `asky.evidence.verification`, and may be revised once by `asky.research.revision`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from asky.events import Listener, ignore
from asky.llm.port import ChatModel, ToolSpec
from asky.llm.spending import Budget
from asky.llm.tokens import TokenCounter
from asky.research.writing.notes import Notes, no_notes, note_message
from asky.research.writing.reply_writer import ReplyWriter, WrittenReply, discard
from asky.research.writing.transcript import Transcript


async def synthesize(
    model: ChatModel,
    transcript: Transcript,
    *,
    tools: Sequence[ToolSpec] = (),
    emit: Listener = ignore,
    on_text: Callable[[str], None] = discard,
    budget: Budget | None = None,
    counter: TokenCounter | None = None,
    notes: Notes = no_notes,
) -> WrittenReply:
    """Return the reply of `model` to the last message of `transcript`, which holds the passages and the question.

    The call is repeated once if the reply was empty, broke off, or did not fit. `tools` are declared, so that the
    prompt keeps its cached prefix, but may not be called. Before each call pending `notes` are added to the
    conversation. Raises what `ChatModel.stream` raises. Cancellation passes through; `transcript` then holds what has
    arrived.
    """
    writer = ReplyWriter(model, transcript, tools, emit=emit, on_text=on_text, budget=budget, counter=counter)
    while True:
        for note in notes():
            transcript.note(note_message(note))
        if not await writer.is_affordable():
            return WrittenReply("", is_complete=False, stopped_by=writer.stopped_by)
        reply = await writer.ask("none")
        if reply is not None and (written := writer.accept(reply)) is not None:
            return written
