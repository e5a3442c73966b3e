"""Evaluation of search and answers. Rule: ask and search as every edge does, and measure what comes back."""
