"""Links in a model's answer that mean passages, and the links that a section gets in place of numbers."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from asky.evidence.citations.markers import number_citations
from asky.notes.citations import LinkCitations, LinkCitationStream
from asky.notes.rendering import preview, render_section, web_link
from asky.values import Answer, Citation, Evidence, Location, Source, Span, Usage, source_id

SEA = "https://sea.test/tides?year=2024"


def evidence(key: str, uri: str, text: str) -> Evidence:
    is_page = uri.startswith("http")
    source = Source(
        source_id(uri), "web" if is_page else "note", uri, "Tides [of] the sea", url=uri if is_page else None
    )
    return Evidence(key, source, 1, "0" * 64, Span(0, len(text)), text, Location())


SHOWN = {
    each.key: each
    for each in (
        evidence("P0001", SEA, "The moon raises the tide."),
        evidence("P0002", SEA, "The harbour has a wall of granite."),
        evidence("P0003", "file:///vault/Neap.md", "A neap tide is low."),
    )
}
CITATIONS = LinkCitations(SHOWN, lambda target: SHOWN["P0003"].source.id if target == "Neap" else None)


def rewritten(text: str, cut: int | None = None) -> str:
    stream = LinkCitationStream(CITATIONS)
    pieces = [text] if cut is None else [text[:cut], text[cut:]]
    return "".join(stream.feed(each) for each in pieces) + stream.close()


def test_a_link_to_a_page_that_was_shown_becomes_the_key_of_its_best_passage() -> None:
    assert rewritten(f"The moon raises it [Tides]({SEA}).") == "The moon raises it [P0001]."
    assert rewritten(f"A wall of granite stands there [x]({SEA}#wall).") == "A wall of granite stands there [P0002]."


def test_a_wikilink_to_a_note_that_was_shown_becomes_its_key_with_alias_and_heading_too() -> None:
    for link in ("[[Neap]]", "[[Neap|the neap tide]]", "[[Neap#Causes|x]]", "![[Neap]]"):
        assert rewritten(f"It is low {link}.") == "It is low [P0003]."


def test_other_links_stay_as_they_are() -> None:
    text = "See [evil](https://evil.test/?q=secret), [[Elsewhere]], [P0001], [x](relative.md) and a [bracket ] here!"
    assert rewritten(text) == text


TEXT = f"A [Tides]({SEA}) b [[Neap]]! c [[Neap|x]] d [[No]] e [P0002] f [open ![[Neap]] \n [Tides]({SEA}) ["


@given(st.integers(0, len(TEXT)))
def test_the_result_does_not_depend_on_how_the_answer_is_cut(cut: int) -> None:
    assert rewritten(TEXT, cut) == rewritten(TEXT)


def test_keys_and_links_are_numbered_together() -> None:
    numbered = number_citations(
        f"The moon [Tides]({SEA}). Low [P0003]. Low [[Neap]].", SHOWN, lambda: LinkCitationStream(CITATIONS)
    )
    assert numbered.text == "The moon [1]. Low [2]. Low [2]."
    assert numbered.order == ("P0001", "P0003")


def answer(text: str) -> Answer:
    citations = tuple(
        Citation(n, key, SHOWN[key].source, Location(), SHOWN[key].span, SHOWN[key].text, "0" * 64)
        for n, key in enumerate(SHOWN, start=1)
    )
    return Answer("r", "notes", "notes", "q", "m", text, citations, (), (), (), Usage())


TIDES_LINK = f"[Tides of the sea]({SEA})"
LINKS = {each.source.id: TIDES_LINK if each.source.url else "[[Neap]]" for each in SHOWN.values()}


@pytest.mark.parametrize(
    ("text", "section"),
    [
        ("The moon raises it. [1][2] Low.", f"The moon raises it. ({TIDES_LINK}) Low."),
        ("The moon raises it [1] [3].", f"The moon raises it ({TIDES_LINK}, [[Neap]])."),
        ("According to [1], it is low.[3]", f"According to {TIDES_LINK}, it is low. ([[Neap]])"),
        ("It rises. [1] It falls. [1] Low. [3]", f"It rises. It falls. ({TIDES_LINK}) Low. ([[Neap]])"),
        ("Two: [3]\n\n- low [3]\n- lower [3]\n\nHigh. [3]", "Two:\n\n- low\n- lower ([[Neap]])\n\nHigh. ([[Neap]])"),
        ("- low [3]\n- high [1]", f"- low ([[Neap]])\n- high ({TIDES_LINK})"),
        ("Code `x[1]` stays [3] `y`.", "Code `x[1]` stays ([[Neap]]) `y`."),
        ("# Tides\n\nLow. [3]\n\n## Neap\n\nx", "### Tides\n\nLow. ([[Neap]])\n\n#### Neap\n\nx"),
        ("See [[Elsewhere]] and <b>this</b> [9].", "See Elsewhere and &lt;b>this&lt;/b> [9]."),
    ],
    ids=["after a sentence", "two", "words", "one paragraph", "items of one", "items", "code", "headings", "foreign"],
)
def test_numbers_become_links_in_a_harmless_text(text: str, section: str) -> None:
    assert render_section(answer(text), LINKS) == section


@pytest.mark.parametrize(
    ("title", "url", "link"),
    [
        ("a\nb", "https://x.test/a_(b) c<d>\u202e", "[a b](https://x.test/a_%28b%29%20c%3Cd%3E%E2%80%AE)"),
        (
            "<% tp.x %> %%c%% [x](y) `= 1` a:: b #tag",
            "https://x.test/%%",
            "[tp.x c x (y) 1 a : b tag](https://x.test/%25%25)",
        ),
        ("", "https://x.test/::1?a=%41", "[source](https://x.test/:%3A1?a=%41)"),
    ],
)
def test_a_page_cannot_write_markup_into_its_link(title: str, url: str, link: str) -> None:
    assert web_link(Source("s", "web", "u", title, url=url)) == link


def test_a_preview_has_500_characters() -> None:
    assert preview("x" * 500) == "x" * 500
    assert preview("x" * 501) == "x" * 500 + "..."
