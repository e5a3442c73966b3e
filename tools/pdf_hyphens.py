"""Measure how many words that PDFs break at line ends stay broken: `python tools/pdf_hyphens.py FOLDER`.

Counted are the line ends `normal-` before `ization` of the text layer whose joined form, `normalization`, stands
elsewhere in the same file. One stays broken if the text that asky reads holds its parts with a hyphen or a line end
between them more often than the text layer holds the hyphenated word within a line.
"""

from __future__ import annotations

import re
import sys
from collections import Counter
from pathlib import Path

import click
import pymupdf

from asky.errors import SourceUnreadable
from asky.reading.pdf import read

_LINE_END = re.compile(r"([^\W\d_]{2,})[-\u2010\u00ad]\s*\n\s*([^\W\d_]{2,})")
_WORD = re.compile(r"[^\W\d_]+")


def broken_words(layer: str, text: str) -> tuple[int, list[str]]:
    """Return how many line ends of `layer` break a known word, and the words that `text` holds in parts."""
    known = Counter(_WORD.findall(_LINE_END.sub(" ", layer).lower()))
    pairs = Counter((match[1].lower(), match[2].lower()) for match in _LINE_END.finditer(layer))
    pairs = Counter({pair: count for pair, count in pairs.items() if known["".join(pair)]})
    lower, layer_lower = text.lower(), layer.lower()
    left = []
    for (head, tail), count in pairs.items():
        parts = rf"(?<![^\W\d_]){head}[-\u2010]%s{tail}(?![^\W\d_])"
        in_line = len(re.findall(parts % "", layer_lower))
        in_text = len(re.findall(parts % r"\s*", lower))
        left += [f"{head}-{tail}"] * min(count, max(0, in_text - in_line))
    return sum(pairs.values()), left


def main(folder: Path) -> None:
    """Print the figures of each file and of all."""
    total, split = 0, 0
    for path in sorted(folder.rglob("*.pdf")):
        data = path.read_bytes()
        try:
            document = read(data, path.name)
        except SourceUnreadable as error:
            click.echo(f"{path.name}: {error.verdict}")
            continue
        with pymupdf.open(stream=data, filetype="pdf") as opened:
            layer = "\n".join(page.get_text() for page in opened)
        found, left = broken_words(layer, document.text)
        total, split = total + found, split + len(left)
        if left:
            click.echo(f"{path.name}: {len(left)} of {found} stay broken: {', '.join(left[:8])}")
    click.echo(f"{split} of {total} stay broken ({100 * split / max(1, total):.2f} %)")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
