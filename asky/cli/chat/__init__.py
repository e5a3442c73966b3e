"""The interactive chat in the terminal. Rule: how a question is asked is decided in `asky.app`."""
