"""The evidence below an answer from the library: each statement with its verdict and the words that it rests on."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from asky.app.answers import shown_verdict
from asky.app.papers import claim_excerpts, page_citation, relevant_sources
from asky.cli.terminal.terminal import one_line
from asky.cli.verdicts import confidence_lines, statement_text

if TYPE_CHECKING:
    from asky.app.papers import Excerpt
    from asky.cli.terminal.terminal import Terminal

_BOLD, _DIM, _UNDERLINED = 1, 2, 4


def print_evidence(terminal: Terminal, answer: Mapping[str, Any]) -> None:
    """Print each statement of an `asky.answer/1` object with what it cites, then how relevant the papers were."""
    terminal.line("Evidence" if answer["claims"] else "No statement of the answer could be checked.", _BOLD)
    for claim in answer["claims"]:
        terminal.line()
        verdict = shown_verdict(claim)
        has_score = claim["citations"] and verdict != "quoted"
        score = f" ({claim['score']:.2f})" if has_score else ""
        terminal.line(f"{verdict}{score}: {statement_text(claim)}", _BOLD, hang=2)
        for each in claim_excerpts(answer, claim):
            _print_excerpt(terminal, each)
    print_relevance(terminal, answer)


def print_relevance(terminal: Terminal, answer: Mapping[str, Any]) -> None:
    """Print how well the cited papers matched the query, and how likely the answer is right, if that is known."""
    found = relevant_sources(answer)
    if found:
        terminal.line()
        terminal.line("Relevance", _BOLD)
    for score, title in found:
        terminal.line(f"  {score:.2f}  {one_line(title)}", hang=8)
    for line in confidence_lines(answer):
        terminal.line(line)


def _print_excerpt(terminal: Terminal, excerpt: Excerpt) -> None:
    citation = excerpt.citation
    score = f" (relevance {citation['score']:.2f})" if citation.get("score") is not None else ""
    sign = page_citation(citation) or f"[{citation['n']}]"
    parts: list[tuple[str, tuple[int, ...]]] = [(f"  {sign}{score} ", (_DIM,)), ("“", ())]
    parts += [(f"{excerpt.before} ", ())] if excerpt.before else []
    parts += [(excerpt.quoted, (_UNDERLINED,))]
    parts += [(f" {excerpt.after}", ())] if excerpt.after else []
    terminal.parts([*parts, ("”", ())])
