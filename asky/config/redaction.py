"""Keeping keys and e-mail addresses out of what comes back: services, proxies and programs repeat what they know."""

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
_SHORTEST = 8
"""Hiding shorter ones would garble ordinary words."""
_WORD = re.compile("[A-Za-z_. -]{0,19}")
_ESCAPE = re.compile("%[0-9A-F]{2}")


class Redactor:
    """Hides some secrets in any of the spellings in which an address or JSON may have them; has no `repr` of them.

    They are found letter for letter, in small and in capitals, whole: what has been cut or encoded otherwise stays.
    """

    def __init__(self, secrets: Iterable[str | None]) -> None:
        found = {secret.strip() for secret in secrets if secret is not None}
        self._spellings = tuple(
            sorted(
                {each for secret in found if len(secret) >= _SHORTEST for each in _spellings(secret)},
                key=lambda spelling: (-len(spelling), spelling),
            )
        )

    def mask(self, text: str) -> str:
        """`text` with the secrets hidden, the first one first and of two that begin together the longer one."""
        return self._pattern.sub(HIDDEN, text) if self._is_in(text) else text

    def mask_json(self, value: Any) -> Any:
        """A value in the types of JSON with the secrets hidden in each text and each name."""
        if isinstance(value, str):
            return self.mask(value)
        if isinstance(value, Mapping):
            return {self.mask(name): self.mask_json(each) for name, each in value.items()}
        return [self.mask_json(each) for each in value] if isinstance(value, list) else value

    def clean(self, error: AskyError) -> None:
        """Hide them in an error, in place."""
        error.message = self.mask(error.message)
        error.hint = None if error.hint is None else self.mask(error.hint)
        error.args = (error.message,)

    def certain_length(self, text: str) -> int:
        """How much of `text` hides the same way whatever follows it."""
        end = self._open_at(text, 0)
        if end and self._is_in(text):
            for match in self._pattern.finditer(text):
                if match.start() >= end:
                    break
                if match.end() > end:
                    end = self._open_at(text, match.end())
        return end

    def may_begin_in(self, text: str) -> bool:
        """Whether a secret may begin in `text`, which some more may follow."""
        return self._begin is not None and self._begin.search(text) is not None

    def _is_in(self, text: str) -> bool:
        return any(spelling in text for spelling in self._spellings)

    def _open_at(self, text: str, start: int) -> int:
        """Where, from `start` on, the end of `text` may be the beginning of a secret; its length where nowhere."""
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
        return re.compile("|".join(map(re.escape, self._spellings)))  # 0.1 ms a key: only where one was found

    @cached_property
    def _begin(self) -> re.Pattern[str] | None:
        """The first two characters of any spelling, or the first one at the end of a text."""
        firsts = {f"{re.escape(spelling[0])}(?={re.escape(spelling[1])}|\\Z)" for spelling in self._spellings}
        return re.compile("|".join(sorted(firsts))) if firsts else None


class RedactedText:
    """Hides the secrets of `redactor` in a text that comes in pieces; what it gives back adds up to the whole masked.

    Nothing is held back but what may be the beginning of a secret.
    """

    def __init__(self, redactor: Redactor) -> None:
        self._redactor = redactor
        self._held = ""

    def feed(self, text: str) -> str:
        """The part of the text that is certain now."""
        if not self._held and not self._redactor.may_begin_in(text):
            return text
        text = self._held + text
        end = self._redactor.certain_length(text)
        self._held = text[end:]
        return self._redactor.mask(text[:end])

    def end(self) -> str:
        """The rest of it."""
        rest, self._held = self._held, ""
        return self._redactor.mask(rest)


def key_values(settings: Settings, environ: Mapping[str, str]) -> Iterator[str]:
    """The keys that asky could send: what the variables hold that `settings` name, and those with the usual names.

    Other secrets of the environment are not among them: a password may be an ordinary word, and answers hold those. So
    are placeholders left out.
    """
    services = (getattr(settings.search, each.name) for each in fields(settings.search))
    senders = [each for each in (*settings.providers.values(), *services) if hasattr(each, "api_key_env")]
    named = {each.api_key_env for each in senders}
    for name, value in environ.items():
        if (name in named or name.endswith("API_KEY")) and not is_placeholder(value):
            yield value


def is_placeholder(key: str) -> bool:
    """Whether a key is a word, such as `lm-studio`, for servers that want one and do not look at it.

    Keys that services hand out have digits, or are longer than this.
    """
    return _WORD.fullmatch(key.strip()) is not None


def _spellings(secret: str) -> Iterator[str]:
    from urllib.parse import quote  # 5 ms: only where there is a secret

    quoted = [quote(secret, safe=""), quote(secret)]
    for each in (secret, *quoted, json.dumps(secret)[1:-1]):
        yield from (each, each.lower(), each.upper(), _ESCAPE.sub(lambda match: match[0].lower(), each))
