"""Tables of every format: cells in place, headers joined, rows that can be read alone."""
