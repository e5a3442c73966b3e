"""Verification of the sentences of a text against passages. Rule: a verdict depends on the texts alone."""
