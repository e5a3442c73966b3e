"""What reading a page of the web costs, against what the extractor within it costs where it stands alone."""

from __future__ import annotations

import json
import math
import random
from functools import partial

import pytest
import trafilatura

from asky.reading.html.page import read
from tests.bench.measure import own_cpu_s
from tests.bench.prose import shuffled_words

pytestmark = pytest.mark.slow

PAGES = 16
FEWEST_ROUNDS, MOST_ROUNDS = 6, 20  # a slow spell of the machine only adds to what it meets
AT_MOST = 1.5  # measured: 1.25 to 1.35, with five to ten other programs on two cores
FEWEST_CHARS = 5_000
URL = "https://handbook.example/guide/page.html"
STYLE = """body{margin:0;font:16px/1.5 sans-serif;display:flex}.hero{background:#eee url(/a.png)}
.menu .sub{display:none}
.menu .open{display:block}.tip{visibility:hidden}a:hover{text-decoration:underline}
@media(max-width:600px){.side{display:none}.card{font-size:14px}}"""


def page(number: int) -> str:
    """A page of about 25 KB: an article or a manual's chapter between menus, with a table, lists, code and scripts."""
    draw = random.Random(number)
    words = shuffled_words(14_000, number).split()

    def text(size: int) -> str:
        start = draw.randrange(len(words) - size)
        return " ".join(words[start : start + size])

    def link(size: int = 2) -> str:
        return f'<a class="link" href="/guide/{draw.randrange(400)}.html">{text(size)}</a>'

    def items(count: int, entry: str) -> str:
        return "".join(f'<li class="{entry}"><span>{link()}</span></li>\n' for _ in range(count))

    def row(cell: str) -> str:
        return "<tr>" + "".join(f"<{cell}>{text(3)}</{cell}>" for _ in range(4)) + "</tr>\n"

    def paragraph() -> str:
        return f"<p>{text(20)} <em>{text(2)}</em> {text(15)} <code>{text(1)}</code> {text(12)} {link()}.</p>\n"

    def code() -> str:
        return "<pre>" + "\n".join(
            f'<span class="k">{text(1)}</span> <span class="n">{text(2)}</span>' for _ in range(4)
        )

    def section(depth: int) -> str:
        terms = "".join(f"<dt><code>{text(1)}</code></dt><dd><p>{text(14)}</p></dd>\n" for _ in range(4))
        points = "".join(f"<li><p>{text(12)} <b>{text(1)}</b></p></li>\n" for _ in range(4))
        return (
            f'<div class="section"><div class="inner" style="margin-top:{depth}px"><h2 id="s{depth}">{text(4)}</h2>\n'
            f"{paragraph()}{code()}</pre>{paragraph()}<ul>{points}</ul><dl>{terms}</dl>{paragraph()}"
            f'<span style="display:none">{text(5)}</span></div></div>\n'
        )

    data = json.dumps({"@type": "TechArticle", "headline": text(5), "author": {"name": "A. Writer"}})
    metas = "".join(f'<meta name="x-{each}" content="{text(6)}"/>\n' for each in range(12))
    return (
        f'<!DOCTYPE html><html lang="en"><head><title>{text(5)}</title>{metas}<link rel="canonical" href="{URL}"/>\n'
        f'<style>{STYLE}</style><script type="application/ld+json">{data}</script>\n'
        f"<script>window.state = {json.dumps({'seen': [text(4) for _ in range(40)]})};</script></head><body>\n"
        f'<nav class="menu"><ul>{items(20, "sub")}</ul></nav><div id="page"><div class="wrap"><main><article>\n'
        f"<h1>{text(5)}</h1>{''.join(section(depth) for depth in range(7))}<table>{row('th')}"
        f"{''.join(row('td') for _ in range(12))}</table></article></main>\n"
        f'<aside class="side"><h3>{text(2)}</h3><ul>{items(10, "more")}</ul></aside></div></div>\n'
        f'<footer><p aria-hidden="true">{text(8)}</p><ul>{items(12, "foot")}</ul></footer></body></html>'
    )


def test_reading_a_page_costs_little_more_than_its_extraction() -> None:
    pages = [page(number) for number in range(PAGES)]
    sizes = sorted(map(len, pages))
    assert 20_000 < sizes[0] <= sizes[-1] < 30_000

    ours, theirs = [math.inf] * PAGES, [math.inf] * PAGES
    for done in range(MOST_ROUNDS):  # the extractor remembers strings of the last page, so none is read twice in a row
        ours = [min(least, own_cpu_s(partial(read_whole, each))) for least, each in zip(ours, pages, strict=True)]
        theirs = [min(least, own_cpu_s(partial(extract, each))) for least, each in zip(theirs, pages, strict=True)]
        if done + 1 >= FEWEST_ROUNDS and sum(ours) / sum(theirs) < AT_MOST:
            break
    ratio = sum(ours) / sum(theirs)
    print(
        f"\n{PAGES / sum(ours):.0f} pages of {sum(sizes) / PAGES / 1024:.0f} KiB a second of CPU,"
        f" {PAGES / sum(theirs):.0f} by the extractor alone: {ratio:.2f}x"
    )
    assert ratio < AT_MOST


def read_whole(html: str) -> None:
    document = read(html.encode(), "page", URL)
    assert len(document.text) > FEWEST_CHARS
    assert len(document.sections) > 5
    assert len(document.links) > 20


def extract(html: str) -> None:
    assert len(trafilatura.extract(html) or "") > FEWEST_CHARS
