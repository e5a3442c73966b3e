"""Citations of texts that were written elsewhere, and the given sources that they name. Rule: pure, and no store."""
