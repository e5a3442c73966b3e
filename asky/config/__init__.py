"""Configuration as frozen dataclasses that know where each value came from. Rule: nothing is read at import."""
