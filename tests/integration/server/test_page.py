"""The page in a real Chromium, used by keyboard alone."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import asky.server
from asky.events import PageRead, TextStreamed
from asky.net.browser.process import find_chromium
from asky.values import OutgoingQueries
from tests.support.browsing import needs_browser
from tests.support.lab import Lab
from tests.support.scripted_agent import Play, ScriptedAgent, two_cycles
from tests.support.served import TOKEN, Served, serving_in_thread

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page, WebSocketRoute

pytestmark = needs_browser()

FOLDER = Path(asky.server.__file__).parent / "page"
MAX_BYTES = 60_000
TEXT = (
    "## Codes\n\nThe harbour code is *heliotrope*. [1] Nobody may know. [1]\n\n"
    "<img src=x onerror=alert(1)> <script>alert(2)</script> [here](javascript:alert(3)) [there](https://example.org/)\n"
)
QUESTION = "What is <b>the</b> harbour code?"


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    from playwright.sync_api import sync_playwright

    flags = ["--proxy-server=127.0.0.1:9", "--proxy-bypass-list=127.0.0.1", "--disable-background-networking"]
    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(
            executable_path=find_chromium(), args=[*flags, *(["--no-sandbox"] if os.geteuid() == 0 else [])]
        )
        yield opened
        opened.close()


async def research(play: Play) -> None:
    """Ask the user twice, research in two cycles until told to go on, and cite a passage."""
    assert play.run.clarify is not None
    play.phase("clarify", 0, 0, 0)
    heard = await play.run.clarify("Which harbour?")
    play.phase("plan", 0, 0, 0)
    await play.run.approve(OutgoingQueries(("harbour code",), (("twin", "127.0.0.1"),), "a name"))
    for cycle, novelty in ((1, 0.9), (2, 0.04)):
        play.phase("collect", cycle, cycle, 3 * cycle)
        play.emit(PageRead(f"https://example.org/{cycle}", "fetched"))
        play.evaluate(cycle, novelty, stops=cycle == 2)
    await play.stopping.wait()
    play.phase("synthesize", 2, 2, 6)
    play.emit(TextStreamed("The harbour"))
    play.find("harbour code")
    play.text = f"{TEXT}\nYou meant {heard}."


@contextmanager
def opened(browser: Browser, served: Served, **options: Any) -> Iterator[Page]:
    """The page after the first visit, which asks nobody but its server, and complains of nothing."""
    context = browser.new_context(**options)
    page, asked, complaints = context.new_page(), list[str](), list[str]()
    page.set_default_timeout(20_000)
    page.on("request", lambda request: asked.append(request.url))
    page.on("websocket", lambda socket: asked.append(socket.url.replace("ws:", "http:")))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("console", lambda message: complaints.append(message.text))
    page.on("dialog", lambda dialog: complaints.append(dialog.message))
    try:
        page.goto(f"{served.url}/#token={TOKEN}")
        page.wait_for_selector("#query:visible")
        yield page
        assert {each for each in asked if not each.startswith((served.url, "data:"))} == set()
        assert not [each for each in asked if TOKEN in each and "#" not in each]
        assert complaints == []
    finally:
        context.close()


def press_until(page: Page, wanted: str, key: str = "Tab") -> None:
    """Press a key until the element `wanted` has the focus."""
    for _ in range(40):
        if page.evaluate("selector => document.activeElement.matches(selector)", wanted):
            return
        page.keyboard.press(key)
    raise AssertionError(f"{wanted} is not reached by {key}")


def focused(page: Page) -> str:
    return str(page.evaluate("document.activeElement.id || document.activeElement.tagName"))


def test_research_by_keyboard_alone(lab: Lab, browser: Browser) -> None:
    with lab.open() as use_cases:
        agent = ScriptedAgent(use_cases, research)
        with serving_in_thread(use_cases, agent, documents=[lab.private]) as served, opened(browser, served) as page:
            assert TOKEN not in page.url
            press_until(page, "#query")
            page.keyboard.type(QUESTION)
            press_until(page, "[name=privacy]")
            page.keyboard.press("ArrowUp")  # from the second choice to the first
            press_until(page, "#home [type=submit]")
            page.keyboard.press("Enter")

            page.wait_for_selector("#clarification:visible")
            assert page.inner_text("#run h1") == QUESTION
            assert focused(page) == "clarification-title"
            press_until(page, "#clarification-text")
            page.keyboard.type("that of the sea")
            page.keyboard.press("Tab")
            page.keyboard.press("Enter")

            page.wait_for_selector("#ask:visible")
            assert page.inner_text("#ask-queries") == "harbour code"
            assert "twin (127.0.0.1)" in page.inner_text("#ask-services")
            press_until(page, "#ask-yes")
            page.keyboard.press("Enter")

            page.wait_for_selector("#chart rect:nth-of-type(2)")
            assert page.get_attribute("#chart svg", "aria-label") == "New items per cycle: 90 %, 4 %"
            assert page.inner_text("#phases [aria-current=step]") == "Collect"
            assert page.locator("#sources li").count() == 2
            press_until(page, "#note")
            page.keyboard.type("Mind the tides.")
            page.keyboard.press("Enter")
            page.wait_for_selector("#told:has-text('Told')")

            page.reload()  # the tab was closed and opened again
            page.wait_for_selector("#chart rect:nth-of-type(2)")
            press_until(page, "#stop")
            page.keyboard.press("Enter")

            page.wait_for_selector("#answer:visible")
            assert "You meant that of the sea." in page.inner_text("#answer-text")
            assert "<script>alert(2)</script>" in page.inner_text("#answer-text")
            assert page.locator("#answer-text :is(img, script)").count() == 0
            assert [each.get_attribute("href") for each in page.locator("#answer-text a").all()] == [
                "https://example.org/"
            ]
            assert "User requested stop" in page.inner_text("#outcome")

            press_until(page, "#answer-text .cite")
            page.keyboard.press("Enter")
            page.wait_for_selector("#panel:visible")
            assert "heliotrope" in page.inner_text("#panel mark")
            assert "as quoted" in page.inner_text("#panel")
            assert focused(page) == "panel"
            page.keyboard.press("Escape")
            page.wait_for_selector("#panel", state="hidden")
            assert page.evaluate("document.activeElement.matches('.cite')")

            press_until(page, ".brand", "Shift+Tab")
            page.keyboard.press("Enter")
            page.wait_for_selector("#earlier a")
            press_until(page, "#earlier a")
            page.keyboard.press("Enter")
            page.wait_for_selector("#answer:visible")
        (request,) = agent.requests
        assert (request.privacy_mode, request.clarifies) == ("local_only", True)


def test_a_page_without_the_token_asks_for_it_and_says_what_goes_wrong(lab: Lab, browser: Browser) -> None:
    with (
        lab.open() as use_cases,
        serving_in_thread(use_cases, ScriptedAgent(use_cases)) as served,
        closing(browser.new_context()) as context,
    ):
        page = context.new_page()
        page.goto(f"{served.url}/#token=wrong-token-of-somebody")
        page.wait_for_selector("#token:visible")
        page.keyboard.type("another wrong token")
        page.keyboard.press("Enter")
        page.wait_for_selector("#login .problem:has-text('the token is wrong')")
        page.fill("#token", TOKEN)
        page.keyboard.press("Enter")
        page.wait_for_selector("#query:visible")
        page.fill("#query", "x")
        page.click("summary")
        page.fill("#domain", "unknown")
        page.click("#home [type=submit]")
        page.wait_for_selector("#home .problem:has-text('there is no domain unknown')")
        page.click("#logout")
        page.wait_for_selector("#token:visible")
        page.goto("about:blank")
        page.goto(served.url)
        page.wait_for_selector("#token:visible")


def test_a_page_goes_on_when_its_connection_comes_back(lab: Lab, browser: Browser) -> None:
    async def script(play: Play) -> None:
        play.phase("plan", 0, 0, 0)
        await play.stopping.wait()
        await two_cycles(play)

    sockets: list[WebSocketRoute] = []

    def pass_on(socket: WebSocketRoute) -> None:
        sockets.append(socket)
        socket.connect_to_server()

    with (
        lab.open() as use_cases,
        serving_in_thread(use_cases, ScriptedAgent(use_cases, script)) as served,
        opened(browser, served) as page,
    ):
        page.route_web_socket(re.compile("/ws/"), pass_on)
        page.fill("#query", "Why are there tides?")
        page.keyboard.press("Control+Enter")
        page.wait_for_selector("#log li", state="attached")
        sockets[0].close(code=1012)
        page.wait_for_selector("#connection:has-text('Connection lost')")
        page.click("#stop")
        page.wait_for_selector("#answer:visible")
        numbers = [each.get_attribute("value") for each in page.locator("#log li").all()]
        assert len(sockets) > 1
        assert numbers == [str(n) for n in range(1, 8)]


RECORD = """addEventListener("DOMContentLoaded", () => {
  const now = document.getElementById("now");
  window.said = [];
  new MutationObserver(() => now.textContent && window.said.push(now.textContent)).observe(now, { childList: true });
})"""


def test_a_page_that_is_loaded_again_says_at_once_where_the_run_is(lab: Lab, browser: Browser) -> None:
    async def script(play: Play) -> None:
        for name in ("clarify", "plan", "collect"):
            play.phase(name, 1, 0, 0)
        await play.stopping.wait()

    with (
        lab.open() as use_cases,
        serving_in_thread(use_cases, ScriptedAgent(use_cases, script)) as served,
        opened(browser, served) as page,
    ):
        page.fill("#query", "Why are there tides?")
        page.keyboard.press("Control+Enter")
        page.wait_for_selector("#now:has-text('collect')")
        page.add_init_script(RECORD)
        page.reload()
        page.wait_for_selector("#now:has-text('collect')")
        assert page.evaluate("window.said") == ["collect in cycle 1"]
        page.click("#stop")


@pytest.mark.few(1)
@pytest.mark.parametrize(("scheme", "width"), [("light", 1280), ("dark", 320)])
def test_nothing_is_hard_to_read_or_wider_than_the_screen(lab: Lab, browser: Browser, scheme: Any, width: int) -> None:
    size = {"width": width, "height": 700}
    with (
        lab.open() as use_cases,
        serving_in_thread(use_cases, ScriptedAgent(use_cases)) as served,
        opened(browser, served, color_scheme=scheme, viewport=size) as page,
    ):
        page.fill("#query", "Why are there tides? " + "w" * 200)
        page.keyboard.press("Control+Enter")
        page.wait_for_selector("#answer:visible")
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        colors = page.evaluate(
            "[getComputedStyle(document.body).color, getComputedStyle(document.body).backgroundColor]"
        )
        assert contrast(*colors) > 7
        unnamed = page.evaluate(
            "[...document.querySelectorAll('input, textarea, button, a')].filter(each => !(each.labels?.length"
            " || each.textContent.trim() || each.ariaLabel)).map(each => each.outerHTML)"
        )
        assert unnamed == []


def contrast(*colors: str) -> float:
    """The contrast of two colours (WCAG 2.2, relative luminance)."""
    found = sorted(luminance([int(each) / 255 for each in re.findall(r"\d+", color)[:3]]) for color in colors)
    return (found[1] + 0.05) / (found[0] + 0.05)


def luminance(channels: list[float]) -> float:
    linear = [each / 12.92 if each <= 0.04045 else ((each + 0.055) / 1.055) ** 2.4 for each in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def test_the_page_is_small_and_asks_no_other_host() -> None:
    files = sorted(FOLDER.iterdir())
    assert [each.name for each in files] == ["index.html", "page.css", "page.js"]
    assert sum(each.stat().st_size for each in files) <= MAX_BYTES
    for each in files:
        text = each.read_text("utf-8").replace("http://www.w3.org/2000/svg", "")
        assert not re.findall(r"https?://\w", text), each.name
        assert not re.findall(r"innerHTML|insertAdjacentHTML|document\.write|\beval\b| style=| on\w+=\"", text), (
            each.name
        )


def test_the_documents_of_a_question_are_said_and_can_be_left_out(lab: Lab, browser: Browser) -> None:
    with lab.open() as use_cases:
        agent = ScriptedAgent(use_cases)
        with serving_in_thread(use_cases, agent, documents=[lab.private]) as served, opened(browser, served) as page:
            page.wait_for_selector("#own:visible")
            words = "It answers from collection default, 1 document. No search service is set up"
            assert page.inner_text("#own-words").startswith(words)
            page.check("[value=local_only]")
            assert page.inner_text("#own-words").endswith("The web is not searched.")
            page.fill("#query", QUESTION)
            page.click("#home [type=submit]")
            page.wait_for_selector("#answer:visible")
            assert (agent.requests[0].default_documents, agent.requests[0].collections) == (True, ())

            page.click(".brand")
            page.uncheck("#own-collections input")
            assert page.inner_text("#own-words").startswith("No documents are used.")
            page.fill("#query", QUESTION)
            page.click("#home [type=submit]")
            page.wait_for_selector("#answer:visible")
            assert agent.requests[1].default_documents is False


def test_an_error_is_told_in_sentences(lab: Lab, browser: Browser) -> None:
    with lab.open() as use_cases, serving_in_thread(use_cases, use_cases.agent) as served, browser.new_page() as page:
        page.goto(f"{served.url}/#token={TOKEN}")
        page.fill("#query", QUESTION)
        page.click("#home [type=submit]")
        page.wait_for_selector("#home .problem:not(:empty)")
        told = page.inner_text("#home .problem")
    assert told.startswith("There is nothing to answer from: no documents are kept and no search service is set up. On")
    assert " -" not in told
