"""Answers as reports: pages, PDFs, and Markdown for runs of the agent.

Rule: every string becomes HTML in `markup`, and nowhere else.
"""
