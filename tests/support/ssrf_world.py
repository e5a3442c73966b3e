"""Tries every vector in a network namespace whose every address is this machine's; prints what was connected to.

Run by `unshare -rn`. All of IPv4 and IPv6 is routed to this machine, where sites listen on the ports that matter, so
that no connection goes unnoticed, wherever it was meant for.
"""

from __future__ import annotations

import contextlib
import json
import subprocess
from collections.abc import Sequence

import anyio

from asky.errors import AskyError
from asky.net.fetcher import GuardedFetcher
from tests.support import ssrf
from tests.support.fetching import open_fetcher
from tests.support.site import Site

PORTS = (22, 80, 443, 6379, 7777, 8080, 8443)


def main() -> None:
    for command in ("link set lo up", "route add local 0.0.0.0/0 dev lo", "-6 route add local ::/0 dev lo"):
        subprocess.run(["ip", *command.split()], check=True, capture_output=True)
    with contextlib.ExitStack() as stack:
        sites = [stack.enter_context(Site(host, port)) for host in ("0.0.0.0", "::") for port in PORTS]
        for site in sites:
            _furnish(site)
        report = {
            "vectors": _try_all([*ssrf.VECTORS, *(f"http://public.test{path}" for path in ssrf.REDIRECTS)], sites),
            "controls": _try_all(ssrf.CONTROLS, sites),
        }
    print(json.dumps(report))


def _furnish(site: Site) -> None:
    for path, place in {**ssrf.REDIRECTS, "/to-the-other": "http://other.test/"}.items():
        site.redirect(path, place)
    for path in ("/", "/a", "/latest/meta-data/"):
        site.page(path, "<p>Here.</p>")


def _try_all(urls: Sequence[str], sites: Sequence[Site]) -> dict[str, dict[str, object]]:
    return {url: _try(url, sites) for url in urls}


def _try(url: str, sites: Sequence[Site]) -> dict[str, object]:
    for site in sites:
        site.reached.clear()
    fetcher = open_fetcher(
        resolve=ssrf.Names(), allow=["granted.test", f"{ssrf.GRANTED}:7777"], robots=True, timeout_s=5.0
    )
    word = anyio.run(_outcome, fetcher, url)
    return {"outcome": word, "reached": sorted({address for site in sites for address in site.reached})}


async def _outcome(fetcher: GuardedFetcher, url: str) -> str:
    try:
        # asked once, a name shows whether it is resolved twice
        await fetcher.fetch(url, named_by_user="rebinding" in url)
    except AskyError as error:
        return error.code
    return "ok"


if __name__ == "__main__":
    main()
