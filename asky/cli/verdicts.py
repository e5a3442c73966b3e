"""The verdicts on the statements of an answer, as lines."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from asky.app.answers import (
    MARKED,
    WARNING_SIGN,
    confidence_of,
    contradictions_of,
    plain_text,
    reason,
    shown_verdict,
)
from asky.cli.terminal.terminal import one_line
from asky.text.counting import counted

_MAX_CLAIM_CHARS = 160
_BLANK_BEFORE_STOP = re.compile(r" (?=[.,;:!?](?: |$))")  # left by a link
_WORDS: Mapping[str, str] = MappingProxyType(
    {
        "quoted": "quoted",
        "supported": "supported",
        "partial": "partly supported",
        "unsupported": "unsupported",
        "contradicted": "contradicted",
        "uncited": "cite nothing",
    }
)


def verdict_summary(claims: Sequence[Mapping[str, Any]]) -> str:
    """Return the number of statements with each verdict: `12 statements: 7 quoted, 2 supported, 3 cite nothing`."""
    counts = Counter(map(shown_verdict, claims))
    words = {**_WORDS, "uncited": "cites nothing" if counts["uncited"] == 1 else "cite nothing"}
    said = ", ".join(f"{counts[verdict]:,} {word}" for verdict, word in words.items() if counts[verdict])
    return (
        f"{WARNING_SIGN} " * (len(claims) > counts["quoted"] + counts["supported"])
        + f"{counted(len(claims), 'statement')}: {said}"
    )


def unsupported_lines(claims: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Yield each statement that its passages do not support or contradict, once, with the reason if there is one."""
    marked = [claim for claim in claims if claim["verdict"] in MARKED]
    doubtful = Counter((claim["verdict"], statement_text(claim), one_line(reason(claim))) for claim in marked)
    for (verdict, text, why), times in doubtful.items():
        shown = text if len(text) <= _MAX_CLAIM_CHARS else text[:_MAX_CLAIM_CHARS] + "..."
        because = f": {why}" if why else ""
        yield f"{WARNING_SIGN} {verdict}: “{shown}”{because}" + (f" ({times} times)" if times > 1 else "")


def statement_lines(claims: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Yield each statement with its verdict, its score and citations if it has any, and the reason for its verdict."""
    for claim in claims:
        verdict = shown_verdict(claim)
        has_score = claim["citations"] and verdict != "quoted"  # it says nothing about a quotation
        score = f"{claim['score']:.2f}" if has_score else "    "
        numbers = f"[{', '.join(map(str, claim['citations']))}] " if claim["citations"] else ""
        why = one_line(reason(claim))
        yield f"  {verdict:<12} {score}  {numbers}{statement_text(claim)}" + (f" ({why})" if why else "")


def confidence_lines(answer: Mapping[str, Any]) -> Iterator[str]:
    """Yield how likely the sources of an `asky.answer/1` object hold the answer, if that is known."""
    if (confidence := confidence_of(answer)) is not None:
        yield f"confidence {confidence:.2f}"


def contradiction_lines(answer: Mapping[str, Any]) -> Iterator[str]:
    """Yield the statements of an `asky.answer/1` object that contradict each other, both sides with their citations."""
    for found in contradictions_of(answer):
        yield f"{WARNING_SIGN} sources contradict each other ({one_line(found.explanation)}):"
        for side in found.sides:
            numbers = "".join(f"[{n}]" for n in side.citations)
            yield f"  “{one_line(side.statement)}” {numbers} {one_line(side.source)}".rstrip()


def statement_text(claim: Mapping[str, Any]) -> str:
    """Return the statement on one line, without markup and citations."""
    return _BLANK_BEFORE_STOP.sub("", one_line(plain_text(claim["text"].replace(" | ", "; "))))
