"""The models that an endpoint lists.

Source: `GET /models` of the OpenAI API, `{"data": [{"id": ...}]}`; Ollama, LM Studio, llama.cpp and vLLM have it too.
"""

from __future__ import annotations

import json
from urllib.parse import urlsplit

from asky.errors import AuthenticationFailed, ProviderError, Unreachable
from asky.net.plain_get import plain_get

_MAX_BYTES = 5_000_000
_MAX_ID_CHARS = 300
_REFUSED = (401, 403)
_OK = 200


def list_models(base_url: str, api_key: str | None = None, *, timeout_s: float = 10.0) -> tuple[str, ...]:
    """Return the ids of the models that the endpoint at `base_url` lists, sorted. No redirect is followed.

    Raises `Unreachable` without a connection or an answer in time, `AuthenticationFailed` if the key is refused, and
    `ProviderError` if the answer is not a list of models.
    """
    place = urlsplit(base_url).netloc.rpartition("@")[2]
    headers = {"Accept": "application/json"} | ({"Authorization": f"Bearer {api_key}"} if api_key else {})
    url = f"{base_url.rstrip('/')}/models"
    try:
        status, body = plain_get(url, headers, timeout_s=timeout_s, max_bytes=_MAX_BYTES)
    except OSError as error:
        raise Unreachable(f"{place} does not answer") from error
    if status in _REFUSED:
        raise AuthenticationFailed(f"{place} refused the key")
    if status != _OK:
        raise ProviderError(f"{place} does not list its models: status {status}")
    try:
        ids = {each["id"] for each in json.loads(body)["data"]}
    except (ValueError, RecursionError, TypeError, KeyError) as error:
        raise ProviderError(f"{place} answers, but not with a list of models") from error
    known = (each for each in ids if isinstance(each, str) and each.isprintable() and 0 < len(each) <= _MAX_ID_CHARS)
    return tuple(sorted(known))
