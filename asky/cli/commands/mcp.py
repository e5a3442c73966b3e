"""`asky mcp`: the MCP server."""

from __future__ import annotations

import os
import sys
from functools import partial
from pathlib import Path

import click

from asky.app.serving.tokens import read_token
from asky.cli.context import command_context, run_async
from asky.cli.terminal.terminal import say
from asky.errors import UsageError

_PORT = 8765
_GRACE_S = 4.5
LOOPBACK = ("127.0.0.1", "localhost", "::1")


@click.command()
@click.option("--http", "is_http", is_flag=True, help="Serve HTTP instead of standard input and output.")
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on, with --http.")
@click.option(
    "--port",
    type=click.IntRange(0, 65_535),
    default=_PORT,
    show_default=True,
    help="Port to listen on, with --http; 0 takes a free one.",
)
@click.option(
    "--name",
    "names",
    multiple=True,
    metavar="NAME",
    help="Another name that hosts reach this machine by, with --http. Repeatable.",
)
@click.option(
    "--token-file",
    type=click.Path(path_type=Path),
    help="File with the token that hosts must show, with --http.  [default: a file of asky's own]",
)
def mcp(is_http: bool, host: str, port: int, names: tuple[str, ...], token_file: Path | None) -> None:
    """Offer asky's tools to other programs over the Model Context Protocol.

    A host starts this command and speaks the protocol on its standard input and output. With --http, the server
    listens on this machine, and hosts must show a token; ASKY_MCP_TOKEN sets it too.

    Tools that save something are off until `asky config set mcp.write true`.
    """
    if not is_http and (names or token_file is not None):
        raise UsageError("--name and --token-file need --http", hint="add --http")
    from asky.mcp import http, server, stdio  # with the SDK: 0.7 s

    if is_http:
        token, place = read_token(os.environ, token_file, server="mcp")
        listening = http.open_socket(host, port)
    elif sys.stdin is None or sys.stdin.isatty():
        raise UsageError(
            "a host starts this command, and speaks to it on standard input", hint="add --http to have it listen"
        )
    with command_context() as ctx:
        built = server.McpServer(ctx.asky, os.environ).build()
        if not is_http:
            run_async(lambda: stdio.serve_stdio(built), grace_s=_GRACE_S)
            return
        announce = partial(_announce, host, f"{listening.getsockname()[1]}{http.PATH}", place)
        run_async(
            lambda: http.serve_http(built, listening, token, host=host, names=names, started=announce),
            grace_s=_GRACE_S,
        )


def _announce(host: str, port_and_path: str, token_place: str) -> None:
    shown = f"[{host}]" if ":" in host else host
    say(f"asky mcp listens on http://{shown}:{port_and_path}; the token is in {token_place}")
    if host not in LOOPBACK:
        say("note: others in the network can reach it, and read what is sent; use a tunnel")
