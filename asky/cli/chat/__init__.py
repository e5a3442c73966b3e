"""The interactive chat in the terminal. Rule: what a conversation is asked with is decided below."""
