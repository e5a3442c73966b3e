"""Conversion of bytes to a Document. Rule: CPU only, no network, no store; a killable child process does the
parsing.
"""
