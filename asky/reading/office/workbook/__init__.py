"""Workbooks: the sheets of each format as rows of shown texts, and their tables, remarks and drawings."""
