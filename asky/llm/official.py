"""A second opinion: the same request through the official `openai` client, for a user who asks whose fault it is."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

from asky.llm.endpoint import Endpoint
from asky.net.http import is_loopback

if TYPE_CHECKING:
    import openai

_OWN_ARGUMENTS: Final = ("model", "messages", "tools", "tool_choice", "stream", "stream_options")
_LONGEST_S: Final = 60.0


def ask_official_client(endpoint: Endpoint, request: Mapping[str, Any]) -> str | None:
    """`None` where the official client got a reply to `request`, the JSON object that failed; else how it failed.

    That is a status or a kind of failure and never what the endpoint said. It makes one try of at most a minute and
    blocks meanwhile. Raises nothing.
    """
    import openai  # 0.4 s: only after a failure, to see whether it is asky's

    started = time.monotonic()
    timeout_s = min(_LONGEST_S, endpoint.timeouts.total_s)
    try:
        with _client(endpoint, timeout_s) as client:
            own = {name: value for name, value in request.items() if name in _OWN_ARGUMENTS}
            rest = {name: value for name, value in request.items() if name not in _OWN_ARGUMENTS}
            spoke = False
            for chunk in client.chat.completions.create(**own, extra_body=rest):
                spoke = spoke or bool(chunk.choices)
                if time.monotonic() - started > timeout_s:
                    return "it took too long"
    except openai.APIStatusError as error:
        return f"HTTP {error.status_code}"
    except openai.APITimeoutError:
        return "it took too long"
    except openai.APIConnectionError:
        return "the connection failed"
    except openai.APIError:
        return "an error in place of the reply"
    except Exception as error:  # noqa: BLE001 - what it makes of a stream that is none can be any exception
        return type(error).__name__
    return None if spoke else "an empty reply"


def _client(endpoint: Endpoint, timeout_s: float) -> openai.OpenAI:
    """A client that, like asky's own, follows no redirects and keeps to this machine without a proxy."""
    import openai

    host = urlsplit(endpoint.base_url).hostname or ""
    transport = openai.DefaultHttpxClient(follow_redirects=False, trust_env=not is_loopback(host), timeout=timeout_s)
    client = openai.OpenAI(
        api_key=endpoint.api_key or "none",  # it wants one
        base_url=endpoint.base_url,
        max_retries=0,
        timeout=timeout_s,
        http_client=transport,
    )
    if endpoint.provider != "openai":  # it has them from variables, and sends them wherever it is pointed
        client.organization = client.project = None
    return client
