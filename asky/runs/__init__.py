"""Runs of every product: journal, events, limits and access rules. Rule: nothing here knows its product."""
