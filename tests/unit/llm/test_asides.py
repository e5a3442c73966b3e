"""Pictures by their names alone and entries of bibliographies, which are read only for questions about such."""

from __future__ import annotations

import pytest

from asky.llm.extractive.asides import without_asides
from tests.support.timing import check_linear

VERSIONS = "What Python versions does Sluice support?"
PURPOSE = "What does Sluice do?"


def left(text: str, question: str = PURPOSE, file: str = "sluice.md") -> str:
    """Return what is left of a text, its white space apart."""
    shown = without_asides(text, question, file)
    assert len(shown) == len(text)
    assert shown.count("\n") == text.count("\n")
    return " ".join(shown.split())


BADGES = {
    "names": "[Picture: Python package] [Picture: Python versions] [Picture: Downloads]",
    "list": "- [Picture: Python package]\n- [Picture: Python versions]",
    "numbered": "1. [Picture: Python package]\n2. [Picture: Python versions]",
    "markdown": "[![Python package](https://b.test/p.svg)](https://p.test/)\n![Python versions](https://b.test/v.svg)",
    "labels": "[![Python versions][badge]][site] ![Downloads][down]",
    "html": '<p align="center">\n<a href="https://p.test"><img alt="Python versions"\nsrc="https://b.test/v.svg"></a></p>',
    "pandoc": "[image: https://b.test/pypi/pyversions/sluice.svg] [image: logo/sluice.svg]",
    "substitutions": "|licence| |version| |pyversions|",
    "directive": ".. |pyversions| image:: https://b.test/v.svg\n    :target: https://p.test/sluice\n    :alt: versions",
    "asciidoc": "image:https://b.test/v.svg[Python versions] https://p.test[image:https://b.test/p.svg[Package]]",
    "wikilink": "![[python versions.png|300]]",
    "brackets": "[Picture: Python versions [3.9 to 3.13]] · [Picture: build]",
}


@pytest.mark.parametrize("badges", BADGES.values(), ids=BADGES)
def test_lines_of_pictures_alone_are_read_only_for_questions_about_pictures(badges: str) -> None:
    text = f"# Sluice\n\n{badges}\n\nSluice opens and shuts gates by the tide."
    rest = left(text, VERSIONS)
    assert "ython" not in rest
    assert rest.startswith("# Sluice")
    assert rest.endswith("Sluice opens and shuts gates by the tide.")
    assert left(text, "Which badges does Sluice show?") == " ".join(text.split())


@pytest.mark.parametrize(
    "text",
    [
        "The gate [Picture: a red gate with two leaves] is shut at high water.",
        "[Picture: The gate is shut when the water stands above two metres.]",
        "```markdown\n![Python versions](https://b.test/v.svg)\n```",
        "Click ![the wheel](wheel.png) to turn it.",
        "A [map](map.png) of the gates is in the hall.",
        "Press |enter| to go on, then |escape| twice.",
    ],
)
def test_pictures_among_words_in_code_or_with_a_sentence_for_a_name_are_read(text: str) -> None:
    assert left(text, VERSIONS) == " ".join(text.split())


def test_a_row_of_pictures_keeps_its_bars_and_code_is_read_as_it_is() -> None:
    text = "| Gate | Sign |\n|---|---|\n| [Picture: Python versions] | [Picture: Downloads] |\n| East | red |"
    assert left(text, VERSIONS) == "| Gate | Sign | |---|---| | | | | East | red |"
    assert left('<img src="a.png">', VERSIONS, "gate.vue") == '<img src="a.png">'


BIBTEX = (
    "@inproceedings{vane-2021-sluice,\n  title = {{Sluice: A Library and a Tool for Gates}},\n"
    '  author = "Vane, Ruth",\n\n  booktitle = "Proceedings of the Meeting on Gates\n     and Weirs",\n'
    "  year = 2021,\n}"
)
WORKS = {
    "bibtex": BIBTEX,
    "bibtex of another style": "@software{sluice,\nauthor={Vane, Ruth},\ntitle={Sluice does it all},\nyear={2021}\n}",
    "begun before": '  title = {{Sluice: what it does}},\n  author = "Vane, Ruth",\n  year = 2021,\n}',
    "dated first": "- Vane, R. (2021). Sluice: what it does and does not do. *Journal of Weirs*, 4(2), 11–19.",
    "item": "- Vane, R. Sluice: A Tool for Gates, Proceedings of ACL 2021: Demonstrations, 2021, p. 122-131.",
    "title in quotes": 'Vane, R. "What Sluice does", Proceedings of KONVENS 2019, Abstracts, 2019.',
    "two authors on two lines": "[3] R. Vane and P. Lund, “Sluice does more,”\n    in Proc. Gates, 2020, pp. 4–9.",
    "first names": "1. Vane, Ruth, and Per Lund. 2018. “Sluice in Use.” In: Gates and Weirs, ed. Ida Holm.",
    "vancouver": "Vane R, Lund P. What Sluice does at night. Annals of Weirs. 2017;12(3):45-51.",
    "publisher": "* Holm, I. The Book of Gates. Clare Press, 1997.",
    "preprint": "Lund, P., Vane, R., et al.: Sluice does it. arXiv:2101.00001 (2021)",
}


@pytest.mark.parametrize("work", WORKS.values(), ids=WORKS)
def test_entries_of_bibliographies_are_read_only_for_questions_about_works(work: str) -> None:
    text = f"{work}\n\nSluice opens and shuts gates by the tide."
    assert left(text) == "Sluice opens and shuts gates by the tide."
    for question in ("How do I cite Sluice?", "Who wrote Sluice?", "Which papers are about Sluice?"):
        assert left(text, question) == " ".join(text.split())


def test_the_works_of_somebody_whom_the_question_names_are_read() -> None:
    item = "- Vane, R. Sluice: A Tool for Gates, Proceedings of ACL 2021: Demonstrations, 2021, p. 122-131."
    assert left(item, "What has Vane shown about gates?") == item


def test_a_file_that_is_a_bibliography_is_read() -> None:
    assert left(BIBTEX, PURPOSE, "gates.bib") == " ".join(BIBTEX.split())


@pytest.mark.parametrize(
    "text",
    [
        "Vane, R., of the Clare Press, showed in 1911 that gates rust.",
        "Dublin, Ireland, was host to the Conference on Gates in 1911.",
        "London, England. The Workshop on Weirs met there in 2019 and in 2021.",
        "R. Vane opened the gate in 2021, as the Journal reports.",
        "Monday, March 3: the Review of 2024 is read by all.",
        "- Lund, P. keeps the keys of the east gate.",
        'title = "Gates"\nauthor = "Ruth Vane"\nversion = "2.1"',
        "Gate = open,\nSluice = shut",
        "Smith, J. was appointed on 3 May 2020 to the board of the harbour.",
        "Write to @software or @misc for more.",
    ],
)
def test_sentences_that_begin_with_a_name_and_settings_are_read(text: str) -> None:
    assert left(text) == " ".join(text.split())


@pytest.mark.parametrize(
    "text", ["![", "[Picture: a] ", "[![a](b)](c) ", "Vane, R. 2021, p. 4, ", "@misc{a,\n a = {b},\n"]
)
def test_the_time_is_linear(text: str) -> None:
    check_linear(lambda size: without_asides(text * size, PURPOSE, ""), 200)
