"""Protection of secrets in output: recognizing names of secrets, and masking known ones in a text."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping

MASK = "***"
_MIN_SECRET_CHARS = 8
_NAME = re.compile(r"(?:^|_)(?:KEY|TOKEN|SECRET|PASSWORD|PASSWD)\Z", re.IGNORECASE)
_USERINFO = re.compile(r"(?<=://)[^\s/?#@]+@")


def names_secret(name: str) -> bool:
    """Return whether a key or variable of this name holds a secret."""
    return _NAME.search(name) is not None


def secret_values(environ: Mapping[str, str], key_variables: Collection[str] = ()) -> Iterator[str]:
    """Yield the values of the variables of `environ` with names of secrets, and of `key_variables`."""
    return (value for name, value in environ.items() if names_secret(name) or name in key_variables)


def scrubber(environ: Mapping[str, str], key_variables: Collection[str] = ()) -> Callable[[str], str]:
    """Return a function that masks the secrets of `environ` as it is now, and the credentials inside addresses.

    A secret is the value of a variable with the name of a secret or in `key_variables`, if it has at least eight
    characters: masking shorter ones would garble ordinary words.
    """
    secrets = {value.strip() for value in secret_values(environ, key_variables)}
    longest_first = sorted((each for each in secrets if len(each) >= _MIN_SECRET_CHARS), key=len, reverse=True)

    def mask(text: str) -> str:
        for secret in longest_first:
            text = text.replace(secret, MASK)
        return _USERINFO.sub(f"{MASK}@", text)

    return mask


def scrub(text: str, environ: Mapping[str, str], key_variables: Collection[str] = ()) -> str:
    """Return `text` with the secrets of `environ` and the credentials inside addresses masked; see `scrubber`."""
    return scrubber(environ, key_variables)(text)
