"""Has the model mend an answer once, where checking found faults in it; the better of the two is kept."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import anyio

from asky.chat.loop import LoopResult, LoopSettings, run_loop
from asky.chat.repair import is_better, repair_prompt
from asky.concurrency import in_thread
from asky.errors import AskyError
from asky.events import Event, Listener, TextDiscarded, Warned
from asky.llm.port import Message, is_abstention

if TYPE_CHECKING:
    from asky.chat.checking import CheckedReply
    from asky.chat.recording import Record
    from asky.chat.registry import ToolRegistry
    from asky.chat.transcript import Transcript
    from asky.llm.port import ChatModel
    from asky.llm.spending import Budget
    from asky.llm.tokens import TokenCounter
    from asky.research.tools import ResearchRun

LONGEST_MENDED = 20_000
"""Characters of the longest answer that is mended: a model that has gone astray is not asked to do so again."""


@dataclass(frozen=True, slots=True)
class Mender:
    """What mending needs of a run.

    `check` checks a text as the answer was; `note` keeps what came of it in the ledger; `warn` tells the user.
    `max_turns` bounds the replies: one, and one more where that is empty.
    """

    model: ChatModel
    transcript: Transcript
    tools: ToolRegistry
    budget: Budget
    counter: TokenCounter
    research: ResearchRun
    max_turns: int
    check: Callable[[str], CheckedReply]
    record: Record
    note: Callable[[Mapping[str, Any]], None]
    warn: Callable[[str], None]
    listener: Listener

    async def mend(self, checked: CheckedReply) -> CheckedReply | None:
        """The answer after the model has been asked to mend it; as it is where that brought nothing better.

        `None` where the time was up before the model had written.
        """
        prompt = await in_thread(lambda: repair_prompt(checked, self.research.shown, marker=self.research.marker))
        repair = self.transcript.continued(Message("user", prompt))
        if await in_thread(self.budget.nearly_spent, repair.sent, self.tools.specs()):
            return checked
        result: LoopResult | None = None
        with anyio.move_on_after(self.budget.deadline_s()) as scope:
            self.record.on_cut("time", scope.cancel)
            try:
                written = await run_loop(
                    self.model,
                    repair,
                    self.tools,
                    settings=LoopSettings(max_turns=self.max_turns),
                    listener=self._hear,
                    budget=self.budget,
                    counter=self.counter,
                    gathering=False,
                )
                await self.record.pass_on()
                result = written
            except AskyError as error:  # the answer is there: a failure to mend it is not a failure to answer
                self.warn(f"the answer could not be mended: {error.message}")
                return checked
            finally:
                self.transcript.calls += repair.calls
        if result is None:
            return None
        return await self._better_of(checked, result.reply_text if result.complete else "")

    def _hear(self, event: Event) -> None:
        if not isinstance(event, (TextDiscarded, Warned)):  # nothing of a repair was shown, and it may not be kept
            self.listener(event)

    async def _better_of(self, checked: CheckedReply, text: str) -> CheckedReply:
        mended = await in_thread(self.check, text) if text.strip() and not is_abstention(text) else None
        better = mended is not None and is_better(mended, checked)
        faults = {"before": checked.faults, "after": mended.faults if mended is not None else None, "kept": better}
        await in_thread(self.note, faults)
        return mended if mended is not None and better else checked
