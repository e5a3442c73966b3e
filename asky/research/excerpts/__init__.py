"""The parts of documents that answer what ranked chunks cannot: overviews, and single records.

Rule: an excerpt is made of stored passages, word for word, so that it can be cited like any other hit.
"""
