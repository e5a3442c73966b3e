"""Nothing opens a connection but `asky.net`, so that no request goes round its guard, its limits and its pace."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.architecture.test_imports import MODULES, found_in, name_of, parse

CLIENTS = frozenset(
    """
    aiohttp aiohttp_socks anyio.connect_tcp anyio.connect_tls asyncio.open_connection ftplib grpc h11 h2
    http.client httpcore httpcore2 httpx httpx2 httpx_sse imaplib niquests openai paramiko poplib pycurl
    requests smtplib socket.create_connection socket.socket socketserver telnetlib tornado trio urllib.request
    urllib3 websocket websockets wsproto xmlrpc.client
    """.split()  # noqa: SIM905 - names read better in lines
)
"""Modules that can open a connection, and functions of modules that can do much else besides."""

PACKAGES = {client.partition(".")[0] for client in CLIENTS}

EXCEPTIONS = {
    "asky/llm/endpoint/official.py": {"openai"},  # the vendor's own client, to the endpoint that the user configured
    "asky/llm/endpoint/http_call.py": {"httpx2"},  # the errors of the client that it is handed, as in the next two
    "asky/llm/endpoint/probe.py": {"httpx2"},
    "asky/search/service.py": {"httpx2"},
    "asky/research/embedding/models.py": {
        "urllib.request"
    },  # whether the hub of models answers, before its library asks
}
"""What may name a client besides `asky.net`: it talks to what the user configured, never to what somebody linked to."""

HARMLESS = {"httpx2.Timeout"}
"""What is made of a client's parts where only its errors are needed."""


def clients_of(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Each line that imports a client, anywhere but for the type checker, or uses one by the name of its module."""
    for node in run_in(tree):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, client) for alias in node.names if (client := client_in(alias.name)))
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            full = (f"{node.module}.{alias.name}" for alias in node.names)
            yield from ((node.lineno, client) for name in full if (client := client_in(name)))
        elif isinstance(node, ast.Attribute):
            if "." in (client := client_in(dotted(node)) or ""):
                yield node.lineno, client
        elif isinstance(node, ast.Call) and dotted(node.func) in ("importlib.import_module", "__import__"):
            names = [str(getattr(argument, "value", "")) for argument in node.args[:1]]
            yield from ((node.lineno, client) for name in names if (client := client_in(name)))


def dotted(node: ast.expr) -> str:
    """A name, or names joined by dots, as they are written; nothing for any other expression."""
    names: list[str] = []
    while isinstance(node, ast.Attribute):
        names.append(node.attr)
        node = node.value
    return ".".join([node.id, *reversed(names)]) if isinstance(node, ast.Name) else ""


def client_in(name: str) -> str | None:
    if name.partition(".")[0] not in PACKAGES:
        return None
    return next((client for client in CLIENTS if f"{name}.".startswith(f"{client}.")), None)


def made_of(tree: ast.Module, client: str) -> set[str]:
    """What is called of a module, other than its errors."""
    calls = (node for node in ast.walk(tree) if isinstance(node, ast.Call))
    return {name for call in calls if (name := ast.unparse(call.func)).startswith(f"{client}.")}


def run_in(tree: ast.Module) -> Iterator[ast.AST]:
    """What is in a module, but for what only the type checker reads."""
    left: list[ast.AST] = [tree]
    while left:
        node = left.pop()
        yield node
        is_for_checker = isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)
        left += node.orelse if is_for_checker else ast.iter_child_nodes(node)


def test_only_the_network_layer_opens_connections() -> None:
    def undue(module: Path) -> list[tuple[int, str]]:
        allowed = EXCEPTIONS.get(name_of(module), set())
        return [(line, name) for line, name in clients_of(parse(module)) if name not in allowed]

    named = re.compile("|".join(PACKAGES))  # what names none need not be parsed
    others = [
        module
        for module in MODULES
        if not name_of(module).startswith("asky/net/") and named.search(module.read_text("utf-8"))
    ]
    assert found_in(others, undue) == []


def test_every_exception_is_still_one() -> None:
    for name, allowed in EXCEPTIONS.items():
        (module,) = (path for path in MODULES if name_of(path) == name)
        assert {client for _, client in clients_of(parse(module))} == allowed, name


@pytest.mark.parametrize("name", [name for name, allowed in EXCEPTIONS.items() if "httpx2" in allowed])
def test_who_is_handed_a_client_makes_none(name: str) -> None:
    (module,) = (path for path in MODULES if name_of(path) == name)
    assert made_of(parse(module), "httpx2") <= HARMLESS


def test_this_check_sees_what_it_is_for() -> None:
    tree = ast.parse(
        "import urllib.request\nimport urllib.parse\nfrom urllib import request\nfrom http import client\n"
        "if TYPE_CHECKING:\n    import httpx2\nelse:\n    import requests\n"
        "def f():\n    from httpx2 import AsyncClient\n    from socket import socket as s\n"
        "    socket.create_connection(a)\n    anyio.connect_tcp('a', 1)\n"
        "    asyncio.open_connection('a', 1)\n    importlib.import_module('urllib3.util')\n    anyio.sleep(1)\n"
    )
    assert {name for _, name in clients_of(tree)} == {
        "urllib.request",
        "http.client",
        "requests",
        "httpx2",
        "socket.socket",
        "socket.create_connection",
        "anyio.connect_tcp",
        "asyncio.open_connection",
        "urllib3",
    }
    made = ast.parse("httpx2.Client().get('a')\nhttpx2.get('a')\nhttpx2.Timeout(1)\n")
    assert made_of(made, "httpx2") - HARMLESS == {"httpx2.Client", "httpx2.Client().get", "httpx2.get"}
