"""`asky serve`: the server with its API and its page."""

from __future__ import annotations

import os
import sys
from functools import partial
from pathlib import Path

import click

from asky.app.serving.running import announced_server
from asky.app.serving.tokens import read_token
from asky.cli.commands.mcp import LOOPBACK
from asky.cli.context import command_context, run_async
from asky.cli.terminal.terminal import say

PORT = 8766
_GRACE_S = 4.5


@click.command()
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option(
    "--port",
    type=click.IntRange(0, 65_535),
    default=PORT,
    show_default=True,
    help="Port to listen on; 0 takes a free one.",
)
@click.option(
    "--name",
    "names",
    multiple=True,
    metavar="NAME",
    help="Another name that clients reach this machine by. Repeatable.",
)
@click.option(
    "--token-file",
    type=click.Path(path_type=Path),
    help="File with the token that clients must show.  [default: a file of asky's own]",
)
def serve(host: str, port: int, names: tuple[str, ...], token_file: Path | None) -> None:
    """Serve asky to browsers and programs: a page, an HTTP API and WebSockets.

    Clients must show a token; ASKY_SERVER_TOKEN sets it too. On a terminal, the address that is printed brings a
    browser in. Ctrl-C ends the server; its runs keep what they have found, and can be resumed.
    """
    from asky.server import app  # with FastAPI: 0.5 s

    token, place = read_token(os.environ, token_file, server="server")
    listening = app.open_socket(host, port)
    bound = int(listening.getsockname()[1])
    with command_context() as ctx:
        hosts = app.known_hosts(host, bound, names)
        settings = app.ServerSettings(token=token, hosts=hosts, environ=os.environ)
        announce = partial(_announce, host, bound, token, place)
        with announced_server(os.environ, f"http://{hosts[0]}/"):
            run_async(
                lambda: app.serve(ctx.asky, listening, settings, agent=ctx.asky.agent, started=announce),
                grace_s=_GRACE_S,
            )


def _announce(host: str, port: int, token: str, place: str) -> None:
    """Say where the server is.

    On a terminal the address has the token in its fragment, which browsers send to no server; a log gets the place.
    """
    shown = f"[{host}]" if ":" in host else host
    address = f"http://{shown}:{port}/"
    if sys.stderr.isatty():
        say(f"asky serve listens on {address}#token={token}")
    else:
        say(f"asky serve listens on {address}; the token is in {place}")
    if host not in LOOPBACK:
        say("note: others in the network can reach it, and read what is sent; use a tunnel")
