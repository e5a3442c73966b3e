"""Verification of any text against given documents."""
