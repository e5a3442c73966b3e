"""Embedding models. Rule: every vector carries the fingerprint of the model that made it."""
