"""The command line. Rule: parse, call a service from wiring, print; answers on stdout, everything else on stderr."""
