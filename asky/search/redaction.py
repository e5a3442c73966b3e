"""Keeping a key and an e-mail address out of what errors say: services repeat what they were sent."""

from __future__ import annotations

import json
import re
from urllib.parse import quote, quote_plus

from asky.errors import AskyError

_MASK = "***"
_SHORTEST = 6
"""Masking shorter ones would garble ordinary words."""


class Redactor:
    """Finds some secrets in any of the spellings in which an address or JSON may have them; has no `repr` of them."""

    def __init__(self, *secrets: str | None) -> None:
        spellings = {
            spelling
            for secret in secrets
            if secret is not None and len(secret) >= _SHORTEST
            for spelling in (secret, quote(secret, safe=""), quote_plus(secret), json.dumps(secret)[1:-1])
        }
        longest_first = sorted(spellings, key=lambda spelling: (-len(spelling), spelling))
        self._pattern = re.compile("|".join(map(re.escape, longest_first)), re.IGNORECASE) if spellings else None

    def mask(self, text: str) -> str:
        """`text` with the secrets masked."""
        return text if self._pattern is None else self._pattern.sub(_MASK, text)

    def clean(self, error: AskyError) -> None:
        """Mask them in an error, in place."""
        error.message = self.mask(error.message)
        error.hint = None if error.hint is None else self.mask(error.hint)
        error.args = (error.message,)
