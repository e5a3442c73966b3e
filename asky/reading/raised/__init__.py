"""Raised and lowered text: what is an exponent, and how a PDF tells."""
