"""A verified text on the terminal: each sentence with its verdict, the words that decide, and why."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from asky.app.answers import place_text, section_text, shown_verdict
from asky.app.verify.claims_object import claim_excerpt, claims_object
from asky.cli.saving import save_text
from asky.cli.terminal.terminal import one_line
from asky.cli.verdicts import verdict_summary
from asky.text.printable import json_document

if TYPE_CHECKING:
    from asky.app.verify.service import VerifyService
    from asky.app.verify.values import VerifiedText
    from asky.cli.terminal.terminal import Terminal

_BOLD, _DIM, _UNDERLINED, _RED, _GREEN, _YELLOW = 1, 2, 4, 31, 32, 33
_COLOURS = {"supported": (_GREEN,), "partial": (_YELLOW,), "unsupported": (_RED,), "contradicted": (_RED,)}
_WORDS = {
    "supported": "supported",
    "partial": "partly supported",
    "unsupported": "unsupported",
    "contradicted": "contradicted",
}
_SIGNS = {"supported": "✓", "partial": "~", "unsupported": "✗", "contradicted": "✗"}


def print_verified(terminal: Terminal, verified: VerifiedText, *, as_json: bool) -> None:
    """Print each sentence in order; the passage of one that is supported only under `-v`."""
    found = claims_object(verified)
    if as_json:
        terminal.json(found)
        return
    for claim in found["claims"]:
        _print_claim(terminal, claim)
    terminal.line()
    terminal.line(verdict_summary(found["claims"]), _BOLD)


def write_verified(path: Path, verified: VerifiedText, service: VerifyService) -> None:
    """Write a verified text as a page or as JSON, by the suffix of `path`. Raises as `save_text` does."""
    if path.suffix.lower() == ".json":
        save_text(path, json_document(claims_object(verified)))
    else:
        save_text(path, service.page(verified))


def _print_claim(terminal: Terminal, claim: Mapping[str, Any]) -> None:
    verdict, passage, better = claim["verdict"], claim["passage"], claim["better_passage"]
    parts = [(f"{_SIGNS[verdict]} ", _COLOURS[verdict]), (one_line(claim["statement"]), ())]
    if verdict == "supported":
        quoted = [("  quoted", (_DIM,))] if shown_verdict(claim) == "quoted" else []
        terminal.parts([*parts, *quoted], hang=2)
        if terminal.verbose:
            terminal.line(f"  {claim['reason']}", _DIM)
            _print_passage(terminal, claim, passage)
        return
    terminal.parts([*parts, (f"  {_WORDS[verdict]}", _COLOURS[verdict])], hang=2)
    terminal.line(f"  {claim['reason']}")
    shown = better or passage
    if shown is not None:
        _print_passage(terminal, claim, shown, "" if better is not None else "nearest: ")


def _print_passage(terminal: Terminal, claim: Mapping[str, Any], passage: Mapping[str, Any], label: str = "") -> None:
    where = " · ".join(part for part in (passage["title"], section_text(passage), place_text(passage)) if part)
    terminal.source(f"    {label}{one_line(where)}", passage["url"] or passage["path"], _DIM)
    found = claim_excerpt(passage, claim)
    before, after = (f"{found.before} " if found.before else ""), (f" {found.after}" if found.after else "")
    terminal.parts([(f"    “{before}", (_DIM,)), (found.quoted, (_UNDERLINED,)), (f"{after}”", (_DIM,))])
