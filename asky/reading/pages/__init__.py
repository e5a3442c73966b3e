"""The pages of a PDF: their lines, the order of reading, paragraphs and headings, and what the first one says.

Rule: pure functions of lines with their places; only `lines` knows MuPDF.
"""
