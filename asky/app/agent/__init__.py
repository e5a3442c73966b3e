"""The research agent as interfaces of asky use it."""
