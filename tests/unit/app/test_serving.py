"""The token, the names, the address and the door of a server."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import anyio
import pytest

from asky.app.serving.guard import HttpGuard, cookie_value, known_hosts
from asky.app.serving.http import open_socket
from asky.app.serving.tokens import read_token
from asky.errors import ConfigError, UsageError


def test_the_token_is_made_once_and_for_the_user_alone(tmp_path: Path) -> None:
    environ = {"ASKY_HOME": str(tmp_path / "asky")}
    token, place = read_token(environ, None, server="mcp")
    assert len(token) >= 32
    assert Path(place).stat().st_mode & 0o777 == 0o600
    assert read_token(environ, None, server="mcp") == (token, place)
    Path(place).chmod(0o644)
    with pytest.raises(ConfigError, match="others can read"):
        read_token(environ, None, server="mcp")


def test_a_token_of_the_user_is_taken_from_a_file_or_the_environment(tmp_path: Path) -> None:
    (tmp_path / "token").write_text("a token file\n")
    (tmp_path / "good").write_text("0123456789abcdef\n")
    environ = {"ASKY_HOME": str(tmp_path / "asky"), "ASKY_MCP_TOKEN": "fedcba9876543210"}
    assert read_token(environ, tmp_path / "good", server="mcp") == ("0123456789abcdef", str(tmp_path / "good"))
    assert read_token(environ, None, server="mcp") == ("fedcba9876543210", "$ASKY_MCP_TOKEN")
    for file in (tmp_path / "token", tmp_path / "missing", tmp_path):
        with pytest.raises(UsageError):
            read_token(environ, file, server="mcp")
    with pytest.raises(UsageError, match="no usable token"):
        read_token({**environ, "ASKY_MCP_TOKEN": "short"}, None, server="mcp")


def test_the_names_of_a_server_are_those_it_is_bound_to() -> None:
    loopback = ["127.0.0.1:9", "localhost:9", "[::1]:9"]
    assert known_hosts("127.0.0.1", 9) == loopback
    assert known_hosts("0.0.0.0", 9) == loopback
    assert known_hosts("fd00::5", 9, ["Desk.lan"]) == [*loopback, "[fd00::5]:9", "desk.lan:9"]
    assert "localhost" in known_hosts("127.0.0.1", 80)


def test_a_port_that_is_taken_is_named() -> None:
    with open_socket("127.0.0.1", 0) as taken, pytest.raises(UsageError, match="cannot listen on"):
        open_socket("127.0.0.1", taken.getsockname()[1])


TOKEN = "a-token-of-the-tests"
HOST = {"host": "127.0.0.1:9"}
COOKIE = {"cookie": f"other=1; asky={cookie_value(TOKEN)}"}


def answered(kind: str, headers: dict[str, str], *, path: str = "/", can_deny: bool = True) -> list[dict[str, Any]]:
    """What a guard sends for a request; nothing if it lets it pass."""
    sent: list[dict[str, Any]] = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        return None

    async def receive() -> dict[str, Any]:
        return {"type": "websocket.connect"}

    async def send(message: dict[str, Any]) -> None:
        sent.append(message)

    guard = HttpGuard(app, TOKEN, ["127.0.0.1:9"], cookie="asky", is_open=lambda _, path: path == "/page")
    encoded = [(name.encode(), value.encode("latin-1")) for name, value in headers.items()]
    extensions = {"websocket.http.response": {}} if can_deny else {}
    scope = {"type": kind, "method": "GET", "path": path, "headers": encoded, "extensions": extensions}
    anyio.run(guard, scope, receive, send)
    return sent


@pytest.mark.parametrize("kind", ["http", "websocket"])
@pytest.mark.parametrize(
    ("headers", "status"),
    [
        (HOST | {"authorization": f"Bearer {TOKEN}"}, None),
        (HOST | COOKIE, None),
        (HOST | COOKIE | {"origin": "http://127.0.0.1:9"}, None),
        (HOST, 401),
        (HOST | {"cookie": f"asky={TOKEN}"}, 401),
        (HOST | {"cookie": "asky=\xe9"}, 401),
        (HOST | COOKIE | {"authorization": "Bearer wrong"}, 401),
        (HOST | COOKIE | {"origin": "http://evil.example"}, 403),
        (HOST | COOKIE | {"origin": "http://127.0.0.1:8"}, 403),
        (COOKIE | {"host": "evil.example:9"}, 421),
        (COOKIE, 421),
    ],
)
def test_a_guard_lets_pass_who_names_the_server_and_shows_the_token(
    kind: str, headers: dict[str, str], status: int | None
) -> None:
    sent = answered(kind, headers)
    assert [each.get("status") for each in sent] == ([] if status is None else [status, None])
    if sent:
        assert json.loads(sent[1]["body"])["schema"] == "asky.error/1"


def test_a_websocket_is_closed_where_no_status_can_be_sent() -> None:
    (sent,) = answered("websocket", HOST, can_deny=False)
    assert (sent["type"], sent["code"]) == ("websocket.close", 1008)


def test_what_is_open_needs_no_token_but_the_name_of_the_server() -> None:
    assert answered("http", HOST, path="/page") == []
    assert answered("http", {"host": "evil.example:9"}, path="/page")[0]["status"] == 421
