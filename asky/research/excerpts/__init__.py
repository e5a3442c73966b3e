"""The parts of documents that answer what ranked chunks cannot: overviews, and single records."""
