from __future__ import annotations

import itertools
import ssl
import subprocess
import sys
from collections.abc import Sequence

import anyio
import pytest

from asky.errors import NotConfigured
from asky.net.browser.gate import GateRequest, PageGate, PageLimits
from asky.net.guard import Guard
from asky.net.pace import Pace
from asky.text.urls import parse_address
from tests.support.site import Site


def script_at(url: str, kind: str = "Script", method: str = "GET") -> GateRequest:
    return GateRequest(method, url, kind, "main", "1")


def test_a_name_stays_at_the_address_that_it_had_when_the_page_began() -> None:
    async def main(site: Site, other: Site) -> list[int]:
        places = itertools.chain([site.host], itertools.repeat(other.host))

        async def resolve(host: str) -> Sequence[str]:
            return [next(places)]

        authority = f"page.test:{site.port}"
        guard = Guard([authority], resolve=resolve)
        own = parse_address(f"http://{authority}/a")
        gate = PageGate(own, guard, Pace(None), PageLimits(), ssl.create_default_context)
        await gate.open()
        answers = [await gate.answer(script_at(f"http://{authority}/{n}.js"), "main") for n in range(3)]
        return [answer.status for answer in answers if answer]

    with Site() as site, Site(host="127.0.0.2", port=site.port) as other:
        site.page("/a", html="a")
        assert anyio.run(main, site, other) == [404] * 3
        assert len(site.requests) == 4
        assert other.reached == []


@pytest.mark.parametrize(
    ("kind", "method"),
    [("Image", "GET"), ("Media", "GET"), ("Font", "GET"), ("EventSource", "GET"), ("XHR", "POST"), ("XHR", "OPTIONS")],
)
def test_what_cannot_add_to_the_text_is_not_asked_for(kind: str, method: str) -> None:
    with Site() as site:
        site.page("/x", body="x")
        gate = PageGate(
            parse_address(site.url("/")), Guard([site.authority]), Pace(None), PageLimits(), ssl.create_default_context
        )
        assert anyio.run(gate.answer, script_at(site.url("/x"), kind, method), "main") is None
        assert site.reached == []


def test_a_frame_is_not_asked_for_and_an_address_that_is_none_is_refused() -> None:
    with Site() as site:
        gate = PageGate(
            parse_address(site.url("/")), Guard([site.authority]), Pace(None), PageLimits(), ssl.create_default_context
        )
        for asked in (
            GateRequest("GET", site.url("/"), "Document", "another frame", "1"),
            script_at("file:///etc/passwd"),
            script_at("http://a b/"),
            script_at(site.url("/") + "x" * 9000),
        ):
            assert anyio.run(gate.answer, asked, "main") is None
        assert site.reached == []


def test_the_missing_package_is_named_with_the_way_to_get_it() -> None:
    code = (
        "import sys; sys.modules['playwright'] = None\n"
        "from asky.net.browser.process import load_playwright\n"
        "try: load_playwright()\n"
        "except Exception as error: print(type(error).__name__, error.hint)"
    )
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert said.startswith(NotConfigured.__name__)
    assert "-m pip install 'playwright>=" in said


def test_the_host_of_every_script_that_is_asked_for_is_told() -> None:
    told: list[str] = []
    with Site() as site, Site(host="127.0.0.2") as other:
        site.page("/a", html="a")
        gate = PageGate(
            parse_address(site.url("/a")),
            Guard([site.authority, other.authority]),
            Pace(None),
            PageLimits(),
            ssl.create_default_context,
            told.append,
        )

        async def main() -> None:
            await gate.open()
            await gate.answer(script_at(f"http://localhost:{site.port}/a.js"), "main")
            await gate.answer(script_at(site.url("/a.js")), "main")
            await gate.answer(script_at(other.url("/b.js")), "main")

        anyio.run(main)
        assert told == [site.host] * len(site.requests) == [site.host] * 2
        assert other.reached == []
