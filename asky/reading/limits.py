"""Resource limits for reading one file."""

from __future__ import annotations

from dataclasses import dataclass

MIB = 1024 * 1024
# Per page: stored addresses, and characters of each. Generous for people, small for a hostile page.
MAX_LINKS = 2_000
MAX_URL_CHARS = 2_048
MAX_NOTE_LINKS = 20_000  # of one note
OMITTED = "omitted_characters"
"""The metadata key with the number of characters of a document that were not kept."""
MAX_SCANNED_PAGES = 2_000  # for which a file is given time


@dataclass(frozen=True, slots=True)
class ReadLimits:
    """The limits of one file. A breach costs that file; the others are read.

    max_bytes     size of the file.
    max_chars     size of the text that is made of it; more is refused, never cut.
    timeout_s     wall clock from handing the file over to having its text.
    cpu_s         CPU time of the child for one file; the system counts whole seconds.
    memory_bytes  address space of the child, its libraries included (about 150 MiB with all of them loaded).

    Only where the text of scanned pages is recognised:

    page_s             what each such page adds to both times.
    scan_memory_bytes  address space of the child, in place of `memory_bytes` if that is less.
    """

    max_bytes: int = 64 * MIB
    max_chars: int = 32 * MIB
    timeout_s: float = 20.0
    cpu_s: int = 20
    memory_bytes: int = 1024 * MIB
    page_s: int = 30
    scan_memory_bytes: int = 1536 * MIB
