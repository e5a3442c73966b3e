"""Pages of many kinds, written by hand: each is read with what it is about, in lines, and without its frame."""

from __future__ import annotations

from pathlib import Path

import pytest

from asky.reading.html.page import read
from tests.support.files import check_document

PAGES = Path(__file__).parents[2] / "fixtures" / "pages"
KINDS = {  # lines that belong to the page, in order, and words that do not
    "arabic": (["تاريخ المنارة", "*وكان ارتفاعها أربعة وعشرين مترا*", "*العدسة الأصلية*"], ["الرئيسية", "محفوظة"]),
    "changelog": (
        [
            "Changelog",
            "2.4.0 12 May 2025",
            "- Crash on empty files (#812)",
            "2.2.0 1 February 2025",
            "- Keyboard shortcuts",
        ],
        ["Pricing", "Imprint"],
    ),
    "chinese": (["灯塔的历史", "*守塔人每天晚上点亮油灯*", "*每年有四万人参观*"], ["购物车", "版权所有"]),
    "code_readme": (
        ["tidal", "pip install tidal", 'Port("bergen").at("2025-06-01T12:00")'],
        ["Pull requests", "Status"],
    ),
    "documentation": (
        [
            "Retries*",
            "Set max_attempts=1 for payments.",
            "    max_attempts=5,",
            "max_attempts | 3 | Calls in all, the first included",
        ],
        ["Installation", "Sphinx"],
    ),
    "forum": (
        [
            "*shows 0.4 bar. I fill it*",
            "*has lost its charge.",
            "It drips! Can I recharge the vessel myself?",
            "*bicycle pump.",
        ],
        ["Members", "Similar threads", "Users online"],
    ),
    "jobs": (
        ["10 jobs at the harbour", "Dispatcher, night shift", "*5,200 a month*", "Welder"],
        ["employers", "Full time only"],
    ),
    "landing": (
        ["*Tidewise pays your team on time*", "Returns go to the tax office each month.", "€7 per person*"],
        ["Log in", "Imprint"],
    ),
    "letter": (["*eleven tower clocks*", "- Orva (1741)", "Write to me*"], []),
    "news": (
        ["Ferry line to reopen in June", "Two boats will make six trips*", "*built in Poland*"],
        ["Sport", "seagull", "Whale", "partners"],
    ),
    "product": (
        ["Kettle Mira 1.2 l", "€49.90", "Mira boils a litre in three minutes*", "Capacity | 1.2 l", "Boils faster*"],
        ["Toaster", "Basket", "Free returns"],
    ),
    "question": (
        [
            "Why does my generator stop early?",
            "        yield next(file)",
            "yield from file",
            "*somebody must close it.",
        ],
        ["Log in", "own a house", "Cookie"],
    ),
    "recipe": (
        ["Lentil soup with lemon", "- 250 g red lentils", "3. Simmer for 20 minutes*", "Serves 4.*"],
        ["Cakes", "each Friday"],
    ),
    "table": (["Lakes by depth", "Lake | Depth (m) | Area (km²)", "Lake Orva | 311 | 28.4", "Lake Ull | 17 | 0.8"], []),
    "wiki": (
        [
            "Semaphore line",
            "Inventor | Claude Chappe",
            "- The arms were 1.8 m long.",
            "In 1852 the network had*",
            "*Holzmann*",
        ],
        ["Random article", "free licence"],
    ),
}


@pytest.mark.parametrize("kind", KINDS)
def test_a_page_is_read_in_lines_and_without_its_frame(kind: str) -> None:
    wanted, unwanted = KINDS[kind]
    document = read((PAGES / f"{kind}.html").read_bytes(), kind, f"https://{kind}.example/page")
    check_document(document)
    lines = iter(document.text.split("\n"))
    for line in wanted:
        assert any(_is_like(each, line) for each in lines), f"no line {line!r} in this place:\n{document.text}"
    assert [word for word in unwanted if word in document.text] == []


def test_every_page_is_tested() -> None:
    assert {path.stem for path in PAGES.glob("*.html")} == set(KINDS)


def _is_like(line: str, wanted: str) -> bool:
    """Return whether a line is `wanted`, which may be part of one between stars."""
    bare = wanted.strip("*")
    if wanted.startswith("*") and wanted.endswith("*"):
        return bare in line
    if wanted.startswith("*"):
        return line.endswith(bare)
    return line.startswith(bare) if wanted.endswith("*") else line == bare
