"""Notes that research themselves. Rule: of a note, only what asky has written itself is ever changed."""
