"""Whether asky can work here. Rule: a check looks and reports; it changes nothing unless a repair was asked for."""
