"""Formats as Markdown with their links and footnotes, for a text whose citations are followed."""
