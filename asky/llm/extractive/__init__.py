"""The built-in model, which quotes sentences of the passages it is given. Rule: it generates no text."""
