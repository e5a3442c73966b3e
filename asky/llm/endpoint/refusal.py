"""Parses the error bodies of every dialect into a refusal."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from asky.llm.endpoint.nesting import load_json

_MAX_BODY_CHARS = 100_000


@dataclass(frozen=True, slots=True)
class Refusal:
    """The content of an error body, the same for every dialect. `codes` are its lower-case codes, types and states."""

    message: str
    codes: frozenset[str]
    param: str | None
    status: int | None
    body: Any


def parse_refusal(body: str) -> Refusal:
    """Parse an error body: an object, a list of them, a string, `detail`, HTML or anything else. Raises nothing."""
    try:
        value = load_json(body[:_MAX_BODY_CHARS])
    except ValueError:
        return Refusal(_plain(body[:_MAX_BODY_CHARS]), frozenset(), None, None, body)
    return read_refusal(value)


def read_refusal(value: Any) -> Refusal:
    """Read an error that is already parsed, such as one in a stream."""
    parts = list(error_objects(value))
    message = next((text for part in parts if (text := _message(part))), "")
    if isinstance(value, str):
        message = value
    codes = {str(part[key]).lower() for part in parts for key in ("code", "type", "status") if _is_code(part.get(key))}
    statuses = (_as_status(part.get(key)) for part in parts for key in ("code", "status", "status_code"))
    status = next((each for each in statuses if each is not None), None)
    params = (part.get("param") for part in parts)
    param = next((each for each in params if isinstance(each, str) and each), None) or _refused_location(parts)
    return Refusal(message, frozenset(codes), param, status, value)


def find_error(chunk: Any) -> Any | None:
    """Return the error in a chunk of a stream or in the body of an HTTP 200; `None` if there is none."""
    if isinstance(chunk, list):
        return chunk if any(find_error(each) is not None for each in chunk) else None
    if not isinstance(chunk, Mapping):
        return None
    if chunk.get("error"):
        return chunk
    if chunk.get("object") == "error" or (chunk.get("type") == "error" and "choices" not in chunk):
        return chunk
    choices = chunk.get("choices")
    if isinstance(choices, list):
        return next((each for each in choices if isinstance(each, Mapping) and each.get("error")), None)
    return chunk if "detail" in chunk or ("message" in chunk and "code" in chunk) else None


_REFUSES = re.compile(
    r"unsupported|not support|unknown|unrecogni[sz]ed|unexpected|not permitted|not allowed|cannot find field|invalid|"
    r"not available|unavailable|only the default|deprecated|does not accept|no such|forbidden",
    re.IGNORECASE,
)


def refused_parameter(refusal: Refusal, sent: Collection[str]) -> str | None:
    """Return which of the `sent` parameters a refusal names, `None` if it names none."""
    param = re.split(r"[.\[]", refusal.param)[0] if refusal.param else None
    if param in sent:
        return param
    if not _REFUSES.search(refusal.message):
        return None
    found = ((_position(name, refusal.message), name) for name in sent)
    named = [(position, name) for position, name in found if position >= 0]
    return min(named)[1] if named else None


def _position(name: str, message: str) -> int:
    match = re.search(rf"(?<![\w-]){re.escape(name)}(?![\w-])", message)
    return match.start() if match else -1


def error_objects(value: Any, depth: int = 0) -> Iterator[Mapping[str, Any]]:
    """Yield the objects of an error, innermost first."""
    if depth > 4:
        return
    if isinstance(value, Sequence) and not isinstance(value, str):
        for each in value[:20]:
            yield from error_objects(each, depth + 1)
    elif isinstance(value, Mapping):
        for key in ("error", "detail", "message"):
            yield from error_objects(value.get(key), depth + 1)
        yield value


def _message(part: Mapping[str, Any]) -> str:
    for key in ("message", "error", "detail", "msg"):
        text = part.get(key)
        if isinstance(text, str) and text.strip():
            return text
    return ""


def _is_code(value: Any) -> bool:
    return isinstance(value, str | int) and not isinstance(value, bool)


def _as_status(value: Any) -> int | None:
    if isinstance(value, str) and value.isdecimal():
        value = int(value[:4])
    is_status = isinstance(value, int) and not isinstance(value, bool) and 400 <= value < 600
    return value if is_status else None


def _refused_location(parts: Sequence[Mapping[str, Any]]) -> str | None:
    """Return the field of the request that a validator did not permit."""
    for part in parts:
        place = part.get("loc")
        if isinstance(place, list) and len(place) > 1 and place[0] == "body" and isinstance(place[1], str):
            return place[1]
    return None


def _plain(text: str) -> str:
    """Return the text of an HTML page, or of anything else; enough for one line."""
    if "<" in text:
        text = re.sub(r"<(script|style|head)\b.*?</\1>", " ", text, flags=re.DOTALL | re.IGNORECASE)
        text = re.sub(r"<[^>]*>", " ", text)
    return " ".join(text.split())
