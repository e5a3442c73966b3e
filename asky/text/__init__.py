"""Pure functions over text: sentences, terms, cleaning. Rule: standard library and a stemmer, no I/O."""
