"""What answers from the paper library rest on, and the forms in which they are read."""

from __future__ import annotations

from asky.evidence.citations.page_citations import page_citation
from asky.evidence.excerpts import Excerpt, claim_excerpts, relevant_sources

__all__ = ["Excerpt", "claim_excerpts", "page_citation", "relevant_sources"]
