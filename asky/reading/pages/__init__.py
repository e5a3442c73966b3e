"""The pages of a PDF: lines, reading order, paragraphs, headings, and the metadata on the first page.

Rule: pure functions of lines and their positions; only `lines` uses MuPDF.
"""
