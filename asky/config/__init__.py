"""Configuration as frozen dataclasses that record where each value came from. Rule: nothing is read at import."""
