"""Which models could answer: keys that are set, and model servers that run on this machine."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from asky.config.schema import Provider
from asky.errors import AskyError, AuthenticationFailed, ProviderError, Unreachable
from asky.llm.endpoint.available import AvailableProvider, find_available
from asky.llm.endpoint.model_list import list_models
from tests.support.endpoint import OLLAMA, Endpoint, Rules


@contextmanager
def saying(answer: bytes, *, closes: bool = True) -> Iterator[str]:
    """The address of a server that says `answer` to whoever connects, and then closes or waits."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        kept: list[socket.socket] = []

        def serve() -> None:
            while True:
                try:
                    connection, _ = server.accept()
                except OSError:
                    return
                connection.recv(65_536)
                connection.sendall(answer)
                kept.append(connection)
                if closes:
                    connection.close()

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.getsockname()[1]}/v1"
        finally:
            server.shutdown(socket.SHUT_RDWR)
            thread.join()
            for each in kept:
                each.close()


def http(body: str, status: str = "200 OK", head: str = "") -> bytes:
    return f"HTTP/1.1 {status}\r\nContent-Length: {len(body.encode())}\r\n{head}\r\n{body}".encode()


def test_the_models_of_an_endpoint_are_listed_with_its_key() -> None:
    with Endpoint("Yes.", rules=Rules(api_key="sk-1", models=("b", "a"))) as endpoint:
        assert list_models(endpoint.base_url, "sk-1") == ("a", "b")
        with pytest.raises(AuthenticationFailed, match="refused the key") as caught:
            list_models(endpoint.base_url, "sk-2")
    assert "sk-2" not in f"{caught.value} {caught.value.hint}"


@pytest.mark.parametrize(
    ("answer", "error"),
    [
        (http("<html>a page</html>"), ProviderError),
        (http('{"data": 3}'), ProviderError),
        (http('{"data": [{"name": "x"}]}'), ProviderError),
        (http("[" * 100_000), ProviderError),
        (http("", "302 Found", "Location: http://127.0.0.1:1/\r\n"), ProviderError),
        (http("", "404 Not Found"), ProviderError),
        (b"SSH-2.0-OpenSSH_9.6\r\n", Unreachable),
        (b"", Unreachable),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n{", Unreachable),
    ],
)
def test_what_is_no_model_server_is_none(answer: bytes, error: type[AskyError]) -> None:
    with saying(answer) as base_url:
        with pytest.raises(error):
            list_models(base_url, timeout_s=5)
        assert find_available({"local": Provider(base_url=base_url)}, {}) == []


def test_a_server_that_never_answers_is_given_up() -> None:
    with saying(b"", closes=False) as base_url:
        with pytest.raises(Unreachable):
            list_models(base_url, timeout_s=0.1)
        assert find_available({"local": Provider(base_url=base_url)}, {}, timeout_s=0.1) == []


def test_names_that_are_no_names_are_left_out() -> None:
    with saying(http('{"data": [{"id": "good"}, {"id": 7}, {"id": ""}, {"id": "a\\u001bb"}]}')) as base_url:
        assert list_models(base_url) == ("good",)


def test_keys_come_first_then_the_servers_that_run() -> None:
    with Endpoint("Yes.", dialect=OLLAMA, rules=Rules(models=("bge-m3-embed", "qwen3:8b"))) as server:
        providers = {
            "ollama": Provider(base_url=server.base_url),
            "stopped": Provider(base_url="http://127.0.0.1:9/v1"),
            "far": Provider(base_url="http://models.example/v1"),
            "openai": Provider(base_url="https://api.example/v1", api_key_env="OPENAI_API_KEY"),
            "gemini": Provider(base_url="https://gemini.example/v1", api_key_env="GEMINI_API_KEY"),
        }
        found = find_available(providers, {"OPENAI_API_KEY": "sk-secret", "GEMINI_API_KEY": "  "})
    assert found == [
        AvailableProvider("openai", "api.example", "OPENAI_API_KEY"),
        AvailableProvider("ollama", server.base_url.split("/")[2], None, ("bge-m3-embed", "qwen3:8b")),
    ]
    assert found[0].offer().startswith("OPENAI_API_KEY is set: `asky models default openai:MODEL_ID`")
    assert "`asky models default ollama:qwen3:8b`" in found[1].offer(), "not the one for embeddings"
    assert "sk-secret" not in found[0].offer()
