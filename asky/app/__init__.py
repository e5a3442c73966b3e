"""The use cases that every edge offers. Rule: take a request, return a value or a run; print and parse nothing."""
