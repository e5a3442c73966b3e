"""The command line. Rule: parse, call a use case, print; answers go to stdout, everything else to stderr."""
