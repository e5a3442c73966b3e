"""Bytes to Document. Rule: CPU only, no network, no store; bytes are parsed in a child process that can be killed."""
