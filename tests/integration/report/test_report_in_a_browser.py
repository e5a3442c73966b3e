"""The report as a reader has it: opened in a real Chromium, with and without scripts, by light and in the dark."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from asky.net.browser.process import find_chromium
from asky.report.page import render_report, render_research_html
from tests.support.browsing import needs_browser
from tests.support.reports import ATTACKS, QUOTE, STORED, answer_of, citation, claim, reported
from tests.support.research import hostile_report, research_report

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Dialog, Page

pytestmark = needs_browser()

TEXT = (
    "The moon raises **two high tides** a day [1], and the sun helps [2].\n\n"
    "In 1871 it was green ⚠ unsupported.\n\n| body | pull |\n|---|--:|\n| moon | most [1] |\n"
)
QUOTED_SUN = "The sun helps a little."


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    from playwright.sync_api import sync_playwright

    flags = ["--proxy-server=127.0.0.1:9", "--disable-background-networking"]
    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(
            executable_path=find_chromium(), args=[*flags, *(["--no-sandbox"] if os.geteuid() == 0 else [])]
        )
        yield opened
        opened.close()


@pytest.fixture
def report(tmp_path: Path) -> Path:
    path = tmp_path / "answer.html"
    cited = [citation(), citation(2, quote=QUOTED_SUN, url=None, path="/home/you/sun.pdf", title="The sun", page=3)]
    claims = [
        claim("The moon raises **two high tides** a day [1], and the sun helps [2].", TEXT, "partial", (1, 2)),
        claim("In 1871 it was green", TEXT, "unsupported", ()),
        claim("moon | most [1]", TEXT),
    ]
    answer = answer_of(TEXT, citations=cited, claims=claims)
    path.write_text(render_report([reported(answer)]), "utf-8")
    return path


@contextmanager
def opened(browser: Browser, path: Path, **options: Any) -> Iterator[Page]:
    """The page, which must have asked for nothing but itself, and have had nothing to complain of, when it is left."""
    asked: list[str] = []
    complaints: list[str] = []

    def hear(dialog: Dialog) -> None:
        complaints.append(dialog.message)
        dialog.dismiss()

    context = browser.new_context(**{"viewport": {"width": 1280, "height": 900}} | options)
    page = context.new_page()
    page.on("request", lambda request: asked.append(request.url))
    page.on("console", lambda message: complaints.append(message.text))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("dialog", hear)
    page.goto(path.as_uri())
    yield page
    context.close()
    assert asked == [path.as_uri()]
    assert complaints == []


def test_a_click_shows_the_passage_in_its_context_with_its_verdict(browser: Browser, report: Path) -> None:
    with opened(browser, report) as page:
        panel = page.locator("#panel")
        assert not panel.is_visible()
        page.click("a.cite >> nth=0")
        assert panel.is_visible()
        assert panel.locator("mark").inner_text() == QUOTE
        assert "The sea is never still." in panel.locator(".context").inner_text()
        assert "partly supported" in panel.locator(".cited-for").inner_text()
        assert "tides.example · Daily" in panel.inner_text()
        page.click("a.cite >> nth=1")
        assert panel.locator("mark").inner_text() == QUOTED_SUN
        assert "sun.pdf" in panel.inner_text()
        panel.locator(".close").click()
        assert not panel.is_visible()


def test_the_text_stays_readable_beside_the_passage(browser: Browser, report: Path) -> None:
    with opened(browser, report, reduced_motion="reduce") as page:
        page.click("a.cite >> nth=0")
        text, panel = page.locator(".answer").bounding_box(), page.locator("#panel").bounding_box()
        assert text is not None
        assert panel is not None
        assert text["x"] + text["width"] <= panel["x"]


def test_enter_opens_a_passage_and_escape_goes_back_to_where_it_was(browser: Browser, report: Path) -> None:
    with opened(browser, report) as page:
        page.focus("a.cite >> nth=1")
        page.keyboard.press("Enter")
        assert page.locator("#panel mark").inner_text() == QUOTED_SUN
        assert page.evaluate("document.activeElement.id") == "panel"
        page.keyboard.press("Escape")
        assert not page.locator("#panel").is_visible()
        assert page.evaluate("document.activeElement.textContent") == "[2]"


def test_without_scripts_a_citation_leads_to_its_passage(browser: Browser, report: Path) -> None:
    with opened(browser, report, java_script_enabled=False) as page:
        assert not page.locator("#panel").is_visible()
        page.click("a.cite >> nth=1")
        assert page.url.endswith("#a1-c2")
        box = page.locator("#a1-c2").bounding_box()
        assert box is not None
        assert 0 <= box["y"] < 900
        assert page.locator("#a1-c2 mark").inner_text() == QUOTED_SUN


def test_a_verdict_leads_to_how_it_was_found(browser: Browser, report: Path) -> None:
    with opened(browser, report) as page:
        assert not page.locator("#a1-k2").is_visible()
        page.click(".answer a.chip.unsupported")
        page.wait_for_selector("#a1-k2", state="visible")
        assert "In 1871 it was green" in page.locator("#a1-k2").inner_text()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_paper_and_ink_follow_the_reader(browser: Browser, report: Path, tmp_path: Path, scheme: str) -> None:
    with opened(browser, report, color_scheme=scheme) as page:
        page.click("a.cite >> nth=0")
        page.screenshot(path=tmp_path / f"{scheme}.png", full_page=True)
        styled = "getComputedStyle(document.querySelector({!r})).{}"
        for selector, over in ((".answer p", "body"), ("#panel mark", "#panel mark"), (".chip.unsupported",) * 2):
            ink = page.evaluate(styled.format(selector, "color"))
            paper = page.evaluate(styled.format(over, "backgroundColor"))
            assert contrast(ink, paper) >= 4.5, selector
        brightness = luminance(page.evaluate(styled.format("body", "backgroundColor")))
        assert brightness > 0.8 if scheme == "light" else brightness < 0.1


def test_nothing_is_cut_off_on_a_narrow_screen(browser: Browser, report: Path) -> None:
    with opened(browser, report, viewport={"width": 320, "height": 640}) as page:
        assert page.evaluate("document.documentElement.scrollWidth") <= 320
        page.click("a.cite >> nth=1")
        link, panel = page.locator("a.cite >> nth=1").bounding_box(), page.locator("#panel").bounding_box()
        assert link is not None
        assert panel is not None
        assert 0 <= link["y"] <= link["y"] + link["height"] <= panel["y"]


def test_the_parts_of_a_report_of_research_fit_a_narrow_screen(browser: Browser, tmp_path: Path) -> None:
    path = tmp_path / "research.html"
    path.write_text(render_research_html(research_report()), "utf-8")
    with opened(browser, path, viewport={"width": 320, "height": 640}) as page:
        page.locator("summary").evaluate_all("all => all.forEach(each => each.click())")
        assert page.evaluate("document.documentElement.scrollWidth") <= 320
        assert page.locator("svg.bars").bounding_box() is not None
        assert "not answered: What did Laplace add?" in page.locator("main").inner_text()


def test_a_line_of_the_answer_is_as_long_as_people_like_to_read(browser: Browser, tmp_path: Path) -> None:
    path = tmp_path / "long.html"
    path.write_text(render_report([reported(answer_of("many words in a row " * 60))]), "utf-8")
    with opened(browser, path) as page:
        box = page.locator(".answer p").bounding_box()
        assert box is not None
        lines = round(box["height"] / (18 * 1.68))
        assert 55 <= 20 * 60 / lines <= 85


def test_an_answer_from_right_to_left_is_set_so(browser: Browser, tmp_path: Path) -> None:
    path = tmp_path / "rtl.html"
    path.write_text(render_report([reported(answer_of("القمر يرفع المد [1].\n\nAnd in English."))]), "utf-8")
    with opened(browser, path) as page:
        found = page.evaluate("[...document.querySelectorAll('.answer p')].map(p => getComputedStyle(p).direction)")
    assert found == ["rtl", "ltr"]


def test_attacks_stay_text(browser: Browser, tmp_path: Path) -> None:
    path = tmp_path / "hostile.html"
    reports = []
    for attack in ATTACKS:
        stored = f"{STORED}{attack} and after"
        cited = citation(quote=attack, stored=stored, title=attack, url=attack)
        answer = answer_of(f"{attack}\n\nText [1].", question=attack, citations=[cited])
        reports.append(replace(reported(answer, stored), research=hostile_report(attack, answer)))
    path.write_text(render_report([*reports, replace(reports[0])]), "utf-8")
    with opened(browser, path) as page:
        assert page.locator("section.run").count() == len(ATTACKS) + 1
        assert page.locator("script, style").count() == 2
        for number in range(0, len(ATTACKS), 10):
            page.locator(".answer a.cite").nth(number).click()
            assert page.locator("#panel mark").is_visible()


@pytest.mark.extended
def test_this_check_sees_requests_and_scripts(browser: Browser, report: Path) -> None:
    page = report.read_text("utf-8")
    for added in (
        "<img src='http://127.0.0.1:9/x'>",
        "<script>document.title = 'x'</script>",
        "<p style='color: red'>",
    ):
        report.write_text(page.replace("<footer>", f"{added}<footer>"), "utf-8")
        with pytest.raises(AssertionError), opened(browser, report):
            pass


def luminance(color: str) -> float:
    """Relative luminance of `rgb(r, g, b)`. Source: WCAG 2.2."""
    parts = [int(each) / 255 for each in color[color.index("(") + 1 : -1].split(",")[:3]]
    red, green, blue = (each / 12.92 if each <= 0.04045 else ((each + 0.055) / 1.055) ** 2.4 for each in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    lighter, darker = sorted((luminance(one), luminance(other)), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)
