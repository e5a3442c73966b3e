"""Models on a hub: what it has, which of its files this machine needs, and their download."""
