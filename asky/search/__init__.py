"""Search services behind one port. Rule: what a service cannot answer is an error, never an empty list."""
