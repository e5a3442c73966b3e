"""Passage keys: the opaque names under which passages are shown to a model."""

from __future__ import annotations

import hashlib
import re
import threading

from asky.values import Span

MIN_DIGITS = 4
MAX_DIGITS = 8
KEY = re.compile(rf"P[0-9a-f]{{{MIN_DIGITS},{MAX_DIGITS}}}")
"""A key as issued. `asky.evidence.citations.citation_forms` knows the variants that models write.

`asky.text` and `asky.llm`, which are lower layers, each define the pattern again.
"""


class KeyRing:
    """Issues the keys of one run.

    A key is `P` and the first 4 hexadecimal digits of a hash over the run, the document and the span, or up to 8 digits
    if another passage already has that key. It reveals nothing about the passage or its rank, cannot be guessed from
    the passage alone, and is the same whenever the same passage is shown. Thread-safe.
    """

    def __init__(self, run_id: str) -> None:
        self._run_id = run_id
        self._lock = threading.Lock()  # otherwise two passages shown at once could get the same key
        self._passage_of: dict[str, tuple[str, Span]] = {}
        self._key_of: dict[tuple[str, Span], str] = {}

    def key_for(self, sha256_of_document: str, span: Span) -> str:
        """Return the key of the characters `span` of the document with this hash.

        Raises `ValueError` if even 8 digits collide, which takes tens of thousands of passages in one run.
        """
        passage = (sha256_of_document, span)
        with self._lock:
            known = self._key_of.get(passage)
            if known is not None:
                return known
            digest = self._digest(passage)
            for digits in range(MIN_DIGITS, MAX_DIGITS + 1):
                key = "P" + digest[:digits]
                if key not in self._passage_of:
                    self._passage_of[key] = passage
                    self._key_of[passage] = key
                    return key
        raise ValueError(f"no key is left for passage {span.start}-{span.end} of {sha256_of_document[:12]}")

    def hold(self, key: str, sha256_of_document: str, span: Span) -> None:
        """Reserve `key` for this passage, which had it before, so that it is issued for no other.

        Of two keys for one passage the first is used, and of two passages with one key the first keeps it.
        """
        passage = (sha256_of_document, span)
        with self._lock:
            self._passage_of.setdefault(key, passage)
            self._key_of.setdefault(passage, key)

    def _digest(self, passage: tuple[str, Span]) -> str:
        document, span = passage
        return hashlib.sha256(f"{self._run_id}\n{document}\n{span.start}\n{span.end}".encode()).hexdigest()
