"""The stages of source selection. Rule: every rejected source has a reason."""
