"""The HTTP API with its WebSocket and its page: an edge over the use cases, see `asky.app`."""
