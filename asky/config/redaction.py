"""Redaction of keys and e-mail addresses from incoming text: services, proxies and programs echo them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import fields
from functools import cached_property
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from asky.config.schema import Settings
    from asky.errors import AskyError

HIDDEN = "[hidden]"
_MIN_SECRET_CHARS = 8
"""Masking shorter ones would garble ordinary words."""
_WORD = re.compile("[A-Za-z_. -]{0,19}")
_ESCAPE = re.compile("%[0-9A-F]{2}")


class Redactor:
    """Masks secrets in any of their spellings in an address or JSON; its `repr` contains none.

    Matches are literal, in lower and upper case, and complete: secrets that were cut or encoded otherwise stay.
    """

    def __init__(self, secrets: Iterable[str | None]) -> None:
        found = {secret.strip() for secret in secrets if secret is not None}
        self._spellings = tuple(
            sorted(
                {each for secret in found if len(secret) >= _MIN_SECRET_CHARS for each in _spellings(secret)},
                key=lambda spelling: (-len(spelling), spelling),
            )
        )

    def mask(self, text: str) -> str:
        """Return `text` with the secrets masked, leftmost first, and the longer of two that start together."""
        return self._pattern.sub(HIDDEN, text) if self._is_in(text) else text

    def mask_json(self, value: Any) -> Any:
        """Return a JSON value with the secrets masked in each text and each name."""
        if isinstance(value, str):
            return self.mask(value)
        if isinstance(value, Mapping):
            return {self.mask(name): self.mask_json(each) for name, each in value.items()}
        return [self.mask_json(each) for each in value] if isinstance(value, list) else value

    def clean(self, error: AskyError) -> None:
        """Mask the secrets in an error, in place."""
        error.message = self.mask(error.message)
        error.hint = None if error.hint is None else self.mask(error.hint)
        error.args = (error.message,)

    def certain_length(self, text: str) -> int:
        """Return the length of the beginning of `text` whose masking does not depend on what follows."""
        end = self._open_at(text, 0)
        if end and self._is_in(text):
            for match in self._pattern.finditer(text):
                if match.start() >= end:
                    break
                if match.end() > end:
                    end = self._open_at(text, match.end())
        return end

    def may_begin_in(self, text: str) -> bool:
        """Return whether a secret may begin in `text`, which may be continued."""
        return self._begin is not None and self._begin.search(text) is not None

    def _is_in(self, text: str) -> bool:
        return any(spelling in text for spelling in self._spellings)

    def _open_at(self, text: str, start: int) -> int:
        """Return where, from `start` on, the end of `text` may begin a secret; its length if nowhere."""
        if self._begin is None:
            return len(text)
        longest = len(self._spellings[0])
        for match in self._begin.finditer(text, max(start, len(text) - longest + 1)):
            rest = text[match.start() :]
            if any(len(spelling) > len(rest) and spelling.startswith(rest) for spelling in self._spellings):
                return match.start()
        return len(text)

    @cached_property
    def _pattern(self) -> re.Pattern[str]:
        return re.compile("|".join(map(re.escape, self._spellings)))  # 0.1 ms per key: only if one was found

    @cached_property
    def _begin(self) -> re.Pattern[str] | None:
        """Return a pattern for the first two characters of any spelling, or the first one at the end of a text."""
        firsts = {f"{re.escape(spelling[0])}(?={re.escape(spelling[1])}|\\Z)" for spelling in self._spellings}
        return re.compile("|".join(sorted(firsts))) if firsts else None


class RedactedText:
    """Masks the secrets of `redactor` in a stream; its results add up to the whole masked text.

    It holds back only what may be the beginning of a secret.
    """

    def __init__(self, redactor: Redactor) -> None:
        self._redactor = redactor
        self._held = ""

    def feed(self, text: str) -> str:
        """Return the part of the text that is now certain."""
        if not self._held and not self._redactor.may_begin_in(text):
            return text
        text = self._held + text
        end = self._redactor.certain_length(text)
        self._held = text[end:]
        return self._redactor.mask(text[:end])

    def end(self) -> str:
        """Return the rest of it."""
        rest, self._held = self._held, ""
        return self._redactor.mask(rest)


def key_values(settings: Settings, environ: Mapping[str, str]) -> Iterator[str]:
    """Yield the keys that asky could send: values of the variables in `settings` and of those with the usual names.

    Other secrets of the environment are excluded, since a password may be an ordinary word that occurs in answers.
    Placeholders are excluded too.
    """
    services = (getattr(settings.search, each.name) for each in fields(settings.search))
    senders = [each for each in (*settings.providers.values(), *services) if hasattr(each, "api_key_env")]
    named = {each.api_key_env for each in senders}
    for name, value in environ.items():
        if (name in named or name.endswith("API_KEY")) and not is_placeholder(value):
            yield value


def is_placeholder(key: str) -> bool:
    """Return whether a key is a word, such as `lm-studio`, for servers that require one but ignore it.

    Keys issued by services have digits, or are longer than this.
    """
    return _WORD.fullmatch(key.strip()) is not None


def _spellings(secret: str) -> Iterator[str]:
    from urllib.parse import quote  # 5 ms: only if there is a secret

    quoted = [quote(secret, safe=""), quote(secret)]
    for each in (secret, *quoted, json.dumps(secret)[1:-1]):
        yield from (each, each.lower(), each.upper(), _ESCAPE.sub(lambda match: match[0].lower(), each))
