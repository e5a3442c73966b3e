"""Revision: one call that asks the model to correct what the check of its answer found; the better answer is kept."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import anyio

from asky.concurrency import in_thread
from asky.errors import AskyError
from asky.events import Event, Listener, TextDiscarded, Warned
from asky.evidence.passages import render_passages
from asky.evidence.verification.checked_reply import CheckedReply, missing_numbers
from asky.evidence.verification.verify import verify_claim
from asky.llm.port import ABSTENTION, Message, is_abstention
from asky.research.synthesis import synthesize
from asky.values import Claim, Evidence

if TYPE_CHECKING:
    from asky.llm.port import ChatModel, ToolSpec
    from asky.llm.spending import Budget
    from asky.llm.tokens import TokenCounter
    from asky.research.writing.reply_writer import WrittenReply
    from asky.research.writing.transcript import Transcript

MAX_REVISED_CHARS = 20_000
"""The length from which an answer is no longer revised: a model that has gone astray would do so again."""

MAX_SENTENCES = 12
"""The number of sentences named in a revision prompt; an answer with more faults is not helped by naming them."""

_MAX_MARK_CHARS = 40
_PASSAGES_A_SENTENCE = 2
_MAX_CHARS = 12_000  # of passages repeated in the prompt: five to ten of them
_INTRODUCTION = """\
Your answer was checked against the passages, and this in it does not hold:"""
_REQUEST = f"""\
Write the whole answer again. Keep what is right as it is, with its keys. Correct each of these sentences from the \
passages and cite the passage that says so, or leave it out. Use only keys that were shown. Don't mention this check. \
If nothing of the answer can be supported, reply with this line first: {ABSTENTION}"""


def revision_prompt(checked: CheckedReply, shown: Mapping[str, Evidence], *, marker: str) -> str:
    """Return the prompt: each doubtful sentence with the reason, the closest passages, and the request to revise."""
    doubtful = checked.doubtful[:MAX_SENTENCES]
    lines = [f"- “{_plain(claim)}”: {_why(claim)}" for claim in doubtful]
    lines += [f"- [{key}] was never shown to you." for key in dict.fromkeys(checked.numbered.unknown)]
    lines += [f"- {_plain_mark(each)} cites nothing: only keys do." for each in dict.fromkeys(checked.invented)]
    lines += [f"- No passage holds the address {url}." for url in checked.numbered.unseen_urls]
    parts = [_INTRODUCTION + "\n" + "\n".join(lines)]
    nearest = list(_nearest(doubtful, checked, shown))
    if nearest:
        parts.append("The passages nearest to these sentences:\n\n" + render_passages(nearest, marker=marker))
    return "\n\n".join([*parts, _REQUEST])


def is_better(second: CheckedReply, first: CheckedReply) -> bool:
    """Return whether `second` has fewer faults than `first` and no fewer supported claims."""
    return second.faults < first.faults and _supported(second) >= _supported(first)


def _supported(checked: CheckedReply) -> int:
    return sum(claim.verdict == "supported" for claim in checked.claims)


def _plain(claim: Claim) -> str:
    return " ".join(claim.text.split())[:400]


def _plain_mark(lookalike: str) -> str:
    return " ".join(lookalike.split())[:_MAX_MARK_CHARS]


def _why(claim: Claim) -> str:
    if claim.verdict == "uncited":
        return "it cites nothing"
    numbers = ", ".join(missing_numbers(claim))
    if numbers:
        return f"the passage that it cites does not hold {numbers}"
    if claim.verdict == "contradicted":
        return "the passage that it cites says something else"
    return "the passage that it cites does not say this"


def _nearest(claims: Sequence[Claim], checked: CheckedReply, shown: Mapping[str, Evidence]) -> Iterator[Evidence]:
    """Yield the passages that each claim cites and those that support it best, each once, up to a total length."""
    keys = {citation.n: citation.key for citation in checked.citations}
    wanted: dict[str, None] = {}
    for claim in claims:
        wanted |= dict.fromkeys(keys[n] for n in claim.citations)
        scores = {key: verify_claim(claim.text, [each.text]).score for key, each in shown.items()}
        best = sorted(scores, key=lambda key: -scores[key])[:_PASSAGES_A_SENTENCE]
        wanted |= dict.fromkeys(key for key in best if scores[key] > 0)
    chars_left = _MAX_CHARS
    for key in wanted:
        chars_left -= len(shown[key].text)
        if chars_left >= 0:
            yield shown[key]


@dataclass(frozen=True, slots=True)
class Reviser:
    """The parts of a run that a revision needs.

    `tools` are declared as in earlier calls, and not called. `check` checks a text as the answer was checked; `note`
    records the result in the ledger; `warn` warns the user. `on_deadline` receives the function that cancels the call,
    for a run that is replayed up to its deadline; `written` is awaited once the reply is complete.
    """

    model: ChatModel
    transcript: Transcript
    tools: Sequence[ToolSpec]
    budget: Budget
    counter: TokenCounter
    shown: Mapping[str, Evidence]
    marker: str
    check: Callable[[str], CheckedReply]
    on_deadline: Callable[[Callable[[], None]], None]
    written: Callable[[], Awaitable[None]]
    note: Callable[[Mapping[str, Any]], None]
    warn: Callable[[str], None]
    emit: Listener

    async def revise(self, checked: CheckedReply) -> CheckedReply | None:
        """Return the revised answer, or `checked` itself if the revision is not better or failed.

        Returns `None` if the run's time is over before the reply is complete.
        """
        prompt = await in_thread(lambda: revision_prompt(checked, self.shown, marker=self.marker))
        revised = self.transcript.continued(Message("user", prompt))
        if await in_thread(self.budget.nearly_spent, revised.sent, self.tools):
            return checked
        result: WrittenReply | None = None
        with anyio.move_on_after(self.budget.deadline_s()) as scope:
            self.on_deadline(scope.cancel)
            try:
                written = await synthesize(
                    self.model,
                    revised,
                    tools=self.tools,
                    emit=self._forward,
                    budget=self.budget,
                    counter=self.counter,
                )
                await self.written()
                result = written
            except AskyError as error:  # there is an answer: a failed revision is not a failed run
                self.warn(f"the answer could not be revised: {error.message}")
                return checked
            finally:
                self.transcript.calls += revised.calls
        if result is None:
            return None
        return await self._better_of(checked, result.text if result.is_complete else "")

    def _forward(self, event: Event) -> None:
        if not isinstance(event, (TextDiscarded, Warned)):  # a revision is not streamed, and may not be kept
            self.emit(event)

    async def _better_of(self, checked: CheckedReply, text: str) -> CheckedReply:
        revised = await in_thread(self.check, text) if text.strip() and not is_abstention(text) else None
        better = revised is not None and is_better(revised, checked)
        faults = {"before": checked.faults, "after": revised.faults if revised is not None else None, "kept": better}
        await in_thread(self.note, faults)
        return revised if revised is not None and better else checked
