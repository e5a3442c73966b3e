"""A cross-check: the same request through the official `openai` client, to tell whose fault a failure is."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

from asky.errors import SourceRefused
from asky.llm.endpoint.endpoint import Endpoint
from asky.net.addresses import is_loopback
from asky.net.reach import require_reachable

if TYPE_CHECKING:
    import openai

_OWN_ARGUMENTS: Final = ("model", "messages", "tools", "tool_choice", "stream", "stream_options")
_MAX_S: Final = 60.0


def ask_official_client(endpoint: Endpoint, request: Mapping[str, Any]) -> str | None:
    """Return `None` if the official client got a reply to `request`, the failed JSON object; else how it failed.

    That is a status or a kind of failure and never a message of the endpoint. It makes one attempt of at most a minute
    and blocks meanwhile. Raises nothing.
    """
    import openai  # 0.4 s: only after a failure, to see whether asky caused it

    started = time.monotonic()
    timeout_s = min(_MAX_S, endpoint.timeouts.total_s)
    try:
        with _client(endpoint, timeout_s) as client:
            own = {name: value for name, value in request.items() if name in _OWN_ARGUMENTS}
            rest = {name: value for name, value in request.items() if name not in _OWN_ARGUMENTS}
            has_replied = False
            for chunk in client.chat.completions.create(**own, extra_body=rest):
                has_replied = has_replied or bool(chunk.choices)
                if time.monotonic() - started > timeout_s:
                    return "it took too long"
    except SourceRefused as refused:
        return refused.message
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
    return None if has_replied else "an empty reply"


def _client(endpoint: Endpoint, timeout_s: float) -> openai.OpenAI:
    """Return a client that, like asky's own, follows no redirects and uses no proxy for local addresses."""
    import openai

    host = urlsplit(endpoint.base_url).hostname or ""
    require_reachable(host)
    transport = openai.DefaultHttpxClient(follow_redirects=False, trust_env=not is_loopback(host), timeout=timeout_s)
    client = openai.OpenAI(
        api_key=endpoint.api_key or "none",  # required
        base_url=endpoint.base_url,
        max_retries=0,
        timeout=timeout_s,
        http_client=transport,
    )
    if endpoint.provider != "openai":  # it reads them from variables, and sends them to any base URL
        client.organization = client.project = None
    return client
