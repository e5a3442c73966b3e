"""Evidence in exchange formats: Markdown, bibliographies, bundles. Rule: exports can be checked without asky."""
