"""Answers as a page to read and to hand on. Rule: every string becomes HTML in `markup`, and nowhere else."""
