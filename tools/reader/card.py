"""The card of a trained reader: what it is, what it was trained on, how well it does, what it cannot do."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from tools.reader.figures import Figures

_HEAD = """# The reader

One small model that reads two texts together, for asky: a question with a unit of a document (does this answer it?),
and a claim with its evidence (entailed, contradicted, neither). One graph for onnxruntime: token ids, token types and
attention mask go in, a logit for the question and three for the claim come out. English.

The encoder is all-MiniLM-L6-v2 (Apache-2.0), trained further as a cross-encoder; its word, place and type embeddings
are unchanged, and the tokenizer is that of the embedding model beside it. Weights of linear layers are rounded to 8
bits with a scale for each column, and linear layers compute with integers: logits differ by less than
.01 between processors.

Made by `python -m tools.train_reader` in asky's repository, which refuses records that share 60 characters with
anything that is measured.
"""
_LIMITS = """## What it cannot do

- It does not calculate: sums, differences and comparisons of many rows are guesses.
- It reads 192 tokens of a pair; what stands elsewhere in a document, it does not know.
- It was trained on English. Other languages are read by words in asky.
- Its probability is one of everyday documents; on others it has to be measured.
- A unit that only sounds like an answer can be taken for one. asky shows the passage, so that you can see.
"""


def card(runs: Sequence[str], records: Iterable[Any], figures: Mapping[str, Figures]) -> str:
    """Return the card as Markdown: `runs` are lines about each stage, `records` those of the public sets."""
    tables = [_HEAD, "## Training\n", *(f"- {run}" for run in runs), "", "## Data\n"]
    tables += ["| set | records | licence |", "|---|---|---|"]
    counts = Counter((record["set"], record.get("licence", "as asky")) for record in records)
    tables += [f"| {name} | {count:,} | {licence} |" for (name, licence), count in sorted(counts.items())]
    tables += ["", "## Figures\n", "| measured on | " + " | ".join(_names(figures)) + " |"]
    tables.append("|---" * (1 + len(_names(figures))) + "|")
    for name, found in figures.items():
        cells = (f"{found[each]:.3f}".lstrip("0") if each in found else "" for each in _names(figures))
        tables.append(f"| {name} | " + " | ".join(cells) + " |")
    return "\n".join([*tables, "", _LIMITS])


def _names(figures: Mapping[str, Figures]) -> list[str]:
    return list(dict.fromkeys(name for found in figures.values() for name in found if name not in _COUNTS))


_COUNTS = frozenset({"questions", "claims"})
