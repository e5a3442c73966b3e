"""Search services behind one port. Rule: a service that cannot answer raises an error, never returns an empty list."""
