"""Conversion of HTML to a Document: text, outline and links. Rule: no script runs, nothing is loaded."""
