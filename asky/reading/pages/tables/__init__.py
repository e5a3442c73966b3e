"""The tables on the pages of a PDF: where they are, what stands in their cells, and how they are written."""
