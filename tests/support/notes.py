"""Notes of every kind, and what may have changed in one that asky has written into."""

from __future__ import annotations

import random
import re
from bisect import bisect
from dataclasses import dataclass

BLOCKS = [
    "Prose of one line.",
    "Two lines,\nlazily written.  ",
    "# Title",
    "### Third ###",
    "#### ",
    "- item\n  ## Research\n- [ ] task",
    "1. one\n\n   ## Research\n",
    "> ## Research\n> quoted\nlazy",
    "> [!note]- Callout\n> text",
    "```\n## Research\n```",
    "````md\n```\n## Research\n```\n````",
    "~~~\n```\n## Research\n~~~",
    "    ## Research in code",
    "<!-- \n## Research\n-->",
    "<div>\n## Research\n</div>",
    "<details>\n\n</details>",
    "%%\n## Research\n\n```\n%%",
    "mine %% and\n\n## Research\n\nend %% here",
    "%% asky:begin sha=0123 %% in prose",
    "`%%` and `` ` %% ``",
    "| a | b |\n|---|---|\n| [[x\\|y]] | ==z== |",
    "***",
    "Text[^1] with [[Note#Part|alias]] and ![[x.png|100]] ^block-1",
    "[^1]: a footnote\n[ref]: https://x.test",
    "#tag #a/b\ndate:: 2026-01-31",
    "$$\n\\frac{a}{b}\n$$",
    "Ünïcode 漢字 🏔️\u00a0\u2028end",
    "\ttab\n\n\n\n   spaces   ",
    "##Research",
    "\\## Research",
    "<% tp.date %> `= this.x`",
    "####### Research",
]
FRONT = [
    "",
    "",
    "",
    "---\ntitle: x\ntags: [a, b]\n---\n",
    "---\n# ## Research\nbroken: [\n## Research\n---\n",
    "---\n---\n",
]
HEADINGS = ["## Research", "## research ##", " ## Research  ", "Research\n---", "## RESEARCH ^id", "## *Research*"]
NEXT = ["# Next", "## Next", "Next\n===", "Next\n---", " ## Next ##"]
ENDS = re.compile(r"^# ", re.MULTILINE)
"""What would end the section."""
BODIES = [
    "### Tides\n\nTwice a day.",
    "### A\n\n- b\n\n```\ncode\n```\n\n### C\n\n[x](https://x.test) [[Y]]",
    "One line.",
]


@dataclass(frozen=True, slots=True)
class MadeNote:
    """A note, and the offsets between which the part belongs: behind the heading, and before what follows it."""

    data: bytes
    has_section: bool
    start: int
    end: int


def made_note(seed: int) -> MadeNote:
    """A note made of blocks, with a section in two of three, any line ends and any end."""
    chance = random.Random(seed)
    ends = chance.choice([["\n"], ["\r\n"], ["\n", "\r\n"], ["\n", "\n", "\n", "\r\n"]])

    def lines(text: str) -> bytes:
        return re.sub("\n", lambda _: chance.choice(ends), text).encode()

    def blocks(most: int) -> str:
        return "".join(f"{chance.choice(BLOCKS)}\n\n" for _ in range(chance.randint(0, most)))

    before = chance.choice([b"", b"", b"", b"\xef\xbb\xbf"]) + lines(chance.choice(FRONT) + blocks(6))
    if not chance.randrange(3):
        data = before if chance.randrange(2) else before.rstrip()
        return MadeNote(data, False, len(data), len(data))
    heading = lines(chance.choice(HEADINGS) + "\n")
    inside = lines(chance.choice(["", "\n"]) + "".join(each for each in [blocks(3)] if not ENDS.search(each)))
    after = lines(f"{chance.choice(NEXT)}\n{blocks(3)}") if chance.randrange(3) else b""
    data = before + heading + inside + after
    if not chance.randrange(3):
        data = data.rstrip()
    return MadeNote(data, True, min(len(data), len(before + heading)), min(len(data), len(before + heading + inside)))


def inserted(note: bytes, written: bytes) -> tuple[int, bytes]:
    """The offset at which something was inserted into a note, and what; fails if anything else was changed."""
    start = _common(note, written)
    end = min(_common(note[::-1], written[::-1]), len(note) - start)
    assert start + end == len(note), "more than an insertion"
    return start, written[start : len(written) - end]


def _common(one: bytes, other: bytes) -> int:
    """The number of bytes that both begin with."""
    return bisect(range(min(len(one), len(other))), False, key=lambda at: one[: at + 1] != other[: at + 1])
