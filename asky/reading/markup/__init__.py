"""Texts in markup: XML of any kind, feeds, and languages with headings."""
