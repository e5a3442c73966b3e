"""One module per command. Rule: parse, call a use case, print."""
