"""Ingestion of sources into collections. Rule: one bad source never stops the rest."""
