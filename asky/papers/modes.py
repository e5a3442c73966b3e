"""The mode of the library's runs."""

from __future__ import annotations

PAPERS = "papers"

NOTHING_RELEVANT = 'No papers found relevant to query: "{query}". Try refining your search terms.'
