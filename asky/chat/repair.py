"""One chance for the model to mend what checking found: the prompt for it, and whether the second answer is better."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from asky.chat.checking import CheckedReply, missing_numbers
from asky.evidence.passages import render_passages
from asky.evidence.verify import verify_claim
from asky.llm.port import ABSTENTION
from asky.values import Claim, Evidence

MAX_SENTENCES = 12
"""Named in a repair prompt; an answer with more that is wrong is not mended by naming them."""

_MAX_MARK_CHARS = 40
_PASSAGES_A_SENTENCE = 2
_MAX_CHARS = 12_000  # of passages that are shown once more, five to ten of them
_INTRODUCTION = """\
Your answer was checked against the passages, and this in it does not hold:"""
_REQUEST = f"""\
Write the whole answer again. Keep what is right as it is, with its keys. Correct each of these sentences from the \
passages and cite the passage that says so, or leave it out. Use only keys that were shown. Don't mention this check. \
If nothing of the answer can be supported, reply with this line first: {ABSTENTION}"""


def repair_prompt(checked: CheckedReply, shown: Mapping[str, Evidence], *, marker: str) -> str:
    """What to tell the model: each doubtful sentence and why, the passages nearest to them, and what to do."""
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
    """Whether `second` has fewer faults and has not bought that by leaving out what was supported."""
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
    """For each claim the passages that it cites and those that support it best, each once, up to a length."""
    keys = {citation.n: citation.key for citation in checked.citations}
    wanted: dict[str, None] = {}
    for claim in claims:
        wanted |= dict.fromkeys(keys[n] for n in claim.citations)
        scores = {key: verify_claim(claim.text, [each.text]).score for key, each in shown.items()}
        best = sorted(scores, key=lambda key: -scores[key])[:_PASSAGES_A_SENTENCE]
        wanted |= dict.fromkeys(key for key in best if scores[key] > 0)
    room = _MAX_CHARS
    for key in wanted:
        room -= len(shown[key].text)
        if room >= 0:
            yield shown[key]
