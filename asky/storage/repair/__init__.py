"""Integrity checks and repairs of the store. Rule: a repair removes nothing without a backup."""
