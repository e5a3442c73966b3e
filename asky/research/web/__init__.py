"""Web access of one run: searching, reading, following links. Rule: only offered addresses are read."""
